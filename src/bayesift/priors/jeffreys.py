"""Jeffreys priors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.priors.arrays import JEFFREYS, PriorArrays
from bayesift.priors.base import Prior
from bayesift.priors.gaussian import Gaussian


@dataclass(frozen=True, eq=False, repr=False)
class Jeffreys(Prior):
    """Jeffreys priors: sparse models without any number to choose.

    A Gaussian with a variance τ of its own for every coefficient, p(τ) ∝ 1/τ, gives the density 1/abs(δ),
    δ = β − mode, and the penalty ln abs(δ). It is improper, has no scale, and is not convex: a model finds a local
    optimum that depends on where it starts. Only :class:`bayesift.linear.BayesianProbitRegression` takes it.

    Parameters
    ----------
    mode : float, array or mapping, default=0
        Where the density is greatest; 0 for terms a mapping does not name.
    unknown : {"error", "ignore"}, default="error"
        What to do with a named term that is no feature of the matrix.
    intercept_mode : float, default=0
        Mode of the constant term.
    intercept_variance : float, optional
        Variance of the constant term, which is Gaussian then. Without it the model's own setting holds.

    Examples
    --------
    >>> from bayesift.priors import Jeffreys
    >>> Jeffreys().resolve(2).penalty([1.0, 0.5]).__round__(4)
    -0.6931
    >>> Jeffreys(mode={"wheat": 1.0}).is_open
    False
    """

    variance: None = field(default=None, init=False)
    sign: float = field(default=0.0, init=False)
    relative: float = field(default=1.0, init=False)
    default_variance: float = field(default=1.0, init=False)

    _kind: ClassVar[int] = JEFFREYS

    @property
    def is_open(self) -> bool:
        """False: there is no variance to choose."""
        return False

    def scaled(self, variance: float) -> Self:
        """Return this prior as it is: it has no scale.

        Parameters
        ----------
        variance : float
            Without effect.

        Returns
        -------
        Jeffreys
        """
        return self

    def resolve(self, n_features: int, feature_names: Iterable[str] | None = None) -> PriorArrays:
        """Spread the prior out over the columns of a matrix; see :meth:`Prior.resolve`."""
        return self.resolver(n_features, feature_names)(1.0)

    def resolve_intercept(self, variance: float | Literal["same"] = np.inf) -> PriorArrays:
        """Return the prior of the constant term as arrays of one entry.

        Parameters
        ----------
        variance : float or "same", default=inf
            ``"same"`` is a Jeffreys prior, a number the variance of a Gaussian one (infinity leaves the term without
            penalty). An ``intercept_variance`` of the prior's own comes first.

        Returns
        -------
        PriorArrays
        """
        chosen = variance if self.intercept_variance is None else self.intercept_variance
        if chosen == "same":
            return self._arrays(np.ones(1), np.array([self.intercept_mode]), np.zeros(1))
        return Gaussian(intercept_mode=self.intercept_mode).resolve_intercept(chosen)

    def _weights(self, variance: FloatArray, sign: FloatArray) -> FloatArray:
        return np.ones_like(variance)
