"""Going through documents until a topic retrieves one."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int32Array, UInt32Array
from bayesift.online._moments import information, moments

#: Why a document is retrieved.
NOTHING, RELEVANT, QUERY = 0, 1, 2


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
def outlook(field: float, variance: float, kappa: float) -> tuple[float, float]:
    """Return the probability of relevance and the expected information in bits under flip noise."""
    yes, no = (
        np.exp(moments(1.0, field, variance, 0.0, kappa)[0]),
        np.exp(moments(-1.0, field, variance, 0.0, kappa)[0]),
    )
    expected = yes * information(1.0, field, variance, 0.0, kappa)
    return yes, expected + no * information(-1.0, field, variance, 0.0, kappa)


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
    kappa: float,
    threshold: float,
    chance: float,
    key: np.uint64,
) -> tuple[int, int, float, float]:
    """Find the first document from ``first`` on that is retrieved: its row, why, its probability and information.

    ``feature_of`` gives the feature of a column, −1 for none; the last feature is the constant 1. The place of row 0 in
    the stream is ``begin``. Where no document is retrieved the row is the number of rows.
    """
    constant = mean.shape[0] - 1
    features, values = np.empty(feature_of.shape[0] + 1, np.int64), np.empty(feature_of.shape[0] + 1)
    # Most documents share no feature with the topic: all of these look the same.
    plain_probability, plain_information = outlook(mean[constant], C[constant, constant], kappa)
    for i in range(first, indptr.shape[0] - 1):
        size, field = 0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = feature_of[indices[k]]
            if j >= 0:
                features[size], values[size] = j, data[k]
                field += data[k] * mean[j]
                size += 1
        features[size], values[size] = constant, 1.0
        field += mean[constant]
        probability, bits = plain_probability, plain_information
        if size > 0:
            variance = 0.0
            for a in range(size + 1):
                row, inner = C[features[a]], 0.0
                for b in range(size + 1):
                    inner += row[features[b]] * values[b]
                variance += values[a] * inner
            probability, bits = outlook(field, max(variance, 0.0), kappa)
        if field >= 0.0:
            return i, RELEVANT, probability, bits
        if bits >= threshold or (chance > 0.0 and uniform(key, begin + i) < chance):
            return i, QUERY, probability, bits
    return indptr.shape[0] - 1, NOTHING, 0.0, 0.0
