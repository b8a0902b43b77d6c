"""The beta-binomial model: a probability learned from successes and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, xlog1py, xlogy

from bayesift._checks import INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, WHOLE, ZERO_OR_ONE, kept, numbers, plain
from bayesift._special import log_beta, log_beta_ratio, log_choose
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import arguments, column_sums, common_shape, outside
from bayesift.conjugate.base import Conjugate
from bayesift.conjugate.predictive import DiscretePredictive, PlugInCount, where_possible

_LOG_SIZES = np.linspace(np.log(1e-6), np.log(1e14), 400)


@dataclass(frozen=True, eq=False)
class BetaBinomial(Conjugate):
    """A probability θ with a Beta(a, b) distribution, and data that are successes and failures.

    p(θ) ∝ θᵃ⁻¹(1−θ)ᵇ⁻¹ becomes Beta(a + N₁, b + N₀) after N₁ successes and N₀ failures (3.16).

    Data: observations 0 and 1 along the first axis, one model for each column (a sparse matrix stays sparse), or the
    two arguments ``successes, failures``. Counts must be whole; weighted counts may be added to ``a`` and ``b``.

    Parameters
    ----------
    a, b : float or array
        Pseudo counts of successes and failures, at least 0. Beta(0, 0) is flat in the log odds (exercise 3.5) and
        proper after a success and a failure.

    Examples
    --------
    >>> from bayesift.conjugate import BetaBinomial
    >>> posterior = BetaBinomial(2, 2).update(3, 17)
    >>> posterior
    BetaBinomial(a=5.0, b=19.0)
    >>> round(posterior.mean, 4), round(posterior.mode, 4)
    (0.2083, 0.1818)
    >>> posterior.predictive(10).pmf([0, 1, 2]).round(4)
    array([0.1418, 0.2532, 0.2532])
    >>> BetaBinomial([1, 5], 1).update([[0, 1], [0, 1], [0, 1]]).mean.round(2)   # two words, three documents
    array([0.2 , 0.89])
    >>> BetaBinomial(0, 0).update(3, 17).mean, BetaBinomial(2, 2).maximum_likelihood(3, 17)
    (0.15, 0.15)
    """

    a: Any
    b: Any

    _expected: ClassVar = {"a": NOT_NEGATIVE, "b": NOT_NEGATIVE}
    _above_zero: ClassVar = ("a", "b")
    _domain: ClassVar = "a number from 0 to 1"

    @classmethod
    def from_mean_sd(cls, m: ArrayLike, sd: ArrayLike) -> Self:
        """Return the prior with a given mean and standard deviation.

        Parameters
        ----------
        m, sd : float or array
            Mean, between 0 and 1, and standard deviation, below √(m(1−m)).

        Examples
        --------
        >>> from bayesift.conjugate import BetaBinomial
        >>> prior = BetaBinomial.from_mean_sd(0.7, 0.2)
        >>> round(prior.a, 3), round(prior.b, 3)
        (2.975, 1.275)
        """
        mean, spread = numbers("m", m, INSIDE_UNIT), numbers("sd", sd, POSITIVE)
        size = mean * (1 - mean) / spread**2 - 1
        if np.any(size <= 0):
            limit = np.broadcast_to(np.sqrt(mean * (1 - mean)), size.shape)[size <= 0][0]
            found = np.broadcast_to(spread, size.shape)[size <= 0][0]
            raise ValueError(f"sd is {found:g}; expected less than √(m(1−m)) = {limit:g}")
        return cls.from_effective_size(mean, size)

    @classmethod
    def from_mean_interval(cls, m: ArrayLike, low: ArrayLike, high: ArrayLike, mass: ArrayLike = 0.95) -> Self:
        """Return the prior with a given mean and a given probability of an interval around it.

        If several priors fit, the one with the largest effective size is taken.

        Parameters
        ----------
        m : float or array
            Mean, between ``low`` and ``high``.
        low, high : float or array
            Ends of the interval.
        mass : float or array, default=0.95
            Probability of the interval.

        Examples
        --------
        >>> from bayesift.conjugate import BetaBinomial
        >>> prior = BetaBinomial.from_mean_interval(0.15, 0.05, 0.30)
        >>> round(prior.a, 4), round(prior.b, 4)
        (4.5061, 25.5344)
        """
        mean = numbers("m", m, INSIDE_UNIT)
        return cls.from_effective_size(mean, _sizes_by_interval(mean, low, high, mass))

    @classmethod
    def from_effective_size(cls, m: ArrayLike, size: ArrayLike) -> Self:
        """Return the prior with a given mean that has the weight of ``size`` observations.

        Parameters
        ----------
        m, size : float or array
            Mean, between 0 and 1, and the sum a + b.
        """
        mean, weight = numbers("m", m, INSIDE_UNIT), numbers("size", size, POSITIVE)
        return cls(mean * weight, (1 - mean) * weight)

    @property
    def effective_size(self) -> Any:
        """Weight of the distribution in observations, a + b."""
        return self.a + self.b

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the numbers of successes and failures in the data."""
        if len(data) == 1:
            n, (successes,) = column_sums("data", data[0], ZERO_OR_ONE)
            return successes, n - successes
        successes, failures = arguments(data, "successes", "failures")
        return numbers("successes", successes, WHOLE), numbers("failures", failures, WHOLE)

    def _posterior(self, successes: Any, failures: Any) -> Self:
        return type(self)(self.a + successes, self.b + failures)

    def _log_evidence(self, successes: Any, failures: Any) -> Any:
        return log_beta_ratio(self.a, self.b, successes, failures)  # (3.80)

    def _log_likelihood(self, theta: FloatArray, successes: Any, failures: Any) -> Any:
        return xlogy(successes, theta) + xlog1py(failures, -theta)  # (3.11)

    def _possible(self, theta: FloatArray) -> BoolArray:
        return (theta >= 0) & (theta <= 1)

    def _maximum(self, successes: Any, failures: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return np.divide(successes, np.add(successes, failures))

    def _log_density(self, theta: FloatArray) -> Any:
        inside = self._possible(theta)
        point = np.where(inside, theta, 0.5)
        value = xlogy(self.a - 1, point) + xlog1py(self.b - 1, -point) - log_beta(self.a, self.b)
        return np.where(inside, value, outside(theta))

    def cdf(self, theta: Any) -> Any:
        """Return the probability that the parameter is at most ``theta``."""
        self._proper()
        return plain(betainc(self.a, self.b, np.clip(theta, 0.0, 1.0)))

    def quantile(self, q: Any) -> Any:
        """Return the value below which the parameter lies with probability ``q``."""
        self._proper()
        return plain(betaincinv(self.a, self.b, q))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        self._proper()
        return rng.beta(self.a, self.b, shape)

    @property
    def mean(self) -> Any:
        """Expected probability, a/(a+b)."""
        self._proper()
        return self.a / (self.a + self.b)

    @property
    def mode(self) -> Any:
        """Most probable value, (a−1)/(a+b−2) for a, b > 1; 0 or 1 if the density rises towards one end.

        NaN if it rises towards both (a, b < 1), and for the uniform distribution.
        """
        self._proper()
        a, b = np.asarray(self.a), np.asarray(self.b)
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = (a - 1) / (a + b - 2)
        to_zero, to_one = (a <= 1) & (b >= 1), (a >= 1) & (b <= 1)
        flat = (to_zero & to_one) | ((a < 1) & (b < 1))
        return plain(np.select([flat, to_zero, to_one], [np.nan, 0.0, 1.0], inner))

    @property
    def variance(self) -> Any:
        """Variance of the probability (3.25)."""
        self._proper()
        size = self.a + self.b
        return (self.a / size) * (self.b / size) / (size + 1)

    @property
    def marginals(self) -> Self:
        """The distribution itself: the parameter is one number."""
        return self

    def predictive(self, n: ArrayLike = 1) -> BetaBinomialCount:
        """Return the distribution of the number of successes in ``n`` new trials (3.34).

        Parameters
        ----------
        n : int or array, default=1
            Number of trials.

        Returns
        -------
        BetaBinomialCount
            With ``pmf``, ``logpmf``, ``mean``, ``variance`` and ``sample``.
        """
        self._proper()
        return BetaBinomialCount(self.a, self.b, kept("n", n, WHOLE))

    def _outcome(self, value: Any, n: Any) -> tuple[Any, ...]:
        return (value, n - value)

    def _plug_in(self, theta: Any, n: ArrayLike = 1) -> PlugInCount:
        from scipy.stats import binom

        return PlugInCount(binom(numbers("n", n, WHOLE).astype(np.int64), theta))


@dataclass(frozen=True, eq=False)
class BetaBinomialCount(DiscretePredictive):
    """Number of successes in n trials whose probability has a Beta(a, b) distribution (3.34)."""

    a: Any
    b: Any
    n: Any

    @property
    def mean(self) -> Any:
        """Expected count, n·a/(a+b)."""
        return plain(self.n * (self.a / (self.a + self.b)))

    @property
    def variance(self) -> Any:
        """Variance of the count (3.35)."""
        size = self.a + self.b
        share = self.a / size
        return plain(self.n * share * (self.b / size) * (size + self.n) / (size + 1))

    def _log_mass(self, x: FloatArray) -> Any:
        possible = (x >= 0) & (x <= self.n) & (x == np.floor(x))
        hits = np.where(possible, x, 0.0)
        value = log_choose(self.n, hits) + log_beta_ratio(self.a, self.b, hits, self.n - hits)
        return where_possible(possible, value, x)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.binomial(np.asarray(self.n, dtype=np.int64), rng.beta(self.a, self.b, shape))


def _sizes_by_interval(m: FloatArray, low: ArrayLike, high: ArrayLike, mass: ArrayLike) -> FloatArray:
    """Return the a + b with which a beta distribution of mean m has the given mass between low and high.

    The mass need not grow with a + b from the start; of several solutions the largest is taken, above which it grows.
    """
    ends = numbers("low", low, NOT_NEGATIVE), numbers("high", high, NOT_NEGATIVE)
    share = numbers("mass", mass, INSIDE_UNIT)
    shape = common_shape(m=m, low=low, high=high, mass=mass)
    m, bottom, top, share = (np.broadcast_to(part, shape) for part in (m, *ends, share))
    wrong = ~((bottom < m) & (m < top) & (top <= 1))
    if wrong.any():
        raise ValueError(
            f"low is {bottom[wrong][0]:g}, m is {m[wrong][0]:g} and high is {top[wrong][0]:g}; "
            "expected 0 <= low < m < high <= 1"
        )

    def inside(log_size: FloatArray) -> FloatArray:
        a, b = m * np.exp(log_size), (1 - m) * np.exp(log_size)
        return betainc(a, b, top) - betainc(a, b, bottom)

    grid = _LOG_SIZES.reshape(-1, *([1] * len(shape)))
    short = inside(grid) < share
    if not short.any(axis=0).all():
        raise ValueError(
            f"mass is {np.min(share):g}; expected more: every beta distribution with this mean has more in the interval"
        )
    last = len(grid) - 1 - np.argmax(short[::-1], axis=0)
    left = _LOG_SIZES[last]
    right = _LOG_SIZES[np.minimum(last + 1, len(grid) - 1)]
    for _ in range(60):
        middle = (left + right) / 2
        below = inside(middle) < share
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    return np.exp((left + right) / 2)
