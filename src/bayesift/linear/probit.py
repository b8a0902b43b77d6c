"""Sparse Bayesian probit regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from bayesift._documents import checked_weights, validated
from bayesift._labels import Categories, batch_categories, check_label_types
from bayesift._state import State, check_table
from bayesift._threads import one_blas_thread
from bayesift._typing import FloatArray
from bayesift.linear._base import Message
from bayesift.linear._binary import BINARY_CONSTRAINTS, LinearClassifier
from bayesift.linear._fit.blocks import DenseBlock
from bayesift.linear._fit.categories import CategoryFit, Settings
from bayesift.linear._fit.posterior import precision_diagonal, precision_matrix, update_matrix
from bayesift.linear._fit.problem import ProbitSolverName, Problem, SolverOptions
from bayesift.linear._fit.variance import Choice
from bayesift.linear._losses import PROBIT
from bayesift.priors import FLAT, Jeffreys, Prior, from_model

#: Solvers that take no one-sided priors.
EM_SOLVERS = ("em", "block-em")

#: Log posteriors that differ by more than this share are different optima.
_SAME = 1e-6


def _can_go_on(model: Any) -> bool:
    """Tell whether a Gaussian can stand for the posterior."""
    if model.prior == "jeffreys" if isinstance(model.prior, str) else isinstance(model.prior, Jeffreys):
        raise AttributeError(
            "partial_fit takes Gaussian and Laplace priors; a Jeffreys prior cannot be approximated by a Gaussian"
        )
    return True


@dataclass(eq=False, repr=False)
class BayesianProbitRegression(LinearClassifier):
    """Probit regression at the posterior mode under Laplace, Gaussian or Jeffreys priors.

    The probability of the category is Φ(β₀ + xᵀβ). Minimises, for each category,

        F(β) = −Σ_i s_i ln Φ(y_i (β₀ + x_iᵀβ)) + Σ_j p_j(β_j − m_j),

    where p_j is λ_j abs(δ) for a Laplace, δ²/(2v_j) for a Gaussian and ln abs(δ) for a Jeffreys prior (Eyheramendy,
    Genkin, Ju, Lewis & Madigan 2003). It takes the same kinds of labels as
    :class:`BayesianLogisticRegression`.

    Parameters
    ----------
    prior : {"laplace", "gaussian", "jeffreys"}, Prior, or list or mapping of them, default="laplace"
        The prior of the coefficients. A list has one entry for each category, a mapping goes from category to prior
        (the other categories get a plain Laplace prior). A prior with a variance of its own is used as it is.
    variance : float or {"cv", "shared", "norm", "auto", "evidence"}, default="cv"
        Prior variance: a number; ``"norm"``, (d + 1) / (mean squared norm of a document); ``"cv"``, the best of
        ``grid`` by cross-validation; ``"shared"``, one value for all categories, for categories with few documents;
        ``"auto"``, the best found by a search without a grid, starting from 1 / (mean squared norm);
        ``"evidence"``, for Gaussian priors, the value under which the labels are most probable, without folds. The
        paper's γ is a variance of 2/γ, see :meth:`bayesift.priors.Laplace.of_gamma`. A Jeffreys prior has none.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercept; infinite is unpenalised, ``"same"`` is like any other coefficient.
    dense_features : int, default=0
        How many of the last columns are dense features, such as document vectors or numbers beside the text. They get
        Gaussian priors with a variance of their own; ``prior`` and ``variance`` apply to the other columns.
    dense_variance : float or "cv", default="cv"
        Prior variance of the dense features; ``"cv"`` chooses one for all categories by cross-validation, together
        with ``variance`` if that is to be chosen. If ``threshold`` is tuned, or with ``calibration``, held-out scores
        are judged on the line that suits them best. With ``variance="evidence"`` the evidence chooses both variances,
        for each category.
    solver : {"auto", "newton", "em", "block-em"}, default="auto"
        ``"newton"``: the fast solver of the logistic model with this loss, stopped by the duality gap. ``"em"``: the
        paper's algorithm. ``"block-em"``: the same on one block of coefficients at a time, which never builds a matrix
        of all of them. ``"auto"`` is ``"em"`` for Jeffreys priors, else ``"newton"``.
    tol : float or None, default=None
        ``"newton"`` stops when the duality gap is at most this share of the objective (1e-6 by default; fits that only
        serve to choose a variance from a grid stop at 0.001 already), EM when the coefficients change by at most this
        share of their norm in a round (1e-5 by default).
    max_iter : int, default=10000
        Maximum number of rounds; reaching it warns.
    restarts : int, default=1
        Number of starts for a Jeffreys prior: first the ridge regression, then ridge regressions in which the documents
        have random weights. The best optimum is kept.
    ridge : float, default=1
        Penalty of the regression (XᵀX + ridge I)⁻¹Xᵀy from which EM starts.
    block_size : int, default=100
        How many coefficients ``"block-em"`` updates at a time.
    covariance : {"diagonal", "full"}, default="diagonal"
        What :meth:`partial_fit` keeps of the posterior.
    grid : sequence of float or None, default=None
        Variances to try with ``"cv"``; None is the grid of the logistic model.
    folds, runs : int, default=10 and 2
        Number of folds, and how many of them are left out in turn. Copies of a document are in the same fold, where
        they count as at most three documents. With more than 30,000 different documents the search for a variance
        (other than ``"shared"``, and without dense features) learns from a random sample, with at least 3,000 of each
        class, and is judged by all others.
    one_standard_error : bool, default=False
        With ``"cv"``, take the smallest variance within one standard error of the best.
    posterior : {"auto", "laplace", "ep", "gibbs"} or None, default=None
        Keep the posterior itself, computed by Laplace's method, expectation propagation or Gibbs sampling (see
        :func:`bayesift.posterior.find_posterior`): probabilities are then averaged over it, and
        :meth:`predict_interval` says how certain they are. ``coef_`` remains the mode.
    threshold : str, Utility or mapping, default="half"
        Policy of :class:`bayesift.decide.Threshold` for ``predict``.
    threshold_on : {"cv", "train"}, default="cv"
        The scores on which a threshold is tuned: ``"cv"``, those by models fitted without the document's fold, which
        costs ``folds`` more fits; ``"train"``, those by the model itself, which has seen the document (also used if a
        class has fewer than two documents).
    calibration : {"sigmoid"} or None, default=None
        ``"sigmoid"`` maps the scores by the line of Platt (1999), a·s + b with a > 0, that fits the labels of held-out
        documents best; see ``calibration_``. Classes that exclude each other share one line, so that decisions stay
        the same. It costs up to ``folds`` more fits, or none if a threshold is tuned on the same scores. It cannot be
        combined with ``posterior``.
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes; of 0 and 1 for an indicator matrix.
    warm_start : bool, default=False
        Start from the coefficients of the last fit; those that are zero start afresh under EM.
    n_jobs : int or None, default=-1
        Number of threads, which share the categories; -1 uses all cores.
    random_state : int, RandomState or None, default=0
        Seeds the division of the documents into folds, and the random weights of other starts.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    target_type_ : {"binary", "multiclass", "multilabel-indicator"}
        What the labels were.
    coef_ : ndarray or csr_matrix of shape (n_categories, n_features)
        Coefficients; one row for two classes. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (n_categories,)
    n_nonzero_ : ndarray of shape (n_categories,)
        Number of coefficients that are not zero.
    variance_ : ndarray of shape (n_categories,)
        The variance used (NaN if the prior has its own).
    dense_variance_ : ndarray of shape (n_categories,)
        The variance used for dense features; 0 if there are none, or if they do not help.
    certificate_ : Certificate
        Objective, duality gap, KKT residual, rounds and seconds of each category. For a Jeffreys prior there is no
        dual bound, so the gap is infinite.
    restarts_ : list of (ndarray or None)
        For each category with a Jeffreys prior, the log posterior reached from every start, up to a constant. The
        density has no bound at zero, so a coefficient set to zero counts as one of the size at which that happens.
    cv_results_ : list of (dict or None)
        As for the logistic model.
    posteriors_ : list of (bayesift.posterior.Posterior or None)
        With ``posterior``, the posterior of each category; None if only one class has documents.
    log_evidence_ : ndarray of shape (n_categories,)
        With ``posterior``, ln p(y): the log probability of the labels with the coefficients integrated out. NaN if
        they were sampled.
    calibration_ : ndarray of shape (n_categories, 2)
        With ``calibration``, slope and intercept of the calibrated score as a function of β₀ + xᵀβ. Scores,
        probabilities, thresholds and :meth:`word_weights` are calibrated; ``coef_`` and ``intercept_`` stay at the
        mode. 1 and 0 for a category with fewer than two documents of a class.
    threshold_ : Threshold
        The fitted decision rule, on the scale of ``decision_function``.
    precision_ : ndarray of shape (n_categories, n_features + 1)
        Diagonal of the inverse covariance XᵀWX + Λ of the posterior's Gaussian approximation, the intercept last. A
        Laplace prior, which has no curvature, enters Λ by its variance; a Jeffreys prior does not enter. The inverse of
        ``precision_`` is the variance of a coefficient *given all others*, which is smaller than its posterior
        variance: for intervals use ``posterior`` (or :mod:`bayesift.posterior`), or the inverse of
        ``precision_matrix_``.
    precision_matrix_ : ndarray of shape (n_categories, n_features + 1, n_features + 1)
        With ``covariance="full"``, the whole inverse covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.linear import BayesianProbitRegression
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> model = BayesianProbitRegression(variance=4.0).fit(X, ["wheat", "wheat", "sea", "sea"])
    >>> model.predict(X).tolist()
    ['wheat', 'wheat', 'sea', 'sea']
    >>> bool(model.certificate_.relative_gap[0] < 1e-6)
    True
    >>> by_em = BayesianProbitRegression(variance=4.0, solver="em").fit(X, ["wheat", "wheat", "sea", "sea"])
    >>> bool(abs(by_em.certificate_.objective - model.certificate_.objective)[0] < 1e-5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BINARY_CONSTRAINTS,
        "prior": [StrOptions({"laplace", "gaussian", "jeffreys"}), Prior, Sequence, Mapping],
        "solver": [StrOptions({"auto", "newton", "em", "block-em"})],
        "restarts": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "block_size": [Interval(Integral, 1, None, closed="left")],
        "covariance": [StrOptions({"diagonal", "full"})],
    }
    _link: ClassVar[int] = PROBIT
    precision_includes_laplace: ClassVar[bool] = True

    _: KW_ONLY
    solver: ProbitSolverName = "auto"
    max_iter: int = 10_000
    restarts: int = 1
    ridge: float = 1.0
    block_size: int = 100
    covariance: Literal["diagonal", "full"] = "diagonal"

    @available_if(_can_go_on)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Learn from more documents, with the posterior so far as the prior.

        The first call is a fit under the model's own prior. Every later call uses the Gaussian approximation of the
        posterior so far, N(β̂, (XᵀWX + Λ)⁻¹), as the prior for its documents: all of it with ``covariance="full"``,
        its diagonal otherwise (see ``precision_``). Earlier documents are not needed again. A call after :meth:`fit`
        continues from that fit.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Term weights.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels, or zeros and ones for each category.
        classes : array of shape (n_classes,), optional
            All labels that will ever occur; needed in the first call unless ``y`` is an indicator matrix.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.
        feature_names : sequence of str, optional
            Names of the columns, for priors that name terms; needed in the first call only.

        Returns
        -------
        self
        """
        self._validate_params()
        check_label_types(y)
        first = not hasattr(self, "coef_")
        X, y = validated(self, X, y, accept_sparse=("csr", "csc"), multi_output=True, reset=first)
        known = classes if first else self._known_classes(classes)
        categories = batch_categories(y, known, None if first else self.target_type_, type(self).__name__)
        settings = self._settings(self._column_names(feature_names))
        weights = checked_weights(sample_weight, X)
        if not first:
            # The posterior so far is a prior of all columns.
            settings = settings._replace(dense=DenseBlock())
        priors = self._next_priors(categories, weights, first)
        self._check_terms(priors, settings)
        if first or self.covariance == "diagonal":
            fits = self._fit_all(X, y, categories, weights, priors, settings)
        else:
            fits = self._update_matrices(X, categories, weights, settings.options)
        self._set_attributes(categories, fits)
        self._warn(self._fit_messages(fits))
        self._fit_threshold(X, categories, weights, [])
        return self

    def _known_classes(self, classes: Any) -> Any:
        """Return the classes of the first call, with which later ones must agree."""
        if self.covariance == "full" and not hasattr(self, "precision_matrix_"):
            raise ValueError("covariance is 'full', but the model was fitted with 'diagonal'; fit it again")
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes is {classes!r}; expected {self.classes_.tolist()} as in the first call")
        return self.classes_

    def _next_priors(self, categories: Categories, weights: FloatArray, first: bool) -> list[Prior]:
        """Return the priors for the documents of a call of partial_fit."""
        if self.posterior is not None:
            raise ValueError(f"posterior is {self.posterior!r}; expected None for partial_fit, which keeps a Gaussian")
        if self.calibration is not None:
            raise ValueError(
                f"calibration is {self.calibration!r}; expected None for partial_fit: calibration needs all documents"
            )
        if self.threshold != "half":
            raise ValueError(
                f"threshold is {self.threshold!r}; expected 'half' for partial_fit: others need all documents"
            )
        priors = self._priors(categories)
        if any(isinstance(prior, Jeffreys) or _one_sided(prior) for prior in priors):
            raise ValueError(
                "prior is Jeffreys or one-sided; partial_fit takes only two-sided Gaussian and Laplace priors"
            )
        if not first:
            return [from_model(self, category=k) for k in range(len(priors))]
        for k, prior in enumerate(priors):
            intercept = prior.scaled(1.0).resolve_intercept(self.intercept_variance)
            labels = categories.target(k)[weights > 0]
            if intercept.kind[0] == FLAT and np.unique(labels).size == 1:
                raise ValueError(
                    "all documents of the first batch are of one class, so an unpenalised intercept would be infinite; "
                    "give intercept_variance a finite value"
                )
        return priors

    def _update_matrices(
        self, X: Any, categories: Categories, weights: FloatArray, options: SolverOptions
    ) -> list[CategoryFit]:
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        fits = []
        for k, (mean, precision) in enumerate(
            zip(np.column_stack([coef, self.intercept_]), self.precision_matrix_, strict=True)
        ):
            solution, updated = update_matrix(X, categories.target(k), weights, mean, precision, options)
            fits.append(CategoryFit(solution, Choice(np.nan), precision=updated))
        return fits

    def _posterior(self) -> Callable[[Problem, FloatArray], FloatArray]:
        return precision_matrix if self.covariance == "full" else precision_diagonal

    def _solver_options(self) -> SolverOptions:
        return SolverOptions(self.solver, self.tol, self.max_iter, self.ridge, self.block_size)

    def _settings(self, feature_names: Any) -> Settings:
        return super()._settings(feature_names)._replace(restarts=self.restarts)

    def _priors(self, categories: Categories) -> list[Prior]:
        priors = super()._priors(categories)
        known = {id(prior): prior for prior in priors}
        for prior in known.values():
            self._check_prior(prior, only=len(known) == 1)
        return priors

    def _check_prior(self, prior: Prior, only: bool) -> None:
        """Refuse a prior that the solver cannot handle, or a variance for a prior that has none.

        ``only`` tells that all categories have this prior.
        """
        if isinstance(prior, Jeffreys):
            if self.solver == "newton":
                raise ValueError("solver is 'newton', which needs convex priors; use 'em' for a Jeffreys prior")
            if self.variance != "cv" and only:
                raise ValueError(f"variance is {self.variance!r}, but a Jeffreys prior has no parameter")
        if self.solver in EM_SOLVERS and _one_sided(prior):
            raise ValueError(f"solver is {self.solver!r}, which does not take one-sided priors; use 'newton'")

    def _fit_all(
        self,
        X: Any,
        y: Any,
        categories: Categories,
        weights: FloatArray,
        priors: list[Prior],
        settings: Settings,
    ) -> list[CategoryFit]:
        by_em = self.solver in EM_SOLVERS or (
            self.solver == "auto" and any(isinstance(prior, Jeffreys) for prior in priors)
        )
        # Threads of a BLAS get in the way of those over categories, and move the last digits.
        with one_blas_thread() if by_em else nullcontext():
            return super()._fit_all(X, y, categories, weights, priors, settings)

    def _set_attributes(self, categories: Categories, fits: list[CategoryFit]) -> None:
        super()._set_attributes(categories, fits)
        self.restarts_ = [fit.restarts for fit in fits]
        if self.covariance == "full":
            self.precision_matrix_ = self.precision_
            self.precision_ = np.diagonal(self.precision_matrix_, axis1=1, axis2=2).copy()

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        n_rows, n_weights = self.intercept_.size, self.n_features_in_ + 1
        if state.has("precision_matrix_"):
            state.array("precision_matrix_", (n_rows, n_weights, n_weights))
        if state.has("restarts_"):
            for objectives in state.entries("restarts_", n_rows):
                if objectives is not None:
                    check_table(objectives, (None,), "f", "restarts_")

    def _fit_messages(self, fits: list[CategoryFit]) -> Iterator[Message]:
        yield from super()._fit_messages(fits)
        found = [fit.restarts for fit in fits]
        several = [values is not None and bool(np.ptp(values) > _SAME * np.abs(values).max()) for values in found]
        if any(several):
            yield (
                f"category {self._listing(several)}: {self.restarts} starts led to different optima of the posterior "
                f"under a Jeffreys prior, which is not convex; the best was kept, see restarts_",
                UserWarning,
            )


def _one_sided(prior: Prior) -> bool:
    """Tell whether some coefficient must lie on one side of its mode."""
    sign: Any = prior.sign
    return bool(np.any(list(sign.values()) if isinstance(sign, Mapping) else sign))
