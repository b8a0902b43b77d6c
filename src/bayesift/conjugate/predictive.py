"""What all distributions of new data have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesift._checks import generator, plain
from bayesift.conjugate._checks import draws_shape


@dataclass(frozen=True, eq=False)
class Predictive(ABC):
    """A distribution of data not yet seen, or a batch of them."""

    #: Number of axes of one observation: 0 for a number, 1 for a vector of counts.
    event_ndim: ClassVar[int] = 0

    @property
    @abstractmethod
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""

    @property
    @abstractmethod
    def mean(self) -> Any:
        """Expected value of the data; infinite or NaN where it does not exist."""

    @property
    @abstractmethod
    def variance(self) -> Any:
        """Variance of the data; infinite or NaN where it does not exist."""

    @abstractmethod
    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        """Draw data; ``shape`` ends with the batch."""

    def sample(self, size: int | tuple[int, ...] | None = None, random_state: Any = None) -> Any:
        """Draw data.

        Parameters
        ----------
        size : int or tuple of int, optional
            How many for every distribution of the batch; one, without an axis of its own, by default.
        random_state : int, Generator or None
            Seed, or the generator to go on with.

        Returns
        -------
        float or array
            Of shape ``size`` + ``batch_shape`` (+ the shape of one observation).
        """
        return plain(self._draw(generator(random_state), draws_shape(size, self.batch_shape)))


class DiscretePredictive(Predictive):
    """Predictive distribution of counts or categories."""

    @abstractmethod
    def _log_mass(self, x: Any) -> Any:
        """Return the log probabilities of an array of values."""

    def logpmf(self, x: Any) -> Any:
        """Return the log probability of a value; −∞ for what cannot occur.

        Parameters
        ----------
        x : float or array
            The values; broadcast with the batch.

        Returns
        -------
        float or array
        """
        return plain(self._log_mass(np.asarray(x, dtype=np.float64)))

    def pmf(self, x: Any) -> Any:
        """Return the probability of a value.

        Parameters
        ----------
        x : float or array
            The values; broadcast with the batch.

        Returns
        -------
        float or array
        """
        return plain(np.exp(self.logpmf(x)))


class ContinuousPredictive(Predictive):
    """Predictive distribution of real numbers."""

    @abstractmethod
    def _log_density(self, x: Any) -> Any:
        """Return the log densities at an array of values."""

    def logpdf(self, x: Any) -> Any:
        """Return the log density at a value; −∞ outside the support.

        Parameters
        ----------
        x : float or array
            The values; broadcast with the batch.

        Returns
        -------
        float or array
        """
        return plain(self._log_density(np.asarray(x, dtype=np.float64)))

    def pdf(self, x: Any) -> Any:
        """Return the density at a value.

        Parameters
        ----------
        x : float or array
            The values; broadcast with the batch.

        Returns
        -------
        float or array
        """
        return plain(np.exp(self.logpdf(x)))
