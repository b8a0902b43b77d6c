"""Likelihood of tagged objects and its lower bound (theorem 1), for looking at them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, logit

from bayesift._typing import FloatArray
from bayesift.ard._bound import FULL_REACH, Quadrature
from bayesift.ard._bound import log_bound as _log_bound
from bayesift.ard._reading import read_tags
from bayesift.ard._tagging import Tagging


def log_likelihood(X: Any, y: Any, q: Any) -> FloatArray:
    """Return ln P(t_i | x_i, q) of every object.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_objects, n_tags)
        Zeros and ones.
    y : array of shape (n_objects,)
        Classes, 0 and 1.
    q : array of shape (..., n_tags)
        Probabilities of class 1, one for each tag; any number of such rows.

    Returns
    -------
    ndarray of shape (..., n_objects)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import log_likelihood
    >>> np.exp(log_likelihood([[1, 0], [1, 1]], [1, 0], [0.8, 0.5])).round(3)
    array([0.8, 0.2])
    """
    tags, signs = _objects(X, y)
    return log_expit(signs * (logit(_probabilities(q, "q")) @ tags.T))


def log_likelihood_bound(X: Any, y: Any, q: Any, eta: Any) -> FloatArray:
    """Return the lower bound ln L_i(q, η_i) of every object's log likelihood, which touches it at q = η_i.

    With P_i = P(t_i | x_i, η_i), w = logit q, u = logit η and m_i tags of signs y_i = ±1,

        ln L_i = ln P_i + (1 − P_i) − (1 − P_i)/m_i Σ_j exp(−m_i y_i (w_j − u_ij)).

    Parameters
    ----------
    X, y, q
        As in :func:`log_likelihood`.
    eta : array of shape (n_tags,) or (n_objects, n_tags)
        Variational parameters, shared by all objects or of each.

    Returns
    -------
    ndarray of shape (..., n_objects)

    Examples
    --------
    >>> from bayesift.ard import log_likelihood, log_likelihood_bound
    >>> X, y, q = [[1, 0], [1, 1]], [1, 0], [0.8, 0.5]
    >>> bool((log_likelihood_bound(X, y, q, eta=[0.6, 0.6]) < log_likelihood(X, y, q)).all())
    True
    >>> bool((log_likelihood_bound(X, y, q, eta=q) == log_likelihood(X, y, q)).all())
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


def log_evidence_bound(
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
        As in :func:`log_likelihood`.
    alpha : array of shape (n_tags,)
        Parameters of the priors Beta(α_j + 1, α_j + 1).
    eta : array of shape (n_tags,) or (n_objects, n_tags)
        Variational parameters, shared by all objects or of each.
    domain : {"full", "trunc"}, default="full"
        Integrate over (0, 1), or over q_min to 1 − q_min.
    q_min : float, default=0.1
        See there.
    n_nodes : int, default=200
        Nodes of the quadrature.

    Returns
    -------
    float

    Examples
    --------
    >>> from bayesift.ard import log_evidence_bound
    >>> round(log_evidence_bound([[1, 0], [1, 1]], [1, 0], alpha=[1.0, 1.0], eta=[0.5, 0.5]), 3)
    -2.152
    """
    tags, signs = _objects(X, y)
    tagging = Tagging(sp.csr_matrix(tags), signs, np.ones(signs.size))
    u = np.broadcast_to(logit(_probabilities(eta, "eta")), tags.shape)
    groups = tagging.groups
    reach = FULL_REACH if domain == "full" else float(-logit(q_min))
    precision = np.array(np.broadcast_to(np.asarray(alpha, dtype=np.float64), tags.shape[1:]))
    return _log_bound(tagging, u[groups.objects, groups.tags], precision, Quadrature.of(reach, n_nodes))


def _objects(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    """Return the tags as a dense matrix, and −1 and +1."""
    tags, classes = read_tags(X, None).toarray(), np.asarray(y)
    if classes.shape != tags.shape[:1] or not np.isin(classes, (0, 1)).all():
        raise ValueError(f"y must hold a 0 or a 1 for each of the {tags.shape[0]} objects, got {y!r}")
    return tags, np.where(classes == 1, 1.0, -1.0)


def _probabilities(values: Any, name: str) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if not np.all((found > 0) & (found < 1)):
        raise ValueError(f"{name} must be between 0 and 1, got {values!r}")
    return found
