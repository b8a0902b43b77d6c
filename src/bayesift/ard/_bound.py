"""The lower bound of the evidence (theorem 1) at given α and u = logit η, u by entry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from bayesift._typing import FloatArray, Int64Array
from bayesift.ard._integrals import best_alphas, log_integrals
from bayesift.ard._tagging import Tagging

#: Half the range of logit q that stands for all of (0, 1): the rest has less than 1e-17 of any of the priors.
FULL_REACH = 40.0
#: Beyond e^this, a ratio of the gradient counts as this large.
_STEEPEST = 60.0


class Quadrature(NamedTuple):
    """Where and how the integrals are taken.

    ``domain`` is the range of w = logit q; ``rule`` holds the nodes of a Gauss–Legendre rule on (0, 1) and the
    logarithms of its weights.
    """

    domain: tuple[float, float]
    rule: FloatArray

    @classmethod
    def of(cls, reach: float, n_nodes: int) -> Quadrature:
        """Make the rule for w from −reach to reach."""
        nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
        return cls((-reach, reach), np.vstack([0.5 * (1.0 + nodes), np.log(0.5 * weights)]))


class Integrals(NamedTuple):
    """ln I_j, its derivative by α_j, and the means ln E_r[exp(−m_g w)] of the groups; by tag and by group."""

    values: FloatArray
    by_alpha: FloatArray
    means: FloatArray


def margins_of(tagging: Tagging, u: FloatArray) -> FloatArray:
    """Return y_i Σ_j u_ij, the log odds of P_i."""
    return tagging.y * np.bincount(tagging.groups.objects, u, tagging.y.size)


def integrals(
    tagging: Tagging,
    sizes: FloatArray,
    alpha: FloatArray,
    quadrature: Quadrature,
    *,
    which: Int64Array | None = None,
    means: bool = False,
) -> Integrals:
    """Compute the integrals of all tags, or of those in ``which`` (the others are left at 0)."""
    groups = tagging.groups
    result = Integrals(np.zeros_like(alpha), np.zeros_like(alpha), np.zeros(groups.firsts.size if means else 0))
    which = np.arange(tagging.n_tags) if which is None else which
    log_integrals(which, groups.starts, groups.slopes, sizes, alpha, quadrature.domain, quadrature.rule, *result)
    return result


def log_bound(tagging: Tagging, u: FloatArray, alpha: FloatArray, quadrature: Quadrature) -> float:
    """Compute ln Ẽ(α, H)."""
    margins = margins_of(tagging, u)
    values = integrals(tagging, tagging.sizes(margins, u), alpha, quadrature).values
    return tagging.constant(margins) + float(values.sum())


def log_bound_and_gradient(
    tagging: Tagging, u: FloatArray, alpha: FloatArray, quadrature: Quadrature
) -> tuple[float, FloatArray]:
    """Compute ln Ẽ(α, H) and its derivative by u_ij, y_i (1−P_i) [(1−P_i) + P_i mean_k K_ik − K_ij].

    K_ij = E_r[exp(−m_i y_i (w − u_ij))] under the normalised integrand r of tag j.
    """
    groups = tagging.groups
    margins = margins_of(tagging, u)
    found = integrals(tagging, tagging.sizes(margins, u), alpha, quadrature, means=True)
    ratios = np.exp(np.minimum(groups.spread(groups.slopes) * u + groups.spread(found.means), _STEEPEST))
    mean = np.bincount(groups.objects, ratios, tagging.y.size) / np.maximum(tagging.counts, 1.0)
    rest = expit(-margins)
    shared = (rest + expit(margins) * mean)[groups.objects]
    gradient = (tagging.weights * tagging.y * rest)[groups.objects] * (shared - ratios)
    return tagging.constant(margins) + float(found.values.sum()), gradient


def best_alpha(
    tagging: Tagging,
    sizes: FloatArray,
    alpha: FloatArray,
    greatest: float,
    quadrature: Quadrature,
    which: Int64Array,
) -> tuple[FloatArray, FloatArray]:
    """Solve the M-step for the tags in ``which``; return all α, and ln I of these tags (0 for the others)."""
    groups = tagging.groups
    alpha, values = alpha.copy(), np.zeros_like(alpha)
    best_alphas(which, groups.starts, groups.slopes, sizes, quadrature.domain, greatest, quadrature.rule, alpha, values)
    return alpha, values
