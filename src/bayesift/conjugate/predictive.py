"""What all distributions of new data have in common, and the distributions for a known parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from bayesift._checks import generator, plain
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import common_shape, draws_shape, outside


class Sampled(ABC):
    """Something to draw values from: a distribution of parameters or of data, or a batch of them."""

    @property
    @abstractmethod
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""

    @property
    @abstractmethod
    def mean(self) -> Any:
        """Expected value of the parameter or of the data; infinite or NaN if it does not exist."""

    @property
    @abstractmethod
    def variance(self) -> Any:
        """Variance, of each entry if values are vectors; infinite or NaN if it does not exist."""

    @abstractmethod
    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw values; ``shape`` ends with the batch."""

    def sample(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Draw values.

        Parameters
        ----------
        size : int or tuple of int, optional
            Number of draws for each element of the batch; by default one, without an axis of its own.
        random_state : int, Generator or None
            Seed, or a generator to draw from.

        Returns
        -------
        float or array
            Of shape ``size`` + ``batch_shape`` (+ the shape of one value).
        """
        return plain(self._draw(generator(random_state), draws_shape(size, self.batch_shape)))


@dataclass(frozen=True, eq=False)
class Predictive(Sampled):
    """A distribution of data not yet seen, or a batch of such distributions."""

    #: Number of axes of one observation: 0 for a number, 1 for a vector of counts.
    event_ndim: ClassVar[int] = 0

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(**{field.name: getattr(self, field.name) for field in fields(self)})


class DiscretePredictive(Predictive):
    """Predictive distribution of counts or categories."""

    @abstractmethod
    def _log_mass(self, x: Any) -> Any:
        """Return the log probabilities of an array of values."""

    def logpmf(self, x: Any) -> Any:
        """Return the log probability of values, broadcast with the batch; −∞ for impossible values."""
        return plain(self._log_mass(np.asarray(x, dtype=np.float64)))

    def pmf(self, x: Any) -> Any:
        """Return the probability of values, the exponential of :meth:`logpmf`."""
        return plain(np.exp(self.logpmf(x)))


class ContinuousPredictive(Predictive):
    """Predictive distribution of real numbers."""

    @abstractmethod
    def _log_density(self, x: Any) -> Any:
        """Return the log densities at an array of values."""

    def logpdf(self, x: Any) -> Any:
        """Return the log density at values, broadcast with the batch; −∞ outside the support."""
        return plain(self._log_density(np.asarray(x, dtype=np.float64)))

    def pdf(self, x: Any) -> Any:
        """Return the density at values, the exponential of :meth:`logpdf`."""
        return plain(np.exp(self.logpdf(x)))


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


def where_possible(possible: BoolArray, value: FloatArray, x: FloatArray) -> FloatArray:
    """Return the values, but −∞ for what cannot occur and NaN for NaN."""
    return np.where(possible, value, outside(x))


def moment(exists: Any, value: Any, otherwise: Any) -> Any:
    """Return a moment, or something else where it does not exist."""
    return plain(np.where(exists, value, otherwise))
