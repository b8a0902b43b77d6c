"""The loss of a document as the solvers of the binary models see it: logistic or probit, by a code.

Both are convex and fall with the margin r. What a solver needs of them: the loss, u = −s f′(r) and w = s f″(r) for all
documents, their part of the dual objective, and a curvature that is safe far from the optimum.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logit, ndtri

from bayesift._kernel import kernel
from bayesift._typing import FloatArray
from bayesift.linear._logistic import logistic_dual, logistic_terms
from bayesift.linear._probit import probit_dual, probit_terms

#: Codes of the losses ln(1 + e^−r) and −ln Φ(r).
LOGISTIC, PROBIT = 0, 1


@kernel
def loss_terms(link: int, r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray) -> float:
    """Fill u = −s f′(r) and w = s f″(r); return Σ s f(r)."""
    if link == PROBIT:
        return probit_terms(r, s, u, w)
    return logistic_terms(r, s, u, w)


@kernel
def dual_part(
    link: int,
    y: FloatArray,
    s: FloatArray,
    offset: FloatArray,
    u: FloatArray,
    r: FloatArray,
    plus: float,
    minus: float,
) -> float:
    """−Σ_i {y_i u_i o_i + s_i f*(−u_i/s_i)} for u scaled by one factor in each class; r is where u comes from."""
    if link == PROBIT:
        return probit_dual(y, s, offset, u, r, plus, minus)
    return logistic_dual(y, s, offset, u, plus, minus)


@kernel(error_model="numpy")
def guarded_curvature(
    link: int, r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray, power: float
) -> FloatArray:
    """The curvature w, raised where a document is on the wrong side of a logistic loss.

    There w_i → 0 although the loss bends again as soon as the document is put right, and a Newton step would overshoot.
    The quadratic that touches the loss at r and lies above it everywhere has the curvature (u − s/2)/|r|; the result is
    that (power 1) or its geometric mean with w (power ½). The probit loss bends most on the wrong side.
    """
    out = w.copy()
    if link == PROBIT:
        return out
    for i in range(r.shape[0]):
        if r[i] < -0.5:
            above = (u[i] - 0.5 * s[i]) / -r[i]
            out[i] = above if power == 1.0 else np.sqrt(w[i] * above)
    return out


def log_probability(link: int, scores: FloatArray) -> FloatArray:
    """Return the log probability of the category for linear scores, exact far into both tails."""
    return np.asarray(log_ndtr(scores) if link == PROBIT else -np.logaddexp(0.0, -scores))


def score_of_probability(link: int, probability: float) -> float:
    """Return the linear score with this probability of the category."""
    return float(ndtri(probability) if link == PROBIT else logit(probability))
