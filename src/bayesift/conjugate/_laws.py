"""Distributions on the line put together: side by side, or mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bayesift._checks import plain
from bayesift._typing import FloatArray


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Different laws for the entries of the last axis."""

    laws: Sequence[Any]

    def _each(self, method: str, values: Any) -> FloatArray:
        array = np.asarray(values, dtype=np.float64)
        parts = [array if array.ndim == 0 else array[..., k] for k in range(len(self.laws))]
        results = [getattr(law, method)(part) for law, part in zip(self.laws, parts, strict=True)]
        return np.stack(np.broadcast_arrays(*results), axis=-1)

    def logpdf(self, value: Any) -> FloatArray:
        """Return the log density of every entry."""
        return self._each("logpdf", value)

    def cdf(self, value: Any) -> FloatArray:
        """Return the probability that every entry is at most ``value``."""
        return self._each("cdf", value)

    def quantile(self, q: Any) -> FloatArray:
        """Return the point below which the share ``q`` of every entry lies."""
        return self._each("quantile", q)


@dataclass(frozen=True, eq=False)
class Mixed:
    """A mixture of laws; the first axis of ``log_weights`` is that of the laws."""

    laws: Sequence[Any]
    log_weights: FloatArray

    def logpdf(self, value: Any) -> Any:
        """Return the log density."""
        return plain(mixed(self.log_weights, [law.logpdf(value) for law in self.laws]))

    def cdf(self, value: Any) -> Any:
        """Return the probability of at most ``value``."""
        return plain(average(np.exp(self.log_weights), [law.cdf(value) for law in self.laws]))

    def quantile(self, q: Any) -> Any:
        """Return the point below which the share ``q`` lies, by bisection between those of the parts."""
        weights, ends = aligned(self.log_weights, [law.quantile(q) for law in self.laws])
        # A part without weight has no say.
        low = np.where(weights == -np.inf, np.inf, ends).min(axis=0)
        high = np.where(weights == -np.inf, -np.inf, ends).max(axis=0)
        share = np.broadcast_to(q, low.shape)
        # Of an infinite end nothing can be halved; it is the answer for the shares 0 and 1 only.
        left, right = np.where(share == 1, high, low), np.where(share == 0, low, high)
        for _ in range(1100):
            with np.errstate(invalid="ignore"):
                middle = np.where(left == right, left, left + (right - left) / 2)
            if np.all((middle == left) | (middle == right)):
                break
            reached = self.cdf(middle) >= share
            left, right = np.where(reached, left, middle), np.where(reached, middle, right)
        return plain(right)


def mixed(log_weights: FloatArray, log_parts: Sequence[Any]) -> FloatArray:
    """Return the log of the weighted sum of what the parts say."""
    return logsumexp(weighted(log_weights, log_parts), axis=0)


def weighted(log_weights: FloatArray, log_parts: Sequence[Any]) -> FloatArray:
    """Return what each part says plus its log weight, and −∞ for a part without weight, whatever it says."""
    weights, parts = aligned(log_weights, log_parts)
    return np.where(weights == -np.inf, -np.inf, weights + parts)


def average(weights: FloatArray, parts: Sequence[Any], event_ndim: int = 0) -> FloatArray:
    """Return the weighted mean of the parts; ``event_ndim`` of their last axes are not of the batch."""
    shares, values = aligned(weights.reshape(*weights.shape, *([1] * event_ndim)), parts)
    return np.where(shares == 0, 0.0, shares * np.where(shares == 0, 0.0, values)).sum(axis=0)


def aligned(weights: FloatArray, parts: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
    """Return weights (first axis: parts, then the batch) and the stacked parts, with axes that match from the end."""
    stacked = np.stack(np.broadcast_arrays(*parts))
    n_axes = max(weights.ndim, stacked.ndim)
    both = [array.reshape(len(array), *([1] * (n_axes - array.ndim)), *array.shape[1:]) for array in (weights, stacked)]
    first, second = np.broadcast_arrays(*both)
    return first, second


def choose(rng: np.random.Generator, weights: FloatArray, shape: tuple[int, ...]) -> Any:
    """Draw numbers of parts with probabilities along the first axis of ``weights``; ``shape`` ends with the batch."""
    below = np.moveaxis(np.cumsum(weights, axis=0)[:-1], 0, -1)
    return (rng.random((*shape, 1)) >= below).sum(axis=-1)


def pick(parts: Sequence[Any], chosen: Any, event_ndim: int = 0) -> Any:
    """Take for every place the entry of the part whose number stands there."""
    numbers = np.reshape(chosen, (1, *np.shape(chosen), *([1] * event_ndim)))
    return np.take_along_axis(np.stack(np.broadcast_arrays(*parts)), numbers, axis=0)[0]
