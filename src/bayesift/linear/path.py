"""The posterior mode as a function of the strength of the prior."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _get_feature_names, check_X_y

from bayesift._documents import checked_weights, usable_values
from bayesift._labels import categories_of, check_label_types, labels_of_shards
from bayesift._typing import AnyArray, FloatArray
from bayesift.linear._fit.categories import prior_by_variance, priors_of
from bayesift.linear._fit.problem import (
    Design,
    Documents,
    Problem,
    Solution,
    SolverName,
    SolverOptions,
    design_of,
    scores,
)
from bayesift.linear._fit.variance import GAUSSIAN_GRID, WarmStarts
from bayesift.linear._solvers.duality import penalty, penalty_arrays, slopes
from bayesift.priors import FIXED, LAPLACE, Laplace, Prior, PriorArrays
from bayesift.shards import Shards


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """Fits for a sequence of prior variances, from the strongest penalty to the weakest.

    Parameters
    ----------
    variances : float array of shape (n_steps,)
        Common prior variances, increasing.
    coef : csr_matrix of shape (n_steps, n_features)
        Coefficients of each fit.
    intercept : float array of shape (n_steps,)
    objective, gap : float arrays of shape (n_steps,)
        Objective and duality gap of each fit.
    log_likelihood : float array of shape (n_steps,)
        Log likelihood of the training documents.
    feature_names : array of str or None
        Names of the columns, if ``X`` had names.
    """

    variances: FloatArray
    coef: sp.csr_matrix
    intercept: FloatArray
    objective: FloatArray
    gap: FloatArray
    log_likelihood: FloatArray
    feature_names: AnyArray | None = None

    @property
    def rates(self) -> FloatArray:
        """The Laplace rates λ = √(2/variance), decreasing."""
        return np.sqrt(2.0 / self.variances)


def regularization_path(
    X: Any,
    y: Any,
    *,
    prior: Literal["laplace", "gaussian"] | Prior = "laplace",
    variances: ArrayLike | None = None,
    n_steps: int = 50,
    smallest: float = 1e-3,
    intercept_variance: float | Literal["same"] = np.inf,
    sample_weight: Any = None,
    feature_names: Any = None,
    solver: SolverName = "newton",
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> RegularizationPath:
    """Fit one category for a sequence of prior variances, each fit starting from the one before.

    Without ``variances``, a Laplace prior gets ``n_steps`` rates from the analytic maximum

        λ_max = max_j abs(Σ_i s_i x_ij y_i / (1 + e^{r_i})),

    above which all coefficients are at their modes, down to ``smallest`` × λ_max, evenly spaced in the logarithm; a
    Gaussian prior gets the variances 10⁻⁴ to 10⁴.

    Parameters
    ----------
    X : sparse matrix, array or Shards of shape (n_documents, n_features)
        Term weights. Shards that do not fit in memory need ``variances``.
    y : array of shape (n_documents,)
        Labels of two classes; the second in sorted order is the category.
    prior : {"laplace", "gaussian"} or Prior, default="laplace"
        A prior whose common variance is open.
    variances : array, optional
        The variances to use instead of these.
    n_steps : int, default=50
        Number of rates.
    smallest : float, default=1e-3
        The last rate as a share of the first.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercept.
    sample_weight : array of shape (n_documents,), optional
        How often each document counts.
    feature_names : array of str, optional
        Names of the columns, for priors that name terms; those of a data frame by default.
    solver : {"newton", "clg"}, default="newton"
        As in :class:`BayesianLogisticRegression`.
    tol : float, default=1e-6
        Each fit stops at this share of the objective (``"newton"``) or of the scores (``"clg"``).
    max_iter : int, default=1000
        Maximum number of rounds of each fit; reaching it warns.

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.linear import regularization_path
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.5]])
    >>> path = regularization_path(X, [1, 1, 0, 0], n_steps=3, smallest=0.1)
    >>> path.coef.toarray()[0]
    array([0., 0.])
    >>> bool(np.all(np.diff(path.objective) < 0))
    True
    """
    if solver not in get_args(SolverName):
        raise ValueError(f"solver is {solver!r}; expected one of {list(get_args(SolverName))}")
    if n_steps < 1 or not 0 < smallest <= 1:
        raise ValueError(f"n_steps={n_steps} must be at least 1 and smallest={smallest} above 0 and at most 1")
    if isinstance(X, Shards):
        feature_names = X.terms if feature_names is None else feature_names
        y = labels_of_shards(X, y)
        names = None if feature_names is None else np.asarray(feature_names, dtype=object)
    else:
        names = _get_feature_names(X) if feature_names is None else np.asarray(feature_names, dtype=object)
        check_label_types(y)
        X, y = check_X_y(X, y, accept_sparse=("csr", "csc"), dtype=np.float64, ensure_all_finite=False)
        X = usable_values(X)
    categories = categories_of(y, "regularization_path")
    if categories.target_type != "binary":
        raise ValueError(f"y must have two classes, found {categories.classes.size}")
    [chosen] = priors_of(prior, categories.classes, 1)
    if not chosen.is_open:
        raise ValueError("prior has a fixed variance; leave it open (None) so that the path can vary it")
    design: Documents = _documents_of(X, solver, variances) if isinstance(X, Shards) else design_of(X)
    weights = checked_weights(sample_weight, X)

    prior_at = prior_by_variance(chosen, design.n_features, names, intercept_variance)

    def problem_at(variance: float) -> Problem:
        return Problem(design, categories.target(0), weights, prior_at(variance))

    if variances is not None:
        steps = np.sort(np.asarray(variances, dtype=np.float64))
        if steps.ndim != 1 or steps.size == 0 or not np.all(steps > 0):
            raise ValueError(f"variances must be a list of numbers greater than 0, got {variances!r}")
    elif isinstance(chosen, Laplace):
        steps = 2.0 / (np.geomspace(1.0, smallest, n_steps) * largest_rate(problem_at)) ** 2
    else:
        steps = np.array(GAUSSIAN_GRID)
    return _follow(steps, problem_at, SolverOptions(solver, tol, max_iter), names)


def _documents_of(shards: Shards, solver: SolverName, variances: Any) -> Documents:
    """Return the documents of shards, and refuse what needs them in memory if they do not fit."""
    # Seldom needed.
    from bayesift.linear._sharded.design import ShardedDesign, documents_of

    documents = documents_of(shards, -1)
    if isinstance(documents, ShardedDesign) and (variances is None or solver != "newton"):
        raise ValueError(
            f"variances is {variances!r} and solver is {solver!r}; expected variances and 'newton' for shards that "
            f"do not fit in memory"
        )
    return documents


def largest_rate(problem_at: Callable[[float], Problem]) -> float:
    """Return λ_max, the smallest rate at which all coefficients are at their modes.

    An intercept that shares the common variance moves with the rate, so that λ_max is the root of
    max_j |c_j(β₀(λ))| − λ.
    """
    rates = problem_at(2.0).prior.weight[:-1]

    def excess(rate: float) -> float:
        return _needed_rate(problem_at(2.0 / rate**2), rates) - rate

    low = high = excess(1.0) + 1.0
    if low <= 0.0:
        return 1.0
    while excess(high) > 0.0:
        high *= 2.0
    while excess(low) < 0.0 and low > 1e-9 * high:
        low /= 2.0
    root = high if low == high or excess(low) <= 0.0 else brentq(excess, low, high, xtol=1e-300, rtol=1e-14)
    # A margin for rounding: at λ_max itself no coefficient may leave its mode.
    return float(root) * (1.0 + 1e-12)


def _needed_rate(problem: Problem, rates: FloatArray) -> float:
    """Return the rate that keeps all coefficients at their modes for the best intercept; ``rates`` are their multiples.

    Only the intercept is free, so that the cyclic solver is at its optimum in a few passes.
    """
    prior = problem.prior
    fixed = PriorArrays(np.full_like(prior.kind, FIXED), np.zeros_like(prior.weight), prior.mode, prior.sign)
    fixed.kind[-1], fixed.weight[-1] = prior.kind[-1], prior.weight[-1]
    start = problem._replace(prior=fixed).solve(SolverOptions("clg", 1e-14, 1000))
    r = problem.y * scores(problem.design, start.beta)
    c = np.empty(prior.mode.size)
    slopes(problem.in_memory.columns, problem.y, problem.weights * expit(-r), c)
    push = np.where(prior.sign == 0, np.abs(c), np.maximum(prior.sign * c, 0.0))[:-1]
    laplace = prior.kind[:-1] == LAPLACE
    return float(np.max(push[laplace] / rates[laplace], initial=0.0))


def _follow(
    steps: FloatArray, problem_at: Callable[[float], Problem], options: SolverOptions, names: AnyArray | None
) -> RegularizationPath:
    rows, numbers = [], []
    n_unconverged = 0
    for problem, solution in _solutions(steps, problem_at, options):
        n_unconverged += not solution.converged
        rows.append(sp.csr_matrix(solution.beta[:-1]))
        gap = max(solution.objective - solution.dual, 0.0)
        numbers.append((solution.beta[-1], solution.objective, gap, _log_likelihood(problem, solution)))
    if n_unconverged:
        warnings.warn(
            f"{n_unconverged} of {steps.size} fits reached max_iter={options.max_iter} rounds. "
            f"Raise max_iter, or loosen tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    intercept, objective, gap, fits = np.array(numbers).T
    return RegularizationPath(steps, sp.csr_matrix(sp.vstack(rows)), intercept, objective, gap, fits, names)


def _solutions(
    steps: FloatArray, problem_at: Callable[[float], Problem], options: SolverOptions
) -> Iterator[tuple[Problem, Solution]]:
    """Solve for every variance: in memory one from the others, from shards as a whole."""
    if not isinstance(problem_at(float(steps[0])).design, Design):
        # Seldom needed.
        from bayesift.linear._sharded.paths import solve_path

        problems = [problem_at(variance) for variance in steps.tolist()]
        yield from zip(problems, solve_path(problems, options), strict=True)
        return
    warm_starts = WarmStarts()
    for variance in steps.tolist():
        problem = problem_at(variance)
        solution = problem.solve(options, warm_starts.guess(variance))
        warm_starts.add(variance, solution.beta)
        yield problem, solution


def _log_likelihood(problem: Problem, solution: Solution) -> float:
    """Return the log likelihood, which is the penalty minus the objective."""
    prior = problem.prior
    l1, l2, _, _ = penalty_arrays(prior.kind, prior.weight, prior.sign)
    return float(penalty(solution.beta - prior.mode, l1, l2)) - solution.objective
