"""The Dirichlet compound multinomial distribution of one class: priors, start, optimum."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import xlogy

from bayesift._typing import FloatArray
from bayesift.generative._dcm_kernels import descend, exponential_total, objective, pull
from bayesift.generative._histogram import Histogram


class Prior(NamedTuple):
    """Gamma priors of all α: shapes less 1 (so many more documents have the word), their rate, and Σ e ln e."""

    pseudo: FloatArray
    rate: float
    own_logs: float

    @classmethod
    def of(cls, pseudo: FloatArray, rate: float) -> Prior:
        """Return the priors with these shapes and this rate."""
        return cls(pseudo, rate, float(xlogy(pseudo, pseudo).sum()))


class Solution(NamedTuple):
    """What became of a class; ``residual`` is the largest slope of F in ln α."""

    alpha: FloatArray
    unseen: float
    objective: float
    residual: float
    rounds: int
    converged: bool


def background_rate(have: FloatArray, lengths: FloatArray, weights: FloatArray) -> float:
    """Return the slope λ at Elkan's approximation for all documents together, per document.

    A gamma prior of shape 1 + k·p_j, with p_j the share of documents that have word j, and of rate k times this has its
    mode at that approximation.
    """
    kept = (lengths > 0) & (weights > 0)
    total = exponential_total(float(have.sum()), 0.0, lengths[kept], weights[kept])
    return float(pull(total, lengths[kept], weights[kept]) / weights[kept].sum())


def fit_class(found: Histogram, prior: Prior, solver: str, tol: float, max_iter: int) -> Solution:
    """Fit one class.

    Parameters
    ----------
    found : Histogram
        Its documents; at least one word.
    prior : Prior
        The gamma priors of all α.
    solver : {"newton", "fixed_point", "edcm"}
        The generalised Newton step or the fixed point of Minka (2000), or Elkan's approximation, which needs neither.
    tol : float
        Largest slope allowed, as a share of the weight of the documents.
    max_iter : int
        Limit of rounds.
    """
    pseudo, rate, own_logs = prior
    own = pseudo[found.words]
    extra = max(float(pseudo.sum() - own.sum()), 0.0)
    total = exponential_total(found.documents.sum() + own.sum() + extra, rate, found.lengths, found.weights)
    slope = pull(total, found.lengths, found.weights) + rate
    alpha, unseen = (found.documents + own) / slope, extra / slope
    residual, rounds, converged = 0.0, 0, True
    steps, documents = (found.start, found.low, found.high, found.above), (found.lengths, found.weights)
    if solver != "edcm":
        limit = tol * found.weights.sum()
        unseen, residual, rounds, converged = descend(
            alpha, unseen, own, extra, rate, *steps, *documents, solver == "newton", limit, max_iter
        )
    value = objective(alpha, unseen, own, extra, rate, *steps, *documents)
    if extra > 0:
        # Each unseen word has its share of their sum: Σ e ln(e/Σe) over them.
        value -= own_logs - float(xlogy(own, own).sum()) - extra * math.log(extra)
    return Solution(alpha, unseen, value, residual, rounds, converged)
