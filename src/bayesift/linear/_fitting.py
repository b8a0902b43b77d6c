"""One fit: a category, its weights, its priors, a solver."""

from __future__ import annotations

import math
import time
from typing import Literal, NamedTuple

import numpy as np

from bayesift._typing import FloatArray
from bayesift.linear import _clg, _newton, _objective, _ridge
from bayesift.linear._conjugate import hessian_diagonal
from bayesift.linear._design import Design
from bayesift.linear._loss import LOGISTIC, loss_terms
from bayesift.linear._penalty import penalty_arrays
from bayesift.priors import FIXED, GAUSSIAN, LAPLACE, PriorArrays

SolverName = Literal["newton", "clg"]


class Rule(NamedTuple):
    """When a solver stops: relative gap of the fast one, change of scores of the papers' one, rounds of both."""

    solver: SolverName
    tol: float
    epsilon: float
    max_iter: int


class Solution(NamedTuple):
    """What a solver reached; the intercept is the last coefficient."""

    beta: FloatArray
    objective: float
    dual: float
    kkt_residual: float
    passes: int
    seconds: float
    converged: bool


class Problem(NamedTuple):
    """Everything that defines the objective of one category; the prior's last entry is that of the intercept.

    ``sums`` are Xᵀ·weights, for those who fit several times with the same weights; ``link`` is the code of the loss.
    """

    design: Design
    y: FloatArray
    weights: FloatArray
    prior: PriorArrays
    sums: FloatArray | None = None
    link: int = LOGISTIC

    def offsets(self) -> FloatArray:
        """Score every document by the modes of the priors."""
        if not self.prior.mode.any():
            return np.zeros(self.design.n_documents)
        return scores(self.design, self.prior.mode)

    def solve(self, rule: Rule, start: FloatArray | None = None) -> Solution:
        """Find the posterior mode, from the modes of the priors or from ``start``."""
        begin = time.perf_counter()
        design, mode = self.design, self.prior.mode
        penalties = penalty_arrays(self.prior.kind, self.prior.weight, self.prior.sign)
        delta = np.zeros(mode.size)
        if start is not None:
            # A term that no document holds stays at its mode.
            delta = np.where(design.reach > 0.0, np.clip(start - mode, *penalties[2:]), 0.0)
        documents = (self.y, self.weights, self.offsets())
        if rule.solver == "clg":
            arguments = (*design.columns, *documents, delta, *penalties)
            passes, converged = _clg.clg(*arguments, rule.epsilon, rule.max_iter)
            primal, dual, residual = _objective.certificate(self.link, *arguments)
        else:
            limits = (rule.tol, rule.max_iter, design.workspace())
            if np.any(self.prior.kind == LAPLACE) or np.any(self.prior.sign):
                sums = design.sums(self.weights) if self.sums is None else self.sums
                matrix = (design.columns, design.documents, sums, design.reach)
                found = _newton.newton(self.link, *matrix, *documents, delta, penalties, *limits)
            else:
                found = _ridge.ridge(self.link, design.documents, *documents, delta, penalties, *limits)
            primal, dual, residual, passes, converged = found
        return Solution(delta + mode, primal, dual, residual, passes, time.perf_counter() - begin, converged)

    def precision(self, beta: FloatArray) -> FloatArray:
        """Give the diagonal of the Hessian of the objective: Σ_i s_i f″(r_i) x_ij² plus the prior's precision.

        A fixed coefficient has an infinite one.
        """
        curvature = self.curvature(beta)
        own = np.select([self.prior.kind == GAUSSIAN, self.prior.kind == FIXED], [self.prior.weight, np.inf], 0.0)
        return hessian_diagonal(self.design.documents, curvature, own)

    def curvature(self, beta: FloatArray) -> FloatArray:
        """Give the curvature s_i f″(r_i) of every document's loss; s_i p_i (1 − p_i) for the logistic one."""
        r = self.y * scores(self.design, beta)
        u, w = np.empty_like(r), np.empty_like(r)
        loss_terms(self.link, r, self.weights, u, w)
        return w


class Trail:
    """The modes found so far as the variance grows, and a guess of the next.

    Where the classes are parted, coefficients grow evenly with the logarithm of the variance, so that the last step,
    repeated, lands near the next mode. A coefficient that would change its sign starts at zero.
    """

    def __init__(self) -> None:
        self._last: tuple[float, FloatArray] | None = None
        self._before: tuple[float, FloatArray] | None = None

    def add(self, variance: float, beta: FloatArray) -> None:
        """Remember a mode."""
        self._before, self._last = self._last, (math.log(variance), beta)

    def ahead(self, variance: float) -> FloatArray | None:
        """Give a start for a fit with this variance; None before the first."""
        if self._last is None:
            return None
        place, beta = self._last
        if self._before is None:
            return beta
        step = place - self._before[0]
        share = (math.log(variance) - place) / step if step > 0.0 else 0.0
        # Neither backwards nor farther than the step that is repeated.
        if not 0.0 < share < 1.0 + 1e-6:
            return beta
        guess = beta + share * (beta - self._before[1])
        return np.where(guess * beta > 0.0, guess, 0.0)


def scores(design: Design, beta: FloatArray) -> FloatArray:
    """Give the linear scores β₀ + x_iᵀβ of all documents."""
    return _objective.linear_scores(*design.columns, beta, design.n_documents)


def log_likelihood(y: FloatArray, linear_scores: FloatArray, weights: FloatArray, link: int = LOGISTIC) -> float:
    """Sum the weighted log likelihood Σ_i s_i ln p(y_i), stable for scores of any size."""
    r = y * linear_scores
    return -float(loss_terms(link, r, weights, np.empty_like(r), np.empty_like(r)))
