"""A rate with a gamma distribution: what events over an exposure teach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincinv, gammaln, xlogy

from bayesift._checks import POSITIVE, kept, numbers, plain
from bayesift._special import log_rising
from bayesift._typing import FloatArray
from bayesift.conjugate._checks import outside
from bayesift.conjugate.base import Conjugate


@dataclass(frozen=True, eq=False)
class GammaRate(Conjugate):
    """A rate λ with a Gamma(a, b) distribution: p(λ) ∝ λᵃ⁻¹ e^(−bλ).

    It becomes Gamma(a + events, b + exposure); its subclasses say what counts as an event and as exposure.
    """

    a: Any
    b: Any

    def __post_init__(self) -> None:
        self._keep(a=kept("a", self.a, POSITIVE), b=kept("b", self.b, POSITIVE))

    @classmethod
    def from_mean_sd(cls, m: ArrayLike, sd: ArrayLike) -> Self:
        """Return the prior with a given mean and standard deviation.

        Parameters
        ----------
        m, sd : float or array
            Mean and standard deviation of the rate, above 0.

        Returns
        -------
        GammaPoisson or GammaExponential
            Of the class it is called on.
        """
        mean, spread = numbers("m", m, POSITIVE), numbers("sd", sd, POSITIVE)
        return cls((mean / spread) ** 2, mean / spread**2)

    @classmethod
    def from_effective_size(cls, m: ArrayLike, size: ArrayLike) -> Self:
        """Return the prior with a given mean that weighs as much as an exposure of ``size``.

        Parameters
        ----------
        m : float or array
            Mean of the rate, above 0.
        size : float or array
            The exposure, which is ``b``.

        Returns
        -------
        GammaPoisson or GammaExponential
            Of the class it is called on.
        """
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

    def _log_density(self, theta: FloatArray) -> Any:
        inside = (theta >= 0) & np.isfinite(theta)
        rate = np.where(inside, theta, 1.0)
        value = self.a * np.log(self.b) - gammaln(self.a) + xlogy(self.a - 1, rate) - self.b * rate
        return np.where(inside, value, outside(theta))

    def cdf(self, theta: Any) -> Any:
        """Return the probability that the rate is at most ``theta``."""
        return plain(gammainc(self.a, self.b * np.maximum(theta, 0.0)))

    def quantile(self, q: Any) -> Any:
        """Return the value below which the rate lies with probability ``q``."""
        return plain(gammaincinv(self.a, q) / self.b)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.gamma(self.a, 1 / np.asarray(self.b), shape)

    @property
    def mean(self) -> Any:
        """Expected rate, a/b."""
        return self.a / self.b

    @property
    def mode(self) -> Any:
        """Most probable rate, (a−1)/b; 0 for a ≤ 1."""
        return plain(np.maximum(self.a - 1, 0.0) / self.b)

    @property
    def variance(self) -> Any:
        """Variance of the rate, a/b²."""
        return self.a / self.b / self.b

    @property
    def marginals(self) -> Self:
        """The distribution itself: the parameter is one number."""
        return self
