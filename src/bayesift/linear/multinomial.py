"""Sparse Bayesian regression of several classes at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift import progress
from bayesift._documents import checked_weights, validated
from bayesift._labels import TargetType, categories_of, check_label_types, class_factors, validate_labels
from bayesift._state import State
from bayesift._typing import AnyArray, BoolArray, FloatArray, Int64Array
from bayesift.linear._base import (
    SHARED_CONSTRAINTS,
    TOO_FEW,
    LinearModel,
    Message,
    listing,
    nonzero_counts,
    refuse_where_rows_do_not_fit,
)
from bayesift.linear._fit.categories import priors_of
from bayesift.linear._fit.copies import merge_copies
from bayesift.linear._fit.platt import Line, temperature
from bayesift.linear._fit.problem import Documents, SolverName, SolverOptions, design_of
from bayesift.linear._fit.softmax_problem import (
    PriorSetting,
    SoftmaxProblem,
    choose_class_blocks,
    fit_present_classes,
    softmax_fits_without_folds,
    softmax_held_out_scores,
)
from bayesift.linear._fit.variance import (
    Choice,
    FitWithoutFold,
    LabelledDocuments,
    VarianceSettings,
    choose_variance,
    grid_of,
)
from bayesift.shards import Shards


@dataclass(eq=False, repr=False)
class BayesianMultinomialRegression(LinearModel):
    """Softmax regression at the posterior mode under Laplace or Gaussian priors, with a proof of optimality.

    Minimises over the coefficients of all classes together

        F(β) = Σ_i s_i [ln Σ_k exp(z_ik) − z_i,y_i] + Σ_jk p_jk(β_jk − m_jk),   z_ik = β_0k + x_iᵀβ_k,

    where p_jk is λ_jk abs(δ) for a Laplace and δ²/(2v_jk) for a Gaussian prior. Every class has coefficients of its own
    (symmetric coding) unless one is named as the reference.

    If the same number can be added to the coefficients of a feature in all classes without changing F, the optimum is a
    whole line. The fit then makes those of the feature's coefficients that no prior penalises (by default, the
    intercepts) sum to zero; under Laplace priors, whose optimum can be an interval, it puts as many as possible at
    their modes.

    Parameters
    ----------
    prior : {"laplace", "gaussian"}, Prior, or list or mapping of them, default="laplace"
        The prior of the coefficients. A list has one entry for each class in the order of ``classes_``, a mapping goes
        from class to prior (the other classes get a plain Laplace prior). A prior with a variance of its own is used as
        it is; those whose variance is open share the ``variance`` below.
    variance : float or {"cv", "norm", "auto"}, default="cv"
        Prior variance: a number; ``"norm"``, (d + 1) / (mean squared norm of a document); ``"cv"``, the best of
        ``grid`` by cross-validation; ``"auto"``, the best found by a search without a grid, starting from
        1 / (mean squared norm).
    intercept_variance : float or "same", default=inf
        Prior variance of the intercepts; infinite is unpenalised, ``"same"`` is like any other coefficient.
    reference_class : label or None, default=None
        A class whose coefficients are all zero.
    exclude_absent : bool, default=False
        Fix at zero the coefficient of a term in a class whose documents never contain it.
    dense_features : int, default=0
        How many of the last columns are dense features, such as document vectors or numbers beside the text. They get
        Gaussian priors with a variance of their own; ``prior`` and ``variance`` apply to the other columns.
    dense_variance : float or "cv", default="cv"
        Prior variance of the dense features; ``"cv"`` chooses one for all classes by cross-validation, together with
        ``variance`` if that is to be chosen.
    solver : {"newton", "clg"}, default="newton"
        ``"newton"``: Newton steps on all classes together, stopped by the duality gap; under Laplace priors on working
        sets. ``"clg"``: cyclic coordinate descent as in Genkin, Lewis & Madigan (2007).
    tol : float or None, default=None
        ``"newton"`` stops when the duality gap is at most this share of the objective (1e-6 by default; fits that only
        serve to choose a variance from a grid stop at 0.001 already), ``"clg"`` when the scores change by at most this
        share in a pass (0.0005 by default).
    max_iter : int, default=1000
        Maximum number of rounds; reaching it warns.
    grid : sequence of float or None, default=None
        Variances to try with ``"cv"``; None is the paper's grid (Laplace rates 0.01 to 316 by √10, Gaussian variances
        10⁻⁴ to 10⁴ by 10) and, with at least 1,000 different documents, one between the best and its better neighbour.
    folds, runs : int, default=10 and 2
        Number of folds, and how many of them are left out in turn. Copies of a document are in the same fold, where
        they count as at most three documents. With more than 30,000 different documents the search for a variance
        (without dense features) learns from a random sample, with at least 3,000 of each class, and is judged by all
        others.
    one_standard_error : bool, default=False
        With ``"cv"``, take the smallest variance within one standard error of the best.
    calibration : {"sigmoid"} or None, default=None
        ``"sigmoid"`` multiplies the scores of all classes by the factor that fits the labels of held-out documents best
        (the counterpart of Platt's line for a softmax: a temperature). Decisions stay the same. It costs up to
        ``folds`` more fits.
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    compute_precision : bool, default=False
        Also compute ``precision_``, so that this posterior can serve as a later prior.
    n_jobs : int or None, default=-1
        Number of threads, which share the runs of cross-validation; -1 uses all cores.
    random_state : int, RandomState or None, default=0
        Seeds the division of the documents into folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    target_type_ : {"binary", "multiclass"}
        Whether there are two classes or more.
    coef_ : ndarray or csr_matrix of shape (n_categories, n_features)
        What one unit of a feature adds to a score: for two classes one row, the coefficients of the second minus those
        of the first; otherwise ``class_coef_``. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (n_categories,)
    class_coef_ : ndarray or csr_matrix of shape (n_classes, n_features)
        Coefficients of each class, also if there are two.
    class_intercept_ : ndarray of shape (n_classes,)
    n_nonzero_ : ndarray of shape (n_classes,)
        Number of coefficients of each class that are not zero.
    variance_ : ndarray of shape (1,)
        The variance used for the priors that left it open; NaN if none did.
    dense_variance_ : ndarray of shape (1,)
        The variance used for dense features; 0 if there are none, or if they do not help.
    certificate_ : Certificate
        Objective, duality gap, KKT residual, rounds and seconds; arrays of one entry, because there is one fit.
    cv_results_ : list of one (dict or None)
        ``variances``, ``scores`` (held-out log likelihood summed over the runs), ``fold_scores`` and the ``variance``
        chosen; None without cross-validation.
    calibration_ : ndarray of shape (n_categories, 2)
        With ``calibration``, slope and intercept of the calibrated score as a function of β₀ + xᵀβ: the same slope for
        all classes, and 0. Scores, probabilities and :meth:`word_weights` are calibrated; ``coef_`` stays at the mode.
    precision_ : ndarray of shape (n_classes, n_features + 1)
        Diagonal of the negative Hessian of the log posterior, the intercept last; with ``compute_precision``. Its
        inverse is the variance of a coefficient *given all others*, which is smaller than its posterior variance.
        :mod:`bayesift.posterior` has no softmax model: for intervals, fit a binary model for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.linear import BayesianMultinomialRegression
    >>> X = np.array([[2.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 1, 0], [0, 0, 2], [0, 0, 1]])
    >>> y = ["wheat", "wheat", "sea", "sea", "gold", "gold"]
    >>> model = BayesianMultinomialRegression(variance=4.0).fit(X, y)
    >>> model.classes_.tolist(), model.n_nonzero_.tolist()
    (['gold', 'sea', 'wheat'], [1, 1, 1])
    >>> model.predict(X).tolist() == y
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "reference_class": "no_validation",
        "exclude_absent": ["boolean"],
        "solver": [StrOptions({"newton", "clg"})],
    }
    _scores_exclude_each_other: ClassVar[bool] = True

    class_coef_: Any = field(init=False)
    class_intercept_: FloatArray = field(init=False)

    _: KW_ONLY
    solver: SolverName = "newton"
    reference_class: Any = None
    exclude_absent: bool = False
    compute_precision: bool = False

    def _fit(self, X: Any, y: Any, sample_weight: Any, feature_names: Sequence[str] | None) -> Iterator[Message]:
        if isinstance(X, Shards):
            y, feature_names = validate_labels(self, X, y), X.terms if feature_names is None else feature_names
            X = self._rows_of(X)
        if not isinstance(X, Shards):
            check_label_types(y)
            X, y = validated(self, X, y, accept_sparse=("csr", "csc"))
        options = SolverOptions(self.solver, self.tol, self.max_iter)
        settings = self._variance_settings(options)
        weights = checked_weights(sample_weight, X)
        if options.merges_copies and not isinstance(X, Shards):
            X, y, weights = merge_copies(X, y, weights)
        target_type, classes, _, _ = categories_of(y, type(self).__name__)
        codes = np.searchsorted(classes, y).astype(np.int64)
        if self.class_weight is not None:
            weights = weights * class_factors(self.class_weight, y, weights)
        reference = self._reference(classes)
        priors = priors_of(self.prior, classes, classes.size)
        setting = PriorSetting(
            priors, self.intercept_variance, self._column_names(feature_names), None, self._dense_block()
        )
        # A term that no feature has must be an error before any work is done.
        setting.resolved(1.0, self.n_features_in_)
        start = None
        if self.warm_start and hasattr(self, "class_coef_"):
            coef, intercept = self.class_coef_, self.class_intercept_
            start = self._last_coefficients(coef, intercept, classes.size, "classes").T
        setting = setting._replace(fixed=self._fixed(X, codes, weights, classes.size, reference))
        design = self._documents_of(X) if isinstance(X, Shards) else design_of(X)
        documents = LabelledDocuments(design, codes, weights)
        choice = self._choose(documents, setting, settings)
        prior = setting.at(choice.scale, self.n_features_in_, choice.dense_variance)
        problem = SoftmaxProblem(design, codes, weights, prior)
        if start is None and choice.curve is not None:
            start = choice.curve.start
        solution, absent = fit_present_classes(problem, options, start)
        total = choice.curve.fold_scores.size + 1 if choice.curve is not None and self.variance == "cv" else 1
        line = Line()
        if self.calibration is not None:
            fold = documents.folds(settings.folds, settings.seed)
            held_out = softmax_held_out_scores(problem, fold, settings.options, self.n_jobs)
            line = Line(temperature(held_out, codes, weights))
        progress.report(total, total)
        self.classes_, self.target_type_ = classes, target_type
        self._set_coefficients(np.ascontiguousarray(solution.beta[:-1].T), solution.beta[-1].copy())
        self._set_calibration([line] * self.intercept_.size)
        self._set_outcome([solution], [choice])
        if self.compute_precision:
            self.precision_ = np.ascontiguousarray(problem.precision(solution.beta).T)
        return self._fit_messages(choice, absent)

    def _rows_of(self, shards: Shards) -> Any:
        """Return the rows of shards as a matrix if they fit in memory, and refuse what needs them there."""
        # Seldom needed.
        from bayesift.linear._sharded.design import fits_in_memory

        if fits_in_memory(shards):
            return shards.in_memory()
        refuse_where_rows_do_not_fit(
            {
                f"solver={self.solver!r}": self.solver != "newton",
                f"calibration={self.calibration!r}": self.calibration is not None,
                "compute_precision=True": self.compute_precision,
            }
        )
        return shards

    def _documents_of(self, shards: Shards) -> Documents:
        from bayesift.linear._sharded.design import ShardedDesign

        return ShardedDesign(shards, self.n_jobs)

    def _choose(self, documents: LabelledDocuments, setting: PriorSetting, settings: VarianceSettings) -> Choice:
        """Choose the variance, and report every fit of the search; the final fit to all documents is still to come."""
        n_features, given = self.n_features_in_, setting.dense.given
        n_jobs = documents.design.inner_jobs(self.n_jobs)
        if setting.dense.is_open:
            return choose_class_blocks(documents, setting, settings, n_jobs)
        grid = grid_of(setting.priors) if settings.grid is None else settings.grid
        # One more variance may be tried between those of our own grid.
        total, done = (grid.size + (settings.grid is None)) * settings.runs + 1, count(1)

        def report() -> None:
            # Without a grid the number of fits is not known beforehand.
            if settings.variance == "cv":
                progress.report(next(done), total)

        def fits_without_folds(fold: Int64Array) -> FitWithoutFold:
            return softmax_fits_without_folds(
                documents,
                lambda variance: setting.at(variance, n_features, given),
                fold,
                settings.runs,
                settings.options,
            )

        choice = choose_variance(
            documents, setting.priors, settings, fits_without_folds, n_jobs=n_jobs, after_fit=report
        )
        return choice._replace(dense_variance=given)

    @property
    def coef_(self) -> Any:
        """Coefficients of the scores: for two classes, those of the second minus those of the first."""
        rows = self.class_coef_
        return rows[1:] - rows[:1] if self.target_type_ == "binary" else rows

    @property
    def intercept_(self) -> FloatArray:  # type: ignore[override]
        """Intercepts of the scores: for two classes, that of the second minus that of the first."""
        return np.diff(self.class_intercept_) if self.target_type_ == "binary" else self.class_intercept_

    def sparsify(self) -> Self:
        """Keep the coefficients as sparse matrices, which are smaller if most of them are zero."""
        check_is_fitted(self)
        self.class_coef_ = sp.csr_matrix(self.class_coef_)
        return self

    @staticmethod
    def _row_counts(n_classes: int, target_type: TargetType) -> tuple[int, ...]:
        return (n_classes, 1) if target_type == "binary" else (n_classes,)

    def _set_coefficients(self, rows: Any, constants: FloatArray) -> None:
        if rows.shape[0] < self.classes_.size:
            # One row for two classes: the first class is as good as a reference.
            blank = sp.csr_matrix(rows.shape) if sp.issparse(rows) else np.zeros_like(rows)
            rows = sp.vstack([blank, rows], format="csr") if sp.issparse(rows) else np.vstack([blank, rows])
            constants = np.append(0.0, constants)
        self.class_coef_, self.class_intercept_ = rows, constants
        self.n_nonzero_ = nonzero_counts(rows)

    def _check_state(self, state: State) -> None:
        self._check_coefficients(state, "class_coef_", "class_intercept_")

    def _reference(self, classes: AnyArray) -> int | None:
        """Return the number of the reference class."""
        if self.reference_class is None:
            return None
        known = classes.tolist()
        if self.reference_class not in known:
            raise ValueError(f"reference_class is {self.reference_class!r}, which y does not have; y has {known}")
        return known.index(self.reference_class)

    def _fixed(
        self, X: Any, codes: Int64Array, weights: FloatArray, n_classes: int, reference: int | None
    ) -> BoolArray | None:
        """Mark the coefficients that are zero whatever their prior, the intercepts last."""
        if reference is None and not self.exclude_absent:
            return None
        fixed = np.zeros((self.n_features_in_ + 1, n_classes), dtype=bool)
        if self.exclude_absent:
            blocks, first = (X if isinstance(X, Shards) else [X]), 0
            fixed[:-1] = True
            for block in blocks:
                part = slice(first, first + block.shape[0])
                for k in range(n_classes):
                    own = block[(codes[part] == k) & (weights[part] > 0)]
                    fixed[:-1, k] &= np.asarray((own != 0).sum(axis=0)).ravel() == 0
                first += block.shape[0]
        if reference is not None:
            fixed[:, reference] = True
        return fixed

    def _fit_messages(self, choice: Choice, absent: Int64Array) -> Iterator[Message]:
        """Say whether the fit did not converge, fell back to the norm-based variance, or lacks a class."""
        yield from self._messages([choice])
        if choice.fell_back:
            yield TOO_FEW, UserWarning
        if absent.size:
            yield (
                f"class {listing(self.classes_[absent])}: no document with a weight; only the intercept was fitted, to "
                f"a smoothed base rate",
                UserWarning,
            )
