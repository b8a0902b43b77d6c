"""The gamma-exponential model: a rate learned from waiting times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift._checks import NOT_NEGATIVE, WHOLE, numbers
from bayesift.conjugate._checks import arguments, column_sums
from bayesift.conjugate._densities import Lomax
from bayesift.conjugate._gamma import GammaRate
from bayesift.conjugate._plug_in import PlugInNumber


@dataclass(frozen=True, eq=False)
class GammaExponential(GammaRate):
    """A rate λ with a Gamma(a, b) distribution, and data that are exponential waiting times.

    p(λ) ∝ λᵃ⁻¹ e^(−bλ) becomes Gamma(a + N, b + Σx) after N times x.

    Data: times along the first axis, one model for each column, or the two arguments ``events, exposure``: how many
    waits came to an end and how long all waits were together. A wait that has not ended yet adds to the exposure only.

    Parameters
    ----------
    a : float or array
        Pseudo count of events, above 0.
    b : float or array
        Pseudo exposure, above 0.

    Examples
    --------
    >>> from bayesift.conjugate import GammaExponential
    >>> posterior = GammaExponential(1, 3).update([5, 6, 4])   # lifetimes of three machines
    >>> posterior, round(posterior.mean, 4)
    (GammaExponential(a=4.0, b=18.0), 0.2222)
    >>> posterior.predictive().mean
    6.0
    """

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return the number of events and the time spent waiting for them.

        Parameters
        ----------
        *data
            Times, or ``events, exposure``.

        Returns
        -------
        events, exposure : float or array
        """
        if len(data) == 1:
            n, (total,) = column_sums("data", data[0], NOT_NEGATIVE)
            return float(n), total
        events, exposure = arguments(data, "events", "exposure")
        return numbers("events", events, WHOLE), numbers("exposure", exposure, NOT_NEGATIVE)

    def predictive(self) -> Lomax:
        """Return the distribution of a new waiting time.

        Returns
        -------
        Lomax
            With ``pdf``, ``logpdf``, ``mean``, ``variance`` and ``sample``.
        """
        return Lomax(self.a, self.b)

    def _plug_in(self, theta: Any) -> PlugInNumber:
        from scipy.stats import expon

        return PlugInNumber(expon(scale=1 / np.asarray(theta)))
