"""The one-dimensional integrals of the bound, for many tags.

For tag j the bound asks for

    I_j(α) = ∫ exp(−A_j(w)) Beta(q | α+1, α+1) dq,  A_j(w) = Σ_g exp(c_g − m_g w),  w = logit q,

where group g holds the objects with the same signed number of tags m_g = y_i |Q_i|. The logarithm of the integrand is
concave in w, so that it falls off on both sides of one peak: a fixed Gauss–Legendre rule is laid over the window in
which it is not negligible, however narrow that is.

Arrays of a batch of tags: ``starts`` says where the groups of each tag begin, ``slopes`` are the m_g and ``sizes`` the
c_g. ``rule`` holds the nodes of the rule on (0, 1) and the logarithms of its weights.
"""

from __future__ import annotations

import math

import numpy as np

from bayesift._kernel import kernel
from bayesift._special_kernels import exp_negative
from bayesift._typing import FloatArray, Int64Array

#: The integrand counts as negligible where it is below e^−DROP times its greatest value.
DROP = 42.0
#: No exponent goes beyond this: e^−(e^CAP) is zero already.
_CAP = 50.0
_E_CAP = math.exp(_CAP)
_NARROWEST = 1e-300
_LOG_4 = math.log(4.0)
#: Rungs of the ladder on which the M-step looks for a change of sign: the lowest is greatest / 2^16.
_RUNGS = 17
_HALF_LOG_PI_LESS_LOG_2 = 0.5 * math.log(math.pi) - math.log(2.0)
#: From here on the asymptotic series of the digamma function is exact.
_LARGE = 12.0


@kernel(error_model="numpy")
def log_normaliser(alpha: float) -> float:
    """Return ln ∫ (4q(1−q))^α dq over (0, 1): ln Γ(α+1) − ln Γ(α+3/2) + ½ ln π − ln 2, by the duplication formula."""
    return math.lgamma(alpha + 1.0) - math.lgamma(alpha + 1.5) + _HALF_LOG_PI_LESS_LOG_2


@kernel(error_model="numpy")
def prior_mean(alpha: float) -> float:
    """Return E[s] under Beta(α+1, α+1): ψ(α+1) − ψ(α+3/2), the slope of the normaliser."""
    z = alpha + 1.0
    total = 0.0
    while z < _LARGE:
        # ψ(z) = ψ(z + 1) − 1/z
        total -= 0.5 / (z * (z + 0.5))
        z += 1.0
    return total + _digamma_large(z) - _digamma_large(z + 0.5) - math.log1p(0.5 / z)


@kernel(error_model="numpy", inline="always")
def _digamma_large(z):  # type: ignore[no-untyped-def]
    """ψ(z) − ln z for z ≥ 12, by its asymptotic series; the next term is below 1e-16."""
    r = 1.0 / (z * z)
    series = 1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * 691 / 32760))))
    return -0.5 / z - r * series


@kernel(error_model="numpy", inline="always")
def _term(x):  # type: ignore[no-untyped-def]
    """e^x, for x above the cap that of the cap."""
    return exp_negative(min(x - _CAP, 0.0)) * _E_CAP


@kernel(error_model="numpy", inline="always")
def _log_prior(w):  # type: ignore[no-untyped-def]
    """Return s = ln 4q(1−q) of w = logit q."""
    a = abs(w)
    return _LOG_4 - a - 2.0 * np.log1p(np.exp(-a))


@kernel(error_model="numpy")
def _height(slopes: FloatArray, sizes: FloatArray, power: float, w: float) -> tuple[float, float]:
    """Value and slope in w of A(w) − power · s(w), a convex function."""
    value, slope = -power * _log_prior(w), power * math.tanh(0.5 * w)
    for g in range(slopes.shape[0]):
        e = _term(sizes[g] - slopes[g] * w)
        value += e
        slope -= slopes[g] * e
    return value, slope


@kernel(error_model="numpy")
def window(slopes: FloatArray, sizes: FloatArray, power: float, low: float, high: float) -> tuple[float, float]:
    """Return the part of [low, high] where A(w) − power · s(w) is within about ``DROP`` of its least value."""
    left, right = low, high
    middle = 0.5 * (left + right)
    best, slope = _height(slopes, sizes, power, middle)
    # Convexity: the least value is at most |slope| × distance below.
    while abs(slope) * (right - left) > 0.5 and right - left > 1e-12:
        if slope > 0.0:
            right = middle
        else:
            left = middle
        middle = 0.5 * (left + right)
        best, slope = _height(slopes, sizes, power, middle)
    return _edge(slopes, sizes, power, middle, low, best), _edge(slopes, sizes, power, middle, high, best)


@kernel(error_model="numpy")
def _edge(slopes: FloatArray, sizes: FloatArray, power: float, inside: float, outside: float, best: float) -> float:
    """Return a point towards ``outside`` where the height has risen by ``DROP`` to twice that, or ``outside``."""
    if _height(slopes, sizes, power, outside)[0] - best <= 2.0 * DROP:
        return outside
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        rise = _height(slopes, sizes, power, middle)[0] - best
        if rise > 2.0 * DROP:
            outside = middle
        elif rise < DROP:
            inside = middle
        else:
            return middle
    return outside


@kernel(error_model="numpy")
def _place_rule(
    slopes: FloatArray,
    sizes: FloatArray,
    rule: FloatArray,
    left: float,
    right: float,
    out: FloatArray,
    terms: FloatArray,
) -> None:
    """Lay the rule over a window: fill ``out`` with w, s and ln(weight) − A at every node, ``terms`` by group if asked.

    1 − q is computed like q, from the other end, so that swapping the classes mirrors every number.
    """
    n = rule.shape[1]
    low, high = 1.0 / (1.0 + math.exp(-left)), 1.0 / (1.0 + math.exp(-right))
    low_rest, high_rest = 1.0 / (1.0 + math.exp(left)), 1.0 / (1.0 + math.exp(right))
    # Where A exceeds the cap everywhere the window may shrink to a point; the integral is as good as zero.
    width = max(high - low if left < 0.0 else low_rest - high_rest, _NARROWEST)
    log_width = math.log(width)
    for k in range(n):
        q, rest = low + width * rule[0, k], high_rest + width * rule[0, n - 1 - k]
        log_q, log_rest = math.log(q), math.log(rest)
        out[0, k] = log_q - log_rest
        out[1, k] = _LOG_4 + log_q + log_rest
        out[2, k] = rule[1, k] + log_width
    keep = terms.shape[0] > 0
    for g in range(slopes.shape[0]):
        slope, size = slopes[g], sizes[g]
        for k in range(n):
            e = _term(size - slope * out[0, k])
            out[2, k] -= e
            if keep:
                terms[g, k] = e


@kernel(error_model="numpy", fastmath={"reassoc", "contract"})
def _moments(laid: FloatArray, alpha: float) -> tuple[float, float]:
    """Return the logarithm of the integral of e^−A (4q(1−q))^α, and the mean of s under the normalised integrand."""
    top = -np.inf
    for k in range(laid.shape[1]):
        top = max(top, laid[2, k] + alpha * laid[1, k])
    total, first = 0.0, 0.0
    for k in range(laid.shape[1]):
        e = exp_negative(laid[2, k] + alpha * laid[1, k] - top)
        total += e
        first += e * laid[1, k]
    return top + math.log(total), first / total


@kernel(error_model="numpy")
def log_integrals(
    which: Int64Array,
    starts: Int64Array,
    slopes: FloatArray,
    sizes: FloatArray,
    alpha: FloatArray,
    domain: tuple[float, float],
    rule: FloatArray,
    values: FloatArray,
    gradient: FloatArray,
    means: FloatArray,
) -> None:
    """Fill in, for the tags ``which``, ln I_j(α_j), its derivative by α_j, and unless empty the means of their groups.

    These are ln E_r[exp(−m_g w)], where r is the normalised integrand. The derivative is E_r[s] less the mean
    of s under the prior.
    """
    n_nodes = rule.shape[1]
    widest = 0
    if means.shape[0] > 0:
        for j in which:
            widest = max(widest, starts[j + 1] - starts[j])
    laid, terms = np.empty((3, n_nodes)), np.empty((widest, n_nodes))
    for j in which:
        own_slopes, own_sizes = slopes[starts[j] : starts[j + 1]], sizes[starts[j] : starts[j + 1]]
        left, right = window(own_slopes, own_sizes, alpha[j] + 1.0, domain[0], domain[1])
        _place_rule(own_slopes, own_sizes, rule, left, right, laid, terms)
        total, mean = _moments(laid, alpha[j])
        values[j] = total - log_normaliser(alpha[j])
        gradient[j] = mean - prior_mean(alpha[j])
        if means.shape[0] > 0:
            for k in range(n_nodes):
                laid[0, k] = math.exp(laid[2, k] + alpha[j] * laid[1, k] - total)
            for g in range(own_slopes.shape[0]):
                expected = 0.0
                for k in range(n_nodes):
                    expected += laid[0, k] * terms[g, k]
                means[starts[j] + g] = math.log(max(expected, 1e-300)) - own_sizes[g]


@kernel(error_model="numpy")
def best_alphas(
    which: Int64Array,
    starts: Int64Array,
    slopes: FloatArray,
    sizes: FloatArray,
    domain: tuple[float, float],
    greatest: float,
    rule: FloatArray,
    alpha: FloatArray,
    values: FloatArray,
) -> None:
    """Fill in the α_j in [0, greatest] with the greatest I_j(α_j) and its logarithm, for the tags ``which``.

    This is the M-step, solved for each tag on its own.

    The derivative is bracketed on the ladder greatest · 2^−k, whose powers of 4q(1−q) come from repeated squaring;
    every change of its sign from plus to minus is refined, and the best of these and of the two ends is taken.
    """
    n_nodes = rule.shape[1]
    laid, terms = np.empty((3, n_nodes)), np.empty((0, n_nodes))
    base, power = np.empty(n_nodes), np.empty(n_nodes)
    expected = np.empty(_RUNGS)
    for rung in range(_RUNGS):
        expected[rung] = prior_mean(greatest * 2.0 ** (rung + 1 - _RUNGS))
    for j in which:
        own_slopes, own_sizes = slopes[starts[j] : starts[j + 1]], sizes[starts[j] : starts[j + 1]]
        left, right = window(own_slopes, own_sizes, 1.0, domain[0], domain[1])
        _place_rule(own_slopes, own_sizes, rule, left, right, laid, terms)
        alpha[j], values[j] = _best_on_ladder(laid, base, power, expected, greatest)


@kernel(error_model="numpy")
def _best_on_ladder(
    laid: FloatArray, base: FloatArray, power: FloatArray, expected: FloatArray, greatest: float
) -> tuple[float, float]:
    """Find the best α of one tag on the ladder, and ln I(α)."""
    log_top, s_top = laid[2].max(), laid[1].max()
    step = greatest * 2.0 ** (1 - _RUNGS)
    for k in range(base.shape[0]):
        base[k] = math.exp(laid[2, k] - log_top)
        power[k] = math.exp((laid[1, k] - s_top) * step)
    total, mean = _moments(laid, 0.0)
    below, slope_below = 0.0, mean - prior_mean(0.0)
    best, best_value = 0.0, total - log_normaliser(0.0)
    for rung in range(expected.shape[0]):
        here = greatest * 2.0 ** (rung + 1 - _RUNGS)
        total, first = 0.0, 0.0
        for k in range(base.shape[0]):
            e = base[k] * power[k]
            total += e
            first += e * laid[1, k]
            power[k] *= power[k]
        slope = first / total - expected[rung]
        last = rung == expected.shape[0] - 1
        if (slope_below > 0.0 and slope <= 0.0) or (last and slope > 0.0):
            candidate = here if slope > 0.0 else _root(laid, below, slope_below, here, slope)
            value = _moments(laid, candidate)[0] - log_normaliser(candidate)
            if value > best_value:
                best, best_value = candidate, value
        below, slope_below = here, slope
    return best, best_value


@kernel(error_model="numpy")
def _root(laid: FloatArray, left: float, at_left: float, right: float, at_right: float) -> float:
    """Find where the derivative changes its sign, by false position with the Illinois rule."""
    side, middle = 0, right
    for _ in range(100):
        middle = (left * at_right - right * at_left) / (at_right - at_left)
        if not left < middle < right:
            middle = 0.5 * (left + right)
        slope = _moments(laid, middle)[1] - prior_mean(middle)
        if abs(slope) < 1e-15:
            break
        if slope > 0.0:
            left, at_left = middle, slope
            if side == 1:
                at_right *= 0.5
            side = 1
        else:
            right, at_right = middle, slope
            if side == -1:
                at_left *= 0.5
            side = -1
        if right - left <= 1e-11 * (1.0 + right):
            break
    return middle
