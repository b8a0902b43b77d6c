"""Predictive distributions of real numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from bayesift._checks import plain
from bayesift._special import log_rising
from bayesift._typing import FloatArray
from bayesift.conjugate._checks import common_shape, outside
from bayesift.conjugate.predictive import ContinuousPredictive

Numbers = Any


def _moment(order_allowed: Any, value: Any, otherwise: Any) -> Any:
    return plain(np.where(order_allowed, value, otherwise))


@dataclass(frozen=True, eq=False)
class Lomax(ContinuousPredictive):
    """Exponential waiting time whose rate has a Gamma(a, b) distribution: density a·bᵃ/(b+x)ᵃ⁺¹."""

    a: Numbers
    b: Numbers

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(a=self.a, b=self.b)

    @property
    def mean(self) -> Any:
        """Expected time, b/(a−1); infinite for a ≤ 1."""
        with np.errstate(divide="ignore"):
            return _moment(np.greater(self.a, 1), self.b / (np.asarray(self.a) - 1), np.inf)

    @property
    def variance(self) -> Any:
        """Variance of the time; infinite for a ≤ 2, NaN for a ≤ 1, where there is no finite mean."""
        a = np.asarray(self.a)
        with np.errstate(divide="ignore"):
            value = a * (self.b / (a - 1)) ** 2 / (a - 2)
        return _moment(a > 2, value, np.where(a > 1, np.inf, np.nan))

    def _log_density(self, x: FloatArray) -> Any:
        time = np.where(x >= 0, x, 0.0)
        value = np.log(self.a) - np.log(self.b) - (self.a + 1) * np.log1p(time / self.b)
        return np.where(x >= 0, value, outside(x))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.exponential(1 / rng.gamma(self.a, 1 / np.asarray(self.b), shape))


@dataclass(frozen=True, eq=False)
class StudentT(ContinuousPredictive):
    """Student's t distribution with any centre and scale."""

    freedom: Numbers
    centre: Numbers
    scale: Numbers

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(freedom=self.freedom, centre=self.centre, scale=self.scale)

    @property
    def mean(self) -> Any:
        """Its centre; NaN for one degree of freedom or less."""
        return _moment(np.greater(self.freedom, 1), self.centre, np.nan)

    @property
    def variance(self) -> Any:
        """Variance; infinite for two degrees of freedom or less, NaN for one or less."""
        freedom = np.asarray(self.freedom)
        with np.errstate(divide="ignore"):
            value = np.square(self.scale) * freedom / (freedom - 2)
        return _moment(freedom > 2, value, np.where(freedom > 1, np.inf, np.nan))

    def _log_density(self, x: FloatArray) -> Any:
        z = (x - self.centre) / self.scale
        half = np.asarray(self.freedom) / 2
        return (
            log_rising(half, 0.5)
            - 0.5 * np.log(2 * np.pi * half)
            - np.log(self.scale)
            - (half + 0.5) * np.log1p(np.square(z) / self.freedom)
        )

    def cdf(self, x: Any) -> Any:
        """Return the probability of at most ``x``."""
        return plain(stdtr(self.freedom, (np.asarray(x, dtype=np.float64) - self.centre) / self.scale))

    def quantile(self, q: Any) -> Any:
        """Return the point below which the share ``q`` lies."""
        # scipy gives +∞ for a share of 0.
        standard = np.where(np.equal(q, 0), -np.inf, stdtrit(self.freedom, q))
        return plain(self.centre + self.scale * standard)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return self.centre + self.scale * rng.standard_t(self.freedom, shape)


@dataclass(frozen=True, eq=False)
class UniformUnderPareto(ContinuousPredictive):
    """Uniform number between 0 and a limit that has a Pareto(b, k) distribution.

    Density k/((k+1)b) up to b, and k·bᵏ/((k+1)xᵏ⁺¹) beyond; NaN where the Pareto distribution is improper.
    """

    b: Numbers
    k: Numbers

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(b=self.b, k=self.k)

    @property
    def mean(self) -> Any:
        """Half the mean of the limit; infinite for k ≤ 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(np.greater(self.k, 1), self.k / (np.asarray(self.k) - 1), np.inf) * self.b / 2
        return _moment(self._proper, value, np.nan)

    @property
    def variance(self) -> Any:
        """Variance; infinite for k ≤ 2, NaN for k ≤ 1, where there is no finite mean."""
        k, b = np.asarray(self.k), np.asarray(self.b)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = b**2 * (k / (k - 2) / 3 - (k / (k - 1)) ** 2 / 4)
        return _moment(self._proper & (k > 2), value, np.where(self._proper & (k > 1), np.inf, np.nan))

    @property
    def _proper(self) -> Any:
        return np.greater(self.b, 0) & np.greater(self.k, 0)

    def _log_density(self, x: FloatArray) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.asarray(self.k)
            level = np.log(k / (k + 1)) - np.log(self.b)
            beyond = np.where(x > self.b, (k + 1) * np.log(x / self.b), 0.0)
            value = np.where(x >= 0, level - beyond, outside(x))
        return np.where(self._proper, value, np.nan)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        if not np.all(self._proper):
            raise ValueError("the distribution of the limit is improper (b or k is 0); expected data before drawing")
        return rng.random(shape) * (self.b * np.exp(rng.standard_exponential(shape) / self.k))
