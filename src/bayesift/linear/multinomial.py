"""Sparse Bayesian regression of several classes at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_sample_weight, validate_data

from bayesift._labels import categories_of, check_label_types, class_factors
from bayesift._typing import AnyArray, BoolArray, FloatArray, Int64Array
from bayesift.linear._base import SHARED_CONSTRAINTS, LinearModel, search_message
from bayesift.linear._fit.categories import priors_of
from bayesift.linear._fit.problem import Rule, SoftmaxSolverName, Solution, design_of
from bayesift.linear._fit.softmax_problem import PriorSetting, SoftmaxProblem, fit_present_classes
from bayesift.linear._fit.variance import Choice, SoftmaxSettings, choose_variance
from bayesift.linear.certificate import Certificate


class BayesianMultinomialRegression(LinearModel):
    """Softmax regression at the posterior mode under Laplace or Gaussian priors, with proof of optimality.

    Minimises over the coefficients of all classes together

        F(β) = Σ_i s_i [ln Σ_k exp(z_ik) − z_i,y_i] + Σ_jk p_jk(β_jk − m_jk),   z_ik = β_0k + x_iᵀβ_k,

    where p_jk is λ_jk abs(δ) for a Laplace and δ²/(2v_jk) for a Gaussian prior. Every class has coefficients of its own
    (symmetric coding) unless one is named as the reference.

    Where every class may have the same number added to its coefficient of a feature without any change of F, the
    optimum is a whole line. Then the coefficients of that feature that no prior penalises (by default, the intercepts)
    sum to zero, and under Laplace priors, whose optimum can be an interval, as many as possible are at their modes.

    Parameters
    ----------
    prior : {"laplace", "gaussian"}, Prior, or list or mapping of them, default="laplace"
        The prior of the coefficients. A list has one entry for each class in the order of ``classes_``, a mapping goes
        from class to prior (the other classes get a plain Laplace prior). A prior with a variance of its own is used as
        it stands; those whose variance is open share the ``variance`` below.
    variance : float or {"cv", "norm", "auto"}, default="cv"
        Prior variance: a number; ``"norm"``, (d + 1) / (mean squared norm of a document); ``"cv"``, the best of
        ``grid`` by cross-validation; ``"auto"``, a search without a grid that starts at the norm-based value.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercepts; infinite is unpenalised, ``"same"`` is like any other coefficient.
    reference_class : label or None, default=None
        A class whose coefficients are all zero.
    exclude_absent : bool, default=False
        Fix at zero the coefficient of a term in a class none of whose documents holds it.
    solver : {"newton", "descent"}, default="newton"
        ``"newton"``: Newton steps on all classes together, stopped by the duality gap; under Laplace priors on working
        sets. ``"descent"``: cyclic coordinate descent in the manner of Genkin, Lewis & Madigan (2007).
    tol : float, default=1e-6
        ``"newton"`` stops when the duality gap is at most this share of the objective. Fits that only serve to choose
        a variance of a grid stop at 0.001 already.
    epsilon : float, default=0.0005
        ``"descent"`` stops when the scores change by at most this share in a pass.
    max_iter : int, default=1000
        Limit of rounds; reaching it warns.
    grid : sequence of float or None, default=None
        Variances to try with ``"cv"``; None is the paper's grid (Laplace rates 0.01 to 316 by √10, Gaussian variances
        10⁻⁴ to 10⁴ by 10).
    folds, runs : int, default=10 and 2
        Folds the documents are dealt into, and how many of them are left out in turn.
    one_standard_error : bool, default=False
        With ``"cv"``, take the smallest variance within one standard error of the best.
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    compute_precision : bool, default=False
        Also compute ``precision_``, which makes this posterior usable as a later prior.
    feature_names : sequence of str or None, default=None
        Names of the columns, for priors that name terms; a data frame brings its own.
    progress : callable or None, default=None
        Called with the number of fits done and their total; with ``"auto"``, whose number of fits is not known, at the
        end only.
    n_jobs : int or None, default=-1
        Threads, over the runs of cross-validation; -1 is all cores.
    random_state : int, RandomState or None, default=0
        Deals the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray or csr_matrix of shape (n_classes, n_features)
        Coefficients, also of two classes one row each. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (n_classes,)
    n_nonzero_ : ndarray of shape (n_classes,)
        Coefficients of each class that are not zero.
    variance_ : float
        The variance used for the priors that left it open; NaN where none did.
    certificate_ : Certificate
        Objective, duality gap, KKT residual, rounds and seconds; arrays of one entry, as there is one fit.
    cv_results_ : dict or None
        ``variances``, ``scores`` (held-out log likelihood summed over the runs), ``fold_scores`` and the ``variance``
        chosen; None where nothing was searched.
    precision_ : ndarray of shape (n_classes, n_features + 1)
        Diagonal of the negative Hessian of the log posterior, the intercept last; with ``compute_precision``.

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
        "solver": [StrOptions({"newton", "descent"})],
    }

    def __init__(
        self,
        prior: Any = "laplace",
        variance: float | Literal["cv", "norm", "auto"] = "cv",
        *,
        intercept_variance: float | Literal["same"] = np.inf,
        reference_class: Any = None,
        exclude_absent: bool = False,
        solver: SoftmaxSolverName = "newton",
        tol: float = 1e-6,
        epsilon: float = 0.0005,
        max_iter: int = 1000,
        grid: Sequence[float] | None = None,
        folds: int = 10,
        runs: int = 2,
        one_standard_error: bool = False,
        class_weight: Any = None,
        warm_start: bool = False,
        compute_precision: bool = False,
        feature_names: Sequence[str] | None = None,
        progress: Callable[[int, int], None] | None = None,
        n_jobs: int | None = -1,
        random_state: Any = 0,
    ) -> None:
        self.prior = prior
        self.variance = variance
        self.intercept_variance = intercept_variance
        self.reference_class = reference_class
        self.exclude_absent = exclude_absent
        self.solver = solver
        self.tol = tol
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.grid = grid
        self.folds = folds
        self.runs = runs
        self.one_standard_error = one_standard_error
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.compute_precision = compute_precision
        self.feature_names = feature_names
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the posterior mode.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)
            Term weights; sparse matrices are the natural form.
        y : array of shape (n_documents,)
            Labels of any type.
        sample_weight : array of shape (n_documents,), optional
            How often each document counts.

        Returns
        -------
        self
        """
        self._validate_params()
        check_label_types(y)
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=np.float64)
        classes = categories_of(y, type(self).__name__).classes
        codes = np.searchsorted(classes, y).astype(np.int64)
        settings = self._settings()
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if self.class_weight is not None:
            weights = weights * class_factors(self.class_weight, y, weights)
        reference = self._reference(classes)
        priors = priors_of(self.prior, classes, classes.size)
        setting = PriorSetting(priors, self.intercept_variance, self._names(), fixed=None)
        # A term that no feature has is to be an error before any work.
        setting.resolved(1.0, self.n_features_in_)
        last = self._last_coefficients(classes.size, "classes")
        start = None if last is None else last.T
        design = design_of(X)
        setting = setting._replace(fixed=self._fixed(X, codes, weights, classes.size, reference))
        choice = choose_variance(design, codes, weights, setting, settings)
        prior = setting.at(1.0 if np.isnan(choice.variance) else choice.variance, design.n_features)
        problem = SoftmaxProblem(design, codes, weights, prior)
        if start is None and choice.curve is not None:
            start = choice.curve.start
        solution, absent = fit_present_classes(problem, settings.rule, start)
        self._keep(classes, problem, solution, choice)
        if self.progress is not None:
            total = choice.curve.fold_scores.size + 1 if choice.curve and self.variance == "cv" else 1
            self.progress(total, total)
        self._warn(choice, absent)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the linear scores β_0k + xᵀβ_k of each class.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        scores : ndarray of shape (n_documents, n_classes)
            For two classes, of shape (n_documents,): the log odds of the second.
        """
        scores = self._checked_scores(X)
        return scores[:, 1] - scores[:, 0] if self.classes_.size == 2 else scores

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities, exact far into the tails.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_documents, n_classes)
        """
        scores = self._checked_scores(X)
        scores -= scores.max(axis=1, keepdims=True)
        best = np.argmax(scores, axis=1)[:, None]
        others = np.exp(scores)
        np.put_along_axis(others, best, 0.0, axis=1)
        # The greatest share is never added to 1, so that what the others leave of it is not lost to rounding.
        return scores - np.log1p(others.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        labels : ndarray of shape (n_documents,)
        """
        best = np.argmax(self._checked_scores(X), axis=1)
        return self.classes_[best]

    def _settings(self) -> SoftmaxSettings:
        """Refuse impossible settings and collect them."""
        grid = self._checked_grid()
        rule = Rule(self.solver, self.tol, self.epsilon, self.max_iter)
        return SoftmaxSettings(
            variance=self.variance,
            grid=grid,
            folds=self.folds,
            runs=self.runs,
            one_standard_error=self.one_standard_error,
            rule=rule,
            search_rule=rule._replace(tol=self._search_tolerance(self.variance)),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_threads=int(effective_n_jobs(self.n_jobs)),
            progress=self.progress,
        )

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
            for k in range(n_classes):
                own = X[(codes == k) & (weights > 0)]
                fixed[:-1, k] = np.asarray((own != 0).sum(axis=0)).ravel() == 0
        if reference is not None:
            fixed[:, reference] = True
        return fixed

    def _keep(self, classes: AnyArray, problem: SoftmaxProblem, solution: Solution, choice: Choice) -> None:
        self.classes_ = classes
        self.coef_ = np.ascontiguousarray(solution.beta[:-1].T)
        self.intercept_ = solution.beta[-1].copy()
        self.n_nonzero_ = np.count_nonzero(self.coef_, axis=1)
        self.variance_ = choice.variance
        self.certificate_ = Certificate(*(np.array([value]) for value in solution[1:]))
        self.n_iter_ = self.certificate_.passes
        self.cv_results_ = choice.curve and choice.curve.as_dict()
        if self.compute_precision:
            self.precision_ = np.ascontiguousarray(problem.precision(solution.beta).T)

    def _warn(self, choice: Choice, absent: Int64Array) -> None:
        """Say whether the fit did not converge, fell back to the norm-based variance, or lacks a class."""
        certificate = self.certificate_
        if not certificate.converged[0]:
            warnings.warn(
                f"the fit reached max_iter={self.max_iter} rounds; it has a relative duality gap of "
                f"{certificate.relative_gap[0]:.1e} and a KKT residual of {certificate.kkt_residual[0]:.1e}. "
                f"Raise max_iter, or loosen tol or epsilon.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if choice.curve is not None and choice.curve.late:
            warnings.warn(search_message(choice.curve.late, self.max_iter), ConvergenceWarning, stacklevel=3)
        if choice.fell_back:
            warnings.warn(
                "too few documents of a class for cross-validation: the norm-based variance was used", stacklevel=3
            )
        if absent.size:
            names = ", ".join(str(label) for label in self.classes_[absent][:5])
            more = f" and {absent.size - 5} more" if absent.size > 5 else ""
            warnings.warn(
                f"class {names}{more}: no document with a weight; only the intercept was fitted, to a smoothed base "
                f"rate",
                stacklevel=3,
            )
