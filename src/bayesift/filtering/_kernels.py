"""Compiled loops: the next document that a topic retrieves, and the terms that are significant for a topic."""

from __future__ import annotations

import math

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import quadratic_form
from bayesift._typing import BoolArray, FloatArray, Int32Array, Int64Array, UInt32Array
from bayesift.online import outcome_information, outcome_moments

#: Why a document is retrieved.
NONE, RELEVANT, QUERY = 0, 1, 2


@kernel
def _mixed(z: np.uint64) -> np.uint64:
    """Scatter the bits of a number (the finalizer of SplitMix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def uniform(key: np.uint64, place: int) -> float:
    """Return a random number from 0 to below 1 that depends on the key and the place in the stream alone."""
    mixed = _mixed(key ^ _mixed(np.uint64(place) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)))
    return float(mixed >> np.uint64(11)) * 2.0**-53


@kernel(error_model="numpy")
def relevance_and_information(field: float, variance: float, kappa: float) -> tuple[float, float]:
    """Return the probability of relevance and the expected information in bits under flip noise."""
    yes, no = (
        np.exp(outcome_moments(1.0, field, variance, 0.0, kappa)[0]),
        np.exp(outcome_moments(-1.0, field, variance, 0.0, kappa)[0]),
    )
    expected = yes * outcome_information(1.0, field, variance, 0.0, kappa)
    return yes, expected + no * outcome_information(-1.0, field, variance, 0.0, kappa)


@kernel(error_model="numpy")
def next_retrieval(
    indptr: UInt32Array,
    indices: UInt32Array,
    data: FloatArray,
    first: int,
    begin: int,
    feature_of: Int32Array,
    mean: FloatArray,
    C: FloatArray,
    exponents: Int64Array,
    kappa: float,
    threshold: float,
    chance: float,
    key: np.uint64,
) -> tuple[int, int, float, float]:
    """Find the first document from ``first`` on that is retrieved: its row, why, its probability and information.

    ``feature_of`` gives the feature of a column, −1 for none; the last feature is the constant 1. ``exponents`` are
    those of the belief: as only the sign and the ratio of a field and its spread count, the greatest of a document is
    taken out. The place of row 0 in the stream is ``begin``. Where no document is retrieved the row is the number of
    rows.
    """
    constant = mean.shape[0] - 1
    features, values = np.empty(feature_of.shape[0] + 1, np.int64), np.empty(feature_of.shape[0] + 1)
    # Most documents share no feature with the topic: all of these look the same.
    plain_probability, plain_information = relevance_and_information(mean[constant], C[constant, constant], kappa)
    for i in range(first, indptr.shape[0] - 1):
        size, power = 0, exponents[constant]
        for k in range(indptr[i], indptr[i + 1]):
            j = feature_of[indices[k]]
            if j >= 0:
                features[size], values[size] = j, data[k]
                power = max(power, exponents[j])
                size += 1
        features[size], values[size] = constant, 1.0
        field = 0.0
        for a in range(size + 1):
            j = features[a]
            if exponents[j] != power:
                values[a] = math.ldexp(values[a], exponents[j] - power)
            field += values[a] * mean[j]
        probability, bits = plain_probability, plain_information
        if size > 0:
            variance = quadratic_form(features[: size + 1], values[: size + 1], C)
            probability, bits = relevance_and_information(field, variance, kappa)
        if field >= 0.0:
            return i, RELEVANT, probability, bits
        if bits >= threshold or (chance > 0.0 and uniform(key, begin + i) < chance):
            return i, QUERY, probability, bits
    return indptr.shape[0] - 1, NONE, 0.0, 0.0


@kernel(error_model="numpy")
def _part(observed: float, expected: float) -> float:
    return observed * np.log(observed / expected) if observed > 0.0 else 0.0


@kernel(error_model="numpy")
def log_ratio(a: float, n_inside: float, c: float, n_outside: float) -> float:
    """−2 ln λ of a in n_inside against c in n_outside: 2 Σ observed ln(observed/expected) over the four cells."""
    n, held = n_inside + n_outside, a + c
    if n_inside == 0.0 or n_outside == 0.0 or held == 0.0 or held == n:
        return 0.0
    p, q = held / n, (n - held) / n
    inside = _part(a, n_inside * p) + _part(n_inside - a, n_inside * q)
    return max(2.0 * (inside + _part(c, n_outside * p) + _part(n_outside - c, n_outside * q)), 0.0)


@kernel(error_model="numpy")
def _least_outside(n_inside: int, n_outside: int, cut: float) -> int:
    """Find the least count outside that makes a term significant which no relevant document holds."""
    low, high = 0, n_outside + 1
    while high - low > 1:
        middle = (low + high) // 2
        if log_ratio(0.0, float(n_inside), float(middle), float(n_outside)) > cut:
            high = middle
        else:
            low = middle
    return high


@kernel(error_model="numpy")
def significant_terms(
    inside: Int32Array, outside: Int32Array, n_inside: int, n_outside: int, cut: float, taken: BoolArray
) -> tuple[Int64Array, FloatArray]:
    """Return the columns with −2 ln λ > cut that are not taken, and their scores.

    Nearly all terms are in no relevant document. Their score grows with the count outside, so one comparison of whole
    numbers settles each of them.
    """
    enough = _least_outside(n_inside, n_outside, cut)
    columns, scores, found = np.empty(inside.shape[0], np.int64), np.empty(inside.shape[0]), 0
    for j in range(inside.shape[0]):
        if taken[j] or (inside[j] == 0 and outside[j] < enough):
            continue
        score = log_ratio(float(inside[j]), float(n_inside), float(outside[j]), float(n_outside))
        if score > cut:
            columns[found] = j
            scores[found] = score
            found += 1
    return columns[:found].copy(), scores[:found].copy()
