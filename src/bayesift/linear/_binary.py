"""What the linear models that make one binary decision for each category share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._documents import checked_weights, validated
from bayesift._labels import Categories, categories_of, class_factors, validate_documents, validate_labels
from bayesift._state import State
from bayesift._threads import one_blas_thread
from bayesift._typing import FloatArray
from bayesift.decide import Threshold
from bayesift.decide.tuning import Policy, check_policy
from bayesift.linear._averaged import AveragedScores, PosteriorName
from bayesift.linear._base import (
    SHARED_CONSTRAINTS,
    TOO_FEW,
    LinearModel,
    Message,
    listing,
    refuse_where_rows_do_not_fit,
)
from bayesift.linear._fit.categories import CategoryFit, Settings, Task, belief_at, fit_categories, priors_of
from bayesift.linear._fit.copies import merge_copies
from bayesift.linear._fit.problem import Documents, Problem, SolverOptions, design_of
from bayesift.linear._fit.variance import Choice
from bayesift.linear._losses import PROBIT, log_probability
from bayesift.priors import Jeffreys, Prior
from bayesift.shards import Shards

#: What the parameters that all binary models have may be.
BINARY_CONSTRAINTS: dict[str, Any] = {
    **SHARED_CONSTRAINTS,
    "variance": [Interval(Real, 0, None, closed="both"), StrOptions({"cv", "shared", "norm", "auto", "evidence"})],
    "posterior": [StrOptions({"auto", "laplace", "ep", "gibbs"}), None],
    "threshold": "no_validation",
    "threshold_on": [StrOptions({"train", "cv"})],
}


@dataclass(eq=False, repr=False)
class LinearClassifier(AveragedScores, LinearModel):
    """A linear model of one binary decision for each category, at the posterior mode.

    A subclass has the parameters of ``BINARY_CONSTRAINTS`` and says what its loss is (``_link``) and when its solver
    stops (``_solver_options``).
    """

    _: KW_ONLY
    posterior: PosteriorName | None = None
    threshold: Policy = "half"
    threshold_on: Literal["train", "cv"] = "cv"

    # For model files older than these parameters.
    _parameters_before: ClassVar[dict[str, Any]] = {**LinearModel._parameters_before, "posterior": None}
    _link: ClassVar[int]

    def _solver_options(self) -> SolverOptions:
        """Return the solver and when it stops."""
        raise NotImplementedError

    def _posterior(self) -> Callable[[Problem, FloatArray], FloatArray] | None:
        """Return the function that computes ``precision_`` from a problem and its mode; None computes nothing."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any, feature_names: Sequence[str] | None) -> Iterator[Message]:
        if isinstance(X, Shards):
            y = validate_labels(self, X, y)
            feature_names = X.terms if feature_names is None else feature_names
        else:
            X, y = validate_documents(self, X, y)
        settings = self._settings(self._column_names(feature_names))
        weights = checked_weights(sample_weight, X)
        if settings.options.merges_copies and not isinstance(X, Shards):
            X, y, weights = merge_copies(X, y, weights)
        categories = categories_of(y, type(self).__name__)
        priors = self._priors(categories)
        self._check_terms(priors, settings)
        fits = self._fit_all(X, y, categories, weights, priors, settings)
        self._set_attributes(categories, fits)
        self._fit_threshold(X, categories, weights, [fit.scores for fit in fits])
        return self._fit_messages(fits)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _log_probability(self, scores: FloatArray) -> FloatArray:
        return log_probability(self._link, scores)

    def _check_state(self, state: State) -> None:
        n_rows = self._check_coefficients(state, "coef_", "intercept_")
        self._check_beliefs(state, n_rows, self.n_features_in_)
        found = state.instance("threshold_", Threshold)
        state.require(len(getattr(found, "thresholds_", ())) == n_rows, "thresholds and coefficients")

    def _thresholds(self) -> Any:
        thresholds = self.threshold_.thresholds_
        return thresholds[0] if self.target_type_ == "binary" else thresholds

    def _set_thresholds(self, thresholds: Any) -> None:
        self.threshold_ = Threshold("half", scale="log_odds").fit(np.zeros((1, self.coef_.shape[0])))
        if thresholds is not None:
            self.threshold_.thresholds_[:] = thresholds

    def _settings(self, feature_names: Any) -> Settings:
        """Refuse impossible settings, and collect those that apply to all categories."""
        check_policy(self.threshold, "threshold")
        if self.posterior is not None and self.threshold != "half":
            raise ValueError(
                f"threshold is {self.threshold!r}; expected 'half' when posterior is {self.posterior!r}: others are "
                f"tuned on scores at the mode"
            )
        if self.posterior is not None and self.calibration is not None:
            raise ValueError(
                f"calibration is {self.calibration!r}; expected None when posterior is {self.posterior!r}: averaged "
                f"probabilities already allow for uncertainty"
            )
        options = self._solver_options()
        return Settings(
            variance=self._variance_settings(options),
            intercept_variance=self.intercept_variance,
            options=options,
            posterior=self._posterior(),
            score_held_out=self.threshold_on == "cv" and self.threshold != "half",
            calibrate=self.calibration is not None,
            feature_names=feature_names,
            link=self._link,
            belief=self.posterior,
            dense=self._dense_block(),
            tunes=self.threshold != "half",
        )

    def _priors(self, categories: Categories) -> list[Prior]:
        """Return the prior of every category."""
        return priors_of(self.prior, categories.classes, len(categories.members), jeffreys=self._link == PROBIT)

    def _check_terms(self, priors: list[Prior], settings: Settings) -> None:
        """Refuse a term that no feature has before the first fit, not only at the turn of its category."""
        for prior in {id(prior): prior for prior in priors}.values():
            known = prior.scaled(1.0)
            n_sparse = self.n_features_in_ - settings.dense.n_columns
            names = settings.feature_names
            known.resolve(n_sparse, names if names is None else names[:n_sparse])
            known.resolve_intercept(settings.intercept_variance)

    def _tasks(
        self, priors: list[Prior], categories: Categories, y: Any, weights: FloatArray
    ) -> list[Callable[[], Task]]:
        """Prepare a task for every category, to be made when its turn comes."""
        starts: Sequence[FloatArray | None] = [None] * len(priors)
        if self.warm_start and hasattr(self, "coef_"):
            starts = list(self._last_coefficients(self.coef_, self.intercept_, len(priors), "categories"))
        if self.class_weight is not None and categories.target_type != "multilabel-indicator":
            weights = weights * class_factors(self.class_weight, y, weights)

        def make(category: int) -> Task:
            target, own = categories.target(category), weights
            if self.class_weight is not None and categories.target_type == "multilabel-indicator":
                own = weights * class_factors(self.class_weight, (target > 0).astype(int), weights)
            return Task(target, own, priors[category], starts[category])

        return [partial(make, category) for category in range(len(priors))]

    def _fit_all(
        self, X: Any, y: Any, categories: Categories, weights: FloatArray, priors: list[Prior], settings: Settings
    ) -> list[CategoryFit]:
        # Threads of a BLAS move the last digits of posteriors, and would be limited in every thread over categories.
        single = self.posterior is not None or self.variance == "evidence" or self.dense_features > 0
        with one_blas_thread() if single else nullcontext():
            tasks, is_open = self._tasks(priors, categories, y, weights), [prior.is_open for prior in priors]
            documents = self._documents_of(X, priors) if isinstance(X, Shards) else design_of(X, self.dense_features)
            exclude = categories.target_type == "multiclass"
            return fit_categories(documents, tasks, settings, self.n_jobs, is_open, exclude)

    def _documents_of(self, shards: Shards, priors: Sequence[Prior]) -> Documents:
        """Return the documents of shards, in memory if they fit, and refuse what needs them there if they do not."""
        # Seldom needed.
        from bayesift.linear._sharded.design import ShardedDesign, documents_of

        documents = documents_of(shards, self.n_jobs)
        if not isinstance(documents, ShardedDesign):
            return documents
        refuse_where_rows_do_not_fit(
            {
                f"posterior={self.posterior!r}": self.posterior is not None,
                "variance='evidence'": self.variance == "evidence",
                f"solver={self.solver!r}": self.solver not in ("newton", "auto"),
                f"calibration={self.calibration!r}": self.calibration is not None,
                "a Jeffreys prior": any(isinstance(prior, Jeffreys) for prior in priors),
                "covariance='full'": getattr(self, "covariance", None) == "full",
            }
        )
        return documents

    def _set_attributes(self, categories: Categories, fits: list[CategoryFit]) -> None:
        self.classes_, self.target_type_ = categories.classes, categories.target_type
        beta = np.vstack([fit.solution.beta for fit in fits])
        self._set_coefficients(np.ascontiguousarray(beta[:, :-1]), beta[:, -1].copy())
        self._set_outcome([fit.solution for fit in fits], [fit.choice for fit in fits])
        self._set_calibration([fit.line for fit in fits])
        self._set_beliefs([fit.belief for fit in fits])
        known = [fit.precision for fit in fits if fit.precision is not None]
        if known:
            self.precision_ = np.stack(known)

    def _keep_posteriors(self, X: Any, y: Any, sample_weight: Any, feature_names: Sequence[str] | None) -> None:
        """Compute the posteriors of a model whose modes and variances are known."""
        check_is_fitted(self, "variance_")
        X = validated(self, X, accept_sparse="csr", reset=False)
        y = y if sp.issparse(y) else np.asarray(y)
        categories = categories_of(y, type(self).__name__)
        if categories.target_type != self.target_type_ or not np.array_equal(categories.classes, self.classes_):
            raise ValueError(f"y has the classes {listing(categories.classes)}; expected those of the fit")
        settings, weights = self._settings(self._column_names(feature_names)), checked_weights(sample_weight, X)
        tasks, design = self._tasks(self._priors(categories), categories, y, weights), design_of(X)
        with one_blas_thread():
            self._set_beliefs(
                [
                    belief_at(design, make(), settings, Choice(variance, dense_variance=dense_variance))
                    for make, variance, dense_variance in zip(tasks, self.variance_, self.dense_variance_, strict=True)
                ]
            )
        self._warn(self._belief_messages())

    def _fit_messages(self, fits: list[CategoryFit]) -> Iterator[Message]:
        """Say which categories did not converge, fell back to the norm-based variance, or have one class only."""
        yield from self._messages([fit.choice for fit in fits])
        yield from self._belief_messages()
        for message, concerned in (
            (TOO_FEW, [fit.choice.fell_back for fit in fits]),
            ("one class only: only the intercept was fitted, to a smoothed base rate", [fit.one_class for fit in fits]),
        ):
            if any(concerned):
                yield f"category {self._listing(concerned)}: {message}", UserWarning

    def _listing(self, concerned: Sequence[bool]) -> str:
        """Name the categories that a message is about, or the first of them."""
        # Of two classes the greater is the category.
        return listing(self.classes_[-len(concerned) :][np.array(concerned)])

    def _fit_threshold(
        self, X: Any, categories: Categories, weights: FloatArray, held_out: Sequence[FloatArray | None]
    ) -> None:
        self.threshold_ = Threshold(self.threshold, scale="log_odds", cautious=self.threshold_on == "cv")
        n_categories = len(categories.members)
        if self.threshold == "half":
            self.threshold_.fit(np.zeros((1, n_categories)))
            return
        indicator = np.column_stack([categories.target(k) > 0 for k in range(n_categories)]).astype(np.int64)
        scores = self._calibrated(self._scores(X))
        for k, found in enumerate(held_out):
            if found is not None:
                scores[:, k] = found
        self.threshold_.fit(scores, indicator, sample_weight=weights)
