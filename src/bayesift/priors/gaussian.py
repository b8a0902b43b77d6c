"""Gaussian priors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bayesift._typing import FloatArray
from bayesift.priors.arrays import GAUSSIAN
from bayesift.priors.base import Prior


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Prior):
    """Gaussian priors: the penalty of ridge regression.

    p(δ) = δ²/2v, δ = β − mode. One-sided (``sign=±1``): the same on sign·δ ≥ 0, infinite elsewhere; v is then the
    mean square of δ.

    Parameters
    ----------
    variance : float, array of shape (n_features,), mapping from term to float, or None
        Infinity leaves a coefficient without penalty, 0 fixes it at its mode. None leaves the common variance open for
        a model to choose.
    mode : float, array or mapping, default=0
        Where the density is greatest; 0 for terms a mapping does not name.
    sign : {-1, 0, +1}, array or mapping, default=0
        On which side of its mode the coefficient must lie; 0 is both.
    relative : float, array or mapping, default=1
        Multiplies the variance; 1 for terms a mapping does not name. 0 and infinity hold whatever the variance.
    default_variance : float, default=1
        Variance of terms that a mapping given as ``variance`` does not name.
    unknown : {"error", "ignore"}, default="error"
        What to do with a named term that is no feature of the matrix.
    intercept_mode : float, default=0
        Mode of the constant term.
    intercept_variance : float, optional
        Variance of the constant term. Without it the model's own setting holds.

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
