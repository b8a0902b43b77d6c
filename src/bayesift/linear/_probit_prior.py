"""How strong the prior of a probit model is, said by a variance, the paper's γ or a rate; and what its solvers take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from bayesift.priors import Jeffreys, Laplace, Prior

#: Solvers that take no one-sided priors.
EM_SOLVERS = ("em", "block-em")


class Strength(NamedTuple):
    """The one parameter of ``variance``, ``gamma`` and ``rate`` that was given; by default a search."""

    name: str
    value: Any
    given: bool

    @property
    def by_feature(self) -> bool:
        """Whether there is a value for each feature."""
        return not isinstance(self.value, (str, Real))

    def variances(self, value: Any) -> Any:
        """Turn values of γ, or of the rate √γ, into variances 2/γ."""
        if self.name == "variance":
            return value
        with np.errstate(divide="ignore"):
            return np.divide(2.0, value if self.name == "gamma" else np.square(value))

    def of_features(self, prior: Prior) -> Prior:
        """Return an open prior the variances of its features."""
        if not prior.is_open:
            return prior
        if isinstance(self.value, Mapping):
            return replace(prior, variance={key: float(self.variances(one)) for key, one in self.value.items()})
        return replace(prior, variance=self.variances(np.asarray(self.value, dtype=np.float64)))


def strength_of(variance: Any, gamma: Any, rate: Any) -> Strength:
    """Find the parameter that was given, of which there may be one at most."""
    everything = {"variance": variance, "gamma": gamma, "rate": rate}
    given = [Strength(name, value, given=True) for name, value in everything.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{given[0].name} and {given[1].name} are both given; expected one of variance, gamma, rate")
    return given[0] if given else Strength("variance", "cv", given=False)


def check_prior(prior: Prior, solver: str, strength: Strength, only: bool) -> None:
    """Refuse a prior that the solver cannot take, or a strength that it does not have.

    ``only`` tells that all categories have this prior.
    """
    if isinstance(prior, Jeffreys):
        if solver == "newton":
            raise ValueError("solver is 'newton', which needs convex priors; a Jeffreys prior takes 'em'")
        if strength.given and only:
            raise ValueError(f"{strength.name} is given, but a Jeffreys prior has no parameter")
    elif strength.name != "variance" and prior.is_open and not isinstance(prior, Laplace):
        raise ValueError(
            f"{strength.name} belongs to a Laplace prior; give the variance of a {type(prior).__name__} prior"
        )
    if solver in EM_SOLVERS and one_sided(prior):
        raise ValueError(f"solver is {solver!r}, which takes priors for both signs only; use 'newton'")


def one_sided(prior: Prior) -> bool:
    """Tell whether some coefficient must lie on one side of its mode."""
    sign: Any = prior.sign
    return bool(np.any(list(sign.values()) if isinstance(sign, Mapping) else sign))
