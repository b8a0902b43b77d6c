"""From options and prior files to the prior of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesift._typing import BoolArray, FloatArray
from bayesift.formats.bbr import IndividualPrior, constant_prior, to_prior
from bayesift.priors import Gaussian, Laplace, Prior, PriorArrays

#: Times any variance in use, still a number; its rate adds nothing to any slope.
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
        Whether the constant must be a column of the matrix, the last, because its prior is one that only columns have:
        a multiple of the common variance, or one-sided beside individual priors.
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
        On which side all coefficients without an individual prior must lie.
    class_name : str, optional
        The class, for lines that are for one class.
    common_variance : float, optional
        Where it is known: absolute variances need it.
    constant_column : bool
        Whether the constant is to be a column in any case.

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
    """Tell which coefficients, the constant last, are not at the modes of their priors."""
    return np.append(beta, intercept) != _arrays(fitted, 1.0, beta.size).mode


def _arrays(fitted: FitPrior, variance: float, n_features: int) -> PriorArrays:
    """Spread a prior over the features and the constant."""
    common = fitted.prior.scaled(variance) if fitted.prior.is_open else fitted.prior
    if fitted.constant_column:
        return common.resolve(n_features + 1)
    return common.resolve(n_features).extended(common.resolve_intercept("same"))


def barely_penalised(fitted: FitPrior) -> FitPrior:
    """Return Laplace priors of infinite variance one that is so large that only the steps of the solver tell.

    The original stops a coefficient at its mode when a step would cross it, also where the rate is 0.
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
