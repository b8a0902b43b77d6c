"""Distributions of new data for a known parameter: those of scipy, in the manner of this room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from bayesift._checks import plain
from bayesift._special import log_orders
from bayesift._typing import FloatArray
from bayesift.conjugate._checks import common_shape
from bayesift.conjugate._counts import possible_counts, where_possible
from bayesift.conjugate.predictive import ContinuousPredictive, DiscretePredictive, Predictive


@dataclass(frozen=True, eq=False)
class _Frozen(Predictive):
    """A frozen distribution of ``scipy.stats`` on the line."""

    law: Any

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return np.shape(self.law.mean())

    @property
    def mean(self) -> Any:
        """Expected value of the data."""
        return plain(self.law.mean())

    @property
    def variance(self) -> Any:
        """Variance of the data."""
        return plain(self.law.var())

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return self.law.rvs(size=shape, random_state=rng)


class PlugInCount(_Frozen, DiscretePredictive):
    """A count whose distribution is known."""

    def _log_mass(self, x: FloatArray) -> Any:
        return self.law.logpmf(x)


class PlugInNumber(_Frozen, ContinuousPredictive):
    """A real number whose distribution is known."""

    def _log_density(self, x: FloatArray) -> Any:
        return self.law.logpdf(x)


@dataclass(frozen=True, eq=False)
class Multinomial(DiscretePredictive):
    """How n draws fall on K categories with known probabilities, the last axis of ``theta``."""

    event_ndim: ClassVar[int] = 1

    theta: FloatArray
    n: Any

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(theta=self.theta[..., 0], n=self.n)

    @property
    def mean(self) -> FloatArray:
        """Expected counts."""
        return np.expand_dims(self.n, -1) * self.theta

    @property
    def variance(self) -> FloatArray:
        """Variance of each count."""
        return self.mean * (1 - self.theta)

    def _log_mass(self, x: FloatArray) -> Any:
        counts, possible = possible_counts(x, self.theta.shape[-1], self.n)
        value = log_orders(counts) + xlogy(counts, self.theta).sum(axis=-1)
        return where_possible(possible, value, x.sum(axis=-1))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.multinomial(
            np.asarray(self.n, dtype=np.int64), np.broadcast_to(self.theta, (*shape, self.theta.shape[-1]))
        )
