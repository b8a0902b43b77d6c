"""What all linear models share, and what those share that take one binary decision for each category."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from bayesift._classifier import ScoreClassifier
from bayesift._documents import checked_weights, validated
from bayesift._labels import Categories, TargetType, categories_of, class_factors, validate_documents
from bayesift._state import State, unchanged_by_errors
from bayesift._threads import thread_count
from bayesift._typing import AnyArray, FloatArray
from bayesift.decide import Threshold
from bayesift.decide.tuning import Policy, check_policy
from bayesift.linear._averaged import AveragedScores, PosteriorName
from bayesift.linear._fit.blocks import DenseBlock
from bayesift.linear._fit.categories import CategoryFit, Settings, Task, fit_categories, priors_of
from bayesift.linear._fit.copies import merge_copies
from bayesift.linear._fit.problem import Problem, Solution, SolverOptions, design_of
from bayesift.linear._fit.variance import Choice, VarianceSettings
from bayesift.linear._losses import PROBIT, log_probability
from bayesift.linear.certificate import Certificate
from bayesift.priors import Prior

#: Newton fits that only serve to choose a variance of a grid stop at this relative gap, or at a larger ``tol``; and,
#: under Laplace priors, when a round lowers the objective by at most a tenth of this share.
VALIDATION_GAP = 1e-3

#: What the parameters that all models have may be.
SHARED_CONSTRAINTS: dict[str, Any] = {
    "prior": [StrOptions({"laplace", "gaussian"}), Prior, Sequence, Mapping],
    "variance": [Interval(Real, 0, None, closed="both"), StrOptions({"cv", "norm", "auto"})],
    "intercept_variance": [Interval(Real, 0, None, closed="both"), StrOptions({"same"})],
    "dense_features": [Interval(Integral, 0, None, closed="left")],
    "dense_variance": [Interval(Real, 0, None, closed="left"), StrOptions({"cv"})],
    "tol": [Interval(Real, 0, 1, closed="neither"), None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "grid": ["array-like", None],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "runs": [Interval(Integral, 1, None, closed="left")],
    "one_standard_error": ["boolean"],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "warm_start": ["boolean"],
    "compute_precision": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}

#: What the parameters that all binary models have may be.
BINARY_CONSTRAINTS: dict[str, Any] = {
    **SHARED_CONSTRAINTS,
    "variance": [Interval(Real, 0, None, closed="both"), StrOptions({"cv", "shared", "norm", "auto", "evidence"})],
    "posterior": [StrOptions({"auto", "laplace", "ep", "gibbs"}), None],
    "threshold": "no_validation",
    "threshold_on": [StrOptions({"train", "cv"})],
}

Message = tuple[str, type[Warning]]


class LinearScores(ScoreClassifier):
    """A classifier whose scores are linear: ``coef_`` has a row for each category, ``intercept_`` an entry."""

    coef_: Any
    intercept_: FloatArray

    def decision_function(self, X: Any) -> FloatArray:
        """Return the linear score β₀ + xᵀβ of each category: an array of shape (n_documents,) for two classes."""
        check_is_fitted(self)
        scores = self._scores(validated(self, X, accept_sparse="csr", reset=False))
        return scores[:, 0] if self.target_type_ == "binary" else scores

    def word_weights(self) -> Any:
        """Return the coefficients, ``coef_``."""
        check_is_fitted(self)
        return self.coef_

    def linear_scores(self) -> tuple[Any, FloatArray] | None:
        """Return ``coef_`` and ``intercept_``, of which scores are a linear function."""
        check_is_fitted(self)
        return self.coef_, self.intercept_

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller where most coefficients are zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def _scores(self, X: Any) -> FloatArray:
        """Return the linear scores of documents that are checked already."""
        scores = X @ self.coef_.T
        return np.asarray(scores.toarray() if sp.issparse(scores) else scores) + self.intercept_


@dataclass(eq=False, repr=False)
class LinearModel(LinearScores):
    """Linear scores at the posterior mode: the parameters of all linear models, and what they do alike."""

    prior: Any = "laplace"
    variance: float | Literal["cv", "shared", "norm", "auto", "evidence"] = "cv"
    _: KW_ONLY
    intercept_variance: float | Literal["same"] = np.inf
    dense_features: int = 0
    dense_variance: float | Literal["cv"] = "cv"
    solver: str = "newton"
    tol: float | None = None
    max_iter: int = 1000
    grid: Sequence[float] | None = None
    folds: int = 10
    runs: int = 2
    one_standard_error: bool = False
    class_weight: Any = None
    warm_start: bool = False
    n_jobs: int | None = -1
    random_state: Any = 0

    _parameters_before: ClassVar[dict[str, Any]] = {"dense_features": 0, "dense_variance": "cv"}

    #: Whether a Laplace prior, which has no curvature, enters ``precision_`` by its variance.
    precision_includes_laplace: ClassVar[bool] = False

    @classmethod
    def from_coefficients(
        cls,
        coef: Any,
        intercept: Any,
        *,
        classes: Any,
        target_type: TargetType | None = None,
        feature_names: Sequence[str] | None = None,
        **parameters: Any,
    ) -> Self:
        """Return a fitted model with given coefficients.

        Parameters
        ----------
        coef : array or sparse matrix of shape (n_categories, n_features)
            One row for two classes, that of the second.
        intercept : array of shape (n_categories,)
            The constants.
        classes : array of shape (n_classes,)
            The labels in ascending order; column numbers for an indicator matrix.
        target_type : {"binary", "multiclass", "multilabel-indicator"}, optional
            What the labels are; by default one label for each document.
        feature_names : sequence of str, optional
            Names of the columns, kept as ``feature_names_in_``.
        **parameters
            Parameters of the model; of the binary models also ``thresholds``, a number or one for each category, the
            score from which on a category is decided for (0 by default).

        Returns
        -------
        model
            Without the attributes that tell how a model was fitted, such as ``certificate_``.
        """
        thresholds = parameters.pop("thresholds", None)
        model = cls(**parameters)
        rows: Any = sp.csr_matrix(coef) if sp.issparse(coef) else np.array(coef, dtype=np.float64, ndmin=2)
        constants, labels = np.array(intercept, dtype=np.float64, ndmin=1), np.asarray(classes)
        if target_type is None:
            target_type = "binary" if labels.size == 2 else "multiclass"
        if not np.array_equal(np.unique(labels), labels):
            raise ValueError(f"classes is {classes!r}; expected different labels in ascending order")
        if constants.shape != (rows.shape[0],) or rows.shape[0] not in cls._row_counts(labels.size, target_type):
            raise ValueError(
                f"coef has {rows.shape[0]} rows and intercept has shape {constants.shape}; "
                f"expected one of each for each category of {labels.size} {target_type} classes"
            )
        model.classes_, model.target_type_, model.n_features_in_ = labels, target_type, rows.shape[1]
        if feature_names is not None:
            model.feature_names_in_ = np.asarray(feature_names, dtype=object)
        model._set_coefficients(rows, constants)
        model._set_thresholds(thresholds)
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None, feature_names: Sequence[str] | None = None) -> Self:
        """Find the posterior mode.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Term weights; sparse matrices are the natural form.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels of any type; or zeros and ones for each category, which the models of binary decisions take.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.
        feature_names : sequence of str, optional
            Names of the columns, for priors that name terms; a data frame brings its own.

        Returns
        -------
        self
        """
        self._validate_params()
        with unchanged_by_errors(self):
            messages = self._fit(X, y, sample_weight, feature_names)
        self._warn(messages)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, feature_names: Sequence[str] | None) -> Iterator[Message]:
        """Fit, and return what there is to warn of."""
        raise NotImplementedError

    @staticmethod
    def _row_counts(n_classes: int, target_type: TargetType) -> tuple[int, ...]:
        """Return how many rows of coefficients a model of some classes can be given."""
        return (1,) if target_type == "binary" else (n_classes,)

    def _set_coefficients(self, rows: Any, constants: FloatArray) -> None:
        self.coef_, self.intercept_ = rows, constants
        self.n_nonzero_ = nonzero_counts(rows)

    def _check_state(self, state: State) -> None:
        self._check_coefficients(state, "coef_", "intercept_")

    def _check_coefficients(self, state: State, coef: str, intercept: str) -> int:
        """Refuse, in a model file, coefficients that do not fit each other or the classes; return their rows.

        A model that was made from coefficients has nothing of how it was fitted.
        """
        n_features, (classes, kind) = state.features(), state.targets()
        n_rows = self._row_counts(classes.size, kind)[0]
        state.matrix(coef, (n_rows, n_features))
        state.array(intercept, (n_rows,))
        state.array("n_nonzero_", (n_rows,), "i")
        if state.has("precision_"):
            state.array("precision_", (n_rows, n_features + 1))
        if state.has("certificate_"):
            n_fits = state.instance("certificate_", Certificate).objective.size
            state.require(n_fits in (1, n_rows), "fits and coefficients")
            state.array("n_iter_", (n_fits,), "i")
            state.array("variance_", (n_fits,))
            # Files of earlier versions have none.
            if state.has("dense_variance_"):
                state.array("dense_variance_", (n_fits,))
            for found in state.entries("cv_results_", n_fits):
                state.require(found is None or _is_curve(found), "validations")
        return n_rows

    def _set_thresholds(self, thresholds: Any) -> None:
        if thresholds is not None:
            raise ValueError(f"thresholds is {thresholds!r}, but {type(self).__name__} has none")

    def _column_names(self, feature_names: Sequence[str] | None) -> Any:
        """Return the names of the columns, if they have any; those of a data frame come first."""
        return getattr(self, "feature_names_in_", feature_names)

    def _dense_block(self) -> DenseBlock:
        """Return how many of the last columns are dense features, and their variance."""
        if self.dense_features > self.n_features_in_:
            raise ValueError(
                f"dense_features is {self.dense_features}; expected at most {self.n_features_in_}, the columns of X"
            )
        if self.dense_features and self.variance == "evidence" and self.dense_variance == "cv":
            raise ValueError("variance is 'evidence' and dense_variance 'cv'; expected a number for one of them")
        return DenseBlock(self.dense_features, self.dense_variance)

    def _variance_settings(self, options: SolverOptions) -> VarianceSettings:
        """Refuse impossible settings of cross-validation, and collect how the variance is chosen."""
        thread_count(self.n_jobs)
        if self.runs > self.folds:
            raise ValueError(f"runs={self.runs} must not exceed folds={self.folds}: a run leaves out one of the folds")
        grid = None if self.grid is None else np.asarray(self.grid, dtype=np.float64)
        if grid is not None and (grid.ndim != 1 or grid.size == 0 or not np.all(grid > 0)):
            raise ValueError(f"grid must be a list of variances greater than 0, got {self.grid!r}")
        # Without a grid the variance itself moves with the scores, and is as exact as they are.
        gap = min(100.0 * options.tolerance("newton"), VALIDATION_GAP) if self.variance == "auto" else VALIDATION_GAP
        return VarianceSettings(
            variance=self.variance,
            grid=grid,
            folds=self.folds,
            runs=self.runs,
            one_standard_error=self.one_standard_error,
            options=options._replace(least_gap=gap, settled=0.1 * gap),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )

    def _last_coefficients(self, coef: Any, intercept: FloatArray, n_rows: int, of: str) -> FloatArray:
        """Return the coefficients of the last fit, to start from, the intercept last."""
        coef = coef.toarray() if sp.issparse(coef) else coef
        if coef.shape != (n_rows, self.n_features_in_):
            raise ValueError(
                f"warm_start needs the same {of} and features as before: coef_ has shape {coef.shape}, "
                f"now there are {n_rows} {of} and {self.n_features_in_} features"
            )
        return np.column_stack([coef, intercept])

    def _set_outcome(self, solutions: Sequence[Solution], choices: Sequence[Choice]) -> None:
        """Keep how the fits went and how their variances were chosen."""
        self.variance_ = np.array([choice.variance for choice in choices])
        self.dense_variance_ = np.array([choice.dense_variance for choice in choices])
        self.cv_results_ = [choice.curve and choice.curve.as_dict() for choice in choices]
        self.certificate_ = Certificate(*(np.array(values) for values in zip(*(s[1:] for s in solutions), strict=True)))
        self.n_iter_ = self.certificate_.passes

    def _messages(self, choices: Sequence[Choice]) -> Iterator[Message]:
        """Say what did not converge, of the fits and of those that chose the variance."""
        certificate = self.certificate_
        open_fits = np.flatnonzero(~certificate.converged)
        if open_fits.size:
            worst = open_fits[np.argmax(certificate.relative_gap[open_fits])]
            yield (
                f"{open_fits.size} of {len(choices)} fits reached max_iter={self.max_iter} rounds; the worst has a "
                f"relative duality gap of {certificate.relative_gap[worst]:.1e} and a KKT residual of "
                f"{certificate.kkt_residual[worst]:.1e}. Raise max_iter, or loosen tol.",
                ConvergenceWarning,
            )
        n_unconverged = sum(choice.curve.n_unconverged for choice in choices if choice.curve is not None)
        if n_unconverged:
            yield (
                f"{n_unconverged} fits of the search for a variance did not converge within max_iter={self.max_iter} "
                f"rounds; the variance chosen may not be the best. Raise max_iter, or loosen tol.",
                ConvergenceWarning,
            )

    @staticmethod
    def _warn(messages: Iterator[Message]) -> None:
        """Warn whoever called ``fit``; the only place that warns."""
        for message, kind in messages:
            warnings.warn(message, kind, stacklevel=3)


#: Why the norm-based variance was taken.
TOO_FEW = "too few documents of a class for cross-validation: the norm-based variance was used"


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

    # For files of models from before there were these parameters.
    _parameters_before: ClassVar[dict[str, Any]] = {**LinearModel._parameters_before, "posterior": None}
    _link: ClassVar[int]

    def _solver_options(self) -> SolverOptions:
        """Return the solver and when it stops."""
        raise NotImplementedError

    def _posterior(self) -> Callable[[Problem, FloatArray], FloatArray] | None:
        """Return the function that computes ``precision_`` from a problem and its mode; None computes nothing."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any, feature_names: Sequence[str] | None) -> Iterator[Message]:
        X, y = validate_documents(self, X, y)
        settings = self._settings(self._column_names(feature_names))
        weights = checked_weights(sample_weight, X)
        if settings.options.merges_copies:
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
        """Refuse impossible settings, and collect those that hold for all categories."""
        check_policy(self.threshold, "threshold")
        if self.posterior is not None and self.threshold != "half":
            raise ValueError(
                f"threshold is {self.threshold!r}; expected 'half' where posterior is {self.posterior!r}: others are "
                f"tuned on scores at the mode"
            )
        options = self._solver_options()
        return Settings(
            variance=self._variance_settings(options),
            intercept_variance=self.intercept_variance,
            options=options,
            posterior=self._posterior(),
            score_held_out=self.threshold_on == "cv" and self.threshold != "half",
            feature_names=feature_names,
            link=self._link,
            belief=self.posterior,
            dense=self._dense_block(),
        )

    def _priors(self, categories: Categories) -> list[Prior]:
        """Return the prior of every category."""
        return priors_of(self.prior, categories.classes, len(categories.members), jeffreys=self._link == PROBIT)

    def _check_terms(self, priors: list[Prior], settings: Settings) -> None:
        """Refuse a term that no feature has before the first fit, not when its category comes."""
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
        single = self.posterior is not None or self.variance == "evidence"
        with threadpool_limits(1, "blas") if single else nullcontext():
            tasks, is_open = self._tasks(priors, categories, y, weights), [prior.is_open for prior in priors]
            return fit_categories(design_of(X), tasks, settings, self.n_jobs, is_open)

    def _set_attributes(self, categories: Categories, fits: list[CategoryFit]) -> None:
        self.classes_, self.target_type_ = categories.classes, categories.target_type
        beta = np.vstack([fit.solution.beta for fit in fits])
        self._set_coefficients(np.ascontiguousarray(beta[:, :-1]), beta[:, -1].copy())
        self._set_outcome([fit.solution for fit in fits], [fit.choice for fit in fits])
        self._set_beliefs(fits)
        known = [fit.precision for fit in fits if fit.precision is not None]
        if known:
            self.precision_ = np.stack(known)

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
        scores = self._scores(X)
        for k, found in enumerate(held_out):
            if found is not None:
                scores[:, k] = found
        self.threshold_.fit(scores, indicator, sample_weight=weights)


def listing(labels: AnyArray) -> str:
    """Name the labels, or the first five of them."""
    more = f" and {labels.size - 5} more" if labels.size > 5 else ""
    return ", ".join(str(label) for label in labels[:5]) + more


def nonzero_counts(rows: Any) -> AnyArray:
    """Count the coefficients of each row that are not zero."""
    return np.asarray((rows != 0).sum(axis=1)).ravel()


def _is_curve(found: Any) -> bool:
    """Return whether something from a model file is the record of a validation: numbers by name."""
    return type(found) is dict and all(
        type(name) is str and (isinstance(values, float) or getattr(values, "dtype", None) == np.float64)
        for name, values in found.items()
    )
