"""The losses of the documents: logistic or probit for one binary decision, softmax for several classes.

The solvers of the binary models choose a loss by its code. Both are convex and fall with the margin r. What a solver
needs of them: the loss, u = −s f′(r) and w = s f″(r) for all documents, their part of the dual objective, and a
curvature that is safe far from the optimum. With φ and Φ the normal density and distribution function, the probit loss
f(r) = −ln Φ(r) has the slope −h(r), h = φ/Φ, and the curvature h (h + r), which falls from 1 far on the wrong side to 0
far on the right one.

Scores, probabilities and slopes of the softmax loss have a row for each document and a column for each class;
coefficients have a row for each feature, the intercepts last, and a column for each class: the numbers of all classes
lie together.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logit, ndtri

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._special_kernels import exp_negative, log1p_unit, log_positive, probit_curvature, probit_loss_and_slope
from bayesift._typing import FloatArray, Int64Array

#: Slopes below this count as none: t ln t is 0 to machine precision.
_LEAST_SLOPE = 1e-300
#: h(0), and a margin beyond which every slope is less than the least one.
_SLOPE_AT_ZERO, _LAST_MARGIN = 0.7978845608028654, 38.0
_NEWTON_STEPS, _HALF_THE_DIGITS = 60, 1e-8

#: Codes of the losses ln(1 + e^−r) and −ln Φ(r).
LOGISTIC, PROBIT = 0, 1

#: The documents of a binary fit: labels −1 and +1 (y), weights (s), scores at the modes of the priors (o).
BinarySample = tuple[FloatArray, FloatArray, FloatArray]


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def logistic_terms(r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray) -> float:
    """Fill u = s σ(−r) and w = s σ(r) σ(−r); return Σ s ln(1 + e^−r)."""
    total = 0.0
    for i in range(r.shape[0]):
        a = abs(r[i])
        e = exp_negative(-a)
        small = 1.0 / (1.0 + e)
        tail = e * small
        u[i] = s[i] * (tail if r[i] > 0.0 else small)
        w[i] = s[i] * tail * small
        total += s[i] * (log1p_unit(e) + max(-r[i], 0.0))
    return total


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def logistic_dual(y: FloatArray, s: FloatArray, offset: FloatArray, u: FloatArray, plus: float, minus: float) -> float:
    """−Σ_i {y_i u_i o_i + s_i [t ln t + (1 − t) ln(1 − t)]} for u scaled by one factor in each class."""
    total = 0.0
    for i in range(y.shape[0]):
        v = u[i] * (plus if y[i] > 0.0 else minus)
        t = v / s[i] if s[i] > 0.0 else 0.5
        # Below the smallest normal number t ln t is 0 to machine precision
        low = max(t, 1e-300)
        high = max(1.0 - t, 1e-300)
        total -= y[i] * v * offset[i] + s[i] * (t * log_positive(low) + (1.0 - t) * log_positive(high))
    return total


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def probit_terms(r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray) -> float:
    """Fill u = s h(r) and w = s h(r) (h(r) + r); return −Σ s ln Φ(r)."""
    total = 0.0
    for i in range(r.shape[0]):
        loss, h = probit_loss_and_slope(r[i])
        u[i] = s[i] * h
        w[i] = s[i] * probit_curvature(r[i], h)
        total += s[i] * loss
    return total


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def margins_of_slopes(t: FloatArray, r: FloatArray, h: FloatArray, w: FloatArray) -> None:
    """Overwrite the guesses r by the margins with h(r) = t, t > 0; h and w are room for as many numbers.

    Left of 0, h is convex and Newton's method climbs to the root, which lies above −t; right of 0, ln h is concave and
    it falls to the root, after at most one step across it.
    """
    ones = np.ones(t.shape[0])
    for _ in range(_NEWTON_STEPS):
        for i in range(t.shape[0]):
            left = t[i] >= _SLOPE_AT_ZERO
            r[i] = min(max(r[i], -t[i] if left else 0.0), 0.0 if left else _LAST_MARGIN)
        probit_terms(r, ones, h, w)
        moved = 0.0
        for i in range(t.shape[0]):
            by_log = log_positive(max(h[i] / t[i], _LEAST_SLOPE)) / (h[i] + r[i])
            step = (h[i] - t[i]) / w[i] if t[i] >= _SLOPE_AT_ZERO else by_log
            change = step / (1.0 + abs(r[i]))
            r[i] += step
            moved += change * change
        # What is computed from the margins is flat at the root: half of their digits are all of its own.
        if moved <= _HALF_THE_DIGITS * _HALF_THE_DIGITS:
            return


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def probit_dual(
    y: FloatArray, s: FloatArray, offset: FloatArray, u: FloatArray, r: FloatArray, plus: float, minus: float
) -> float:
    """−Σ_i {y_i u_i o_i + s_i f*(−t_i)}, t = u/s, for u scaled by one factor in each class.

    f*(−t) = −t ρ − f(ρ) at the margin ρ with h(ρ) = t; the margins r at hand are the first guess.
    """
    n = y.shape[0]
    t, margin, h, w = np.empty(n), r.copy(), np.empty(n), np.empty(n)
    for i in range(n):
        v = u[i] * (plus if y[i] > 0.0 else minus)
        t[i] = max(v / s[i] if s[i] > 0.0 else 1.0, _LEAST_SLOPE)
    margins_of_slopes(t, margin, h, w)
    total = probit_terms(margin, s, h, w)
    for i in range(n):
        total += s[i] * t[i] * (margin[i] - y[i] * offset[i])
    return total


def loss_terms(link: int, r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray) -> float:
    """Fill u = −s f′(r) and w = s f″(r); return Σ s f(r)."""
    terms = probit_terms if link == PROBIT else logistic_terms
    return float(terms(r, s, u, w))


def dual_part(link: int, sample: BinarySample, u: FloatArray, r: FloatArray, plus: float, minus: float) -> float:
    """−Σ_i {y_i u_i o_i + s_i f*(−u_i/s_i)} for u scaled by one factor in each class; r is where u comes from."""
    y, s, offset = sample
    if link == PROBIT:
        return float(probit_dual(y, s, offset, u, r, plus, minus))
    return float(logistic_dual(y, s, offset, u, plus, minus))


def guarded_curvature(
    link: int, r: FloatArray, s: FloatArray, u: FloatArray, w: FloatArray, power: float
) -> FloatArray:
    """The curvature w, raised where a document is on the wrong side of a logistic loss.

    There w_i → 0 although the loss bends again as soon as the document is put right, and a Newton step would overshoot.
    The quadratic that touches the loss at r and lies above it everywhere has the curvature (u − s/2)/|r|; the result is
    that (power 1) or its geometric mean with w (power ½). The probit loss bends most on the wrong side.
    """
    if link == PROBIT:
        return w
    out = w.copy()
    wrong = np.flatnonzero(r < -0.5)
    above = (u[wrong] - 0.5 * s[wrong]) / -r[wrong]
    out[wrong] = above if power == 1.0 else np.sqrt(w[wrong] * above)
    return out


def log_probability(link: int, scores: FloatArray) -> FloatArray:
    """Return the log probability of the category for linear scores, exact far into both tails."""
    return np.asarray(log_ndtr(scores) if link == PROBIT else -np.logaddexp(0.0, -scores))


def score_of_probability(link: int, probability: float) -> float:
    """Return the linear score with this probability of the category."""
    return float(ndtri(probability) if link == PROBIT else logit(probability))


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def softmax_terms(z: FloatArray, codes: Int64Array, s: FloatArray, p: FloatArray, r: FloatArray) -> float:
    """Fill p_ik = exp(z_ik) / Σ_l exp(z_il) and r = s∘(Y − p); return the loss Σ_i s_i [ln Σ_k exp(z_ik) − z_i,y].

    What is missing to 1 in p_i,y is summed over the other classes, so that r and the loss are exact in the tails.
    """
    n, n_classes = z.shape
    total = 0.0
    for i in range(n):
        own = codes[i]
        top = z[i, 0]
        for k in range(1, n_classes):
            top = max(top, z[i, k])
        mass = 0.0
        for k in range(n_classes):
            e = exp_negative(z[i, k] - top)
            p[i, k] = e
            mass += e
        other = mass - p[i, own]
        if p[i, own] == 1.0:
            # Nothing is lost to rounding when the own class's share is never added.
            other = 0.0
            for k in range(n_classes):
                other += p[i, k] if k != own else 0.0
            total += s[i] * (log1p_unit(other) if other <= 1.0 else log_positive(1.0 + other))
        else:
            total += s[i] * (log_positive(mass) + (top - z[i, own]))
        share = 1.0 / mass
        for k in range(n_classes):
            p[i, k] *= share
            r[i, k] = -s[i] * p[i, k]
        r[i, own] = s[i] * other * share
    return total


@kernel
def class_scores(columns: Compressed, b: FloatArray, offset: FloatArray, z: FloatArray) -> None:
    """Fill z_i = o_i + b_0 + Σ_j x_ij b_j, skipping features whose coefficients are all zero."""
    indptr, indices, data = columns
    d = indptr.shape[0] - 1
    n_classes = z.shape[1]
    for i in range(z.shape[0]):
        for k in range(n_classes):
            z[i, k] = offset[i, k] + b[d, k]
    for j in range(d):
        if np.any(b[j]):
            for e in range(indptr[j], indptr[j + 1]):
                i = indices[e]
                x = data[e]
                for k in range(n_classes):
                    z[i, k] += x * b[j, k]


@kernel
def class_slopes(columns: Compressed, r: FloatArray, c: FloatArray) -> None:
    """Fill c_j = Σ_i x_ij r_i, the intercepts' Σ_i r_i last: one pass over the matrix for all classes."""
    indptr, indices, data = columns
    d = indptr.shape[0] - 1
    n_classes = r.shape[1]
    for j in range(d):
        for k in range(n_classes):
            c[j, k] = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            i = indices[e]
            x = data[e]
            for k in range(n_classes):
                c[j, k] += x * r[i, k]
    for k in range(n_classes):
        c[d, k] = 0.0
    for i in range(r.shape[0]):
        for k in range(n_classes):
            c[d, k] += r[i, k]
