"""The gamma-Poisson model: a rate learned from counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from bayesift._checks import FINITE, NOT_NEGATIVE, POSITIVE, WHOLE, kept, numbers
from bayesift.conjugate._checks import arguments, column_sums
from bayesift.conjugate._counts import NegativeBinomial
from bayesift.conjugate._gamma import GammaRate
from bayesift.conjugate._plug_in import PlugInCount


@dataclass(frozen=True, eq=False)
class GammaPoisson(GammaRate):
    """A rate λ with a Gamma(a, b) distribution, and data that are Poisson counts.

    p(λ) ∝ λᵃ⁻¹ e^(−bλ) becomes Gamma(a + Σx, b + N) after N counts x.

    Data: counts along the first axis, one model for each column (a sparse matrix stays sparse), or the two arguments
    ``count, exposure``: one count over a stretch that is ``exposure`` units long, such as a word in a document of that
    length. Several counts summed up keep a third number, which only the evidence needs; see :meth:`statistics`.

    Parameters
    ----------
    a : float or array
        Pseudo count of events, above 0.
    b : float or array
        Pseudo exposure, above 0.

    Examples
    --------
    >>> from bayesift.conjugate import GammaPoisson
    >>> posterior = GammaPoisson(2, 1).update([3, 0, 4])
    >>> posterior, posterior.mean
    (GammaPoisson(a=9.0, b=4.0), 2.25)
    >>> round(posterior.predictive().pmf(0), 4)
    0.1342
    """

    def statistics(self, *data: Any) -> tuple[Any, ...]:
        """Return what there is to know of the counts.

        Parameters
        ----------
        *data
            Counts, or ``count, exposure``.

        Returns
        -------
        total, exposure : float or array
            What is added to ``a`` and to ``b``.
        log_base : float or array
            Σ(x ln t − ln x!) over the counts x and their exposures t: the part of the likelihood that does not depend
            on the rate.
        """
        if len(data) == 1:
            n, (total, log_factorials) = column_sums("data", data[0], WHOLE, lambda count: gammaln(count + 1))
            return total, float(n), -log_factorials
        if len(data) == 3:
            return (*self.statistics(*data[:2])[:2], numbers("log_base", data[2], FINITE))
        count, exposure = arguments(data, "count", "exposure")
        total, length = numbers("count", count, WHOLE), numbers("exposure", exposure, NOT_NEGATIVE)
        if np.any((total > 0) & (length == 0)):
            raise ValueError("exposure is 0 where the count is above 0; expected an exposure above 0")
        return total, length, xlogy(total, length) - gammaln(total + 1)

    def predictive(self, exposure: ArrayLike = 1.0) -> NegativeBinomial:
        """Return the distribution of a new count.

        Parameters
        ----------
        exposure : float or array, default=1
            Length of the stretch in which it is counted.

        Returns
        -------
        NegativeBinomial
            With ``pmf``, ``logpmf``, ``mean``, ``variance`` and ``sample``.
        """
        return NegativeBinomial(self.a, self.b, kept("exposure", exposure, POSITIVE))

    def _outcome(self, value: Any, n: Any) -> tuple[Any, ...]:
        return (value, n)

    def _plug_in(self, theta: Any, exposure: ArrayLike = 1.0) -> PlugInCount:
        from scipy.stats import poisson

        return PlugInCount(poisson(np.asarray(theta) * numbers("exposure", exposure, POSITIVE)))
