"""What all conjugate models have in common, and their comparison by the evidence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from bayesift._checks import Test, kept, one_of, plain
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import common_shape
from bayesift.conjugate._intervals import Interval, Law, checked_level, equal_tailed, shortest
from bayesift.conjugate._mixing import average
from bayesift.conjugate.predictive import Predictive, Sampled

if TYPE_CHECKING:
    from bayesift.conjugate.point_mass import PointMass


@dataclass(frozen=True, eq=False)
class Conjugate(Sampled):
    """A likelihood, with a distribution of its parameter that keeps its form when data arrive.

    An object never changes: :meth:`update` returns the posterior as a new object of the same class, so today's
    posterior is tomorrow's prior. Every parameter of the distribution may be an array; the object then stands for a
    whole batch of models (one for each word, say), and every result has one entry for each.

    If a parameter of the distribution may be 0, the distribution is improper there. It can then be updated and gives
    the maximum of a likelihood; everything else is an error until data have made it proper (:attr:`is_proper`).

    A subclass defines how data are summarised (``statistics``), how probable they are given the parameter
    (``_log_likelihood``, greatest at ``_maximum``) and without it (``_log_evidence``), how they change the distribution
    of the parameter (``_posterior``), and describes that distribution.
    """

    #: Number of axes of one parameter: 0 for a number, 1 for a vector.
    event_ndim: ClassVar[int] = 0
    #: Number of axes that the fields and the statistics have beyond those of the batch.
    _own_ndim: ClassVar[int] = 0
    #: What each parameter of the distribution must be.
    _expected: ClassVar[Mapping[str, tuple[Test, str]]]
    #: What a value of the likelihood's parameter must be.
    _domain: ClassVar[str]
    #: The parameters for which a value of 0 makes the distribution improper.
    _above_zero: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        self._keep(**{name: kept(name, getattr(self, name), kind) for name, kind in self._expected.items()})

    @abstractmethod
    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the sufficient statistics of observations, in the order in which :meth:`update` takes them.

        Given sufficient statistics, check and return them.
        """

    @abstractmethod
    def _posterior(self, *statistics: Any) -> Self:
        """Return the distribution after data with these statistics."""

    @abstractmethod
    def _log_evidence(self, *statistics: Any) -> Any:
        """Return the log probability of data with these statistics, with the parameter integrated out."""

    @abstractmethod
    def _log_likelihood(self, theta: FloatArray, *statistics: Any) -> Any:
        """Return the log probability of data with these statistics for given parameters, which are possible."""

    @abstractmethod
    def _possible(self, theta: FloatArray) -> BoolArray:
        """Tell which values the parameter can have."""

    @abstractmethod
    def _maximum(self, *statistics: Any) -> Any:
        """Return the parameter for which data with these statistics are most probable."""

    @abstractmethod
    def _log_density(self, theta: FloatArray) -> Any:
        """Return the log density at given parameters."""

    @property
    @abstractmethod
    def mode(self) -> Any:
        """The point of greatest density; NaN if that is not a single point."""

    @property
    @abstractmethod
    def marginals(self) -> Law:
        """Distribution of each single entry of the parameter."""

    @abstractmethod
    def predictive(self) -> Predictive:
        """Return the distribution of new data, with the parameter integrated out."""

    @abstractmethod
    def _plug_in(self, theta: Any, *arguments: Any) -> Predictive:
        """Return the distribution of new data for a known parameter; takes the arguments of ``predictive``."""

    @property
    def _family_name(self) -> str:
        """Name of the class whose likelihood this is."""
        return type(self).__name__

    def _outcome(self, value: Any, n: Any) -> tuple[Any, ...]:
        """Return the data that one value of ``predictive(n)`` stands for."""
        raise TypeError(f"prior is {self._family_name}; expected a prior for counts or categories")

    @classmethod
    def _blend(cls, parts: Sequence[Self], shares: FloatArray) -> Self:
        """Return the member whose log density is the mean of those of the parts, up to a constant.

        Its fields are the means of theirs if they are linear in the log density.
        """
        means = {
            field.name: average(shares, [getattr(part, field.name) for part in parts], cls._own_ndim)
            for field in fields(cls)
        }
        return cls(**means)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single model."""
        shape = np.shape(getattr(self, fields(self)[0].name))
        return shape[: len(shape) - self._own_ndim]

    @property
    def is_proper(self) -> Any:
        """Whether the density has a finite integral; one boolean for each model of a batch."""
        proper = np.ones(self.batch_shape, dtype=bool)
        for name in self._above_zero:
            above = np.greater(getattr(self, name), 0)
            proper &= above.all(axis=-1) if self._own_ndim else above
        return proper if proper.ndim else bool(proper)

    def _proper(self) -> Self:
        """Return the distribution itself; an error if it is improper."""
        for name in self._above_zero:
            if not np.all(np.greater(getattr(self, name), 0)):
                raise ValueError(
                    f"{name} is 0, so {type(self).__name__} is improper; expected a number above 0, or data first that "
                    "make it proper (update, is_proper)"
                )
        return self

    def update(self, *data: Any) -> Self:
        """Return the posterior after data.

        Updating twice equals updating once with all the data, in any order. After too few data, an improper prior
        remains improper.

        Parameters
        ----------
        *data
            One argument: observations along the first axis, the batch along the others. Several arguments:
            sufficient statistics, as described by the class.

        Returns
        -------
        Conjugate
            A model of the same class.
        """
        return self._posterior(*self._checked_statistics(data))

    def log_evidence(self, *data: Any) -> Any:
        """Return ln p(data), with the parameter integrated out.

        This is the log probability of the observations in their order; by the chain rule it is the sum of the log
        predictive probabilities of each observation given those before it.

        Parameters
        ----------
        *data
            As in :meth:`update`.

        Returns
        -------
        float or array
        """
        return plain(self._proper()._log_evidence(*self._checked_statistics(data)))

    def maximum_likelihood(self, *data: Any) -> Any:
        """Return the parameter for which the data are most probable, whatever the prior says.

        It is the limit of posterior modes as the prior becomes flat. :meth:`known` plugs it in.

        Parameters
        ----------
        *data
            As in :meth:`update`.

        Returns
        -------
        float or array
            NaN if no single value is best, as without data; infinite if the data get ever more probable as the
            parameter grows.
        """
        return plain(self._maximum(*self._checked_statistics(data)))

    def log_likelihood(self, theta: Any, *data: Any) -> Any:
        """Return ln p(data | parameter), for the observations in their order.

        Parameters
        ----------
        theta : float or array
            The parameter; broadcast with the batch.
        *data
            As in :meth:`update`.

        Returns
        -------
        float or array
            −∞ for a parameter that is impossible, such as a probability above 1.
        """
        statistics, values = self._checked_statistics(data), np.asarray(theta, dtype=np.float64)
        possible = self._possible(values)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self._log_likelihood(values, *statistics)
        unknown = np.isnan(values).any(axis=-1) if self.event_ndim else np.isnan(values)
        return plain(np.where(possible, found, np.where(unknown, np.nan, -np.inf)))

    def logpdf(self, theta: Any) -> Any:
        """Return the log density of the parameter; −∞ where it is impossible.

        Parameters
        ----------
        theta : float or array
            Values of the parameter; broadcast with the batch.

        Returns
        -------
        float or array
        """
        return plain(self._proper()._log_density(np.asarray(theta, dtype=np.float64)))

    def pdf(self, theta: Any) -> Any:
        """Return the density of the parameter, the exponential of :meth:`logpdf`."""
        return plain(np.exp(self.logpdf(theta)))

    def interval(self, level: float = 0.95, kind: Literal["equal-tailed", "hdi"] = "equal-tailed") -> Interval:
        """Return a credible interval; if the parameter is a vector, one for each entry.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of the interval.
        kind : {"equal-tailed", "hdi"}, default="equal-tailed"
            Leave out the same probability on both sides, or take the shortest interval (the one of highest density, if
            the density has one peak).

        Returns
        -------
        Interval
            Named tuple of ``low`` and ``high``.
        """
        level = checked_level(level)
        one_of("kind", kind, ("equal-tailed", "hdi"))
        return self._shortest(level) if kind == "hdi" else equal_tailed(self.marginals, level)

    def _shortest(self, level: float) -> Interval:
        return shortest(self.marginals, level)

    def known(self, theta: Any) -> PointMass:
        """Return the same likelihood with a known parameter: a null hypothesis, or a plugged-in estimate.

        Parameters
        ----------
        theta : float or array
            The value of the parameter.

        Returns
        -------
        PointMass
        """
        from bayesift.conjugate.point_mass import PointMass

        return PointMass(theta, self)

    def _checked_statistics(self, data: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the statistics of data, after checking that they fit the batch."""
        if not data:
            raise TypeError("no data given; expected observations, or sufficient statistics")
        statistics = self.statistics(*data)
        shapes = [np.shape(part)[: max(np.ndim(part) - self._own_ndim, 0)] for part in statistics]
        try:
            np.broadcast_shapes(self.batch_shape, *shapes)
        except ValueError as error:
            found = ", ".join(map(str, shapes))
            raise ValueError(
                f"data has statistics of batch shape {found}; expected one that broadcasts with the model's, "
                f"{self.batch_shape}"
            ) from error
        return statistics

    def _keep(self, **values: Any) -> None:
        """Set the checked fields of a frozen object, all broadcast to a common shape."""
        shape = common_shape(**values)
        for name, value in values.items():
            object.__setattr__(self, name, np.broadcast_to(value, shape) if shape else value)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))


def bayes_factor(model_a: Conjugate, model_b: Conjugate, *data: Any, log: bool = False) -> Any:
    """Return how much more probable the data are under one model than under another.

    BF = p(data | model_a) / p(data | model_b), with the parameters of both integrated out.

    Parameters
    ----------
    model_a, model_b : Conjugate
        The models; :meth:`Conjugate.known` makes one without free parameters.
    *data
        As in :meth:`Conjugate.update`: observations, or sufficient statistics.
    log : bool, default=False
        Return the logarithm, which is finite even if the ratio is too large for a float.

    Returns
    -------
    float or array
        One ratio for each model of a batch.

    Examples
    --------
    >>> from bayesift.conjugate import BetaBinomial, bayes_factor
    >>> any_coin = BetaBinomial(1, 1)
    >>> f"{bayes_factor(any_coin, any_coin.known(0.5), 90, 10):.4g}"   # 90 heads and 10 tails
    '7.251e+14'
    """
    for name, model in (("model_a", model_a), ("model_b", model_b)):
        if not isinstance(model, Conjugate):
            raise TypeError(f"{name} is {model!r}; expected a conjugate model")
    difference = model_a.log_evidence(*data) - model_b.log_evidence(*data)
    if log:
        return plain(difference)
    with np.errstate(over="ignore"):
        return plain(np.exp(difference))
