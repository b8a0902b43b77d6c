"""Models that keep the posterior as well as its mode: averaged probabilities, and intervals for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesift._checks import generator
from bayesift._documents import checked_weights, validated
from bayesift._labels import Categories, batch_categories, check_label_types
from bayesift._state import State
from bayesift._typing import FloatArray

if TYPE_CHECKING:
    # Only imported if a posterior is asked for.
    from bayesift.posterior import Posterior

#: What the parameter ``posterior`` may be.
PosteriorName = Literal["auto", "laplace", "ep", "gibbs"]


def _keeps_posterior(model: Any) -> bool:
    """Tell whether a model keeps its posterior."""
    return model.posterior is not None


class AveragedScores:
    """What models of binary decisions do with ``posterior``; stands before the class that has linear scores.

    The score of a document is then that of its averaged probability, so everything derived from scores is averaged.
    """

    posterior: PosteriorName | None
    target_type_: Any
    n_features_in_: int
    class_weight: Any
    classes_: Any
    coef_: Any
    intercept_: FloatArray
    posteriors_: list[Posterior | None]
    log_evidence_: FloatArray

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each category: an array of shape (n_documents,) for two classes.

        It is the linear score β₀ + xᵀβ; with ``posterior``, the score of the probability averaged over the posterior,
        at its temperature (:class:`bayesift.posterior.GaussianPosterior`).
        """
        plain: FloatArray = super().decision_function(X)  # type: ignore[misc]
        if not hasattr(self, "posteriors_"):
            return plain
        X = validated(self, X, accept_sparse="csr", reset=False)
        columns = plain.reshape(X.shape[0], -1)
        found = [
            scores if posterior is None else posterior.averaged_score(X, tempered=True)
            for posterior, scores in zip(self.posteriors_, columns.T, strict=True)
        ]
        return np.column_stack(found).reshape(plain.shape)

    def linear_scores(self) -> tuple[Any, FloatArray] | None:
        """Return ``coef_`` and ``intercept_``, which give the scores; None with ``posterior``, which is not linear."""
        if hasattr(self, "posteriors_"):
            return None
        found: tuple[Any, FloatArray] | None = super().linear_scores()  # type: ignore[misc]
        return found

    @available_if(_keeps_posterior)
    def predict_interval(self, X: Any, mass: float = 0.9) -> FloatArray:
        """Return credible intervals for the probabilities of documents.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
        mass : float, default=0.9
            Posterior probability that the interval holds the probability that the true coefficients give.

        Returns
        -------
        ends : ndarray of shape (n_documents, 2) for two classes, else (n_documents, n_categories, 2)
            Intervals for the probability of the second class, or of each category. If classes exclude each other, the
            one-against-the-rest probabilities of the others are held at their averages. A category of which only one
            class has documents has no posterior: its interval is 0 to 1.
        """
        ends = self.score_interval(X, mass)
        shares: FloatArray = np.exp(self._log_probability(ends))  # type: ignore[attr-defined]
        if self.target_type_ != "multiclass":
            return shares
        logs = self._log_probability(self.decision_function(X))  # type: ignore[attr-defined]
        own = np.exp(logs)[:, :, None]
        others = own.sum(axis=1, keepdims=True) - own
        return shares / np.maximum(shares + others, np.finfo(float).tiny)

    @available_if(_keeps_posterior)
    def score_interval(self, X: Any, mass: float = 0.9) -> FloatArray:
        """Return credible intervals for the scores β₀ + xᵀβ of documents.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
        mass : float, default=0.9
            Posterior probability that the interval holds the score that the true coefficients give.

        Returns
        -------
        ends : ndarray of shape (n_documents, 2) for two classes, else (n_documents, n_categories, 2)
            Infinite for a category of which only one class has documents.
        """
        check_is_fitted(self, "posteriors_")
        X = validated(self, X, accept_sparse="csr", reset=False)
        return self._ends(X.shape[0], lambda one: one.score_interval(X, mass))

    @available_if(_keeps_posterior)
    def contribution_interval(self, X: Any, mass: float = 0.9) -> FloatArray:
        """Return credible intervals for what rows of features add to the scores, xᵀβ without the intercept.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_rows, n_features)
            A row may be a single word of a document, with the value that it has there.
        mass : float, default=0.9
            Posterior probability that the interval holds the contribution.

        Returns
        -------
        ends : ndarray of shape (n_rows, 2) for two classes, else (n_rows, n_categories, 2)
        """
        check_is_fitted(self, "posteriors_")
        X = validated(self, X, accept_sparse="csr", reset=False)
        return self._ends(X.shape[0], lambda one: one.contribution_interval(X, mass))

    @available_if(_keeps_posterior)
    def coef_interval(self, mass: float = 0.9, columns: Any = None) -> FloatArray:
        """Return credible intervals for the coefficients, the intercept last.

        Parameters
        ----------
        mass : float, default=0.9
            Posterior probability that an interval holds its coefficient.
        columns : sequence of int, optional
            Which features; all by default.

        Returns
        -------
        ends : ndarray of shape (n_columns + 1, 2) for two classes, else (n_columns + 1, n_categories, 2)
        """
        check_is_fitted(self, "posteriors_")
        n = (self.n_features_in_ if columns is None else len(columns)) + 1
        return self._ends(n, lambda one: one.coef_interval(mass, columns))

    @available_if(_keeps_posterior)
    def sample(self, n: int, columns: Any = None, *, random_state: Any = 0) -> FloatArray:
        """Draw coefficients from the posterior.

        Parameters
        ----------
        n : int
            Number of draws.
        columns : sequence of int, optional
            Which features; all by default. Coefficients of words that occur in no labelled document are drawn from
            their priors.
        random_state : int, Generator or None, default=0
            Source of randomness.

        Returns
        -------
        draws : ndarray of shape (n, n_columns + 1) for two classes, else (n, n_columns + 1, n_categories)
            The intercept last. NaN for a category without a posterior.
        """
        check_is_fitted(self, "posteriors_")
        chosen = np.arange(self.n_features_in_) if columns is None else columns
        rng = generator(random_state)
        missing = np.full((n, len(chosen) + 1), np.nan)
        draws = [missing if one is None else one.sample(n, chosen, random_state=rng) for one in self.posteriors_]
        return draws[0] if self.target_type_ == "binary" else np.stack(draws, axis=2)

    @available_if(_keeps_posterior)
    def mode_scores(self, X: Any) -> FloatArray:
        """Return the linear scores at the mode, as :meth:`decision_function` returns them without ``posterior``.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)

        Returns
        -------
        scores : ndarray of shape (n_documents,) for two classes, else (n_documents, n_categories)
            :meth:`scores_to_log_proba` turns them into log probabilities.
        """
        scores: FloatArray = super().decision_function(X)  # type: ignore[misc]
        return scores

    def with_posterior(
        self,
        X: Any,
        y: Any,
        method: PosteriorName = "auto",
        sample_weight: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Return a copy of this fitted model that keeps its posterior, as if fitted with ``posterior=method``.

        Nothing is fitted anew: modes and variances stay as they are. The documents must be those of the fit.

        Parameters
        ----------
        X, y, sample_weight, feature_names
            As in :meth:`fit`.
        method : {"auto", "laplace", "ep", "gibbs"}, default="auto"
            How the posterior is computed; see :func:`bayesift.posterior.find_posterior`.

        Returns
        -------
        model
            A copy with averaged probabilities and :meth:`predict_interval`. This model stays at the mode.

        Examples
        --------
        >>> from bayesift.linear import BayesianLogisticRegression
        >>> X, y = [[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 0, 0]
        >>> model = BayesianLogisticRegression("gaussian", 4.0).fit(X, y)
        >>> model.with_posterior(X, y).predict_interval([[2.0, 0.0]], mass=0.5).round(2)
        array([[0.4 , 0.94]])
        """
        check_is_fitted(self)
        found = deepcopy(self)
        found.posterior = method
        found._validate_params()  # type: ignore[attr-defined]
        found._keep_posteriors(X, y, sample_weight, feature_names)  # type: ignore[attr-defined]
        return found

    @available_if(_keeps_posterior)
    def update_posterior(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return a copy that has learned from further documents, with the posterior so far as their prior.

        The full covariance of the words seen is kept, whereas :func:`bayesift.priors.from_model` keeps only
        variances. Earlier documents are not needed again.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Further documents, with the columns of the earlier ones.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Their labels, from those that the model knows; not all of these need to occur.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.

        Returns
        -------
        model
            Its posteriors are those after all documents, its coefficients the mode with the earlier posterior as prior,
            and its ``log_evidence_`` is that of the further labels given the earlier ones. This model does not change.

        Examples
        --------
        >>> from bayesift.linear import BayesianLogisticRegression
        >>> X, y = [[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 2.0]], [1, 0, 1, 0]
        >>> monday = BayesianLogisticRegression("gaussian", 4.0, posterior="ep").fit(X[:2], y[:2])
        >>> tuesday = monday.update_posterior(X[2:], y[2:])
        >>> monday.predict_proba(X)[:, 1].round(2), tuesday.predict_proba(X)[:, 1].round(2)
        (array([0.76, 0.24, 0.44, 0.21]), array([0.91, 0.27, 0.63, 0.17]))
        """
        check_is_fitted(self, "posteriors_")
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight is {self.class_weight!r}; expected None: further documents may all be of one class"
            )
        check_label_types(y)
        X, y = validated(self, X, y, accept_sparse=("csr", "csc"), multi_output=True, reset=False)
        categories = batch_categories(y, self.classes_, self.target_type_, type(self).__name__)
        weights = checked_weights(sample_weight, X)
        found = deepcopy(self)
        found._continue_posteriors(X, categories, weights)
        return found

    def _continue_posteriors(self, X: Any, categories: Categories, weights: FloatArray) -> None:
        """Go on with further documents."""
        from bayesift.posterior import MixedPosterior, update_posterior

        assert self.posterior is not None
        beliefs: list[Posterior | None] = []
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_.copy()
        intercept = self.intercept_.copy()
        known: Any
        for k, known in enumerate(self.posteriors_):
            if known is None:
                raise ValueError(
                    f"category {k} has no posterior to update: only one class had documents; fit again on all documents"
                )
            y: FloatArray = categories.target(k)
            with warnings.catch_warnings():
                # Warnings are given below.
                warnings.simplefilter("ignore", ConvergenceWarning)
                belief: Any = update_posterior(
                    known, X, y, method=self.posterior, sample_weight=weights, random_state=k
                )
                if isinstance(known, MixedPosterior):
                    known = known.components[int(np.argmax(belief.weights))]
                mode = update_posterior(known, X, y, method="laplace", sample_weight=weights)
            beliefs.append(belief)
            coef[k], intercept[k] = mode.coef, mode.intercept
        # What was said of the earlier fit is no longer true.
        for name in ("certificate_", "n_iter_", "precision_", "precision_matrix_"):
            vars(self).pop(name, None)
        self._set_coefficients(coef, intercept)  # type: ignore[attr-defined]
        self._set_beliefs(beliefs)
        self._warn(self._belief_messages())  # type: ignore[attr-defined]

    def _ends(self, n: int, of: Callable[[Posterior], FloatArray]) -> FloatArray:
        """Return n intervals of every category; infinite ones for a category without a posterior."""
        anything = np.tile([-np.inf, np.inf], (n, 1))
        found = [anything if one is None else of(one) for one in self.posteriors_]
        return found[0] if self.target_type_ == "binary" else np.stack(found, axis=1)

    def _set_beliefs(self, beliefs: list[Posterior | None]) -> None:
        """Keep the posteriors of the categories, or forget those of an earlier fit."""
        for name in ("posteriors_", "log_evidence_"):
            vars(self).pop(name, None)
        if self.posterior is not None:
            self.posteriors_ = beliefs
            self.log_evidence_ = np.array([getattr(belief, "log_evidence", np.nan) for belief in beliefs])

    def _belief_messages(self) -> Iterator[tuple[str, type[Warning]]]:
        """Say which posterior is not to be trusted."""
        for k, found in enumerate(getattr(self, "posteriors_", [])):
            if found is not None and found.shortcoming:
                yield f"posterior of category {k}: {found.shortcoming}", ConvergenceWarning

    def _check_beliefs(self, state: State, n_rows: int, n_features: int) -> None:
        """Refuse, in a model file, posteriors that do not fit the coefficients."""
        if state.has("posteriors_"):
            from bayesift.posterior import GaussianPosterior, MixedPosterior, SampledPosterior

            for found in state.entries("posteriors_", n_rows):
                known = (
                    type(found) in (GaussianPosterior, MixedPosterior, SampledPosterior)
                    and found.n_features == n_features
                )
                state.require(found is None or known, "posteriors")
            state.array("log_evidence_", (n_rows,))
