"""One fit: a category, its weights, its priors, a solver."""

from __future__ import annotations

import math
import time
from typing import Literal, NamedTuple

import numpy as np

from bayesift._typing import FloatArray
from bayesift.linear import _clg, _newton, _objective, _probit_em, _ridge
from bayesift.linear._conjugate import hessian_diagonal
from bayesift.linear._design import Design
from bayesift.linear._loss import LOGISTIC, loss_terms
from bayesift.linear._penalty import Penalties, penalty_arrays
from bayesift.priors import FIXED, GAUSSIAN, JEFFREYS, LAPLACE, PriorArrays

SolverName = Literal["newton", "clg"]
ProbitSolverName = Literal["auto", "newton", "em", "block-em"]
SoftmaxSolverName = Literal["newton", "descent"]


class Rule(NamedTuple):
    """Which solver, and when it stops.

    ``tol`` is the relative gap of the fast one, ``epsilon`` the change that ends the papers' ones, ``max_iter`` the
    rounds of all. ``"auto"`` is EM where a prior is Jeffreys, else the fast one. EM starts from a regression with the
    penalty ``ridge``; ``block_size`` is how many coefficients ``"block-em"`` updates at a time.
    """

    solver: SolverName | ProbitSolverName | SoftmaxSolverName
    tol: float
    epsilon: float
    max_iter: int
    ridge: float = 1.0
    block_size: int = 100


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
        """Find the posterior mode, from the modes of the priors (EM: from a ridge regression) or from ``start``."""
        begin = time.perf_counter()
        mode = self.prior.mode
        penalties = penalty_arrays(self.prior.kind, self.prior.weight, self.prior.sign)
        delta = np.zeros(mode.size)
        if start is not None:
            # A term that no document holds stays at its mode.
            delta = np.where(self.design.reach > 0.0, np.clip(start - mode, *penalties[2:]), 0.0)
        by_em = rule.solver in ("em", "block-em") or (rule.solver == "auto" and np.any(self.prior.kind == JEFFREYS))
        if by_em:
            found = self._expect(rule, delta, penalties)
        elif rule.solver == "clg":
            arguments = (*self.design.columns, self.y, self.weights, self.offsets(), delta, *penalties)
            passes, converged = _clg.clg(*arguments, rule.epsilon, rule.max_iter)
            found = (*_objective.certificate(self.link, *arguments), passes, converged)
        else:
            found = self._descend(rule, delta, penalties)
        primal, dual, residual, passes, converged = found
        return Solution(delta + mode, primal, dual, residual, passes, time.perf_counter() - begin, converged)

    def other_start(self, rule: Rule, random: np.random.Generator) -> FloatArray:
        """Return another start for EM: a ridge regression in which the documents have random weights of mean 1."""
        latent = _probit_em.latent_of(self.design.columns, self.y, self.weights, self.offsets(), self.prior)
        factors = random.exponential(size=latent.s.size)
        return self.prior.mode + _probit_em.ridge_start(latent, rule.ridge, rule.solver == "block-em", factors)

    def _descend(self, rule: Rule, delta: FloatArray, penalties: Penalties) -> tuple[float, float, float, int, bool]:
        """Fit by the fast solvers; ``delta`` is the start and is overwritten."""
        design, documents = self.design, (self.y, self.weights, self.offsets())
        limits = (rule.tol, rule.max_iter, design.workspace())
        if np.any(self.prior.kind == LAPLACE) or np.any(self.prior.sign):
            sums = design.sums(self.weights) if self.sums is None else self.sums
            matrix = (design.columns, design.documents, sums, design.reach)
            return _newton.newton(self.link, *matrix, *documents, delta, penalties, *limits)
        return _ridge.ridge(self.link, design.documents, *documents, delta, penalties, *limits)

    def _expect(self, rule: Rule, delta: FloatArray, penalties: Penalties) -> tuple[float, float, float, int, bool]:
        """Fit by EM; ``delta`` is the start and is overwritten.

        EM cannot leave a zero, so that there the ridge start is used.
        """
        documents = (self.y, self.weights, self.offsets())
        by_blocks = rule.solver == "block-em"
        latent = _probit_em.latent_of(self.design.columns, *documents, self.prior)
        if not np.all(delta[latent.movable]):
            delta[:] = np.where(delta == 0.0, _probit_em.ridge_start(latent, rule.ridge, by_blocks), delta)
        size = rule.block_size if by_blocks else None
        passes, converged = _probit_em.expectation_maximisation(latent, delta, size, rule.epsilon, rule.max_iter)
        if np.any(self.prior.kind == JEFFREYS):
            primal, residual = _probit_em.jeffreys_objective(latent, delta)
            return primal, -np.inf, residual, passes, converged
        proof = _objective.certificate(self.link, *self.design.columns, *documents, delta, *penalties)
        return *proof, passes, converged

    def precision(self, beta: FloatArray) -> FloatArray:
        """Return the diagonal of the Hessian of the objective: Σ_i s_i f″(r_i) x_ij² plus the prior's precision.

        A fixed coefficient has an infinite one.
        """
        curvature = self.curvature(beta)
        own = np.select([self.prior.kind == GAUSSIAN, self.prior.kind == FIXED], [self.prior.weight, np.inf], 0.0)
        return hessian_diagonal(self.design.documents, curvature, own)

    def curvature(self, beta: FloatArray) -> FloatArray:
        """Return the curvature s_i f″(r_i) of every document's loss; s_i p_i (1 − p_i) for the logistic one."""
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
        """Return a start for a fit with this variance; None before the first."""
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
    """Return the linear scores β₀ + x_iᵀβ of all documents."""
    return _objective.linear_scores(*design.columns, beta, design.n_documents)


def log_likelihood(y: FloatArray, linear_scores: FloatArray, weights: FloatArray, link: int = LOGISTIC) -> float:
    """Sum the weighted log likelihood Σ_i s_i ln p(y_i), stable for scores of any size."""
    r = y * linear_scores
    return -float(loss_terms(link, r, weights, np.empty_like(r), np.empty_like(r)))
