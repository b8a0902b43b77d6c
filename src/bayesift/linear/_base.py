"""What all linear models share; and what the models of one binary decision for each category share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bayesift._labels import Categories, categories_of, class_factors, validate_documents
from bayesift._state import LABEL_KINDS, check_array, check_fit, checked_count
from bayesift._typing import AnyArray, FloatArray
from bayesift.decide import Threshold
from bayesift.decide.tuning import Policy, check_policy
from bayesift.linear._fit.categories import CategoryFit, Settings, Task, fit_categories, priors_of
from bayesift.linear._fit.problem import Problem, Rule, design_of
from bayesift.linear._losses import PROBIT, log_probability
from bayesift.linear.certificate import Certificate
from bayesift.priors import Prior

#: Fits that only serve to score a variance stop at this relative gap, or at a larger ``tol``.
SEARCH_TOLERANCE = 1e-3
#: What the parameters that all models have may be.
SHARED_CONSTRAINTS: dict[str, Any] = {
    "prior": [StrOptions({"laplace", "gaussian"}), Prior, Sequence, Mapping],
    "variance": [Interval(Real, 0, None, closed="both"), StrOptions({"cv", "norm", "auto"})],
    "intercept_variance": [Interval(Real, 0, None, closed="both"), StrOptions({"same"})],
    "tol": [Interval(Real, 0, 1, closed="neither")],
    "epsilon": [Interval(Real, 0, 1, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "grid": ["array-like", None],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "runs": [Interval(Integral, 1, None, closed="left")],
    "one_standard_error": ["boolean"],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "warm_start": ["boolean"],
    "compute_precision": ["boolean"],
    "feature_names": ["array-like", None],
    "progress": [callable, None],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}
#: What the parameters that all binary models have may be.
BINARY_CONSTRAINTS: dict[str, Any] = {
    **SHARED_CONSTRAINTS,
    "threshold": "no_validation",
    "threshold_on": [StrOptions({"train", "cv"})],
}


def search_message(late: int, max_iter: int) -> str:
    """Say that fits of a search did not converge, so that the variance may not be the best."""
    return (
        f"{late} fits of the search for a variance did not converge within max_iter={max_iter} rounds; the variance "
        f"chosen may not be the best. Raise max_iter, or loosen tol or epsilon."
    )


class LinearModel(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are linear: ``coef_`` has a row for each category or class, ``intercept_`` an entry."""

    coef_: Any
    intercept_: FloatArray
    tol: float
    grid: Sequence[float] | None
    folds: int
    runs: int
    warm_start: bool
    feature_names: Sequence[str] | None

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities; every model has its own."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        return np.exp(self.predict_log_proba(X))

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller where most coefficients are zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_state(self) -> None:
        if not hasattr(self, "coef_"):
            return
        check_array(self, "classes_", (None,), LABEL_KINDS)
        check_array(self, "coef_", (None, checked_count(self, "n_features_in_")))
        n_rows = self.coef_.shape[0]
        check_array(self, "intercept_", (n_rows,))
        n_classes = self.classes_.size
        target_type = getattr(self, "target_type_", "multiclass")
        expected = {"binary": (2, 1), "multiclass": (n_classes, n_classes)}
        check_fit((n_classes, n_rows) == expected.get(target_type, (n_rows, n_rows)), self, "classes and coefficients")

    def _names(self) -> Any:
        """Return the names of the columns, if they have any."""
        return getattr(self, "feature_names_in_", self.feature_names)

    def _checked_grid(self) -> FloatArray | None:
        """Refuse impossible settings of a search; return the variances to try, if they are given."""
        if self.runs > self.folds:
            raise ValueError(f"runs={self.runs} must not exceed folds={self.folds}: a run leaves out one of the folds")
        if self.grid is None:
            return None
        grid = np.asarray(self.grid, dtype=np.float64)
        if grid.ndim != 1 or grid.size == 0 or not np.all(grid > 0):
            raise ValueError(f"grid must be a list of variances greater than 0, got {self.grid!r}")
        return grid

    def _search_tolerance(self, variance: Any) -> float:
        """Return the gap at which fits of a search stop; without a grid the variance itself moves with the scores."""
        return self.tol if variance == "auto" else max(self.tol, SEARCH_TOLERANCE)

    def _last_coefficients(self, n_rows: int, of: str) -> FloatArray | None:
        """Return the coefficients to start from, a row for each category or class, the intercept last."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        if coef.shape != (n_rows, self.n_features_in_):
            raise ValueError(
                f"warm_start needs the same {of} and features as before: coef_ has shape {coef.shape}, "
                f"now there are {n_rows} {of} and {self.n_features_in_} features"
            )
        return np.column_stack([coef, self.intercept_])

    def _scores(self, X: Any) -> FloatArray:
        """Return the linear scores of documents that are checked already."""
        scores = X @ self.coef_.T
        return np.asarray(scores.toarray() if sp.issparse(scores) else scores) + self.intercept_

    def _checked_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._scores(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))


class LinearClassifier(LinearModel):
    """A linear model of one binary decision for each category, at the posterior mode.

    A subclass has the parameters of ``BINARY_CONSTRAINTS`` and says what its loss is (``_link``) and when its solver
    stops (``_rule``).
    """

    prior: Any
    variance: Any
    intercept_variance: float | Literal["same"]
    max_iter: int
    one_standard_error: bool
    threshold: Policy
    threshold_on: Literal["train", "cv"]
    class_weight: Any
    progress: Callable[[int, int], None] | None
    n_jobs: int | None
    random_state: Any

    _link: ClassVar[int]

    def _rule(self) -> Rule:
        """Return the solver and when it stops."""
        raise NotImplementedError

    def _posterior(self) -> Callable[[Problem, FloatArray], FloatArray] | None:
        """Return the function that computes ``precision_`` from a problem and its mode; None computes nothing."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the posterior mode of every category.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Term weights; sparse matrices are the natural form.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels of any type, or zeros and ones for each category.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = validate_documents(self, X, y)
        categories = categories_of(y, type(self).__name__)
        settings = self._settings()
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        fits = self._fit_all(X, y, categories, weights, self._priors(categories), settings)
        self._keep(categories, fits)
        self._warn(fits)
        self._fit_threshold(X, categories, weights, [fit.scores for fit in fits])
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the linear score β₀ + xᵀβ of each category.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        scores : ndarray of shape (n_documents,) for two classes, else (n_documents, n_categories)
        """
        scores = self._checked_scores(X)
        return scores[:, 0] if self.target_type_ == "binary" else scores

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities, exact far into the tails.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        scores = self.decision_function(X)
        if self.target_type_ == "binary":
            return np.column_stack([log_probability(self._link, -scores), log_probability(self._link, scores)])
        logs = log_probability(self._link, scores)
        if self.target_type_ == "multiclass":
            logs -= logsumexp(logs, axis=1, keepdims=True)
        return logs

    def predict(self, X: Any) -> AnyArray:
        """Decide by the thresholds.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        labels : ndarray of shape (n_documents,), or a 0/1 indicator of shape (n_documents, n_categories)
        """
        scores = self.decision_function(X)
        if self.target_type_ == "multiclass":
            return self.classes_[np.argmax(scores - self.threshold_.thresholds_, axis=1)]
        decisions = self.threshold_.predict(scores)
        return self.classes_[decisions] if self.target_type_ == "binary" else decisions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _strength(self) -> tuple[Any, FloatArray | None]:
        """Return the common variance, or how to choose it, and the variances to try."""
        return self.variance, self._checked_grid()

    def _settings(self) -> Settings:
        """Refuse impossible settings, and collect those that hold for all categories."""
        check_policy(self.threshold, "threshold")
        variance, grid = self._strength()
        rule = self._rule()
        return Settings(
            variance=variance,
            intercept_variance=self.intercept_variance,
            grid=grid,
            folds=self.folds,
            runs=self.runs,
            one_standard_error=self.one_standard_error,
            rule=rule,
            search_rule=rule._replace(tol=self._search_tolerance(variance)),
            posterior=self._posterior(),
            score_held_out=self.threshold_on == "cv" and self.threshold != "half",
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            link=self._link,
        )

    def _priors(self, categories: Categories) -> list[Prior]:
        """Return the prior of every category, checked against the columns."""
        priors = priors_of(self.prior, categories.classes, len(categories.members), jeffreys=self._link == PROBIT)
        for prior in {id(prior): prior for prior in priors}.values():
            # A term that no feature has is to be an error before the first fit, not when its category comes.
            known = prior.scaled(1.0)
            known.resolve(self.n_features_in_, self._names())
            known.resolve_intercept(self.intercept_variance)
        return priors

    def _tasks(
        self, priors: list[Prior], categories: Categories, y: Any, weights: FloatArray
    ) -> list[Callable[[], Task]]:
        """Prepare a task for every category, to be made when its turn comes."""
        last = self._last_coefficients(len(priors), "categories")
        starts: Sequence[FloatArray | None] = [None] * len(priors) if last is None else list(last)
        if self.class_weight is not None and categories.target_type != "multilabel-indicator":
            weights = weights * class_factors(self.class_weight, y, weights)

        def make(category: int) -> Task:
            target, own = categories.target(category), weights
            if self.class_weight is not None and categories.target_type == "multilabel-indicator":
                own = weights * class_factors(self.class_weight, (target > 0).astype(int), weights)
            return Task(target, own, priors[category], starts[category])

        return [partial(make, category) for category in range(len(priors))]

    def _fit_all(
        self,
        X: Any,
        y: Any,
        categories: Categories,
        weights: FloatArray,
        priors: list[Prior],
        settings: Settings,
    ) -> list[CategoryFit]:
        tasks = self._tasks(priors, categories, y, weights)
        n_threads = int(effective_n_jobs(self.n_jobs))
        return fit_categories(design_of(X), self._names(), tasks, settings, n_threads, self.progress)

    def _keep(self, categories: Categories, fits: list[CategoryFit]) -> None:
        self.classes_ = categories.classes
        self.target_type_ = categories.target_type
        solutions = [fit.solution for fit in fits]
        beta = np.vstack([solution.beta for solution in solutions])
        self.coef_ = np.ascontiguousarray(beta[:, :-1])
        self.intercept_ = beta[:, -1].copy()
        self.n_nonzero_ = np.count_nonzero(self.coef_, axis=1)
        self.variance_ = np.array([fit.variance for fit in fits])
        self.certificate_ = Certificate(*(np.array(values) for values in zip(*(s[1:] for s in solutions), strict=True)))
        self.n_iter_ = self.certificate_.passes
        self.cv_results_ = [fit.curve and fit.curve.as_dict() for fit in fits]
        known = [fit.precision for fit in fits if fit.precision is not None]
        if known:
            self.precision_ = np.stack(known)

    def _warn(self, fits: list[CategoryFit]) -> None:
        for message, kind in self._messages(fits):
            warnings.warn(message, kind, stacklevel=3)

    def _messages(self, fits: list[CategoryFit]) -> Iterator[tuple[str, type[Warning]]]:
        """Say which categories did not converge, fell back to the norm-based variance, or have one class only."""
        certificate = self.certificate_
        late = np.flatnonzero(~certificate.converged)
        if late.size:
            worst = late[np.argmax(certificate.relative_gap[late])]
            yield (
                f"{late.size} of {len(fits)} fits reached max_iter={self.max_iter} rounds; the worst has a relative "
                f"duality gap of {certificate.relative_gap[worst]:.1e} and a KKT residual of "
                f"{certificate.kkt_residual[worst]:.1e}. Raise max_iter, or loosen tol or epsilon.",
                ConvergenceWarning,
            )
        searches = [fit.curve.late for fit in fits if fit.curve is not None]
        if any(searches):
            yield search_message(sum(searches), self.max_iter), ConvergenceWarning
        for flag, message in (
            ("fell_back", "too few documents of a class for cross-validation: the norm-based variance was used"),
            ("one_class", "one class only: only the intercept was fitted, to a smoothed base rate"),
        ):
            places = [place for place, fit in enumerate(fits) if getattr(fit, flag)]
            if places:
                yield f"category {self._listing(places)}: {message}", UserWarning

    def _listing(self, places: list[int]) -> str:
        """Name the categories at these places, or the first of them."""
        # Of two classes the greater is the category.
        categories = self.classes_[-self.intercept_.size :]
        more = f" and {len(places) - 5} more" if len(places) > 5 else ""
        return ", ".join(str(categories[place]) for place in places[:5]) + more

    def _fit_threshold(
        self, X: Any, categories: Categories, weights: FloatArray, held_out: Sequence[FloatArray | None]
    ) -> None:
        self.threshold_ = Threshold(self.threshold, scale="log_odds")
        n_categories = len(categories.members)
        if self.threshold == "half":
            self.threshold_.fit(np.zeros((1, n_categories)))
            return
        indicator = np.column_stack([categories.target(k) > 0 for k in range(n_categories)]).astype(np.int64)
        scores = self._scores(X)
        for k, found in enumerate(held_out):
            if found is not None:
                scores[:, k] = found
        self.threshold_.fit(scores, indicator, sample_weight=weights)
