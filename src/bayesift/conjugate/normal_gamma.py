"""The normal-gamma model: mean and precision learned from real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit, xlogy

from bayesift._checks import FINITE, NOT_NEGATIVE, POSITIVE, numbers, plain
from bayesift._special import log_rising
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import arguments, outside
from bayesift.conjugate._mixing import average
from bayesift.conjugate.base import Conjugate
from bayesift.conjugate.gamma import GammaExponential
from bayesift.conjugate.predictive import ContinuousPredictive, PlugInNumber, moment


@dataclass(frozen=True, eq=False)
class NormalGamma(Conjugate):
    """Mean μ and precision λ of normal data: λ ~ Gamma(a, b), and μ given λ ~ Normal(m, 1/(κλ)).

    After N numbers with mean x̄ and S = Σ(x−x̄)²: κ′ = κ+N, m′ = (κm + Nx̄)/κ′, a′ = a + N/2 and
    b′ = b + S/2 + κN(x̄−m)²/(2κ′).

    The parameter is the pair (μ, λ), on the last axis of arguments and results. Data: numbers along the first
    axis, one model for each column, or the three arguments ``n, mean, squares`` = N, x̄, S; N may be a sum of weights.

    Parameters
    ----------
    m : float or array
        Centre of the distribution of the mean.
    kappa : float or array
        Weight of the prior of the mean in observations, above 0.
    a, b : float or array
        Parameters of the precision, above 0: the prior is worth 2a observations with a mean square of b/a.

    Examples
    --------
    >>> from bayesift.conjugate import NormalGamma
    >>> posterior = NormalGamma(0, 1, 1, 1).update([1.0, 2.0, 3.0])
    >>> posterior
    NormalGamma(m=1.5, kappa=4.0, a=2.5, b=3.5)
    >>> posterior.mean.round(3)
    array([1.5  , 0.714])
    >>> posterior.interval(0.9).low.round(3)
    array([0.308, 0.164])
    >>> round(posterior.predictive().variance, 3)
    2.917
    """

    event_ndim: ClassVar[int] = 1
    m: Any
    kappa: Any
    a: Any
    b: Any

    _expected: ClassVar = {"m": FINITE, "kappa": POSITIVE, "a": POSITIVE, "b": POSITIVE}
    _domain: ClassVar = "a finite mean, and a finite precision of at least 0"

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the number and mean of the data, and the sum of their squared distances from the mean."""
        if len(data) == 1:
            values = np.atleast_1d(numbers("data", data[0], FINITE))
            n = len(values)
            mean = values.sum(axis=0) / max(n, 1)
            return float(n), mean, np.square(values - mean).sum(axis=0)
        n, mean, squares = arguments(data, "n", "mean", "squares")
        return numbers("n", n, NOT_NEGATIVE), numbers("mean", mean, FINITE), numbers("squares", squares, NOT_NEGATIVE)

    def _growth(self, n: Any, mean: Any, squares: Any) -> Any:
        """What the data add to b."""
        return squares / 2 + self.kappa * n / (self.kappa + n) * np.square(mean - self.m) / 2

    def _posterior(self, n: Any, mean: Any, squares: Any) -> Self:
        kappa = self.kappa + n
        centre = self.m + n / kappa * (mean - self.m)
        return type(self)(centre, kappa, self.a + n / 2, self.b + self._growth(n, mean, squares))

    def _log_evidence(self, n: Any, mean: Any, squares: Any) -> Any:
        growth = self._growth(n, mean, squares)
        shrinking = self.a * np.log1p(growth / self.b) + n / 2 * np.log(2 * np.pi * (self.b + growth))
        return log_rising(self.a, n / 2) - shrinking - np.log1p(n / self.kappa) / 2

    def _log_likelihood(self, theta: FloatArray, n: Any, mean: Any, squares: Any) -> Any:
        mu, precision = _pair(theta)
        return xlogy(n / 2, precision / (2 * np.pi)) - precision / 2 * (squares + n * np.square(mean - mu))

    def _possible(self, theta: FloatArray) -> BoolArray:
        mu, precision = _pair(theta)
        return np.isfinite(mu) & (precision >= 0) & np.isfinite(precision)

    def _maximum(self, n: Any, mean: Any, squares: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return _stacked(np.where(np.greater(n, 0), mean, np.nan), np.divide(n, squares))

    def _log_density(self, theta: FloatArray) -> Any:
        inside = self._possible(theta)
        mu, precision = (np.where(inside, part, 1.0) for part in _pair(theta))
        constant = self.a * np.log(self.b) - gammaln(self.a) + np.log(self.kappa / (2 * np.pi)) / 2
        exponent = precision * (self.b + self.kappa * np.square(mu - self.m) / 2)
        return np.where(inside, constant + xlogy(self.a - 0.5, precision) - exponent, outside(theta.sum(axis=-1)))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        precision = rng.gamma(self.a, 1 / np.asarray(self.b), shape)
        return np.stack([rng.normal(self.m, 1 / np.sqrt(self.kappa * precision)), precision], axis=-1)

    @classmethod
    def _blend(cls, parts: Sequence[Self], shares: FloatArray) -> Self:
        # Linear in the log density are a, κ, κm and b + κm²/2.
        a, kappa, pull, rest = (
            average(shares, values)
            for values in (
                [part.a for part in parts],
                [part.kappa for part in parts],
                [part.kappa * part.m for part in parts],
                [part.b + part.kappa * np.square(part.m) / 2 for part in parts],
            )
        )
        return cls(pull / kappa, kappa, a, rest - np.square(pull) / kappa / 2)

    @property
    def mean(self) -> FloatArray:
        """Expected mean and precision, m and a/b; the mean has no expectation (NaN) for a ≤ ½."""
        return _stacked(*(law.mean for law in self.marginals.laws))

    @property
    def mode(self) -> FloatArray:
        """Most probable pair, m and (a−½)/b; for a ≤ ½ the precision is 0 and the mean undetermined (NaN)."""
        inner = np.greater(self.a, 0.5)
        return _stacked(np.where(inner, self.m, np.nan), np.maximum(self.a - 0.5, 0.0) / self.b)

    @property
    def variance(self) -> FloatArray:
        """Variance of the mean, b/(κ(a−1)), infinite for a ≤ 1 and NaN for a ≤ ½; and of the precision, a/b²."""
        return _stacked(*(law.variance for law in self.marginals.laws))

    @property
    def marginals(self) -> Marginals:
        """Student's t distribution of the mean and gamma distribution of the precision."""
        scale = np.sqrt(self.b / (self.a * self.kappa))
        return Marginals((StudentT(2 * self.a, self.m, scale), GammaExponential(self.a, self.b)))

    def predictive(self) -> StudentT:
        """Return the distribution of a new number, Student's t with 2a degrees of freedom.

        Returns
        -------
        StudentT
            With ``pdf``, ``logpdf``, ``mean``, ``variance`` and ``sample``.
        """
        return StudentT(2 * self.a, self.m, np.sqrt(self.b / self.a * (1 + 1 / self.kappa)))

    def _plug_in(self, theta: Any) -> PlugInNumber:
        from scipy.stats import norm

        mu, precision = _pair(theta)
        return PlugInNumber(norm(mu, 1 / np.sqrt(precision)))


@dataclass(frozen=True, eq=False)
class StudentT(ContinuousPredictive):
    """Student's t distribution with any centre and scale."""

    freedom: Any
    centre: Any
    scale: Any

    @property
    def mean(self) -> Any:
        """The centre; NaN for one degree of freedom or less."""
        return moment(np.greater(self.freedom, 1), self.centre, np.nan)

    @property
    def variance(self) -> Any:
        """Variance; infinite for two degrees of freedom or less, NaN for one or less."""
        freedom = np.asarray(self.freedom)
        with np.errstate(divide="ignore"):
            value = np.square(self.scale) * freedom / (freedom - 2)
        return moment(freedom > 2, value, np.where(freedom > 1, np.inf, np.nan))

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
        """Return the point below which a value lies with probability ``q``."""
        # scipy gives +∞ for a share of 0.
        standard = np.where(np.equal(q, 0), -np.inf, stdtrit(self.freedom, q))
        return plain(self.centre + self.scale * standard)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return self.centre + self.scale * rng.standard_t(self.freedom, shape)


@dataclass(frozen=True, eq=False)
class Marginals:
    """Distributions of the entries of a parameter, on the last axis of arguments and results."""

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
        """Return the point below which each entry lies with probability ``q``."""
        return self._each("quantile", q)


def _stacked(mean: Any, precision: Any) -> FloatArray:
    return np.stack([mean, precision], axis=-1)


def _pair(theta: Any) -> tuple[FloatArray, FloatArray]:
    theta = np.asarray(theta, dtype=np.float64)
    if theta.ndim == 0 or theta.shape[-1] != 2:
        raise ValueError(f"theta has shape {theta.shape}; expected mean and precision on the last axis")
    return theta[..., 0], theta[..., 1]
