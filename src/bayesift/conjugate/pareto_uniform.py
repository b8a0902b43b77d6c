"""The Pareto-uniform model: an upper limit learned from numbers below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bayesift._checks import NOT_NEGATIVE, WHOLE, numbers, plain
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import arguments, outside
from bayesift.conjugate.base import Conjugate
from bayesift.conjugate.predictive import ContinuousPredictive, PlugInNumber, moment


@dataclass(frozen=True, eq=False)
class ParetoUniform(Conjugate):
    """A limit θ with a Pareto(b, k) distribution, and data that are uniform between 0 and θ.

    p(θ) = k·bᵏ/θᵏ⁺¹ on θ ≥ b becomes Pareto(max(b, m), k + N) after N numbers of which the largest is m.

    With b = 0 or k = 0 the prior is improper, p(θ) ∝ θ^(−k−1) on θ ≥ b, and becomes proper after a number above 0.

    Data: numbers along the first axis, one model for each column, or the two arguments ``largest, n``.

    Parameters
    ----------
    b : float or array
        Least possible limit, at least 0.
    k : float or array
        Pseudo count of observations, at least 0.

    Examples
    --------
    >>> from bayesift.conjugate import ParetoUniform
    >>> taxis = ParetoUniform(0, 0).update([100])   # the first taxi seen has number 100
    >>> taxis, taxis.mean, taxis.mode, taxis.quantile(0.5)
    (ParetoUniform(b=100.0, k=1.0), inf, 100.0, 200.0)
    >>> taxis.predictive().pdf([50, 100, 150]).round(5)
    array([0.005  , 0.005  , 0.00222])
    >>> taxis.maximum_likelihood([100, 40])   # exercise 3.8: for numbers on both sides of 0, their absolute values
    100.0
    """

    b: Any
    k: Any

    _expected: ClassVar = {"b": NOT_NEGATIVE, "k": NOT_NEGATIVE}
    _above_zero: ClassVar = ("b", "k")
    _domain: ClassVar = "a finite number above 0"

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the largest of the numbers, and how many there are."""
        if len(data) == 1:
            values = np.atleast_1d(numbers("data", data[0], NOT_NEGATIVE))
            return values.max(axis=0, initial=0.0), float(len(values))
        largest, n = arguments(data, "largest", "n")
        return numbers("largest", largest, NOT_NEGATIVE), numbers("n", n, WHOLE)

    def _posterior(self, largest: Any, n: Any) -> Self:
        return type(self)(np.maximum(self.b, largest), self.k + n)

    def _log_evidence(self, largest: Any, n: Any) -> Any:
        # (3.95): ln k − ln(k+N) − N ln b′ − k ln(b′/b), b′ = max(b, m)
        limit = np.maximum(self.b, largest)
        return np.log(self.k) - np.log(self.k + n) - n * np.log(limit) - self.k * np.log(limit / self.b)

    def _maximum(self, largest: Any, n: Any) -> Any:
        return np.where(np.greater(n, 0), largest, np.nan)

    def _possible(self, theta: FloatArray) -> BoolArray:
        return (theta > 0) & np.isfinite(theta)

    def _log_likelihood(self, theta: FloatArray, largest: Any, n: Any) -> Any:
        above = theta >= largest
        return np.where(above, -n * np.log(np.where(above, theta, 1.0)), outside(theta))

    def _log_density(self, theta: FloatArray) -> Any:
        above = theta >= self.b
        ratio = np.where(above, theta / self.b, 1.0)
        value = np.log(self.k) - np.log(self.b) - (self.k + 1) * np.log(ratio)
        return np.where(above, value, outside(theta))

    def cdf(self, theta: Any) -> Any:
        """Return the probability that the limit is at most ``theta``."""
        self._proper()
        return plain(-np.expm1(-self.k * np.log(np.maximum(theta, self.b) / self.b)))

    def quantile(self, q: Any) -> Any:
        """Return the value below which the limit lies with probability ``q``."""
        self._proper()
        share = np.asarray(q, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return plain(self.b * np.exp(-np.log1p(-np.where((share >= 0) & (share <= 1), share, np.nan)) / self.k))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        self._proper()
        return self.b * np.exp(rng.standard_exponential(shape) / self.k)

    @property
    def mean(self) -> Any:
        """Expected limit, k·b/(k−1); infinite for k ≤ 1."""
        self._proper()
        k = np.asarray(self.k)
        return plain(np.where(k > 1, k * self.b / np.where(k > 1, k - 1, 1.0), np.inf))

    @property
    def mode(self) -> Any:
        """Most probable limit, b."""
        return self._proper().b

    @property
    def variance(self) -> Any:
        """Variance of the limit; infinite for k ≤ 2, NaN for k ≤ 1, for which there is no finite mean."""
        self._proper()
        k, b = np.asarray(self.k), np.asarray(self.b)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = (b / (k - 1)) ** 2 * k / (k - 2)
        return plain(np.where(k > 2, value, np.where(k > 1, np.inf, np.nan)))

    @property
    def marginals(self) -> Self:
        """The distribution itself: the parameter is one number."""
        return self

    def predictive(self) -> UniformUnderPareto:
        """Return the distribution of a new number, with ``pdf``, ``mean``, ``variance`` and ``sample``."""
        self._proper()
        return UniformUnderPareto(self.b, self.k)

    def _plug_in(self, theta: Any) -> PlugInNumber:
        from scipy.stats import uniform

        return PlugInNumber(uniform(0.0, theta))


@dataclass(frozen=True, eq=False)
class UniformUnderPareto(ContinuousPredictive):
    """Uniform number between 0 and a limit that has a Pareto(b, k) distribution.

    Density k/((k+1)b) up to b, and k·bᵏ/((k+1)xᵏ⁺¹) beyond.
    """

    b: Any
    k: Any

    @property
    def mean(self) -> Any:
        """Half the mean of the limit; infinite for k ≤ 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return plain(np.where(np.greater(self.k, 1), self.k / (np.asarray(self.k) - 1), np.inf) * self.b / 2)

    @property
    def variance(self) -> Any:
        """Variance; infinite for k ≤ 2, NaN for k ≤ 1, for which there is no finite mean."""
        k, b = np.asarray(self.k), np.asarray(self.b)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = b**2 * (k / (k - 2) / 3 - (k / (k - 1)) ** 2 / 4)
        return moment(k > 2, value, np.where(k > 1, np.inf, np.nan))

    def _log_density(self, x: FloatArray) -> Any:
        k = np.asarray(self.k)
        level = np.log(k / (k + 1)) - np.log(self.b)
        beyond = np.where(x > self.b, (k + 1) * np.log(np.maximum(x, self.b) / self.b), 0.0)
        return np.where(x >= 0, level - beyond, outside(x))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.random(shape) * (self.b * np.exp(rng.standard_exponential(shape) / self.k))
