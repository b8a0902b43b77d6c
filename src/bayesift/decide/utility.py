"""The value of right and wrong decisions: utilities, and ratios of outcomes such as F_β."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Real
from typing import Any, Self

import numpy as np

from bayesift._typing import FloatArray

#: With more, the square of the weight of recall would overflow before anything is divided.
_LARGEST_BETA = 1e100


@dataclass(frozen=True)
class Utility:
    """Gains for the four outcomes of a yes/no decision.

    U = tp·TP + fp·FP + fn·FN + tn·TN; with ``per_class``, TP and FN are shares of the positives and FP and TN
    shares of the negatives (a class without members adds nothing).

    Parameters
    ----------
    tp, fp, fn, tn : float, default=0
        Gain for each true positive, false positive, false negative and true negative; losses are negative.
    per_class : bool, default=False
        Count shares of each class instead of documents.

    Examples
    --------
    >>> from bayesift.decide import T11U, Utility
    >>> T11U == Utility(tp=2, fp=-1)
    True
    >>> T11U.value(tp=3, fp=1, fn=4, tn=2)
    5.0
    """

    tp: float = 0.0
    fp: float = 0.0
    fn: float = 0.0
    tn: float = 0.0
    per_class: bool = False

    def __post_init__(self) -> None:
        for name in ("tp", "fp", "fn", "tn"):
            gain = getattr(self, name)
            if isinstance(gain, bool) or not isinstance(gain, Real) or not isfinite(gain):
                raise ValueError(f"{name} is {gain!r}; expected a finite number, the gain for each such outcome")

    @classmethod
    def from_gains(cls, gains: Mapping[str, float]) -> Self:
        """Make a utility from a mapping such as ``{"TP": 2, "FP": -1}``; outcomes not named gain 0.

        Parameters
        ----------
        gains : mapping from str to float
            Keys are TP, FP, FN and TN, in upper or lower case, and ``per_class``.

        Returns
        -------
        Utility
        """
        known = [field.name for field in fields(cls)]
        unknown = [name for name in gains if str(name).lower() not in known]
        if unknown:
            raise ValueError(f"gains name {unknown[0]!r}; expected outcomes among {known}")
        arguments: dict[str, Any] = {name.lower(): gain for name, gain in gains.items()}
        return cls(**arguments)

    def value(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return the utility of decisions with these outcomes.

        Parameters
        ----------
        tp, fp, fn, tn : float or array
            Numbers (or summed weights) of the four outcomes.

        Returns
        -------
        float or array
        """
        if not self.per_class:
            return self.tp * tp + self.fp * fp + self.fn * fn + self.tn * tn
        return _share(self.tp * tp + self.fn * fn, tp + fn) + _share(self.fp * fp + self.tn * tn, fp + tn)


def _share(gain: Any, size: Any) -> Any:
    """Divide by the size of a class, with 0 for a class without members."""
    return gain / np.where(np.equal(size, 0), 1.0, size)


T11U = Utility(tp=2.0, fp=-1.0)
"""TREC 2002 filtering utility, 2·TP − FP."""

T13U = Utility(tp=20.0, fp=-1.0)
"""20·TP − FP."""

SUM_OF_ERRORS = Utility(fp=-1.0, fn=-1.0)
"""Minus the number of errors, −FP − FN."""

BALANCED_ERROR = Utility(fp=-0.5, fn=-0.5, per_class=True)
"""Minus the mean of the two classes' error rates, −½(FP/(FP+TN) + FN/(TP+FN))."""


def ratio(part: Any, whole: Any, empty: float = 1.0) -> FloatArray:
    """Divide, giving ``empty`` where the denominator is 0."""
    whole = np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(whole.shape, empty), where=whole > 0)


def f_beta_of(tp: Any, fp: Any, fn: Any, beta: float = 1.0, empty: float = 1.0) -> FloatArray:
    """Return F_β = (1+β²)TP / ((1+β²)TP + FP + β²FN), or ``empty`` where the denominator is 0."""
    # Squares of whole numbers would overflow.
    beta = float(beta)
    hits = (1 + beta**2) * np.asarray(tp, dtype=np.float64)
    return ratio(hits, hits + fp + beta**2 * np.asarray(fn), empty)  # (26)


def check_beta(beta: Any) -> None:
    """Refuse a weight of recall against precision that is not a positive number, or whose square overflows."""
    is_number = isinstance(beta, Real) and not isinstance(beta, bool)
    if not is_number or not 0 < beta <= _LARGEST_BETA:
        raise ValueError(
            f"beta is {beta!r}; expected a number greater than 0 and at most {_LARGEST_BETA:g}, the weight of recall "
            f"against precision"
        )
