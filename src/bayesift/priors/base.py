"""What Gaussian, Laplace and Jeffreys priors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from bayesift._typing import BoolArray, FloatArray
from bayesift.priors._values import AT_LEAST_ZERO, Columns, Value, at_least_zero, is_number, kept, product, same, times
from bayesift.priors.arrays import FIXED, FLAT, PriorArrays

PerFeature = float | ArrayLike | Mapping[Any, float]


def _signs(values: FloatArray) -> BoolArray:
    return (values == -1) | (values == 0) | (values == 1)


_CHECKS: dict[str, tuple[Callable[[FloatArray], BoolArray], str]] = {
    "variance": (at_least_zero, AT_LEAST_ZERO),
    "relative": (at_least_zero, AT_LEAST_ZERO),
    "mode": (np.isfinite, "a finite number"),
    "sign": (_signs, "-1, 0 or 1"),
}


@dataclass(frozen=True, eq=False, repr=False)
class Prior(ABC):
    """Independent priors of the coefficients: the base class of :class:`Gaussian`, :class:`Laplace`, :class:`Jeffreys`.

    The variance of feature j is variance_j × relative_j. ``variance=None`` leaves the common variance open: a model
    chooses it and calls :meth:`scaled`.

    Parameters
    ----------
    variance : float, array of shape (n_features,), mapping from term to float, or None
        Infinity leaves a coefficient unpenalised, 0 fixes it at its mode. None leaves the common variance open for a
        model to choose.
    mode : float, array or mapping, default=0
        Where the density is greatest; 0 for terms that a mapping does not name.
    sign : {-1, 0, +1}, array or mapping, default=0
        The side of its mode on which the coefficient must lie; 0 allows both.
    relative : float, array or mapping, default=1
        Multiplies the variance; 1 for terms that a mapping does not name. 0 and infinity hold for any variance.
    default_variance : float, default=1
        Variance of terms that a mapping given as ``variance`` does not name.
    unknown : {"error", "ignore"}, default="error"
        What to do with a named term that is not a feature of the matrix.
    intercept_mode : float, default=0
        Mode of the constant term.
    intercept_variance : float, "same" or None, default=None
        Variance of the constant term; ``"same"`` treats it like any other coefficient. None leaves it to the model's
        parameter of the same name.
    """

    variance: PerFeature | None = None
    mode: PerFeature = 0.0
    _: KW_ONLY
    sign: PerFeature = 0.0
    relative: PerFeature = 1.0
    default_variance: float = 1.0
    unknown: Literal["error", "ignore"] = "error"
    intercept_mode: float = 0.0
    intercept_variance: float | Literal["same"] | None = None

    _kind: ClassVar[int]

    def __post_init__(self) -> None:
        for name, (allowed, expected) in _CHECKS.items():
            value = getattr(self, name)
            if value is not None or name != "variance":
                object.__setattr__(self, name, kept(name, value, allowed, expected))
        for name, least in (("default_variance", 0.0), ("intercept_mode", -np.inf), ("intercept_variance", 0.0)):
            value = getattr(self, name)
            if name != "intercept_variance" or value not in (None, "same"):
                object.__setattr__(self, name, _number(name, value, least))
        if not np.isfinite(self.intercept_mode):
            raise ValueError(f"intercept_mode is {self.intercept_mode!r}; expected a finite number")
        if self.unknown not in ("error", "ignore"):
            raise ValueError(f"unknown is {self.unknown!r}; expected 'error' or 'ignore'")

    @abstractmethod
    def _weights(self, variance: FloatArray, sign: FloatArray) -> FloatArray:
        """Return the rate or precision that belongs to each variance."""

    @property
    def is_open(self) -> bool:
        """Whether the common variance is still to be chosen."""
        return self.variance is None

    def scaled(self, variance: float) -> Self:
        """Return this prior with every variance multiplied by a common one.

        An open variance becomes ``variance`` itself, so the values in ``relative`` are multiples of it. Variances of 0
        and infinity do not change.

        Parameters
        ----------
        variance : float
            At least 0, infinity included.

        Returns
        -------
        Prior
            A prior of the same class.
        """
        factor = _number("variance", variance, least=0.0)
        if self.variance is None:
            return replace(self, variance=factor)
        own: Value = self.variance  # type: ignore[assignment]  # kept() leaves one of its three forms
        others = self.default_variance
        if isinstance(own, dict):
            others = product(others, factor)
        return replace(self, variance=times(own, factor), default_variance=others)

    def resolve(self, n_features: int, feature_names: Iterable[str] | None = None) -> PriorArrays:
        """Return the prior as arrays over the columns of a matrix.

        Parameters
        ----------
        n_features : int
            Number of columns.
        feature_names : iterable of str, optional
            Their names; needed if the prior names terms.

        Returns
        -------
        PriorArrays
        """
        if self.variance is None:
            raise ValueError("variance of the prior is open (None); choose one with scaled(variance) first")
        return self.resolver(n_features, feature_names)(1.0)

    def resolver(self, n_features: int, feature_names: Iterable[str] | None = None) -> Callable[[float], PriorArrays]:
        """Return a function that gives ``scaled(variance).resolve(n_features, feature_names)`` for any variance.

        It looks the terms up only once, so that many variances can be tried.
        """
        columns = Columns(n_features, feature_names, self.unknown)
        field: dict[str, Any] = vars(self)
        own = 1.0 if self.variance is None else columns.spread("variance", field["variance"], self.default_variance)
        relative = columns.spread("relative", field["relative"], 1.0)
        mode = columns.spread("mode", field["mode"], 0.0)
        sign = columns.spread("sign", field["sign"], 0.0)
        return lambda variance: self._arrays(product(relative, product(own, variance)), mode, sign)

    def resolve_intercept(self, variance: float | Literal["same"] = np.inf) -> PriorArrays:
        """Return the prior of the constant term as arrays of one entry.

        Parameters
        ----------
        variance : float or "same", default=inf
            Used unless the prior has its own ``intercept_variance``: a variance, or ``"same"`` for the common variance
            and sign of the features (if the prior names terms, those of the terms not named).

        Returns
        -------
        PriorArrays
        """
        sign = 0.0
        chosen = variance if self.intercept_variance is None else self.intercept_variance
        if chosen == "same":
            chosen = self._common_variance()
            sign = self.sign if isinstance(self.sign, float) else 0.0
        known = _number("variance", chosen, least=0.0)
        return self._arrays(np.array([known]), np.array([self.intercept_mode]), np.array([sign]))

    def penalty(self, beta: ArrayLike, feature_names: Iterable[str] | None = None) -> float:
        """Return Σ_j p_j(β_j − mode_j); see :meth:`PriorArrays.penalty`."""
        return self.resolve(len(np.asarray(beta)), feature_names).penalty(beta)

    def log_density(self, beta: ArrayLike, feature_names: Iterable[str] | None = None) -> float:
        """Return the log prior density; see :meth:`PriorArrays.log_density`."""
        return self.resolve(len(np.asarray(beta)), feature_names).log_density(beta)

    def conjugate(self, c: ArrayLike, feature_names: Iterable[str] | None = None) -> float:
        """Return the dual Σ_j p_j*(c_j); see :meth:`PriorArrays.conjugate`."""
        return self.resolve(len(np.asarray(c)), feature_names).conjugate(c)

    def _common_variance(self) -> float:
        if isinstance(self.variance, np.ndarray):
            raise ValueError("variance 'same' needs a common variance, but the prior has one for each feature")
        if self.variance is None:
            raise ValueError("variance of the prior is open (None); choose one with scaled(variance) first")
        return self.default_variance if isinstance(self.variance, dict) else float(self.variance)  # type: ignore[arg-type]

    def _arrays(self, variance: FloatArray, mode: FloatArray, sign: FloatArray) -> PriorArrays:
        with np.errstate(divide="ignore", over="ignore"):
            weight = self._weights(variance, sign)
        # A variance so small that its precision overflows fixes the coefficient like 0 does.
        kind = np.full(variance.shape, self._kind, np.int8)
        kind[~np.isfinite(weight)] = FIXED
        kind[np.isinf(variance)] = FLAT
        weight = np.where(kind == self._kind, weight, 0.0)
        return PriorArrays(kind, weight, mode, sign.astype(np.int8))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if not same(getattr(self, field.name), field.default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def _number(name: str, value: Any, least: float) -> float:
    if not (is_number(value) and value >= least):
        raise ValueError(f"{name} is {value!r}; expected a number of at least {least:g}")
    return float(value)
