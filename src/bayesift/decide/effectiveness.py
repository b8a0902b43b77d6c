"""Ratios of outcomes, with a say in what 0/0 is."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from bayesift._typing import FloatArray


def ratio(part: Any, whole: Any, empty: float = 1.0) -> FloatArray:
    """Divide, with ``empty`` where the denominator is 0."""
    whole = np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.full(whole.shape, empty), where=whole > 0)


def f_beta_of(tp: Any, fp: Any, fn: Any, beta: float = 1.0, empty: float = 1.0) -> FloatArray:
    """Return F_β = (1+β²)TP / ((1+β²)TP + FP + β²FN), with ``empty`` where the denominator is 0."""
    hits = (1 + beta**2) * np.asarray(tp, dtype=np.float64)
    return ratio(hits, hits + fp + beta**2 * np.asarray(fn), empty)  # (26)


def check_beta(beta: Any) -> None:
    """Refuse a weight of recall against precision that is no positive number."""
    if isinstance(beta, bool) or not isinstance(beta, Real) or not isfinite(beta) or beta <= 0:
        raise ValueError(f"beta is {beta!r}; expected a number greater than 0, the weight of recall against precision")
