"""What all linear models share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._classifier import ScoreClassifier
from bayesift._documents import validated
from bayesift._labels import TargetType
from bayesift._state import State, unchanged_by_errors
from bayesift._threads import thread_count
from bayesift._typing import AnyArray, FloatArray
from bayesift.linear._calibrated import CalibratedScores
from bayesift.linear._fit.blocks import DenseBlock
from bayesift.linear._fit.problem import Solution, SolverOptions
from bayesift.linear._fit.variance import Choice, VarianceSettings
from bayesift.linear.certificate import Certificate
from bayesift.priors import Prior
from bayesift.shards import Shards

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
    "calibration": [StrOptions({"sigmoid"}), None],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "warm_start": ["boolean"],
    "compute_precision": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}

Message = tuple[str, type[Warning]]


def refuse_where_rows_do_not_fit(settings: dict[str, bool]) -> None:
    """Refuse settings that need all documents in memory; those that are set are true."""
    for name, is_set in settings.items():
        if is_set:
            raise ValueError(
                f"{name} needs all documents in memory, but the shards do not fit there; "
                f"open them with more memory, or choose another setting"
            )


class LinearScores(ScoreClassifier):
    """A classifier whose scores are linear: ``coef_`` has a row for each category, ``intercept_`` an entry."""

    coef_: Any
    intercept_: FloatArray

    def decision_function(self, X: Any) -> FloatArray:
        """Return the linear score β₀ + xᵀβ of each category: an array of shape (n_documents,) for two classes."""
        check_is_fitted(self)
        if isinstance(X, Shards):
            if X.shape[1] != self.n_features_in_:
                raise ValueError(f"X has {X.shape[1]} columns; expected {self.n_features_in_}, as in fit")
        else:
            X = validated(self, X, accept_sparse="csr", reset=False)
        scores = self._scores(X)
        return scores[:, 0] if self.target_type_ == "binary" else scores

    def word_weights(self) -> Any:
        """Return the coefficients, ``coef_``."""
        check_is_fitted(self)
        return self.coef_

    def linear_scores(self) -> tuple[Any, FloatArray] | None:
        """Return ``coef_`` and ``intercept_``, which give the scores as a linear function."""
        check_is_fitted(self)
        return self.coef_, self.intercept_

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller if most coefficients are zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def _scores(self, X: Any) -> FloatArray:
        """Return the linear scores of documents that have been checked."""
        if isinstance(X, Shards):
            return np.concatenate([self._scores(rows) for rows in X])
        scores = X @ self.coef_.T
        return np.asarray(scores.toarray() if sp.issparse(scores) else scores) + self.intercept_


@dataclass(eq=False, repr=False)
class LinearModel(CalibratedScores, LinearScores):
    """Linear scores at the posterior mode: the parameters and methods that all linear models share."""

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
    calibration: Literal["sigmoid"] | None = None
    class_weight: Any = None
    warm_start: bool = False
    n_jobs: int | None = -1
    random_state: Any = 0

    _parameters_before: ClassVar[dict[str, Any]] = {"dense_features": 0, "dense_variance": "cv", "calibration": None}

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
            For two classes one row, that of the second class.
        intercept : array of shape (n_categories,)
            The intercepts.
        classes : array of shape (n_classes,)
            The labels in ascending order; column numbers for an indicator matrix.
        target_type : {"binary", "multiclass", "multilabel-indicator"}, optional
            What the labels are; by default one label for each document.
        feature_names : sequence of str, optional
            Names of the columns, kept as ``feature_names_in_``.
        **parameters
            Parameters of the model. Binary models also take ``thresholds``, one number or one for each category: the
            score from which on a document is given the category (0 by default). Scores are used as they are, since
            there are no documents to calibrate them with.

        Returns
        -------
        model
            It lacks the attributes that tell how a model was fitted, such as ``certificate_``.
        """
        thresholds = parameters.pop("thresholds", None)
        model = cls(**parameters)
        if model.calibration is not None:
            raise ValueError(f"calibration is {model.calibration!r}; expected None for coefficients that are given")
        rows: Any = sp.csr_matrix(coef) if sp.issparse(coef) else np.array(coef, dtype=np.float64, ndmin=2)
        constants, labels = np.array(intercept, dtype=np.float64, ndmin=1), np.asarray(classes)
        if target_type is None:
            target_type = "binary" if labels.size == 2 else "multiclass"
        if not np.array_equal(np.unique(labels), labels):
            raise ValueError(f"classes is {classes!r}; expected different labels in ascending order")
        if constants.shape != (rows.shape[0],) or rows.shape[0] not in cls._row_counts(labels.size, target_type):
            raise ValueError(
                f"coef has {rows.shape[0]} rows and intercept has shape {constants.shape}; "
                f"expected one row and one intercept for each category of {labels.size} {target_type} classes"
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
        X : sparse matrix, array, data frame or Shards of shape (n_documents, n_features)
            Term weights, preferably sparse; :class:`bayesift.shards.Shards` hold more of them than fit in memory.
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
            Labels of any type or, for models of binary decisions, zeros and ones for each category.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.
        feature_names : sequence of str, optional
            Names of the columns, for priors that name terms; a data frame has its own.

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
        """Fit, and return the warnings to give."""
        raise NotImplementedError

    @staticmethod
    def _row_counts(n_classes: int, target_type: TargetType) -> tuple[int, ...]:
        """Return how many rows of coefficients a model of so many classes may be given."""
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
        # An update of the posterior leaves the variances, but no certificate.
        if state.has("certificate_") or state.has("variance_"):
            n_fits = state.array("variance_", (None,)).size
            state.require(n_fits in (1, n_rows), "fits and coefficients")
            # Files of earlier versions have none.
            if state.has("dense_variance_"):
                state.array("dense_variance_", (n_fits,))
            for found in state.entries("cv_results_", n_fits):
                state.require(found is None or _is_curve(found), "validations")
            if state.has("certificate_"):
                state.require(state.instance("certificate_", Certificate).objective.size == n_fits, "certificates")
                state.array("n_iter_", (n_fits,), "i")
        self._check_calibration(state, 1 if kind == "binary" else n_rows)
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
        return DenseBlock(self.dense_features, self.dense_variance)

    def _variance_settings(self, options: SolverOptions) -> VarianceSettings:
        """Refuse impossible settings of cross-validation, and collect how the variance is chosen."""
        thread_count(self.n_jobs)
        if self.runs > self.folds:
            raise ValueError(f"runs={self.runs} must not exceed folds={self.folds}: each run leaves out one fold")
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
        """Say which fits did not converge, the final ones and those that chose the variance."""
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
