"""A known parameter: null hypotheses and plugged-in estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bayesift._checks import FINITE, plain
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate.base import Conjugate
from bayesift.conjugate.predictive import Predictive


@dataclass(frozen=True, eq=False)
class PointMass(Conjugate):
    """A likelihood whose parameter is known: all probability lies on one value.

    Data do not change it, so it is conjugate to everything. It is made by :meth:`Conjugate.known`.

    Parameters
    ----------
    value : float or array
        Value of the parameter.
    family : Conjugate
        Any object of the class whose likelihood is used.

    Examples
    --------
    >>> from bayesift.conjugate import BetaBinomial, bayes_factor
    >>> any_coin = BetaBinomial(1, 1)
    >>> fair_coin = any_coin.known(0.5)
    >>> round(bayes_factor(any_coin, fair_coin, 9, 1), 3)   # nine heads and one tail
    9.309
    """

    value: Any
    family: Conjugate

    _expected: ClassVar = {"value": FINITE}

    def __post_init__(self) -> None:
        super().__post_init__()
        value = np.asarray(self.value)
        possible = self.family._possible(value)
        if not possible.all():
            raise ValueError(f"value is {value[~possible][0]}; expected {self._domain}")

    @property
    def event_ndim(self) -> int:  # type: ignore[override]
        """Number of axes of one parameter: 0 for a number, 1 for a vector."""
        return self.family.event_ndim

    @property
    def _family_name(self) -> str:
        return self.family._family_name

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single model."""
        shape = np.shape(self.value)
        return shape[: len(shape) - self.event_ndim]

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the sufficient statistics of observations, as the family does."""
        return self.family.statistics(*data)

    @property
    def _domain(self) -> str:  # type: ignore[override]
        return self.family._domain

    def _possible(self, theta: FloatArray) -> BoolArray:
        return self.family._possible(theta)

    def _outcome(self, value: Any, n: Any) -> tuple[Any, ...]:
        return self.family._outcome(value, n)

    def _posterior(self, *statistics: Any) -> Self:
        return self

    def _log_evidence(self, *statistics: Any) -> Any:
        return self.family._log_likelihood(np.asarray(self.value), *statistics)

    def _log_likelihood(self, theta: FloatArray, *statistics: Any) -> Any:
        return self.family._log_likelihood(theta, *statistics)

    def _maximum(self, *statistics: Any) -> Any:
        return self.family._maximum(*statistics)

    def _log_density(self, theta: FloatArray) -> Any:
        here = np.equal(theta, self.value)
        for _ in range(self.event_ndim):
            here = here.all(axis=-1)
        return np.where(here, np.inf, -np.inf)

    def cdf(self, theta: Any) -> Any:
        """Return 1 from the value on and 0 below."""
        return plain(np.where(np.greater_equal(theta, self.value), 1.0, 0.0))

    def quantile(self, q: Any) -> Any:
        """Return the value, whatever ``q``."""
        return plain(np.broadcast_to(self.value, np.broadcast_shapes(np.shape(q), np.shape(self.value))).copy())

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        event = np.shape(self.value)[len(self.batch_shape) :]
        return np.broadcast_to(self.value, (*shape, *event)).copy()

    @property
    def mean(self) -> Any:
        """The value."""
        return self.value

    @property
    def mode(self) -> Any:
        """The value."""
        return self.value

    @property
    def variance(self) -> Any:
        """Zero."""
        return plain(np.zeros_like(self.value))

    @property
    def marginals(self) -> Self:
        """The point itself: each entry has its own value."""
        return self

    def predictive(self, *arguments: Any) -> Predictive:
        """Return the distribution of new data for the known parameter; takes the arguments of the family's method."""
        return self._plug_in(self.value, *arguments)

    def _plug_in(self, theta: Any, *arguments: Any) -> Predictive:
        return self.family._plug_in(theta, *arguments)
