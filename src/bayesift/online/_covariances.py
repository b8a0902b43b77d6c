"""Learning with a full, a diagonal and a low-rank covariance: one pass over documents, and variances of others.

In the low-rank form the inverse covariance is a diagonal plus a matrix of low rank, D + VVᵀ, for beliefs over many
weights. A document adds η xxᵀ to the inverse covariance, η = shrink/(1 − shrink s²), which is one more column √η x of
V. When the columns are used up, V is turned so that they are orthogonal under D⁻¹; the greatest are kept and the
diagonal of the others goes into D. So the matrix stays positive definite, its diagonal exact, and no document is lost.
With LLᵀ = I + VᵀD⁻¹V the covariance is D⁻¹ − D⁻¹V (LLᵀ)⁻¹ VᵀD⁻¹.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import FloatArray, Int64Array, UInt32Array
from bayesift.online._moments import weighted_moments

#: Labels of the documents, the order in which they are learnt, and as what share of one each place of it counts.
LabelledTurns = tuple[FloatArray, Int64Array, FloatArray]
#: How much is kept from document to document, and the prior mean and covariance to which the rest returns.
DriftArrays = tuple[float, FloatArray, FloatArray]
#: Precision, factor, Cholesky factor and columns used, of a :class:`LowRank`.
LowRankArrays = tuple[FloatArray, FloatArray, FloatArray, int]

#: A share of a variance that is lost to rounding; (Cx)_i² ≤ C_ii xᵀCx bounds every entry of the update by it.
NEGLIGIBLE = 5e-17


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
    noise: tuple[float, float],
    drift: DriftArrays,
) -> float:
    """Update mean and C by the documents in this order, each counting as its share of one; return Σ share ln Z.

    ``noise`` is σ and κ of the likelihood, ``drift`` is keep, m₀ and C₀. With keep < 1 the weights drift after each
    document: a ← m₀ + keep (a − m₀) + noise that leaves N(m₀, C₀) as it is; after a share of a document by that share
    of the time.
    """
    (indptr, indices, data), (y, order, shares) = rows, turns
    (sigma, kappa), (keep, prior_mean, prior_C) = noise, drift
    size = mean.shape[0]
    x, direction, taken = np.zeros(size), np.empty(size), np.zeros(size)
    # What a document takes from C waits for the pass over C that the next one needs anyway.
    sign, total = 0.0, 0.0
    for place in range(order.shape[0]):
        i = order[place]
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        for k in range(columns.shape[0]):
            x[columns[k]] = values[k]
        _times(C, sign, taken, x, direction)
        field, variance = 0.0, 0.0
        for k in range(columns.shape[0]):
            x[columns[k]] = 0.0
            field += values[k] * mean[columns[k]]
            variance += values[k] * direction[columns[k]]
        variance = max(variance, 0.0)
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
    x[:] = 0.0
    _times(C, sign, taken, x, direction)
    return total


@kernel(error_model="numpy")
def learn_diagonal(
    rows: Compressed,
    turns: LabelledTurns,
    mean: FloatArray,
    C: FloatArray,
    noise: tuple[float, float],
    drift: DriftArrays,
) -> float:
    """The same for independent weights with the variances C: only those of the document's own columns move."""
    (indptr, indices, data), (y, order, shares) = rows, turns
    (sigma, kappa), (keep, prior_mean, prior_C) = noise, drift
    total = 0.0
    for place in range(order.shape[0]):
        i = order[place]
        field, variance = 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            field += data[k] * mean[j]
            variance += data[k] * data[k] * C[j]
        log_z, gain, shrink = weighted_moments(shares[place], y[i], field, variance, sigma, kappa)
        total += log_z
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            direction = C[j] * data[k]
            mean[j] += gain * direction
            C[j] -= shrink * direction * direction
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
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            row, inner = C[indices[k]], 0.0
            for m in range(indptr[i], indptr[i + 1]):
                inner += row[indices[m]] * data[m]
            total += data[k] * inner
        result[i] = max(total, 0.0)
    return result


class LowRank(NamedTuple):
    """A covariance (D + VVᵀ)⁻¹.

    ``precision`` is the diagonal of D, ``factor`` is V, of which the first ``used`` columns count, and ``cholesky`` is
    L, LLᵀ = I + VᵀD⁻¹V.
    """

    precision: FloatArray
    factor: FloatArray
    cholesky: FloatArray
    used: int

    def matrix(self) -> FloatArray:
        """Return the covariance itself, for few weights."""
        V = self.factor[:, : self.used]
        return np.asarray(np.linalg.inv(np.diag(self.precision) + V @ V.T))

    def copy(self) -> LowRank:
        """Return arrays of its own."""
        return LowRank(self.precision.copy(), self.factor.copy(), self.cholesky.copy(), self.used)


def diagonal_low_rank(variances: FloatArray, rank: int) -> LowRank:
    """Return a diagonal covariance with room for ``rank`` columns and as many that wait to be compressed into them."""
    return LowRank(1.0 / variances, np.zeros((variances.size, 2 * rank)), np.eye(2 * rank), 0)


@kernel(error_model="numpy")
def _solve_lower(L: FloatArray, used: int, b: FloatArray) -> float:
    """Overwrite b by L⁻¹b; return its squared norm."""
    total = 0.0
    for i in range(used):
        value = b[i]
        for j in range(i):
            value -= L[i, j] * b[j]
        b[i] = value / L[i, i]
        total += b[i] * b[i]
    return total


@kernel(error_model="numpy")
def _variance(
    columns: UInt32Array, values: FloatArray, D: FloatArray, V: FloatArray, L: FloatArray, used: int, t: FloatArray
) -> float:
    """Fill t = L⁻¹VᵀD⁻¹x and return xᵀCx, at least 0."""
    t[:] = 0.0
    variance = 0.0
    for k in range(columns.shape[0]):
        weight = values[k] / D[columns[k]]
        variance += values[k] * weight
        row = V[columns[k]]
        for r in range(used):
            t[r] += row[r] * weight
    return max(variance - _solve_lower(L, used, t), 0.0)


@kernel(error_model="numpy")
def _move(
    gain: float, columns: UInt32Array, values: FloatArray, D: FloatArray, V: FloatArray, z: FloatArray, m: FloatArray
) -> None:
    """Move the mean: m ← m + gain D⁻¹(x − Vz)."""
    for k in range(columns.shape[0]):
        m[columns[k]] += gain * values[k] / D[columns[k]]
    for j in range(m.shape[0]):
        inner = 0.0
        for r in range(z.shape[0]):
            inner += V[j, r] * z[r]
        m[j] -= gain * inner / D[j]


@kernel(error_model="numpy")
def _learn(
    rows: Compressed,
    turns: LabelledTurns,
    begin: int,
    mean: FloatArray,
    covariance: LowRankArrays,
    noise: tuple[float, float],
) -> tuple[int, int, float]:
    """Learn from the documents of ``order`` until the columns are used up; return the next place, ``used``, Σ ln Z."""
    (indptr, indices, data), (y, order, shares) = rows, turns
    (D, V, L, used), (sigma, kappa) = covariance, noise
    total = 0.0
    t = np.empty(L.shape[0])
    for place in range(begin, order.shape[0]):
        i = order[place]
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        field = 0.0
        for k in range(columns.shape[0]):
            field += values[k] * mean[columns[k]]
        variance = _variance(columns, values, D, V, L, used, t)
        log_z, gain, shrink = weighted_moments(shares[place], y[i], field, variance, sigma, kappa)
        total += log_z
        z = t[:used].copy()
        for r in range(used - 1, -1, -1):
            for later in range(r + 1, used):
                z[r] -= L[later, r] * z[later]
            z[r] /= L[r, r]
        _move(gain, columns, values, D, V, z, mean)
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
    _, turn = eigh(L @ L.T)
    V[:] = V @ turn[:, ::-1]
    D += np.einsum("jr,jr->j", V[:, rank:], V[:, rank:])
    V[:, rank:] = 0.0
    kept = V[:, :rank]
    L[:] = np.eye(2 * rank)
    L[:rank, :rank] = np.linalg.cholesky(np.eye(rank) + kept.T @ (kept / D[:, None]))
    return LowRank(D, V, L, rank)


def learn_low_rank(
    rows: Compressed, turns: LabelledTurns, mean: FloatArray, covariance: LowRank, noise: tuple[float, float]
) -> tuple[LowRank, float]:
    """Update mean and covariance in place by the documents in this order; return the covariance and Σ share ln Z."""
    place, total = 0, 0.0
    while place < turns[1].size:
        place, used, part = _learn(rows, turns, place, mean, tuple(covariance), noise)
        covariance = covariance._replace(used=used)
        total += part
        if used == covariance.cholesky.shape[0]:
            covariance = _compress(covariance)
    return covariance, total


@kernel(error_model="numpy")
def low_rank_variances(rows: Compressed, covariance: LowRankArrays) -> FloatArray:
    """Return xᵀCx of every document."""
    (indptr, indices, data), (D, V, L, used) = rows, covariance
    result = np.empty(indptr.shape[0] - 1)
    t = np.empty(L.shape[0])
    for i in range(result.shape[0]):
        columns, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        result[i] = _variance(columns, values, D, V, L, used, t)
    return result
