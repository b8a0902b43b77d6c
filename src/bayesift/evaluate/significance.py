"""Whether one system is better than another, or luckier: sign tests and the signed-rank test."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from bayesift._typing import FloatArray
from bayesift.evaluate.outcomes import check_same_shape, marks

#: Up to so many differences the sign tests are exact (Yang & Liu 1999).
EXACT_UP_TO = 12

# Values of a measure nearer than this are the same but for rounding.
_SAME = 1e-12


class PairedTest(NamedTuple):
    """Result of a one-sided test of two systems A and B.

    Parameters
    ----------
    wins, losses : int
        How often A was better, and B.
    statistic : float
        Z of the sign tests (NaN where they are exact), the rank sum of the signed-rank test.
    p_value : float
        Probability of a result at least as good for A if the two were equal.
    p_reversed : float
        The same with A and B exchanged.
    """

    wins: int
    losses: int
    statistic: float
    p_value: float
    p_reversed: float

    @property
    def sign(self) -> str:
        """≫, >, ~, < or ≪: better or worse at the levels 0.01 and 0.05, as in Yang & Liu (1999)."""
        return verdict(self.p_value, self.p_reversed)


def verdict(p_value: float, p_reversed: float) -> str:
    """Put two one-sided p-values into a sign."""
    for level, better, worse in ((0.01, "≫", "≪"), (0.05, ">", "<")):
        if p_value <= level:
            return better
        if p_reversed <= level:
            return worse
    return "~"


def s_test(truth: Any, decisions_a: Any, decisions_b: Any) -> PairedTest:
    """Compare two systems by all their yes/no decisions: the micro sign test (s-test).

    Of the n decisions in which they differ, A is right in k. If the systems were equal, k would be binomial with
    probability ½: exactly for n ≤ 12, else by Z = (k − n/2) / (√n/2).

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories)
        Which documents are in the category.
    decisions_a, decisions_b : arrays of the same shape
        Which documents each system accepted.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> from bayesift.evaluate import s_test
    >>> s_test([1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0])
    PairedTest(wins=4, losses=0, statistic=nan, p_value=0.0625, p_reversed=1.0)
    """
    y = marks(truth, "truth")
    a, b = marks(decisions_a, "decisions_a"), marks(decisions_b, "decisions_b")
    check_same_shape(y, "truth", a, "decisions_a")
    check_same_shape(y, "truth", b, "decisions_b")
    differ = a != b
    wins = int(np.count_nonzero(differ & (a == y)))
    return _sign_test(wins, int(np.count_nonzero(differ)) - wins)


def S_test(values_a: Any, values_b: Any) -> PairedTest:  # noqa: N802 - the name that the test has in print
    """Compare two systems by a value for each category, such as F1: the macro sign test (S-test).

    Of the n categories in which they differ, A is better in k; then as :func:`s_test`.

    Parameters
    ----------
    values_a, values_b : arrays of shape (n_categories,)
        Each system's values; greater is better. Categories where one is NaN are left out.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> from bayesift.evaluate import S_test
    >>> S_test([0.9, 0.8, 0.7, 0.7, 0.5], [0.8, 0.6, 0.5, 0.7, 0.6])
    PairedTest(wins=3, losses=1, statistic=nan, p_value=0.3125, p_reversed=0.9375)
    """
    gain = _differences(values_a, values_b)
    return _sign_test(int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0)))


def wilcoxon_test(values_a: Any, values_b: Any) -> PairedTest:
    """Compare two systems by a value for each category with Wilcoxon's signed-rank test.

    Categories in which they do not differ are left out.

    Parameters
    ----------
    values_a, values_b : arrays of shape (n_categories,)
        As for :func:`S_test`.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> from bayesift.evaluate import wilcoxon_test
    >>> wilcoxon_test([0.9, 0.8, 0.7, 0.7, 0.5], [0.8, 0.6, 0.4, 0.7, 0.1])
    PairedTest(wins=4, losses=0, statistic=10.0, p_value=0.0625, p_reversed=1.0)
    """
    gain = _differences(values_a, values_b)
    gain = gain[gain != 0]
    if not gain.size:
        return PairedTest(0, 0, 0.0, 1.0, 1.0)
    better, worse = (stats.wilcoxon(gain, alternative=side) for side in ("greater", "less"))
    wins = int(np.count_nonzero(gain > 0))
    return PairedTest(wins, gain.size - wins, float(better.statistic), float(better.pvalue), float(worse.pvalue))


def _sign_test(wins: int, losses: int) -> PairedTest:
    n = wins + losses
    if n <= EXACT_UP_TO:
        tails = (stats.binom.sf(k - 1, n, 0.5) for k in (wins, losses))
        return PairedTest(wins, losses, np.nan, *(float(tail) for tail in tails))
    z = (wins - n / 2) / (sqrt(n) / 2)
    return PairedTest(wins, losses, z, float(stats.norm.sf(z)), float(stats.norm.cdf(z)))


def _differences(values_a: Any, values_b: Any) -> FloatArray:
    """Return A − B where both are known, with exact zeros where only rounding makes a difference."""
    a, b = np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64)
    if a.ndim != 1 or a.size == 0:
        raise ValueError(f"values_a has shape {a.shape}; expected one value per category")
    check_same_shape(a, "values_a", b, "values_b")
    if np.isinf(a).any() or np.isinf(b).any():
        raise ValueError("values_a or values_b holds an infinite value; expected finite values, or NaN to leave out")
    known = ~(np.isnan(a) | np.isnan(b))
    gain = a[known] - b[known]
    return np.where(np.abs(gain) <= _SAME, 0.0, gain)
