"""Likelihood of tagged objects, and the lower bounds of it and of the evidence (theorem 1 of Molchanov et al. 2015).

The public functions take small data to look at; the others are what the algorithms ask for, at given α and u = logit η,
u by entry.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, logit

from bayesift._typing import FloatArray, Int64Array
from bayesift.ard.tagging._integrals import best_alphas, log_integrals
from bayesift.ard.tagging._tags import Tagging, read_tags

#: Half the range of logit q that stands for all of (0, 1): the rest has less than 1e-17 of any of the priors.
FULL_LIMIT = 40.0
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
    def of(cls, limit: float, n_nodes: int) -> Quadrature:
        """Make the rule for w from −limit to limit."""
        nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
        return cls((-limit, limit), np.vstack([0.5 * (1.0 + nodes), np.log(0.5 * weights)]))


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


def tagging_log_likelihood(X: Any, y: Any, q: Any) -> FloatArray:
    """Return ln P(t_i | x_i, q) of every object.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_objects, n_tags)
        Zeros and ones.
    y : array of shape (n_objects,)
        Classes, 0 and 1.
    q : array of shape (..., n_tags)
        Probabilities of class 1, one for each tag, in any number of rows.

    Returns
    -------
    ndarray of shape (..., n_objects)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import tagging_log_likelihood
    >>> np.exp(tagging_log_likelihood([[1, 0], [1, 1]], [1, 0], [0.8, 0.5])).round(3)
    array([0.8, 0.2])
    """
    tags, signs = _objects(X, y)
    return log_expit(signs * (logit(_probabilities(q, "q")) @ tags.T))


def tagging_log_likelihood_bound(X: Any, y: Any, q: Any, eta: Any) -> FloatArray:
    """Return the lower bound ln L_i(q, η_i) of every object's log likelihood, which touches it at q = η_i.

    With P_i = P(t_i | x_i, η_i), w = logit q, u = logit η, m_i tags and signs y_i = ±1,

        ln L_i = ln P_i + (1 − P_i) − (1 − P_i)/m_i Σ_j exp(−m_i y_i (w_j − u_ij)).

    Parameters
    ----------
    X, y, q
        As in :func:`tagging_log_likelihood`.
    eta : array of shape (n_tags,) or (n_objects, n_tags)
        Variational parameters, shared by all objects or one row for each.

    Returns
    -------
    ndarray of shape (..., n_objects)

    Examples
    --------
    >>> from bayesift.ard import tagging_log_likelihood, tagging_log_likelihood_bound
    >>> X, y, q = [[1, 0], [1, 1]], [1, 0], [0.8, 0.5]
    >>> bool((tagging_log_likelihood_bound(X, y, q, eta=[0.6, 0.6]) < tagging_log_likelihood(X, y, q)).all())
    True
    >>> bool((tagging_log_likelihood_bound(X, y, q, eta=q) == tagging_log_likelihood(X, y, q)).all())
    True
    """
    tags, signs = _objects(X, y)
    u = np.broadcast_to(logit(_probabilities(eta, "eta")), tags.shape)
    margins = signs * np.sum(tags * u, axis=1)
    slopes = signs * tags.sum(axis=1)
    distance = logit(_probabilities(q, "q"))[..., None, :] - u
    # At the touching point the exponents are 0 and the two terms cancel exactly.
    beyond = np.where(tags > 0, np.expm1(-slopes[:, None] * distance), 0.0).sum(axis=-1)
    return log_expit(margins) - expit(-margins) * beyond / np.maximum(np.abs(slopes), 1.0)


def tagging_log_evidence_bound(
    X: Any,
    y: Any,
    alpha: Any,
    eta: Any,
    *,
    domain: Literal["trunc", "full"] = "full",
    q_min: float = 0.1,
    n_nodes: int = 200,
) -> float:
    """Return ln Ẽ(α, H), the lower bound of the log evidence.

    Parameters
    ----------
    X, y
        As in :func:`tagging_log_likelihood`.
    alpha : array of shape (n_tags,)
        Parameters of the priors Beta(α_j + 1, α_j + 1).
    eta : array of shape (n_tags,) or (n_objects, n_tags)
        Variational parameters, shared by all objects or one row for each.
    domain : {"full", "trunc"}, default="full"
        Integrate over (0, 1), or over q_min to 1 − q_min.
    q_min : float, default=0.1
        Lower limit of q, for ``domain="trunc"``.
    n_nodes : int, default=200
        Number of nodes of the quadrature.

    Returns
    -------
    float

    Examples
    --------
    >>> from bayesift.ard import tagging_log_evidence_bound
    >>> round(tagging_log_evidence_bound([[1, 0], [1, 1]], [1, 0], alpha=[1.0, 1.0], eta=[0.5, 0.5]), 3)
    -2.152
    """
    tags, signs = _objects(X, y)
    tagging = Tagging(sp.csr_matrix(tags), signs, np.ones(signs.size))
    u = np.broadcast_to(logit(_probabilities(eta, "eta")), tags.shape)
    groups = tagging.groups
    limit = FULL_LIMIT if domain == "full" else float(-logit(q_min))
    precision = np.array(np.broadcast_to(np.asarray(alpha, dtype=np.float64), tags.shape[1:]))
    return log_bound(tagging, u[groups.objects, groups.tags], precision, Quadrature.of(limit, n_nodes))


def _objects(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    """Return the tags as a dense matrix, and −1 and +1."""
    tags, classes = read_tags(X, None).toarray(), np.asarray(y)
    if classes.shape != tags.shape[:1] or not np.isin(classes, (0, 1)).all():
        raise ValueError(f"y is {y!r}; expected 0 or 1 for each of the {tags.shape[0]} objects")
    return tags, np.where(classes == 1, 1.0, -1.0)


def _probabilities(values: Any, name: str) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if not np.all((found > 0) & (found < 1)):
        raise ValueError(f"{name} must be between 0 and 1, got {values!r}")
    return found
