"""The families of priors: Gaussian, Laplace and Jeffreys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.priors._values import AT_LEAST_ZERO, Value, at_least_zero, kept
from bayesift.priors.arrays import GAUSSIAN, JEFFREYS, LAPLACE, PriorArrays
from bayesift.priors.base import PerFeature, Prior


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Prior):
    """Gaussian priors: the penalty of ridge regression.

    p(δ) = δ²/2v, δ = β − mode. A one-sided prior (``sign=±1``) has the same penalty on sign·δ ≥ 0 and an infinite one
    elsewhere; v is then the mean square of δ. The parameters are those of :class:`Prior`.

    Examples
    --------
    >>> from bayesift.priors import Gaussian
    >>> Gaussian(variance=4.0, mode={"wheat": 1.0}).resolve(2, ["wheat", "gold"]).mode
    array([1., 0.])
    >>> Gaussian(variance=4.0).penalty([2.0, 0.0])
    0.5
    """

    _kind: ClassVar[int] = GAUSSIAN

    def _weights(self, variance: FloatArray, sign: FloatArray) -> FloatArray:
        return 1.0 / variance


@dataclass(frozen=True, eq=False, repr=False)
class Laplace(Prior):
    """Laplace priors: the penalty of the lasso.

    p(δ) = λ·abs(δ), δ = β − mode, λ = √(2/v). A one-sided prior (``sign=±1``) is an exponential distribution: λ·abs(δ)
    with λ = 1/√v on sign·δ ≥ 0, infinite elsewhere. v is the variance of δ in both cases. The parameters are those of
    :class:`Prior`; :meth:`of_rate` and :meth:`of_gamma` state the strength in other terms.

    Examples
    --------
    >>> from bayesift.priors import Laplace
    >>> Laplace(variance=0.5).resolve(1).weight
    array([2.])
    >>> open_prior = Laplace(relative={"wheat": 4.0})
    >>> open_prior.scaled(0.5).resolve(2, ["wheat", "gold"]).weight
    array([1., 2.])
    """

    _kind: ClassVar[int] = LAPLACE

    @classmethod
    def of_rate(cls, rate: PerFeature, **options: Any) -> Self:
        """Return the prior with the rate λ, the weight of abs(δ) in the penalty: its variance is 2/λ².

        Parameters
        ----------
        rate : float, array of shape (n_features,) or mapping from term to float
            0 leaves a coefficient unpenalised, infinity fixes it at its mode.
        **options
            Further parameters of :class:`Prior`, except ``variance``. ``sign`` must be 0: for a one-sided prior, pass
            the variance 1/λ² instead of a rate.

        Examples
        --------
        >>> from bayesift.priors import Laplace
        >>> Laplace.of_rate(2.0)
        Laplace(variance=0.5)
        """
        return cls._of(_each(np.square, kept("rate", rate, at_least_zero, AT_LEAST_ZERO)), options)

    @classmethod
    def of_gamma(cls, gamma: PerFeature, **options: Any) -> Self:
        """Return the prior with the γ of Eyheramendy et al. (2003): variance 2/γ, or rate √γ.

        A Gaussian whose variance has an exponential distribution of mean 2/γ is such a Laplace distribution.

        The other arguments are those of :meth:`of_rate`.

        Examples
        --------
        >>> from bayesift.priors import Laplace
        >>> Laplace.of_gamma({"wheat": 0.5}, default_variance=2.0)
        Laplace(variance={'wheat': 4.0}, default_variance=2.0)
        """
        return cls._of(kept("gamma", gamma, at_least_zero, AT_LEAST_ZERO), options)

    @classmethod
    def _of(cls, gamma: Value, options: dict[str, Any]) -> Self:
        if np.any(options.get("sign", 0)):
            raise ValueError(
                "sign is given; a one-sided prior of rate λ has the variance 1/λ²; pass that variance instead"
            )
        with np.errstate(divide="ignore"):
            return cls(_each(lambda value: np.divide(2.0, value), gamma), **options)

    def _weights(self, variance: FloatArray, sign: FloatArray) -> FloatArray:
        return np.sqrt(np.where(sign == 0, 2.0, 1.0) / variance)


@dataclass(frozen=True, eq=False, repr=False)
class Jeffreys(Prior):
    """Jeffreys priors: sparse models without a parameter to choose.

    A Gaussian with a separate variance τ for every coefficient, p(τ) ∝ 1/τ, gives the density 1/abs(δ),
    δ = β − mode, and the penalty ln abs(δ). It is improper, has no scale, and is not convex: a model finds a local
    optimum that depends on the start. Only :class:`bayesift.linear.BayesianProbitRegression` takes it.

    Parameters
    ----------
    mode : float, array or mapping, default=0
        Where the density is greatest; 0 for terms that a mapping does not name.
    unknown : {"error", "ignore"}, default="error"
        What to do with a named term that is not a feature of the matrix.
    intercept_mode : float, default=0
        Mode of the constant term.
    intercept_variance : float, optional
        Variance of the constant term, whose prior is then Gaussian. Without it the model's setting applies.

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
        """Always False: there is no variance to choose."""
        return False

    def scaled(self, variance: float) -> Self:
        """Return this prior unchanged: it has no scale, so a variance has no effect."""
        return self

    def resolve(self, n_features: int, feature_names: Iterable[str] | None = None) -> PriorArrays:
        """Return the prior as arrays over the columns of a matrix; see :meth:`Prior.resolve`."""
        return self.resolver(n_features, feature_names)(1.0)

    def resolve_intercept(self, variance: float | Literal["same"] = np.inf) -> PriorArrays:
        """Return the prior of the constant term as arrays of one entry.

        Parameters
        ----------
        variance : float or "same", default=inf
            ``"same"`` is a Jeffreys prior, a number the variance of a Gaussian prior (infinity leaves the term
            unpenalised). The prior's own ``intercept_variance`` takes precedence.

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


def _each(function: Callable[[Any], Any], value: Value) -> Value:
    """Apply a function to a number, to every entry of an array or to every value of a mapping."""
    if isinstance(value, dict):
        return {key: float(function(number)) for key, number in value.items()}
    return float(function(value)) if isinstance(value, float) else np.asarray(function(value))
