"""Sparse Bayesian logistic regression."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bayesift._typing import AnyArray, FloatArray
from bayesift.decide import Threshold
from bayesift.decide.cuts import Policy, check_policy
from bayesift.linear._categories import CategoryFit, Settings, Task, fit_categories, priors_of
from bayesift.linear._design import design_of
from bayesift.linear._fitting import Rule, SolverName
from bayesift.linear._labels import Categories, categories_of, check_label_types, class_factors
from bayesift.linear.certificate import Certificate
from bayesift.priors import Prior

#: Fits that only serve to score a variance stop at this relative gap, or at a larger ``tol``.
SEARCH_TOLERANCE = 1e-3


class BayesianLogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression at the posterior mode under Laplace or Gaussian priors, with proof of optimality.

    Minimises, for each category,

        F(β) = Σ_i s_i ln(1 + exp(−y_i (β₀ + x_iᵀβ))) + Σ_j p_j(β_j − m_j),

    where p_j is λ_j abs(δ) for a Laplace and δ²/(2v_j) for a Gaussian prior. Laplace priors give sparse models (the
    lasso), Gaussian ones ridge models. A multi-label indicator matrix trains one classifier for each column in one
    call; more than two classes are trained one against the rest.

    Parameters
    ----------
    prior : {"laplace", "gaussian"}, Prior, or list or mapping of them, default="laplace"
        The prior of the coefficients. A list has one entry for each category, a mapping goes from category to prior
        (the other categories get a plain Laplace prior). A prior with a variance of its own is used as it stands; one
        whose variance is open gets the ``variance`` below.
    variance : float or {"cv", "norm", "auto"}, default="cv"
        Prior variance: a number; ``"norm"``, (d + 1) / (mean squared norm of a document); ``"cv"``, the best of
        ``grid`` by cross-validation; ``"auto"``, a search without a grid that starts at the norm-based value.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercept; infinite is unpenalised, ``"same"`` is like any other coefficient.
    solver : {"newton", "clg"}, default="newton"
        ``"newton"``: proximal Newton on working sets, stopped by the duality gap. ``"clg"``: the cyclic coordinate
        descent of Genkin, Lewis & Madigan (2007) to the letter.
    tol : float, default=1e-6
        ``"newton"`` stops when the duality gap is at most this share of the objective. Fits that only serve to choose
        a variance of a grid stop at 0.001 already.
    epsilon : float, default=0.0005
        ``"clg"`` stops when the scores change by at most this share in a pass.
    max_iter : int, default=1000
        Limit of rounds; reaching it warns.
    grid : sequence of float or None, default=None
        Variances to try with ``"cv"``; None is the paper's grid (Laplace rates 0.01 to 316 by √10, Gaussian variances
        10⁻⁴ to 10⁴ by 10).
    folds, runs : int, default=10 and 2
        Folds the documents are dealt into, and how many of them are left out in turn.
    one_standard_error : bool, default=False
        With ``"cv"``, take the smallest variance within one standard error of the best.
    threshold : str, Utility or mapping, default="half"
        Policy of :class:`bayesift.decide.Threshold` for ``predict``.
    threshold_on : {"train", "cv"}, default="train"
        Whether a threshold is tuned on the scores of the training documents by the model itself, or by models fitted
        without their fold, which costs ``folds`` more fits (a category with fewer than two documents of a class takes
        the former).
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes; for indicator matrices of 0 and 1.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    compute_precision : bool, default=False
        Also compute ``precision_``, which makes this posterior usable as a later prior.
    feature_names : sequence of str or None, default=None
        Names of the columns, for priors that name terms; a data frame brings its own.
    progress : callable or None, default=None
        Called with the number of categories done and their total.
    n_jobs : int or None, default=-1
        Threads, over categories; -1 is all cores.
    random_state : int, RandomState or None, default=0
        Deals the folds.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    coef_ : ndarray or csr_matrix of shape (n_categories, n_features)
        Coefficients; one row for two classes. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (n_categories,)
    n_nonzero_ : ndarray of shape (n_categories,)
        Coefficients that are not zero.
    variance_ : ndarray of shape (n_categories,)
        The variance used (NaN where the prior brought its own).
    certificate_ : Certificate
        Objective, duality gap, KKT residual, rounds and seconds of each category.
    cv_results_ : list of dict or None
        For each category, ``variances``, ``scores`` (held-out log likelihood summed over the runs), ``fold_scores``
        and the ``variance`` chosen; None where nothing was searched.
    threshold_ : Threshold
        The fitted decision rule, on the scale of ``decision_function``.
    precision_ : ndarray of shape (n_categories, n_features + 1)
        Diagonal of the negative Hessian of the log posterior, the intercept last; with ``compute_precision``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.linear import BayesianLogisticRegression
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> model = BayesianLogisticRegression(variance=4.0).fit(X, ["wheat", "wheat", "sea", "sea"])
    >>> model.predict(X).tolist()
    ['wheat', 'wheat', 'sea', 'sea']
    >>> model.n_nonzero_
    array([1])
    >>> bool(model.certificate_.relative_gap[0] < 1e-6)
    True
    """

    coef_: Any
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "prior": [StrOptions({"laplace", "gaussian"}), Prior, Sequence, Mapping],
        "variance": [Interval(Real, 0, None, closed="both"), StrOptions({"cv", "norm", "auto"})],
        "intercept_variance": [Interval(Real, 0, None, closed="both"), StrOptions({"same"})],
        "solver": [StrOptions({"newton", "clg"})],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "epsilon": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "grid": ["array-like", None],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "runs": [Interval(Integral, 1, None, closed="left")],
        "one_standard_error": ["boolean"],
        "threshold": "no_validation",
        "threshold_on": [StrOptions({"train", "cv"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "compute_precision": ["boolean"],
        "feature_names": ["array-like", None],
        "progress": [callable, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        prior: Any = "laplace",
        variance: float | Literal["cv", "norm", "auto"] = "cv",
        *,
        intercept_variance: float | Literal["same"] = np.inf,
        solver: SolverName = "newton",
        tol: float = 1e-6,
        epsilon: float = 0.0005,
        max_iter: int = 1000,
        grid: Sequence[float] | None = None,
        folds: int = 10,
        runs: int = 2,
        one_standard_error: bool = False,
        threshold: Policy = "half",
        threshold_on: Literal["train", "cv"] = "train",
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
        self.solver = solver
        self.tol = tol
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.grid = grid
        self.folds = folds
        self.runs = runs
        self.one_standard_error = one_standard_error
        self.threshold = threshold
        self.threshold_on = threshold_on
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.compute_precision = compute_precision
        self.feature_names = feature_names
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

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
        check_label_types(y)
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=np.float64, multi_output=True)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.toarray().ravel() if sp.issparse(y) else column_or_1d(y, warn=True)
        categories = categories_of(y, type(self).__name__)
        settings = self._settings()
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        tasks = self._tasks(categories, y, weights)
        design = design_of(X)
        names = getattr(self, "feature_names_in_", self.feature_names)
        fits = fit_categories(design, names, tasks, settings, int(effective_n_jobs(self.n_jobs)), self.progress)
        self._keep(categories, fits)
        self._warn(fits)
        self._fit_threshold(X, categories, weights, [fit.scores for fit in fits])
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Give the log odds β₀ + xᵀβ of each category.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        scores : ndarray of shape (n_documents,) for two classes, else (n_documents, n_categories)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = self._scores(X)
        return scores[:, 0] if self._kind == "binary" else scores

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Give log probabilities, exact far into the tails.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        scores = self.decision_function(X)
        if self._kind == "binary":
            return np.column_stack([-np.logaddexp(0.0, scores), -np.logaddexp(0.0, -scores)])
        log_odds = -np.logaddexp(0.0, -scores)
        if self._kind == "multiclass":
            log_odds -= logsumexp(log_odds, axis=1, keepdims=True)
        return log_odds

    def predict_proba(self, X: Any) -> FloatArray:
        """Give probabilities.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        return np.exp(self.predict_log_proba(X))

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
        if self._kind == "multiclass":
            return self.classes_[np.argmax(scores - self.threshold_.thresholds_, axis=1)]
        decisions = self.threshold_.predict(scores)
        return self.classes_[decisions] if self._kind == "binary" else decisions

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller where most coefficients are zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _settings(self) -> Settings:
        """Refuse impossible settings, and collect those that hold for all categories."""
        if self.runs > self.folds:
            raise ValueError(f"runs={self.runs} must not exceed folds={self.folds}: a run leaves out one of the folds")
        check_policy(self.threshold, "threshold")
        grid = None
        if self.grid is not None:
            grid = np.asarray(self.grid, dtype=np.float64)
            if grid.ndim != 1 or grid.size == 0 or not np.all(grid > 0):
                raise ValueError(f"grid must be a list of variances greater than 0, got {self.grid!r}")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rule = Rule(self.solver, self.tol, self.epsilon, self.max_iter)
        return Settings(
            variance=self.variance,
            intercept_variance=self.intercept_variance,
            grid=grid,
            folds=self.folds,
            runs=self.runs,
            one_standard_error=self.one_standard_error,
            rule=rule,
            # Without a grid the variance itself moves with the scores.
            search_rule=rule._replace(tol=max(self.tol, 0.0 if self.variance == "auto" else SEARCH_TOLERANCE)),
            compute_precision=self.compute_precision,
            score_held_out=self.threshold_on == "cv" and self.threshold != "half",
            seed=seed,
        )

    def _tasks(self, categories: Categories, y: Any, weights: FloatArray) -> list[Callable[[], Task]]:
        """Prepare a task for every category, to be made when its turn comes."""
        priors = priors_of(self.prior, categories.classes, len(categories.members))
        names = getattr(self, "feature_names_in_", self.feature_names)
        for prior in {id(prior): prior for prior in priors}.values():
            # A term that no feature has is to be an error before the first fit, not when its category comes.
            known = prior.scaled(1.0)
            known.resolve(self.n_features_in_, names)
            known.resolve_intercept(self.intercept_variance)
        starts = self._starts(len(priors))
        if self.class_weight is not None and categories.kind != "multilabel":
            weights = weights * class_factors(self.class_weight, y, weights)

        def make(category: int) -> Task:
            target, own = categories.target(category), weights
            if self.class_weight is not None and categories.kind == "multilabel":
                own = weights * class_factors(self.class_weight, (target > 0).astype(int), weights)
            return Task(target, own, priors[category], starts[category])

        return [partial(make, category) for category in range(len(priors))]

    def _starts(self, n_categories: int) -> Sequence[FloatArray | None]:
        """Give the coefficients to start from, the intercept last."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return [None] * n_categories
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        if coef.shape != (n_categories, self.n_features_in_):
            raise ValueError(
                f"warm_start needs the same categories and features as before: coef_ has shape {coef.shape}, "
                f"now there are {n_categories} categories and {self.n_features_in_} features"
            )
        return list(np.column_stack([coef, self.intercept_]))

    def _keep(self, categories: Categories, fits: list[CategoryFit]) -> None:
        self.classes_ = categories.classes
        self._kind = categories.kind
        solutions = [fit.solution for fit in fits]
        beta = np.vstack([solution.beta for solution in solutions])
        self.coef_ = np.ascontiguousarray(beta[:, :-1])
        self.intercept_ = beta[:, -1].copy()
        self.n_nonzero_ = np.count_nonzero(self.coef_, axis=1)
        self.variance_ = np.array([fit.variance for fit in fits])
        self.certificate_ = Certificate(*(np.array(values) for values in zip(*(s[1:] for s in solutions), strict=True)))
        self.n_iter_ = self.certificate_.passes
        self.cv_results_ = [fit.curve and fit.curve.as_dict() for fit in fits]
        if self.compute_precision:
            self.precision_ = np.vstack([fit.precision for fit in fits if fit.precision is not None])

    def _warn(self, fits: list[CategoryFit]) -> None:
        """Say which categories did not converge, fell back to the norm-based variance, or have one class only."""
        certificate = self.certificate_
        late = np.flatnonzero(~certificate.converged)
        if late.size:
            worst = late[np.argmax(certificate.relative_gap[late])]
            warnings.warn(
                f"{late.size} of {len(fits)} fits reached max_iter={self.max_iter} rounds; the worst has a relative "
                f"duality gap of {certificate.relative_gap[worst]:.1e} and a KKT residual of "
                f"{certificate.kkt_residual[worst]:.1e}. Raise max_iter, or loosen tol or epsilon.",
                ConvergenceWarning,
                stacklevel=3,
            )
        for flag, message in (
            ("fell_back", "too few documents of a class for cross-validation: the norm-based variance was used"),
            ("one_class", "one class only: only the intercept was fitted, to a smoothed base rate"),
        ):
            places = [place for place, fit in enumerate(fits) if getattr(fit, flag)]
            if places:
                # Of two classes the greater is the category.
                categories = self.classes_[-len(fits) :]
                names = ", ".join(str(categories[place]) for place in places[:5])
                more = f" and {len(places) - 5} more" if len(places) > 5 else ""
                warnings.warn(f"category {names}{more}: {message}", UserWarning, stacklevel=3)

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

    def _scores(self, X: Any) -> FloatArray:
        scores = X @ self.coef_.T
        return np.asarray(scores.toarray() if sp.issparse(scores) else scores) + self.intercept_
