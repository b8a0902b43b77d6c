"""Weighted sums of distributions: densities on the line, predictions, and the arithmetic both need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bayesift._checks import plain
from bayesift._typing import FloatArray
from bayesift.conjugate.predictive import ContinuousPredictive, DiscretePredictive, Predictive


@dataclass(frozen=True, eq=False)
class MixedMarginals:
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
        """Return the point below which the share ``q`` lies, searched between those of the parts."""
        weights, ends = aligned(self.log_weights, [law.quantile(q) for law in self.laws])
        # A part without weight has no say.
        low = np.where(weights == -np.inf, np.inf, ends).min(axis=0)
        high = np.where(weights == -np.inf, -np.inf, ends).max(axis=0)
        share = np.broadcast_to(q, low.shape)
        # Of an infinite end nothing can be halved; it is the answer for the shares 0 and 1 only.
        left, right = np.where(share == 1, high, low), np.where(share == 0, low, high)
        return plain(first_reached(lambda value: self.cdf(value) - share, left, right))


@dataclass(frozen=True, eq=False)
class _MixedPredictive(Predictive):
    """The weighted mean of the predictive distributions of a mixture's components."""

    parts: Sequence[Any]
    log_weights: FloatArray

    @property
    def event_ndim(self) -> int:  # type: ignore[override]
        """Number of axes of one observation."""
        return int(self.parts[0].event_ndim)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return np.broadcast_shapes(self.log_weights.shape[1:], *(part.batch_shape for part in self.parts))

    def _average(self, values: list[Any]) -> Any:
        return plain(average(np.exp(self.log_weights), values, self.event_ndim))

    @property
    def mean(self) -> Any:
        """Expected value of the data."""
        return self._average([part.mean for part in self.parts])

    @property
    def variance(self) -> Any:
        """Variance: the mean of the variances plus the variance of the means."""
        mean = self.mean
        return self._average([part.variance + np.square(part.mean - mean) for part in self.parts])

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        chosen = choose(rng, np.exp(self.log_weights), shape)
        return pick([part._draw(rng, shape) for part in self.parts], chosen, self.event_ndim)


class MixedCount(_MixedPredictive, DiscretePredictive):
    """Counts or categories predicted by a mixture."""

    def _log_mass(self, x: FloatArray) -> Any:
        return mixed(self.log_weights, [part.logpmf(x) for part in self.parts])


class MixedNumber(_MixedPredictive, ContinuousPredictive):
    """Real numbers predicted by a mixture."""

    def _log_density(self, x: FloatArray) -> Any:
        return mixed(self.log_weights, [part.logpdf(x) for part in self.parts])


def first_reached(excess: Callable[[FloatArray], Any], left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the first numbers between two ends at which a rising function, of each number its own, is not negative.

    Chandrupatla's rule: the inverse of a parabola through the last three points, where it can be trusted, or else the
    middle. Smooth functions need about ten steps; one with a jump is halved down to neighbouring numbers.
    """
    newest, other, third = right, left, left
    at_newest, at_other, at_third = np.ones_like(right), -np.ones_like(left), -np.ones_like(left)
    part = np.full_like(right, np.nan)
    # Whatever the function, the middle is taken every fourth time, and no more than 1100 times.
    for turn in range(4400):
        middle = _between(left, right)
        if np.all((middle == left) | (middle == right)):
            break
        with np.errstate(invalid="ignore", over="ignore"):
            guess = newest + part * (other - newest)
        place = np.where((guess > left) & (guess < right), guess, middle)
        value = excess(place)
        reached = value >= 0
        same = reached == (at_newest >= 0)
        third, at_third = np.where(same, newest, other), np.where(same, at_newest, at_other)
        other, at_other = np.where(same, other, newest), np.where(same, at_other, at_newest)
        newest, at_newest = place, value
        left, right = np.where(reached, left, place), np.where(reached, place, right)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            xi, phi = (newest - other) / (third - other), (at_newest - at_other) / (at_third - at_other)
            trusted = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi) & (turn % 4 < 3)
            inverse = at_newest / (at_other - at_newest) * (at_third / (at_other - at_third)) + (third - newest) / (
                other - newest
            ) * at_newest / (at_third - at_newest) * at_other / (at_third - at_other)
            # A step beyond what rounding can tell, so that the root is soon enclosed from both sides.
            least = np.minimum(4 * np.spacing(np.maximum(np.abs(left), np.abs(right))) / np.abs(right - left), 0.5)
            part = np.where(trusted & np.isfinite(inverse), np.clip(inverse, least, 1 - least), np.nan)
    return right


def _between(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the middle of two numbers: of their logarithms where both are positive and far apart."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.where(left == right, left, left + (right - left) / 2)
        return np.where((left > 0) & (right / 4 > left), np.sqrt(left) * np.sqrt(right), middle)


def mixed_predictive(parts: Sequence[Any], log_weights: FloatArray) -> MixedCount | MixedNumber:
    """Return the mixture of predictive distributions."""
    kind = MixedCount if isinstance(parts[0], DiscretePredictive) else MixedNumber
    return kind(parts, log_weights)


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
