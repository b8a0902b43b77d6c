"""How data change a belief about a parameter, and what the belief then predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.conjugate import Conjugate, DiscretePredictive, Interval
from bayesift.plots.display import PALETTE, Display, axes_or_new


@dataclass(repr=False, eq=False)
class PosteriorDisplay(Display):
    """Draw the densities of a parameter before and after data, and the likelihood (figure 3.6 of Murphy 2012).

    Parameters
    ----------
    theta : array of shape (n_points,)
        Values of the parameter.
    prior, likelihood, posterior : array of shape (n_points,)
        Densities; the likelihood is scaled so that its integral is 1.
    interval : Interval, optional
        Ends of a credible interval, to be shaded.

    Attributes
    ----------
    lines_ : list
        Prior, likelihood and posterior.

    Examples
    --------
    >>> from bayesift.conjugate import BetaBinomial
    >>> from bayesift.plots import PosteriorDisplay
    >>> display = PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17)
    >>> float(display.theta[display.posterior.argmax()].round(2))
    0.18
    """

    theta: FloatArray
    prior: FloatArray
    likelihood: FloatArray
    posterior: FloatArray
    interval: Interval | None = None

    @classmethod
    def from_model(
        cls, model: Conjugate, *data: Any, level: float | None = 0.95, kind: Any = "equal-tailed", n_points: int = 801
    ) -> Self:
        """Compute the curves for a model and data.

        Parameters
        ----------
        model : Conjugate
            The prior: a single model whose parameter is one number.
        *data
            As in its ``update``.
        level : float or None, default=0.95
            Probability of the credible interval; None for no interval.
        kind : {"equal-tailed", "hdi"}, default="equal-tailed"
            Kind of the interval.
        n_points : int, default=801
            Number of values of the parameter.

        Returns
        -------
        PosteriorDisplay
        """
        _check_single(model)
        if model.event_ndim:
            raise ValueError(f"model is {model!r}; expected one whose parameter is a single number")
        posterior = model.update(*data)
        theta = _values(model, posterior, n_points)
        log_likelihood = model.log_likelihood(theta, *data)
        likelihood = np.exp(log_likelihood - log_likelihood.max())
        return cls(
            theta,
            model.pdf(theta) if model.is_proper else np.full(n_points, np.nan),
            likelihood / (likelihood.sum() * (theta[1] - theta[0])),
            posterior.pdf(theta),
            None if level is None else posterior.interval(level, kind),
        )

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the three curves, and shade the interval under the posterior."""
        ax = axes_or_new(ax)
        styles = {"prior": (PALETTE[1], "--"), "likelihood": (PALETTE[2], ":"), "posterior": (PALETTE[0], "-")}
        self.lines_ = [
            ax.plot(
                self.theta,
                getattr(self, name),
                **{"color": colour, "linestyle": style, "linewidth": 2, "label": name, **line_options},
            )[0]
            for name, (colour, style) in styles.items()
        ]
        if self.interval is not None:
            inside = (self.theta >= self.interval.low) & (self.theta <= self.interval.high)
            ax.fill_between(self.theta, self.posterior, where=inside, color=PALETTE[0], alpha=0.15, linewidth=0)
        ax.set_xlabel("parameter")
        ax.set_ylabel("density")
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in ("theta", "prior", "likelihood", "posterior")}


def _values(prior: Any, posterior: Any, n_points: int) -> FloatArray:
    """Return values at which either density matters, without the very ends, where it may be infinite."""
    # An improper prior has no shares of its own.
    laws = (prior, posterior) if prior.is_proper else (posterior,)
    low, high = ([law.quantile(share) for law in laws] for share in (0.0, 1.0))
    if not np.isfinite(high).all():
        # A long tail would leave no room for the rest.
        high = [min(law.quantile(0.99), 10 * law.quantile(0.5)) for law in laws]
    left, right = min(low), max(high)
    return left + (right - left) * (np.arange(n_points) + 0.5) / n_points


@dataclass(repr=False, eq=False)
class PredictiveDisplay(Display):
    """Draw the posterior predictive distribution next to a plug-in approximation (figure 3.7 of Murphy 2012).

    Parameters
    ----------
    values : array of shape (n_values,)
        New data.
    averaged, plugged_in : array of shape (n_values,)
        Their probabilities or densities.
    discrete : bool
        Whether the values are counts, drawn as bars.
    estimate : str
        Which estimate was plugged in, for the legend.

    Examples
    --------
    >>> from bayesift.conjugate import BetaBinomial
    >>> from bayesift.plots import PredictiveDisplay
    >>> display = PredictiveDisplay.from_model(BetaBinomial(5, 19), 10)
    >>> display.averaged[:3].round(3), display.plugged_in[:3].round(3)
    (array([0.142, 0.253, 0.253]), array([0.134, 0.299, 0.299]))
    """

    values: FloatArray
    averaged: FloatArray
    plugged_in: FloatArray
    _: KW_ONLY
    discrete: bool
    estimate: str

    @classmethod
    def from_model(cls, model: Conjugate, *arguments: Any, estimate: Literal["mode", "mean"] = "mode") -> Self:
        """Compute both distributions.

        Parameters
        ----------
        model : Conjugate
            The belief: a single model whose data are numbers.
        *arguments
            Arguments of its ``predictive``, such as the number of trials.
        estimate : {"mode", "mean"}, default="mode"
            Which value of the parameter to plug in.

        Returns
        -------
        PredictiveDisplay
        """
        _check_single(model)
        if estimate not in ("mode", "mean"):
            raise ValueError(f"estimate is {estimate!r}; expected 'mode' or 'mean'")
        point = getattr(model, estimate)
        if not np.isfinite(point).all():
            raise ValueError(f"estimate is {estimate!r}, which the model does not have; expected the other one")
        laws: list[Any] = [model.predictive(*arguments), model.known(point).predictive(*arguments)]
        if laws[0].event_ndim:
            raise ValueError("the predictive distribution is one of vectors; expected one of numbers")
        discrete = isinstance(laws[0], DiscretePredictive)
        values = _counts(laws) if discrete else _numbers(laws)
        averaged, plugged_in = (law.pmf(values) if discrete else law.pdf(values) for law in laws)
        return cls(values, averaged, plugged_in, discrete=discrete, estimate=estimate)

    def plot(self, ax: Any = None) -> Self:
        """Draw counts as pairs of bars, numbers as two curves."""
        ax = axes_or_new(ax)
        labels = ("posterior predictive", f"plug-in ({self.estimate})")
        heights = (self.averaged, self.plugged_in)
        for label, height, colour, shift in zip(labels, heights, PALETTE[:2], (-0.2, 0.2), strict=True):
            if self.discrete:
                ax.bar(self.values + shift, height, width=0.4, color=colour, label=label)
            else:
                ax.plot(self.values, height, color=colour, linewidth=2, label=label)
        if self.discrete:
            ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("new data")
        ax.set_ylabel("probability" if self.discrete else "density")
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        return {"value": self.values, "averaged": self.averaged, "plugged_in": self.plugged_in}


def _counts(laws: list[Any]) -> FloatArray:
    """Return the counts that have a visible probability under one of the laws."""
    top = max(law.mean + 8 * np.sqrt(law.variance) for law in laws)
    values = np.arange(np.ceil(top) + 1)
    visible = np.flatnonzero(np.max([law.pmf(values) for law in laws], axis=0) > 1e-4)
    return values[visible[0] : visible[-1] + 1]


def _numbers(laws: list[Any], n_points: int = 801) -> FloatArray:
    """Return numbers around the bulk of draws from the averaged law, whose moments need not exist."""
    low, high = np.quantile(laws[0].sample(4000, random_state=0), [0.01, 0.98])
    low = 0.0 if laws[0].pdf(-1e-9) == 0 else low - (high - low) / 4
    return np.linspace(low, high + (high - low) / 4, n_points)


def _check_single(model: Any) -> None:
    """Refuse anything but a single conjugate model."""
    if not isinstance(model, Conjugate):
        raise TypeError(f"model is {model!r}; expected a conjugate model")
    if model.batch_shape:
        raise ValueError(f"model is a batch of shape {model.batch_shape}; expected a single model")
