"""From the lines of prior files and the options of a command to the prior of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesift._typing import BoolArray, FloatArray
from bayesift.bbr.prior_files import IndividualPrior, Skew
from bayesift.priors import Gaussian, Laplace, Prior, PriorArrays


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
    >>> from bayesift.bbr import IndividualPrior, to_prior
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
        Use the line of this class if there is one.

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
        A prior with numbers or mappings, not arrays, as its fields. If its common variance is open, the variances are
        multiples of it; otherwise they are absolute.
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
    >>> from bayesift.bbr import from_prior
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
        own_variance = prior.intercept_variance
        variance = 1.0 if own_variance is None or own_variance == "same" else own_variance
        absolute = own_variance not in (None, "same", 0.0, np.inf)
        lines.append(IndividualPrior("0", prior.intercept_mode, variance, 0, class_name, absolute))
    return tuple(lines)


def effective(priors: Iterable[IndividualPrior], class_name: str | None) -> dict[str, IndividualPrior]:
    """Return the line that applies to each feature of a class; the key of the constant is ``"0"``."""
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


#: Finite even when multiplied by any variance in use; its rate adds nothing to any slope.
_LARGE = 1e250

FAMILIES: dict[int, type[Prior]] = {1: Laplace, 2: Gaussian}


@dataclass(frozen=True)
class FitPrior:
    """The prior of a fit whose variance is still open.

    Parameters
    ----------
    prior : Prior
    intercept_variance : float or "same"
        The estimator's setting.
    constant_column : bool
        Whether the constant must be the last column of the matrix, because only columns can have its prior: a multiple
        of the common variance, or one-sided with individual priors.
    """

    prior: Prior
    intercept_variance: Any
    constant_column: bool = False


def fit_prior(
    priors: tuple[IndividualPrior, ...],
    family: type[Prior],
    columns: Mapping[str, int],
    *,
    sign: int = 0,
    class_name: str | None = None,
    common_variance: float | None = None,
    constant_column: bool = False,
) -> FitPrior:
    """Make the prior that ``-p``, ``--pos``, ``--neg`` and ``-I`` ask for.

    Parameters
    ----------
    priors : tuple of IndividualPrior
        The lines of a prior file, or none.
    family : {Laplace, Gaussian}
    columns : mapping from str to int
        The column of each feature.
    sign : {-1, 0, 1}
        The sign of all coefficients without an individual prior.
    class_name : str, optional
        The class, for lines that are for one class.
    common_variance : float, optional
        The common variance, if known; absolute variances need it.
    constant_column : bool
        Whether to make the constant a column in any case.

    Returns
    -------
    FitPrior
    """
    if not (priors or constant_column):
        return FitPrior(family(sign=float(sign)), "same")
    prior = to_prior(priors, family, class_name=class_name, columns=columns, common_variance=common_variance)
    constant = constant_prior(priors, class_name)
    scaled = constant is not None and prior.intercept_variance is None
    skewed = constant is not None and constant.skew != 0
    if not (scaled or skewed or sign or constant_column):
        return FitPrior(prior, "same")
    last = len(columns)
    mode, relative, signs = (_own(prior, name) for name in ("mode", "relative", "sign"))
    if sign:
        signs = {**dict.fromkeys(range(last + 1), float(sign)), **signs}
    if constant is not None:
        as_feature = replace(constant, feature="constant", class_name=None)
        single = to_prior([as_feature], family, columns={"constant": last}, common_variance=common_variance)
        for own, name in ((mode, "mode"), (relative, "relative"), (signs, "sign")):
            own[last] = _own(single, name)[last]
    return FitPrior(family(mode=mode, relative=relative, sign=signs), 0.0, constant_column=True)


def log_prior(fitted: FitPrior, variance: float, beta: FloatArray, intercept: float) -> float:
    """Return the log prior density that is printed.

    Coefficients without a proper prior (variance 0 or infinite) add nothing to it.
    """
    return _arrays(fitted, variance, beta.size).log_density(np.append(beta, intercept))


def moved_from_modes(fitted: FitPrior, beta: FloatArray, intercept: float) -> BoolArray:
    """Return which coefficients, the constant last, are not at the modes of their priors."""
    return np.append(beta, intercept) != _arrays(fitted, 1.0, beta.size).mode


def _arrays(fitted: FitPrior, variance: float, n_features: int) -> PriorArrays:
    """Spread a prior over the features and the constant."""
    common = fitted.prior.scaled(variance) if fitted.prior.is_open else fitted.prior
    if fitted.constant_column:
        return common.resolve(n_features + 1)
    return common.resolve(n_features).extended(common.resolve_intercept("same"))


def barely_penalised(fitted: FitPrior) -> FitPrior:
    """Return a Laplace prior with very large variances instead of infinite ones; only the solver's steps differ.

    The original stops a coefficient at its mode when a step would cross it, even if the rate is 0.
    """
    prior = fitted.prior
    if not isinstance(prior, Laplace):
        return fitted
    relative = {key: min(value, _LARGE) for key, value in _own(prior, "relative").items()}
    intercept = None if prior.intercept_variance is None else min(prior.intercept_variance, _LARGE)
    return replace(fitted, prior=replace(prior, relative=relative or 1.0, intercept_variance=intercept))


def _own(prior: Prior, name: str) -> dict[Any, float]:
    value: Any = getattr(prior, name)
    return dict(value) if isinstance(value, Mapping) else {}
