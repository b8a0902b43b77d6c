"""A sparse online Gaussian process in whitened form: stable where the recursion in the inverse kernel matrix is not.

With the kernel matrix of the basis inputs K + jitter I = LLᵀ, an input has the features ψ = L⁻¹k(x), whose weights are
N(0, I) before any document, and a residual variance k(x, x) − ψᵀψ that the basis cannot express. The belief over the
weights is updated as that of a perceptron (Csató & Opper 2002).
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import ROUNDING
from bayesift._typing import FloatArray, Int64Array, UInt32Array
from bayesift.online._covariances import NEGLIGIBLE, LabelledTurns, subtract_outer
from bayesift.online._moments import weighted_moments

#: Inputs as compressed rows, their squared norms, and an array of zeros with an entry for each column.
Inputs = tuple[UInt32Array, UInt32Array, FloatArray, FloatArray, FloatArray]
#: Code, γ, constant and degree of a kernel function.
KernelFunction = tuple[int, float, float, float]

#: Codes of the kernel functions, by name.
KERNELS = {"linear": 0, "polynomial": 1, "rbf": 2, "cosine": 3}

#: Codes of what decides which input leaves the basis.
REMOVALS = {"project": 0, "kl": 1, "published": 2}


@kernel(error_model="numpy")
def kernel_value(
    code: int, product: float, square: float, other: float, gamma: float, constant: float, degree: float
) -> float:
    """k(x, x′) from xᵀx′ and the two squared norms."""
    if code == 1:
        return (gamma * product + constant) ** degree
    if code == 2:
        return np.exp(-gamma * max(square + other - 2.0 * product, 0.0))
    if code == 3:
        norms = np.sqrt(square) * np.sqrt(other)
        return constant + (product / norms if norms > 0.0 else 0.0)
    return product + constant


@kernel(error_model="numpy")
def _features(
    i: int, inputs: Inputs, function: KernelFunction, basis: Int64Array, size: int, L: FloatArray, psi: FloatArray
) -> tuple[float, float]:
    """Fill ψ of document i; return k(x, x) and the residual variance. ``scattered`` is zero before and after."""
    (indptr, indices, data, norms, scattered), (code, gamma, constant, degree) = inputs, function
    for k in range(indptr[i], indptr[i + 1]):
        scattered[indices[k]] = data[k]
    own = kernel_value(code, norms[i], norms[i], norms[i], gamma, constant, degree)
    residual = own
    for r in range(size):
        b = basis[r]
        product = 0.0
        for k in range(indptr[b], indptr[b + 1]):
            product += data[k] * scattered[indices[k]]
        value = kernel_value(code, product, norms[i], norms[b], gamma, constant, degree)
        for j in range(r):
            value -= L[r, j] * psi[j]
        psi[r] = value / L[r, r]
        residual -= psi[r] * psi[r]
    for k in range(indptr[i], indptr[i + 1]):
        scattered[indices[k]] = 0.0
    return own, max(residual, 0.0)


@kernel(error_model="numpy")
def _field(psi: FloatArray, mean: FloatArray, C: FloatArray, size: int, direction: FloatArray) -> tuple[float, float]:
    """Fill the direction Cψ; return mᵀψ and ψᵀCψ."""
    field, variance = 0.0, 0.0
    for j in range(size):
        direction[j] = 0.0
    for i in range(size):
        field += psi[i] * mean[i]
        row, value = C[i], psi[i]
        for j in range(size):
            direction[j] += value * row[j]
    for i in range(size):
        variance += psi[i] * direction[i]
    return field, max(variance, 0.0)


@kernel(error_model="numpy")
def _extend(
    psi: FloatArray, last: float, size: int, L: FloatArray, inverse: FloatArray, mean: FloatArray, C: FloatArray
) -> None:
    """Add an input to the basis: a row (ψ, last) of L and its inverse, and a weight N(0, 1)."""
    L[size, size] = last
    inverse[size, size] = 1.0 / last
    for j in range(size):
        L[size, j] = psi[j]
        total = 0.0
        for k in range(j, size):
            total += psi[k] * inverse[k, j]
        inverse[size, j] = -total / last
        C[size, j] = 0.0
        C[j, size] = 0.0
    mean[size] = 0.0
    C[size, size] = 1.0


@kernel(error_model="numpy")
def removal_scores(inverse: FloatArray, mean: FloatArray, C: FloatArray, removal: int) -> FloatArray:
    """Return for each basis input what is lost with it, by a code of ``REMOVALS``.

    Without input r the component z of the weights along the column r of L⁻¹ returns to N(0, 1). With μ and v its mean
    and variance the score is μ², the change of the mean function, or the relative entropy ½(μ² + v − 1 − ln v). As μ²
    is α_r²/Q_rr, with α the coefficients of the mean function and Q the inverse of the kernel matrix, the published
    score is abs(α_r)/Q_rr, the distance by which the mean at input r would move.
    """
    size = mean.shape[0]
    scores = np.empty(size)
    for r in range(size):
        mu, norm = 0.0, 0.0
        for k in range(r, size):
            mu += inverse[k, r] * mean[k]
            norm += inverse[k, r] * inverse[k, r]
        scores[r] = abs(mu) / norm if removal == 2 else mu * mu / norm
        if removal == 1:
            v = 0.0
            for k in range(r, size):
                inner = 0.0
                for m in range(r, size):
                    inner += C[k, m] * inverse[m, r]
                v += inverse[k, r] * inner
            v = max(v / norm, 1e-300)
            scores[r] = 0.5 * (scores[r] + v - 1.0 - np.log(v))
    return scores


@kernel(error_model="numpy")
def _turn(c: float, s: float, j: int, size: int, C: FloatArray) -> None:
    """Turn the coordinates j and j + 1 of a symmetric matrix; entries ij and ji get the same bits."""
    for k in range(size):
        if k != j and k != j + 1:
            a, b = C[j, k], C[j + 1, k]
            C[j, k] = c * a + s * b
            C[k, j] = C[j, k]
            C[j + 1, k] = c * b - s * a
            C[k, j + 1] = C[j + 1, k]
    a, b, d = C[j, j], C[j, j + 1], C[j + 1, j + 1]
    C[j, j] = c * c * a + 2.0 * c * s * b + s * s * d
    C[j + 1, j + 1] = s * s * a - 2.0 * c * s * b + c * c * d
    C[j, j + 1] = (c * c - s * s) * b + c * s * (d - a)
    C[j + 1, j] = C[j, j + 1]


@kernel(error_model="numpy")
def remove(r: int, size: int, L: FloatArray, inverse: FloatArray, mean: FloatArray, C: FloatArray) -> None:
    """Take input r out of the basis; what is believed of the function at the other inputs stays as it is.

    L without its row r is brought back to a triangle by rotations of neighbouring columns; the weights turn along, and
    the last of them, which the other inputs do not see, is left out.
    """
    for j in range(r, size - 1):
        length = np.hypot(L[j + 1, j], L[j + 1, j + 1])
        c, s = L[j + 1, j] / length, L[j + 1, j + 1] / length
        for i in range(j + 1, size):
            a, b = L[i, j], L[i, j + 1]
            L[i, j] = c * a + s * b
            L[i, j + 1] = c * b - s * a
        for i in range(size):
            a, b = inverse[j, i], inverse[j + 1, i]
            inverse[j, i] = c * a + s * b
            inverse[j + 1, i] = c * b - s * a
        a, b = mean[j], mean[j + 1]
        mean[j] = c * a + s * b
        mean[j + 1] = c * b - s * a
        _turn(c, s, j, size, C)
    for i in range(size):
        for j in range(r, size - 1):
            inverse[i, j] = inverse[i, j + 1]
    for i in range(r, size - 1):
        for j in range(i + 1):
            L[i, j] = L[i + 1, j]
        L[i, i + 1] = 0.0
    for i in range(size):
        inverse[size - 1, i] = 0.0
        inverse[i, size - 1] = 0.0
        L[size - 1, i] = 0.0


@kernel(error_model="numpy")
def learn_process(
    inputs: Inputs,
    function: KernelFunction,
    turns: LabelledTurns,
    basis: Int64Array,
    size: int,
    belief: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    noise: tuple[float, float],
    rule: tuple[float, float, int, int],
) -> tuple[int, float]:
    """Update the belief by the documents in this order, each a share of one; return the basis size and Σ share ln Z.

    ``belief`` is L, its inverse, mean and covariance, with room for one input more than the budget; ``noise`` is σ and
    κ of the likelihood; ``rule`` is the least novelty, the jitter, the budget and the code of what decides who leaves.
    """
    (y, order, shares), (L, inverse, mean, C) = turns, belief
    (sigma, kappa), (min_novelty, jitter, budget, removal) = noise, rule
    psi, direction = np.empty(mean.shape[0]), np.empty(mean.shape[0])
    total = 0.0
    for place in range(order.shape[0]):
        i = order[place]
        own, residual = _features(i, inputs, function, basis, size, L, psi)
        if residual > min_novelty * own:
            last = np.sqrt(residual + jitter)
            _extend(psi, last, size, L, inverse, mean, C)
            psi[size] = residual / last
            residual -= psi[size] * psi[size]
            basis[size] = i
            size += 1
        field, variance = _field(psi, mean, C, size, direction)
        spread = max(variance + max(residual, 0.0), ROUNDING * own)
        log_z, gain, shrink = weighted_moments(shares[place], y[i], field, spread, sigma, kappa)
        total += log_z
        for j in range(size):
            mean[j] += gain * direction[j]
        if abs(shrink) * variance > NEGLIGIBLE:
            subtract_outer(shrink, direction, size, C)
        # A budget that was lowered since the last call takes more than one.
        while size > budget:
            r = int(np.argmin(removal_scores(inverse, mean[:size], C, removal)))
            remove(r, size, L, inverse, mean, C)
            size -= 1
            for j in range(r, size):
                basis[j] = basis[j + 1]
    return size, total


@kernel(error_model="numpy")
def process_fields(
    inputs: Inputs,
    function: KernelFunction,
    order: Int64Array,
    basis: Int64Array,
    belief: tuple[FloatArray, FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the function at the documents of ``order``; ``belief`` is L, mean and covariance."""
    L, mean, C = belief
    size = mean.shape[0]
    means, variances = np.empty(order.shape[0]), np.empty(order.shape[0])
    psi, direction = np.empty(size), np.empty(size)
    for place in range(order.shape[0]):
        own, residual = _features(order[place], inputs, function, basis, size, L, psi)
        means[place], variance = _field(psi, mean, C, size, direction)
        variances[place] = max(variance + residual, ROUNDING * own)
    return means, variances
