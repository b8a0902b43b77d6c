"""The Gaussian approximation of a posterior, and its use as the prior of the next documents.

At the mode β̂ the posterior is taken for N(β̂, Λ⁻¹), Λ = XᵀWX + prior precision, with w_i = s_i h(h + r_i) the curvature
of a document's loss. The next penalty is the quadratic form ½ (β − β̂)ᵀΛ(β − β̂). With Λ = LLᵀ and γ = Lᵀβ it is
½ |γ − Lᵀβ̂|²: unit Gaussian priors for documents XL^−T, which the solvers can take as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from bayesift._typing import FloatArray
from bayesift.linear._fit.problem import Problem, Solution, SolverOptions, design_of
from bayesift.linear._losses import PROBIT
from bayesift.priors import FIXED, GAUSSIAN, LAPLACE, PriorArrays


def precision_diagonal(problem: Problem, beta: FloatArray) -> FloatArray:
    """Return the diagonal of Λ, the intercept's last; infinite for fixed coefficients."""
    return problem.design.hessian_diagonal(problem, beta, _prior_precision(problem.prior))


def precision_matrix(problem: Problem, beta: FloatArray) -> FloatArray:
    """Return Λ, the intercept's row and column last; infinite on the diagonal for fixed coefficients."""
    starts, columns, values = problem.in_memory.documents
    shape = (problem.design.n_documents, problem.design.n_features)
    X = sp.csr_matrix((values, columns.astype(np.int64), starts.astype(np.int64)), shape=shape)
    return _data_precision(X, problem.curvature(beta)) + np.diag(_prior_precision(problem.prior))


def update_matrix(
    X: Any, y: FloatArray, weights: FloatArray, mean: FloatArray, precision: FloatArray, options: SolverOptions
) -> tuple[Solution, FloatArray]:
    """Return the mode and Λ after more documents, where N(mean, precision⁻¹) was believed before them."""
    free = np.isfinite(np.diag(precision))
    A = _with_constant(X)
    try:
        L = cholesky(precision[np.ix_(free, free)], lower=True)
    except LinAlgError as error:
        raise ValueError(
            "covariance='full' needs a proper prior for every feature; give those without penalty a finite variance"
        ) from error
    whitened = solve_triangular(L, A[:, free].T.toarray(), lower=True).T
    # What fixed coefficients add to the scores is a column with a coefficient of one.
    known = A[:, ~free] @ mean[~free]
    size = int(free.sum())
    prior = PriorArrays(
        kind=np.append(np.full(size, GAUSSIAN), [FIXED, FIXED]).astype(np.int8),
        weight=np.append(np.ones(size), [0.0, 0.0]),
        mode=np.append(L.T @ mean[free], [1.0, 0.0]),
        sign=np.zeros(size + 2, dtype=np.int8),
    )
    problem = Problem(design_of(np.column_stack([whitened, known])), y, weights, prior, link=PROBIT)
    solution = problem.solve(options)
    beta = mean.copy()
    beta[free] = solve_triangular(L, solution.beta[:size], lower=True, trans="T")
    return solution._replace(beta=beta), precision + _data_precision(X, problem.curvature(solution.beta))


def _prior_precision(prior: PriorArrays) -> FloatArray:
    """Inverse variances of the priors; a Laplace prior, which has no curvature, gives that of its variance 2/rate²."""
    laplace = prior.kind == LAPLACE
    precision = np.select([prior.kind == GAUSSIAN, prior.kind == FIXED], [prior.weight, np.inf], 0.0)
    precision[laplace] = np.where(prior.sign[laplace] == 0, 0.5, 1.0) * prior.weight[laplace] ** 2
    return precision


def _data_precision(X: Any, w: FloatArray) -> FloatArray:
    """XᵀWX for the columns and the constant."""
    A = _with_constant(X)
    return np.asarray((A.T @ A.multiply(w[:, None]).tocsr()).toarray())


def _with_constant(X: Any) -> sp.csr_matrix:
    return sp.csr_matrix(sp.hstack([sp.csr_matrix(X), np.ones((X.shape[0], 1))], format="csr"))
