"""Learning with a full, a diagonal and a low-rank covariance: one pass over documents, and variances of others.

In the low-rank form the inverse covariance is a diagonal plus a matrix of low rank, D + VVᵀ, for beliefs over many
weights. A document adds η xxᵀ to the inverse covariance, η = shrink/(1 − shrink s²), which is one more column √η x of
V. When the columns are used up, V is turned so that they are orthogonal under D⁻¹; the greatest are kept and the
diagonal of the others goes into D. So the matrix stays positive definite, its diagonal exact, and no document is lost.
With LLᵀ = I + VᵀD⁻¹V the covariance is D⁻¹ − D⁻¹V (LLᵀ)⁻¹ VᵀD⁻¹.

Under flip noise nothing but the direction of the weights counts. Where labels contradict each other more often than κ
allows, every document shrinks the belief by a factor, and after some thousands its variances would be too small to be
written. So each weight has an exponent: it is 2ᵉ times the number that mean and covariance speak of. A weight whose
variance falls below ``SMALLEST`` gets a smaller exponent. The powers of two of a document are moved to its values,
less the greatest of them, which cancels in u = mᵀx/√(xᵀCx).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import ROUNDING, Compressed, quadratic_form
from bayesift._typing import FloatArray, Int64Array, UInt32Array
from bayesift.online._moments import weighted_moments

#: Labels of the documents, the order in which they are learned, and the share of a document that each turn counts as.
LabelledTurns = tuple[FloatArray, Int64Array, FloatArray]
#: How much is kept from document to document, and the prior mean and covariance to which the rest returns.
DriftArrays = tuple[float, FloatArray, FloatArray]
#: Precision, factor, Cholesky factor and columns used, of a :class:`LowRank`.
LowRankArrays = tuple[FloatArray, FloatArray, FloatArray, int]

#: A share of a variance that is lost to rounding; (Cx)_i² ≤ C_ii xᵀCx bounds every entry of the update by it.
NEGLIGIBLE = 5e-17
#: A weight whose variance is below this gets another exponent; squares and products of such weights stay finite.
SMALLEST = 2.0**-400
#: If a difference is a smaller share than this of its minuend, it is computed in another way.
_LOST = 1e-6
#: The least share of the diagonal of the inverse covariance that D has beside V after a compression.
_LEAST_SHARE = 1e-9


@kernel(error_model="numpy", inline="always")
def _power_of_document(columns, values, exponents):  # type: ignore[no-untyped-def]
    """Return the greatest exponent among the weights of a document; 0 for an empty one."""
    power, found = 0, False
    for k in range(columns.shape[0]):
        own = exponents[columns[k]]
        if values[k] != 0.0 and (not found or own > power):
            power, found = own, True
    return power


@kernel(error_model="numpy", inline="always")
def _scaled(value, exponent):  # type: ignore[no-untyped-def]
    """Return value · 2^exponent."""
    return value if exponent == 0 else math.ldexp(value, exponent)


@kernel(error_model="numpy")
def scaled_rows(rows: Compressed, exponents: Int64Array) -> tuple[FloatArray, Int64Array]:
    """Return the values of the documents for the scaled weights, and the power of two taken out of each document."""
    indptr, indices, data = rows
    values, powers = np.empty(data.shape[0]), np.empty(indptr.shape[0] - 1, np.int64)
    for i in range(powers.shape[0]):
        begin, end = indptr[i], indptr[i + 1]
        powers[i] = _power_of_document(indices[begin:end], data[begin:end], exponents)
        for k in range(begin, end):
            values[k] = _scaled(data[k], exponents[indices[k]] - powers[i])
    return values, powers


@kernel(error_model="numpy")
def _halvings(variance: float) -> int:
    """Return by what power of two the deviation of a weight is below 1."""
    return -math.frexp(variance)[1] // 2


@kernel(error_model="numpy")
def _rescale(columns: UInt32Array, exponents: Int64Array, mean: FloatArray, C: FloatArray) -> None:
    """Give another exponent to those of the weights whose variance is too small; no bit of a mantissa changes."""
    for k in range(columns.shape[0]):
        j = columns[k]
        if 0.0 < C[j, j] < SMALLEST:
            power = _halvings(C[j, j])
            exponents[j] -= power
            mean[j] = math.ldexp(mean[j], power)
            for i in range(mean.shape[0]):
                C[i, j] = math.ldexp(C[i, j], power)
            for i in range(mean.shape[0]):
                C[j, i] = math.ldexp(C[j, i], power)


@kernel(error_model="numpy")
def subtract_outer(shrink: float, direction: FloatArray, size: int, C: FloatArray) -> None:
    """C ← C − shrink vvᵀ for the first ``size`` rows and columns; entries ij and ji get the same bits."""
    root = np.sqrt(abs(shrink))
    for i in range(size):
        direction[i] *= root
    for i in range(size):
        scaled = direction[i] if shrink > 0.0 else -direction[i]
        row = C[i]
        for j in range(size):
            row[j] -= scaled * direction[j]


@kernel(error_model="numpy")
def _times(C: FloatArray, sign: float, taken: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """Take sign vvᵀ from C, then fill out = Cx, in one pass over C; two rows at a time spare passes over v and out."""
    size = x.shape[0]
    out[:] = 0.0
    for i in range(0, size - 1, 2):
        a, b, p, q = C[i], C[i + 1], x[i], x[i + 1]
        e, f = sign * taken[i], sign * taken[i + 1]
        if sign == 0.0:
            if p != 0.0 or q != 0.0:
                for j in range(size):
                    out[j] += p * a[j] + q * b[j]
        elif p == 0.0 and q == 0.0:
            for j in range(size):
                a[j] -= e * taken[j]
                b[j] -= f * taken[j]
        else:
            for j in range(size):
                a_j, b_j = a[j] - e * taken[j], b[j] - f * taken[j]
                a[j], b[j] = a_j, b_j
                out[j] += p * a_j + q * b_j
    if size % 2:
        a, p, e = C[size - 1], x[size - 1], sign * taken[size - 1]
        for j in range(size):
            a[j] -= e * taken[j]
            out[j] += p * a[j]


@kernel(error_model="numpy")
def learn_full(
    rows: Compressed,
    turns: LabelledTurns,
    mean: FloatArray,
    C: FloatArray,
    exponents: Int64Array,
    noise: tuple[float, float],
    drift: DriftArrays,
) -> float:
    """Update mean and C by the documents in this order, each counting as its share of one; return Σ share ln Z.

    ``noise`` is σ and κ of the likelihood, ``drift`` is keep, m₀ and C₀. With keep < 1 the weights drift after each
    document: a ← m₀ + keep (a − m₀) + noise that leaves N(m₀, C₀) as it is; after a share of a document by that share
    of the time. The exponents move only under flip noise without drift.
    """
    (indptr, indices, data), (y, order, shares) = rows, turns
    (sigma, kappa), (keep, prior_mean, prior_C) = noise, drift
    size = mean.shape[0]
    x, direction, taken = np.zeros(size), np.empty(size), np.zeros(size)
    may_vanish = sigma == 0.0 and keep == 1.0
    # What a document takes from C waits for the pass over C that the next one needs anyway.
    sign, total = 0.0, 0.0
    for place in range(order.shape[0]):
        i = order[place]
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        power = _power_of_document(columns, values, exponents) if may_vanish else 0
        for k in range(columns.shape[0]):
            x[columns[k]] = _scaled(values[k], exponents[columns[k]] - power)
        _times(C, sign, taken, x, direction)
        field, variance, terms = 0.0, 0.0, 0.0
        for k in range(columns.shape[0]):
            j = columns[k]
            field += x[j] * mean[j]
            variance += x[j] * direction[j]
            terms += x[j] * x[j] * C[j, j]
            x[j] = 0.0
        variance = max(variance, ROUNDING * terms)
        log_z, gain, shrink = weighted_moments(shares[place], y[i], field, variance, sigma, kappa)
        total += log_z
        sign = np.sign(shrink) if abs(shrink) * variance > NEGLIGIBLE else 0.0
        root = np.sqrt(abs(shrink))
        for j in range(size):
            mean[j] += gain * direction[j]
            taken[j] = root * direction[j]
        if keep < 1.0:
            subtract_outer(shrink, direction, size, C)
            sign = 0.0
            kept = keep if shares[place] == 1.0 else keep ** shares[place]
            for j in range(size):
                mean[j] = prior_mean[j] + kept * (mean[j] - prior_mean[j])
                for k in range(size):
                    C[j, k] = kept * kept * C[j, k] + (1.0 - kept * kept) * prior_C[j, k]
        if may_vanish:
            least = 1.0
            for k in range(columns.shape[0]):
                j = columns[k]
                least = min(least, C[j, j] - sign * taken[j] * taken[j])
            if least < SMALLEST:
                _times(C, sign, taken, x, direction)
                sign = 0.0
                _rescale(columns, exponents, mean, C)
    _times(C, sign, taken, x, direction)
    return total


@kernel(error_model="numpy")
def learn_diagonal(
    rows: Compressed,
    turns: LabelledTurns,
    mean: FloatArray,
    C: FloatArray,
    exponents: Int64Array,
    noise: tuple[float, float],
    drift: DriftArrays,
) -> float:
    """The same for independent weights with the variances C: only those of the document's own columns move."""
    (indptr, indices, data), (y, order, shares) = rows, turns
    (sigma, kappa), (keep, prior_mean, prior_C) = noise, drift
    smallest = SMALLEST if sigma == 0.0 and keep == 1.0 else 0.0
    scaled, power, total = bool(np.any(exponents)), 0, 0.0
    for place in range(order.shape[0]):
        i = order[place]
        begin, end = indptr[i], indptr[i + 1]
        if scaled:
            power = _power_of_document(indices[begin:end], data[begin:end], exponents)
        field, variance = 0.0, 0.0
        for k in range(begin, end):
            j = indices[k]
            x = _scaled(data[k], exponents[j] - power) if scaled else data[k]
            field += x * mean[j]
            variance += x * x * C[j]
        log_z, gain, shrink = weighted_moments(shares[place], y[i], field, variance, sigma, kappa)
        total += log_z
        for k in range(begin, end):
            j = indices[k]
            direction = C[j] * (_scaled(data[k], exponents[j] - power) if scaled else data[k])
            mean[j] += gain * direction
            C[j] -= shrink * direction * direction
        if smallest > 0.0:
            for k in range(begin, end):
                j = indices[k]
                if 0.0 < C[j] < smallest:
                    shift, scaled = _halvings(C[j]), True
                    exponents[j] -= shift
                    mean[j], C[j] = math.ldexp(mean[j], shift), math.ldexp(C[j], 2 * shift)
        if keep < 1.0:
            kept = keep if shares[place] == 1.0 else keep ** shares[place]
            for j in range(mean.shape[0]):
                mean[j] = prior_mean[j] + kept * (mean[j] - prior_mean[j])
                C[j] = kept * kept * C[j] + (1.0 - kept * kept) * prior_C[j]
    return total


@kernel(error_model="numpy")
def full_variances(indptr: UInt32Array, indices: UInt32Array, data: FloatArray, C: FloatArray) -> FloatArray:
    """Return xᵀCx of every document."""
    result = np.zeros(indptr.shape[0] - 1)
    for i in range(result.shape[0]):
        result[i] = quadratic_form(indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]], C)
    return result


class LowRank(NamedTuple):
    """A covariance (D + VVᵀ)⁻¹.

    ``precision`` is the diagonal of D, ``factor`` is V, whose first ``used`` columns are in use, and ``cholesky`` is L
    with LLᵀ = I + VᵀD⁻¹V.
    """

    precision: FloatArray
    factor: FloatArray
    cholesky: FloatArray
    used: int

    def matrix(self) -> FloatArray:
        """Return the covariance as a matrix, for small numbers of weights."""
        V = self.factor[:, : self.used]
        return np.asarray(np.linalg.inv(np.diag(self.precision) + V @ V.T))

    def copy(self) -> LowRank:
        """Return a copy with arrays of its own."""
        return LowRank(self.precision.copy(), self.factor.copy(), self.cholesky.copy(), self.used)


def diagonal_low_rank(variances: FloatArray, rank: int) -> LowRank:
    """Return a diagonal covariance with room for ``rank`` columns and as many that wait to be compressed into them."""
    return LowRank(1.0 / variances, np.zeros((variances.size, 2 * rank)), np.eye(2 * rank), 0)


@kernel(error_model="numpy")
def _coordinates(
    columns: UInt32Array, values: FloatArray, D: FloatArray, V: FloatArray, L: FloatArray, used: int, t: FloatArray
) -> tuple[float, float]:
    """Fill t = L⁻¹VᵀD⁻¹x; return xᵀD⁻¹x and its squared norm, whose difference is xᵀCx."""
    t[:] = 0.0
    total, norm = 0.0, 0.0
    for k in range(columns.shape[0]):
        weight = values[k] / D[columns[k]]
        total += values[k] * weight
        row = V[columns[k]]
        for r in range(used):
            t[r] += row[r] * weight
    for i in range(used):
        value = t[i]
        for j in range(i):
            value -= L[i, j] * t[j]
        t[i] = value / L[i, i]
        norm += t[i] * t[i]
    return total, norm


@kernel(error_model="numpy")
def _direction(
    columns: UInt32Array, values: FloatArray, covariance: LowRankArrays, t: FloatArray, direction: FloatArray
) -> float:
    """Fill the direction Cx = D⁻¹(x − Vz), z = L⁻ᵀt; return xᵀCx.

    It is the least of (x − Vz)ᵀD⁻¹(x − Vz) + zᵀz over z, a sum of squares: nothing cancels, and what z is off counts
    by its square only.
    """
    D, V, L, used = covariance
    z, variance = np.empty(used), 0.0
    for r in range(used - 1, -1, -1):
        z[r] = t[r]
        for later in range(r + 1, used):
            z[r] -= L[later, r] * z[later]
        z[r] /= L[r, r]
        variance += z[r] * z[r]
    direction[:] = 0.0
    for k in range(columns.shape[0]):
        direction[columns[k]] = values[k]
    for j in range(direction.shape[0]):
        row, inner = V[j], 0.0
        for r in range(used):
            inner += row[r] * z[r]
        rest = direction[j] - inner
        direction[j] = rest / D[j]
        variance += rest * direction[j]
    return variance


@kernel(error_model="numpy")
def _refine(columns: UInt32Array, values: FloatArray, covariance: LowRankArrays, direction: FloatArray) -> None:
    """Bring the direction v closer to Cx, by adding C(x − Dv − VVᵀv): digits may have been lost in D⁻¹(x − Vz)."""
    D, V, L, used = covariance
    size = D.shape[0]
    inner, t, every = np.zeros(used), np.empty(L.shape[0]), np.arange(size).astype(np.uint32)
    missing, change = np.zeros(size), np.empty(size)
    for j in range(size):
        for r in range(used):
            inner[r] += V[j, r] * direction[j]
    for k in range(columns.shape[0]):
        missing[columns[k]] = values[k]
    for j in range(size):
        total = D[j] * direction[j]
        for r in range(used):
            total += V[j, r] * inner[r]
        missing[j] -= total
    _coordinates(every, missing, D, V, L, used, t)
    _direction(every, missing, covariance, t, change)
    for j in range(size):
        direction[j] += change[j]


@kernel(error_model="numpy")
def _learn(
    rows: Compressed,
    turns: LabelledTurns,
    begin: int,
    mean: FloatArray,
    covariance: LowRankArrays,
    exponents: Int64Array,
    noise: tuple[float, float],
) -> tuple[int, int, float]:
    """Learn from the documents of ``order`` until the columns are used up; return the next place, ``used``, Σ ln Z."""
    (indptr, indices, data), (y, order, shares) = rows, turns
    (D, V, L, used), (sigma, kappa) = covariance, noise
    total = 0.0
    t, direction = np.empty(L.shape[0]), np.empty(D.shape[0])
    for place in range(begin, order.shape[0]):
        i = order[place]
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]].copy()
        power = _power_of_document(columns, values, exponents)
        field = 0.0
        for k in range(columns.shape[0]):
            values[k] = _scaled(values[k], exponents[columns[k]] - power)
            field += values[k] * mean[columns[k]]
        before, _ = _coordinates(columns, values, D, V, L, used, t)
        variance = _direction(columns, values, (D, V, L, used), t, direction)
        if variance < _LOST * before:
            _refine(columns, values, (D, V, L, used), direction)
        log_z, gain, shrink = weighted_moments(shares[place], y[i], field, variance, sigma, kappa)
        total += log_z
        for j in range(mean.shape[0]):
            mean[j] += gain * direction[j]
        # Flip noise can widen a belief (shrink < 0), which no column of V can express.
        if shrink * variance > NEGLIGIBLE:
            eta = shrink / (1.0 - shrink * variance)
            root = np.sqrt(eta)
            for k in range(columns.shape[0]):
                V[columns[k], used] = root * values[k]
            for r in range(used):
                L[used, r] = root * t[r]
            L[used, used] = np.sqrt(1.0 + eta * variance)
            used += 1
            if used == L.shape[0]:
                return place + 1, used, total
    return order.shape[0], used, total


def _compress(covariance: LowRank) -> LowRank:
    """Keep half of the columns, and of the others the diagonal."""
    D, V, L, _ = covariance
    rank = L.shape[0] // 2
    turn, _, _ = np.linalg.svd(L)
    V[:] = V @ turn
    D += np.einsum("jr,jr->j", V[:, rank:], V[:, rank:])
    V[:, rank:] = 0.0
    _balance(D, V)
    L[:] = np.eye(2 * rank)
    L[:rank, :rank] = _cholesky_of(V[:, :rank] / np.sqrt(D)[:, None])
    return LowRank(D, V, L, rank)


def _balance(D: FloatArray, V: FloatArray) -> None:
    """Move a little of the diagonal from V to D, in place, where D is too small beside V for the digits there are."""
    squares = np.einsum("jr,jr->j", V, V)
    missing = _LEAST_SHARE * squares - D
    for j in np.flatnonzero(missing > 0.0):
        D[j] += missing[j]
        V[j] *= np.sqrt(1.0 - missing[j] / squares[j])


def _cholesky_of(W: FloatArray) -> FloatArray:
    """Return L with LLᵀ = I + WᵀW."""
    square = np.eye(W.shape[1]) + W.T @ W
    if np.trace(square) * ROUNDING < _LOST:
        return np.asarray(np.linalg.cholesky(square))
    # Most digits of I would be lost in the square; not so in the triangle of an orthogonal decomposition.
    triangle = np.linalg.qr(np.vstack([W, np.eye(W.shape[1])]), mode="r")
    return np.asarray((triangle * np.sign(np.diag(triangle))[:, None]).T)


def _rescale_low_rank(covariance: LowRank, mean: FloatArray, exponents: Int64Array) -> None:
    """Give another exponent to the weights whose variance is too small, in place."""
    D, V, _, _ = covariance
    for j in np.flatnonzero(D > 1.0 / SMALLEST):
        power = np.frexp(D[j])[1] // 2
        exponents[j] -= power
        mean[j] = np.ldexp(mean[j], power)
        D[j], V[j] = np.ldexp(D[j], -2 * power), np.ldexp(V[j], -power)


def learn_low_rank(
    rows: Compressed,
    turns: LabelledTurns,
    mean: FloatArray,
    covariance: LowRank,
    exponents: Int64Array,
    noise: tuple[float, float],
) -> tuple[LowRank, float]:
    """Update mean and covariance in place by the documents in this order; return the covariance and Σ share ln Z."""
    place, total = 0, 0.0
    while place < turns[1].size:
        place, used, part = _learn(rows, turns, place, mean, tuple(covariance), exponents, noise)
        covariance = covariance._replace(used=used)
        total += part
        if used == covariance.cholesky.shape[0]:
            covariance = _compress(covariance)
            if noise[0] == 0.0:
                _rescale_low_rank(covariance, mean, exponents)
    return covariance, total


@kernel(error_model="numpy")
def low_rank_variances(rows: Compressed, covariance: LowRankArrays) -> FloatArray:
    """Return xᵀCx of every document."""
    (indptr, indices, data), (D, V, L, used) = rows, covariance
    result = np.empty(indptr.shape[0] - 1)
    t, direction = np.empty(L.shape[0]), np.empty(D.shape[0])
    for i in range(result.shape[0]):
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        before, less = _coordinates(columns, values, D, V, L, used, t)
        result[i] = before - less
        if result[i] < _LOST * before:
            result[i] = _direction(columns, values, covariance, t, direction)
    return result
