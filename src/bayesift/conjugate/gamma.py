"""Rates with a gamma distribution, learned from counts (gamma-Poisson) or waiting times (gamma-exponential)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincinv, gammaln, xlogy

from bayesift._checks import FINITE, NOT_NEGATIVE, POSITIVE, WHOLE, kept, numbers, plain
from bayesift._special import log_rising, log_waiting
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import arguments, column_sums, outside
from bayesift.conjugate.base import Conjugate
from bayesift.conjugate.predictive import (
    ContinuousPredictive,
    DiscretePredictive,
    PlugInCount,
    PlugInNumber,
    moment,
    where_possible,
)


@dataclass(frozen=True, eq=False)
class GammaRate(Conjugate):
    """A rate λ with a Gamma(a, b) distribution: p(λ) ∝ λᵃ⁻¹ e^(−bλ).

    It becomes Gamma(a + events, b + exposure); subclasses define what counts as an event and as exposure. If a or b is
    0, it is improper: Gamma(0, 0) is flat in ln λ, Gamma(1, 0) in λ.
    """

    a: Any
    b: Any

    _expected: ClassVar = {"a": NOT_NEGATIVE, "b": NOT_NEGATIVE}
    _above_zero: ClassVar = ("a", "b")
    _domain: ClassVar = "a finite number of at least 0"

    @classmethod
    def from_mean_sd(cls, m: ArrayLike, sd: ArrayLike) -> Self:
        """Return the prior whose rate has mean ``m`` and standard deviation ``sd``, both above 0."""
        mean, spread = numbers("m", m, POSITIVE), numbers("sd", sd, POSITIVE)
        return cls((mean / spread) ** 2, mean / spread**2)

    @classmethod
    def from_effective_size(cls, m: ArrayLike, size: ArrayLike) -> Self:
        """Return the prior whose rate has mean ``m``, above 0, and that weighs as much as an exposure of ``size``."""
        mean, weight = numbers("m", m, POSITIVE), numbers("size", size, POSITIVE)
        return cls(mean * weight, weight)

    def _posterior(self, events: Any, exposure: Any, log_base: Any = 0.0) -> Self:
        return type(self)(self.a + events, self.b + exposure)

    def _log_evidence(self, events: Any, exposure: Any, log_base: Any = 0.0) -> Any:
        # ln Γ(a+e)/Γ(a) + a ln b − (a+e) ln(b+T)
        shrinking = self.a * np.log1p(exposure / self.b) + events * np.log(self.b + exposure)
        return log_base + log_rising(self.a, events) - shrinking

    def _log_likelihood(self, theta: FloatArray, events: Any, exposure: Any, log_base: Any = 0.0) -> Any:
        return xlogy(events, theta) - exposure * theta + log_base

    def _possible(self, theta: FloatArray) -> BoolArray:
        return (theta >= 0) & np.isfinite(theta)

    def _maximum(self, events: Any, exposure: Any, log_base: Any = 0.0) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(events, exposure)

    def _log_density(self, theta: FloatArray) -> Any:
        inside = self._possible(theta)
        rate = np.where(inside, theta, 1.0)
        value = self.a * np.log(self.b) - gammaln(self.a) + xlogy(self.a - 1, rate) - self.b * rate
        return np.where(inside, value, outside(theta))

    def cdf(self, theta: Any) -> Any:
        """Return the probability that the rate is at most ``theta``."""
        self._proper()
        return plain(gammainc(self.a, self.b * np.maximum(theta, 0.0)))

    def quantile(self, q: Any) -> Any:
        """Return the value below which the rate lies with probability ``q``."""
        self._proper()
        return plain(gammaincinv(self.a, q) / self.b)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        self._proper()
        return rng.gamma(self.a, 1 / np.asarray(self.b), shape)

    @property
    def mean(self) -> Any:
        """Expected rate, a/b."""
        self._proper()
        return self.a / self.b

    @property
    def mode(self) -> Any:
        """Most probable rate, (a−1)/b; 0 for a ≤ 1."""
        self._proper()
        return plain(np.maximum(self.a - 1, 0.0) / self.b)

    @property
    def variance(self) -> Any:
        """Variance of the rate, a/b²."""
        self._proper()
        return self.a / self.b / self.b

    @property
    def marginals(self) -> Self:
        """The distribution itself: the parameter is one number."""
        return self


@dataclass(frozen=True, eq=False)
class GammaPoisson(GammaRate):
    """A rate λ with a Gamma(a, b) distribution, and data that are Poisson counts.

    p(λ) ∝ λᵃ⁻¹ e^(−bλ) becomes Gamma(a + Σx, b + N) after N counts x.

    Data: counts along the first axis, one model for each column (a sparse matrix stays sparse), or the two arguments
    ``count, exposure``: one count over a stretch of ``exposure`` units, such as a word in a document of that length.
    The statistics of several counts include a third number, which only the evidence needs; see :meth:`statistics`.

    Parameters
    ----------
    a, b : float or array
        Pseudo count of events and pseudo exposure, at least 0; with Gamma(0, 0) the posterior mean is the
        maximum-likelihood estimate (exercise 3.7).

    Examples
    --------
    >>> from bayesift.conjugate import GammaPoisson
    >>> posterior = GammaPoisson(2, 1).update([3, 0, 4])
    >>> posterior, posterior.mean
    (GammaPoisson(a=9.0, b=4.0), 2.25)
    >>> round(posterior.predictive().pmf(0), 4)
    0.1342
    >>> GammaPoisson(0, 0).update([3, 0, 5]).mean, GammaPoisson(2, 1).maximum_likelihood([3, 0, 5])
    (2.6666666666666665, 2.6666666666666665)
    """

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return total, exposure and log base of counts, or of ``count, exposure``.

        The total is added to ``a`` and the exposure to ``b``. The log base, Σ(x ln t − ln x!) over the counts x and
        their exposures t, is the part of the log likelihood that does not depend on the rate.
        """
        if len(data) == 1:
            n, (total, log_factorials) = column_sums("data", data[0], WHOLE, lambda count: gammaln(count + 1))
            return total, float(n), -log_factorials
        if len(data) == 3:
            return (*self.statistics(*data[:2])[:2], numbers("log_base", data[2], FINITE))
        count, exposure = arguments(data, "count", "exposure")
        total, length = numbers("count", count, WHOLE), numbers("exposure", exposure, NOT_NEGATIVE)
        if np.any((total > 0) & (length == 0)):
            raise ValueError("exposure is 0 where the count is above 0; expected an exposure above 0")
        return total, length, xlogy(total, length) - gammaln(total + 1)

    def predictive(self, exposure: ArrayLike = 1.0) -> NegativeBinomial:
        """Return the distribution of a new count.

        Parameters
        ----------
        exposure : float or array, default=1
            Length of the stretch over which events are counted.

        Returns
        -------
        NegativeBinomial
            With ``pmf``, ``logpmf``, ``mean``, ``variance`` and ``sample``.
        """
        self._proper()
        return NegativeBinomial(self.a, self.b, kept("exposure", exposure, POSITIVE))

    def _outcome(self, value: Any, n: Any) -> tuple[Any, ...]:
        return (value, n)

    def _plug_in(self, theta: Any, exposure: ArrayLike = 1.0) -> PlugInCount:
        from scipy.stats import poisson

        return PlugInCount(poisson(np.asarray(theta) * numbers("exposure", exposure, POSITIVE)))


@dataclass(frozen=True, eq=False)
class NegativeBinomial(DiscretePredictive):
    """Poisson count over an exposure, whose rate has a Gamma(a, b) distribution."""

    a: Any
    b: Any
    exposure: Any

    @property
    def mean(self) -> Any:
        """Expected count, exposure·a/b."""
        return plain(self.exposure * self.a / self.b)

    @property
    def variance(self) -> Any:
        """Variance of the count, mean·(1 + exposure/b)."""
        return plain(self.mean * (1 + self.exposure / self.b))

    def _log_mass(self, x: FloatArray) -> Any:
        possible = (x >= 0) & (x == np.floor(x)) & np.isfinite(x)
        count = np.where(possible, x, 0.0)
        value = log_waiting(self.a, count) - self.a * np.log1p(self.exposure / self.b)
        return where_possible(possible, value - count * np.log1p(self.b / self.exposure), x)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.poisson(self.exposure * rng.gamma(self.a, 1 / np.asarray(self.b), shape))


@dataclass(frozen=True, eq=False)
class GammaExponential(GammaRate):
    """A rate λ with a Gamma(a, b) distribution, and data that are exponential waiting times.

    p(λ) ∝ λᵃ⁻¹ e^(−bλ) becomes Gamma(a + N, b + Σx) after N times x.

    Data: times along the first axis, one model for each column, or the two arguments ``events, exposure``: how many
    waits have ended, and the total length of all waits. A wait that has not ended yet adds only to the exposure.

    Parameters
    ----------
    a, b : float or array
        Number of waits that the prior is worth, and their total length, at least 0.

    Examples
    --------
    >>> from bayesift.conjugate import GammaExponential
    >>> posterior = GammaExponential(1, 3).update([5, 6, 4])   # lifetimes of three machines
    >>> posterior, round(posterior.mean, 4)
    (GammaExponential(a=4.0, b=18.0), 0.2222)
    >>> posterior.predictive().mean
    6.0
    >>> GammaExponential(1, 3).maximum_likelihood([5, 6, 4])
    0.2
    """

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the number of events and the time spent waiting for them."""
        if len(data) == 1:
            n, (total,) = column_sums("data", data[0], NOT_NEGATIVE)
            return float(n), total
        events, exposure = arguments(data, "events", "exposure")
        return numbers("events", events, WHOLE), numbers("exposure", exposure, NOT_NEGATIVE)

    def predictive(self) -> Lomax:
        """Return the distribution of a new waiting time, with ``pdf``, ``mean``, ``variance`` and ``sample``."""
        self._proper()
        return Lomax(self.a, self.b)

    def _plug_in(self, theta: Any) -> PlugInNumber:
        from scipy.stats import expon

        return PlugInNumber(expon(scale=1 / np.asarray(theta)))


@dataclass(frozen=True, eq=False)
class Lomax(ContinuousPredictive):
    """Exponential waiting time whose rate has a Gamma(a, b) distribution: density a·bᵃ/(b+x)ᵃ⁺¹."""

    a: Any
    b: Any

    @property
    def mean(self) -> Any:
        """Expected time, b/(a−1); infinite for a ≤ 1."""
        with np.errstate(divide="ignore"):
            return moment(np.greater(self.a, 1), self.b / (np.asarray(self.a) - 1), np.inf)

    @property
    def variance(self) -> Any:
        """Variance of the time; infinite for a ≤ 2, NaN for a ≤ 1, for which there is no finite mean."""
        a = np.asarray(self.a)
        with np.errstate(divide="ignore"):
            value = a * (self.b / (a - 1)) ** 2 / (a - 2)
        return moment(a > 2, value, np.where(a > 1, np.inf, np.nan))

    def _log_density(self, x: FloatArray) -> Any:
        time = np.where(x >= 0, x, 0.0)
        value = np.log(self.a) - np.log(self.b) - (self.a + 1) * np.log1p(time / self.b)
        return np.where(x >= 0, value, outside(x))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.exponential(1 / rng.gamma(self.a, 1 / np.asarray(self.b), shape))
