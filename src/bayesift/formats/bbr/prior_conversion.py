"""From the lines of a prior file to priors, and back, without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from bayesift.formats.bbr.priors import IndividualPrior, Skew
from bayesift.priors import Laplace, Prior


def to_prior(
    priors: Iterable[IndividualPrior],
    family: type[Prior],
    *,
    class_name: str | None = None,
    columns: Mapping[str, int] | None = None,
    common_variance: float | None = None,
) -> Prior:
    """Make a prior whose common variance is open from the lines of a prior file.

    Variances of the file are multiples of the common one, unless they are absolute. A skew keeps the rate √(2/v) of a
    two-sided Laplace prior, while ours has the variance v on one side, so that v is halved.

    Parameters
    ----------
    priors : iterable of IndividualPrior
    family : {Laplace, Gaussian}
        The class of the prior.
    class_name : str, optional
        Take the lines of this class as well; they beat those for all classes.
    columns : mapping from str to int, optional
        The column of each feature, others being left out; by default feature ``id`` is column ``id - 1``.
    common_variance : float, optional
        The common variance, which absolute variances are divided by.

    Returns
    -------
    Prior
        The constant's variance is set only where it is 0, infinite or absolute: a multiple of the common variance is
        for the caller to scale (see :func:`constant_prior`).

    Examples
    --------
    >>> from bayesift.formats.bbr import IndividualPrior, to_prior
    >>> from bayesift.priors import Laplace
    >>> to_prior([IndividualPrior("4", 2.0, 0.5), IndividualPrior("20", 0.0, 4.0, 1)], Laplace)
    Laplace(mode={3: 2.0, 19: 0.0}, sign={3: 0.0, 19: 1.0}, relative={3: 0.5, 19: 2.0}, unknown='ignore')
    """
    chosen = effective(priors, class_name)
    mode, relative, sign = {}, {}, {}
    for prior in chosen.values():
        if prior.is_constant:
            continue
        column = int(prior.feature) - 1 if columns is None else columns.get(prior.feature)
        if column is None:
            continue
        mode[column] = prior.mode
        sign[column] = float(prior.skew)
        relative[column] = relative_variance(prior, common_variance) / (2.0 if _halved(prior.skew, family) else 1.0)
    fields: dict[str, Any] = {"mode": mode, "relative": relative, "sign": sign, "unknown": "ignore"}
    constant = chosen.get("0")
    if constant is not None:
        fields["intercept_mode"] = constant.mode
        if constant.absolute or constant.variance in (0.0, np.inf):
            fields["intercept_variance"] = constant.variance
    make: Callable[..., Prior] = family
    return make(**{name: value for name, value in fields.items() if value != {}})


def constant_prior(priors: Iterable[IndividualPrior], class_name: str | None = None) -> IndividualPrior | None:
    """Return the prior of the constant term, if a file has one.

    Parameters
    ----------
    priors : iterable of IndividualPrior
    class_name : str, optional
        Take the line of this class if there is one.

    Returns
    -------
    IndividualPrior or None
    """
    return effective(priors, class_name).get("0")


def from_prior(
    prior: Prior, *, class_name: str | None = None, features: Mapping[int, str] | None = None
) -> tuple[IndividualPrior, ...]:
    """Write a prior as the lines of a prior file.

    Parameters
    ----------
    prior : Prior
        With numbers or mappings, not arrays, for its fields. Where its common variance is open, the variances are
        multiples of it; else they are absolute.
    class_name : str, optional
        The class the lines are for.
    features : mapping from int to str, optional
        The feature of each column; by default column j is feature j + 1.

    Returns
    -------
    tuple of IndividualPrior
        One for each term that the prior names, and one for the constant if the prior says anything about it.

    Examples
    --------
    >>> from bayesift.formats.bbr import from_prior
    >>> from bayesift.priors import Gaussian
    >>> from_prior(Gaussian(mode={3: 2.0}, relative={3: 0.5}))[0].variance
    0.5
    """
    named = dict.fromkeys(key for value in _mappings(prior) for key in value)
    lines = []
    for key in named:
        own = [_of(prior, name, key, default) for name, default in (("mode", 0.0), ("relative", 1.0), ("sign", 0.0))]
        skew: Skew = 0 if own[2] == 0 else 1 if own[2] > 0 else -1
        variance = own[1] * (2.0 if _halved(skew, type(prior)) else 1.0)
        if not prior.is_open:
            variance *= _of(prior, "variance", key, prior.default_variance)
        feature = key if isinstance(key, str) else str(key + 1) if features is None else features[key]
        lines.append(IndividualPrior(feature, own[0], variance, skew, class_name, not prior.is_open))
    if prior.intercept_variance is not None or prior.intercept_mode:
        variance = 1.0 if prior.intercept_variance is None else prior.intercept_variance
        absolute = prior.intercept_variance not in (None, 0.0, np.inf)
        lines.append(IndividualPrior("0", prior.intercept_mode, variance, 0, class_name, absolute))
    return tuple(lines)


def effective(priors: Iterable[IndividualPrior], class_name: str | None) -> dict[str, IndividualPrior]:
    """Return the line that holds for each feature of a class; the constant's key is ``"0"``."""
    found: dict[str, IndividualPrior] = {}
    for wanted in dict.fromkeys((None, class_name)):
        found.update(
            ("0" if prior.is_constant else prior.feature, prior) for prior in priors if prior.class_name == wanted
        )
    return found


def relative_variance(prior: IndividualPrior, common_variance: float | None) -> float:
    """Return the variance as a multiple of the common one."""
    if not prior.absolute or prior.variance in (0.0, np.inf):
        return prior.variance
    if common_variance is None:
        raise ValueError(f"the prior of {prior.feature!r} is absolute; expected a common variance to relate it to")
    return prior.variance / common_variance


def _halved(skew: Skew, family: type[Prior]) -> bool:
    return skew != 0 and issubclass(family, Laplace)


def _mappings(prior: Prior) -> list[Mapping[Any, float]]:
    values = (prior.mode, prior.relative, prior.sign, prior.variance)
    if any(isinstance(value, np.ndarray) for value in values):
        raise ValueError("prior has an array for one of its fields; expected numbers or mappings from terms")
    return [value for value in values if isinstance(value, Mapping)]


def _of(prior: Prior, name: str, key: Any, default: float) -> float:
    value: Any = getattr(prior, name)
    return float(value.get(key, default) if isinstance(value, Mapping) else value)
