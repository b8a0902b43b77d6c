"""Mixtures of conjugate priors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp

from bayesift._checks import NOT_NEGATIVE, numbers, plain
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._intervals import Interval, shortest_of_many_peaks
from bayesift.conjugate._mixing import MixedMarginals, average, choose, mixed, mixed_predictive, pick, weighted
from bayesift.conjugate.base import Conjugate
from bayesift.conjugate.point_mass import PointMass
from bayesift.conjugate.predictive import Predictive


@dataclass(frozen=True, eq=False)
class Mixture(Conjugate):
    """A mixture of conjugate priors, Σ_k w_k p_k(θ), which is conjugate as well.

    Data update every component, and its weight by the evidence: w′_k ∝ w_k p_k(data). Weights are stored as logarithms,
    so a component that looks impossible for a while can recover.

    Parameters
    ----------
    components : sequence of Conjugate
        Priors for the same likelihood; they may include a :class:`PointMass`. A mixture is split into its components.
    weights : array of shape (n_components, ...), optional
        Weights, at least 0; they are divided by their sum. Equal by default. Further axes are those of the batch.

    Attributes
    ----------
    log_weights : array of shape (n_components, ...)
        Logarithms of the weights.

    Examples
    --------
    A coin that is fair, or biased towards heads, and then 20 heads and 10 tails:

    >>> from bayesift.conjugate import BetaBinomial, Mixture
    >>> posterior = Mixture([BetaBinomial(20, 20), BetaBinomial(30, 10)]).update(20, 10)
    >>> posterior.components
    (BetaBinomial(a=40.0, b=30.0), BetaBinomial(a=50.0, b=20.0))
    >>> posterior.weights.round(3)
    array([0.346, 0.654])
    >>> round(posterior.mean, 4)
    0.6649
    """

    components: Sequence[Conjugate]
    weights: Any = None
    log_weights: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        components = tuple(self.components)
        _check_components(components)
        weights = np.ones(len(components)) if self.weights is None else numbers("weights", self.weights, NOT_NEGATIVE)
        if weights.ndim == 0 or len(weights) != len(components):
            raise ValueError(f"weights has shape {weights.shape}; expected {len(components)}, one for each component")
        if not (weights.sum(axis=0) > 0).all():
            raise ValueError("weights has sum 0; expected at least one above 0")
        with np.errstate(divide="ignore"):
            self._set(components, np.log(weights))

    @classmethod
    def from_log_weights(cls, components: Sequence[Conjugate], log_weights: Any) -> Self:
        """Return the mixture with weights proportional to the exponentials of the given numbers.

        Parameters
        ----------
        components : sequence of Conjugate
            Priors for the same likelihood.
        log_weights : array of shape (n_components, ...)
            Logarithms of the weights, up to a constant.

        Returns
        -------
        Mixture
        """
        parts = tuple(components)
        _check_components(parts)
        logs = np.asarray(log_weights, dtype=np.float64)
        if logs.ndim == 0 or len(logs) != len(parts) or not np.isfinite(logs.max(axis=0)).all():
            raise ValueError(
                f"log_weights is {log_weights!r}; expected {len(parts)} numbers, one for each component, "
                "with a finite one among them"
            )
        mixture = object.__new__(cls)
        mixture._set(parts, logs)
        return mixture

    @classmethod
    def from_censored(cls, prior: Conjugate, outcomes: Iterable[Any], n: int = 1) -> Self:
        """Return the posterior after an observation known only by a list of possible values.

        This is the mixture of the posteriors for each value, weighted by their predictive probabilities.

        Parameters
        ----------
        prior : Conjugate
            Belief before the observation, about counts or categories.
        outcomes : iterable
            The values it may have had: numbers of successes in ``n`` trials (:class:`BetaBinomial`), vectors of counts
            with sum ``n`` (:class:`DirichletMultinomial`), counts over an exposure of ``n`` (:class:`GammaPoisson`).
        n : int, default=1
            Trials, draws or exposure of the observation.

        Examples
        --------
        Fewer than three heads in five tosses:

        >>> from bayesift.conjugate import BetaBinomial, Mixture
        >>> posterior = Mixture.from_censored(BetaBinomial(1, 1), [0, 1, 2], n=5)
        >>> posterior.components
        (BetaBinomial(a=1.0, b=6.0), BetaBinomial(a=2.0, b=5.0), BetaBinomial(a=3.0, b=4.0))
        >>> posterior.weights.round(4)
        array([0.3333, 0.3333, 0.3333])
        """
        values = [np.asarray(outcome) for outcome in outcomes]
        if not values:
            raise ValueError("outcomes is empty; expected at least one value that the observation may have had")
        posteriors = [prior.update(*prior._outcome(value, n)) for value in values]
        predictive: Any = prior.predictive(n)  # type: ignore[call-arg]
        return cls.from_log_weights(posteriors, np.stack([predictive.logpmf(value) for value in values]))

    def _set(self, components: tuple[Conjugate, ...], log_weights: FloatArray) -> None:
        flat, logs = _taken_apart(components, log_weights - logsumexp(log_weights, axis=0))
        for name, value in {"components": flat, "log_weights": logs, "weights": np.exp(logs)}.items():
            object.__setattr__(self, name, value)

    @property
    def event_ndim(self) -> int:  # type: ignore[override]
        """Number of axes of one parameter: 0 for a number, 1 for a vector."""
        return self.components[0].event_ndim

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single model."""
        return np.broadcast_shapes(self.log_weights.shape[1:], *(part.batch_shape for part in self.components))

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the sufficient statistics of observations, as the components do."""
        return self.components[0].statistics(*data)

    @property
    def _family_name(self) -> str:
        return self.components[0]._family_name

    def _outcome(self, value: Any, n: Any) -> tuple[Any, ...]:
        return self.components[0]._outcome(value, n)

    @property
    def _domain(self) -> str:  # type: ignore[override]
        return self.components[0]._domain

    def _possible(self, theta: FloatArray) -> BoolArray:
        return self.components[0]._possible(theta)

    def _evidences(self, statistics: tuple[Any, ...]) -> FloatArray:
        """Return ln w_k + ln p_k(data)."""
        return weighted(self.log_weights, [part.log_evidence(*statistics) for part in self.components])

    def _posterior(self, *statistics: Any) -> Self:
        logs = self._evidences(statistics)
        if not np.isfinite(logs.max(axis=0)).all():
            raise ValueError(
                "data are impossible for every component, or their evidence is undefined; expected data that some "
                "component allows"
            )
        return self.from_log_weights([part.update(*statistics) for part in self.components], logs)

    def _log_evidence(self, *statistics: Any) -> Any:
        return logsumexp(self._evidences(statistics), axis=0)

    def _log_likelihood(self, theta: FloatArray, *statistics: Any) -> Any:
        return self.components[0]._log_likelihood(theta, *statistics)

    def _maximum(self, *statistics: Any) -> Any:
        return self.components[0]._maximum(*statistics)

    @property
    def is_proper(self) -> Any:
        """Whether the densities of all components have finite integrals; one boolean for each model of a batch."""
        proper = np.all(np.broadcast_arrays(*(part.is_proper for part in self.components)), axis=0)
        return proper if np.ndim(proper) else bool(proper)

    def _log_density(self, theta: FloatArray) -> Any:
        return mixed(self.log_weights, [part.logpdf(theta) for part in self.components])

    def cdf(self, theta: Any) -> Any:
        """Return the probability that the parameter (or each entry of it) is at most ``theta``."""
        return self.marginals.cdf(theta)

    def quantile(self, q: Any) -> Any:
        """Return the value below which the parameter (or each entry of it) lies with probability ``q``."""
        return self.marginals.quantile(q)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        chosen = choose(rng, self.weights, shape)
        return pick([part._draw(rng, shape) for part in self.components], chosen, self.event_ndim)

    def _average(self, parts: list[Any]) -> Any:
        return plain(average(self.weights, parts, self.event_ndim))

    @property
    def mean(self) -> Any:
        """Expected value of the parameter, Σ w_k E_k[θ]."""
        return self._average([part.mean for part in self.components])

    @property
    def mode(self) -> Any:
        """The point of greatest density, found by ascent from the mode of every component."""
        return plain(_mode_of(self))

    @property
    def variance(self) -> Any:
        """Variance: the mean of the variances plus the variance of the means."""
        mean = self.mean
        return self._average([part.variance + np.square(part.mean - mean) for part in self.components])

    @property
    def marginals(self) -> MixedMarginals:
        """Distribution of each single entry of the parameter."""
        logs = self.log_weights.reshape(*self.log_weights.shape, *([1] * self.event_ndim))
        return MixedMarginals([part.marginals for part in self.components], logs)

    def _shortest(self, level: float) -> Interval:
        return shortest_of_many_peaks(self.marginals, level)

    def predictive(self, *arguments: Any) -> Predictive:
        """Return the distribution of new data: the mixture of the components' distributions.

        Parameters
        ----------
        *arguments
            Those of ``predictive`` of the components.

        Returns
        -------
        Predictive
        """
        parts: list[Any] = [part.predictive(*arguments) for part in self.components]
        return mixed_predictive(parts, self.log_weights)

    def _plug_in(self, theta: Any, *arguments: Any) -> Predictive:
        return self.components[0]._plug_in(theta, *arguments)


def _check_components(components: tuple[Any, ...]) -> None:
    if not components:
        raise ValueError("components is empty; expected at least one conjugate prior")
    for part in components:
        if not isinstance(part, Conjugate):
            raise TypeError(f"components holds {part!r}; expected conjugate priors")
    families = sorted({part._family_name for part in components})
    if len(families) > 1:
        raise TypeError(f"components are of classes {', '.join(families)}; expected priors for the same likelihood")


def _taken_apart(
    components: tuple[Conjugate, ...], log_weights: FloatArray
) -> tuple[tuple[Conjugate, ...], FloatArray]:
    """Replace mixtures among the components by their own components."""
    flat: list[Conjugate] = []
    logs: list[Any] = []
    for part, log_weight in zip(components, log_weights, strict=True):
        if isinstance(part, Mixture):
            flat.extend(part.components)
            logs.extend(log_weight + own for own in part.log_weights)
        else:
            flat.append(part)
            logs.append(log_weight)
    return tuple(flat), np.stack(np.broadcast_arrays(*logs))


def _mode_of(mixture: Mixture) -> FloatArray:
    """Climb from the mode of every component and keep the highest place; point masses beat all densities."""
    shape = mixture.batch_shape
    atoms = [k for k, part in enumerate(mixture.components) if isinstance(part, PointMass)]
    if atoms:
        weights = np.broadcast_to(_with_axes(mixture.weights, len(shape)), (len(mixture.weights), *shape))[atoms]
        return pick([mixture.components[k].mode for k in atoms], np.argmax(weights, axis=0), mixture.event_ndim)
    places = [_climb(mixture, _start(part, shape)) for part in mixture.components]
    heights = np.stack([mixture.logpdf(place) for place in places])
    return pick(places, np.argmax(heights, axis=0), mixture.event_ndim)


def _with_axes(weights: FloatArray, n_axes: int) -> FloatArray:
    return weights.reshape(len(weights), *([1] * (n_axes + 1 - weights.ndim)), *weights.shape[1:])


def _start(part: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return the mode of a component, or its mean if the mode is not a single point."""
    place = np.where(np.isnan(part.mode), part.mean, part.mode)
    return np.broadcast_to(place, (*shape, *place.shape[place.ndim - part.event_ndim :])).astype(np.float64)


def _climb(mixture: Mixture, place: FloatArray, most: int = 1000) -> FloatArray:
    """Climb by EM: the next place has the greatest density under the components, weighted by their shares here."""
    parts = mixture.components
    height = np.asarray(mixture.logpdf(place))
    for _ in range(most):
        logs = weighted(mixture.log_weights, [part.logpdf(place) for part in parts])
        with np.errstate(invalid="ignore"):
            shares = np.nan_to_num(np.exp(logs - height))
        # Where the density is infinite already, there is nowhere to climb.
        shares = np.where(np.isfinite(height), shares, 1 / len(parts))
        blend = type(parts[0])._blend(parts, shares)
        target = np.where(np.isnan(blend.mode), place, blend.mode)
        reached = np.asarray(mixture.logpdf(target))
        higher = reached > height
        if not higher.any():
            break
        place = np.where(np.reshape(higher, (*higher.shape, *([1] * mixture.event_ndim))), target, place)
        height = np.where(higher, reached, height)
    return place
