"""Predictive distributions of mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift._checks import plain
from bayesift._typing import FloatArray
from bayesift.conjugate._laws import average, choose, mixed, pick
from bayesift.conjugate.predictive import ContinuousPredictive, DiscretePredictive, Predictive


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


def mixed_predictive(parts: Sequence[Any], log_weights: FloatArray) -> MixedCount | MixedNumber:
    """Return the mixture of predictive distributions."""
    kind = MixedCount if isinstance(parts[0], DiscretePredictive) else MixedNumber
    return kind(parts, log_weights)
