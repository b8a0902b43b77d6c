"""What data do to a belief: prior, likelihood and posterior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.conjugate import Conjugate, Interval
from bayesift.plots._axes import PALETTE, drawn_on, one_model
from bayesift.plots.display import Display


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
    ax_, figure_
        Where it was drawn.
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

    def __init__(
        self,
        theta: FloatArray,
        prior: FloatArray,
        likelihood: FloatArray,
        posterior: FloatArray,
        interval: Interval | None = None,
    ) -> None:
        self.theta = theta
        self.prior = prior
        self.likelihood = likelihood
        self.posterior = posterior
        self.interval = interval

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
        one_model(model)
        if model.event_ndim:
            raise ValueError(f"model is {model!r}; expected one whose parameter is a single number")
        posterior = model.update(*data)
        theta = _values(model, posterior, n_points)
        log_likelihood = model.log_likelihood(theta, *data)
        likelihood = np.exp(log_likelihood - log_likelihood.max())
        return cls(
            theta,
            model.pdf(theta),
            likelihood / (likelihood.sum() * (theta[1] - theta[0])),
            posterior.pdf(theta),
            None if level is None else posterior.interval(level, kind),
        )

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the three curves, and shade the interval under the posterior.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        **line_options
            Passed on to matplotlib.

        Returns
        -------
        self
        """
        ax = drawn_on(ax)
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
    """Return values where either density is worth looking at, the very ends left out: it may be infinite there."""
    laws = (prior, posterior)
    low, high = ([law.quantile(share) for law in laws] for share in (0.0, 1.0))
    if not np.isfinite(high).all():
        # A long tail would leave no room for the rest.
        high = [min(law.quantile(0.99), 10 * law.quantile(0.5)) for law in laws]
    # An improper prior has no shares of its own.
    left, right = np.nanmin(low), np.nanmax(high)
    return left + (right - left) * (np.arange(n_points) + 0.5) / n_points
