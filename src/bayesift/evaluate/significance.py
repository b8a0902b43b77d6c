"""Whether one system is better than another or just luckier: sign tests, the signed-rank test, the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state

from bayesift._checks import INSIDE_UNIT, number, whole_number
from bayesift._typing import BoolArray, FloatArray
from bayesift.evaluate.effectiveness import f_beta
from bayesift.evaluate.outcomes import Average, Outcomes, as_booleans, check_average, check_same_shape

#: Up to so many differences the sign tests are exact (Yang & Liu 1999).
EXACT_UP_TO = 12

# Values of a measure nearer than this are equal up to rounding.
_SAME = 1e-12

# Draws are made in batches of about so many numbers, to bound memory.
_BATCH = 4_000_000


def _sign(test: PairedTest | BootstrapDifference) -> str:
    """Put two one-sided p-values into a sign, as in Yang & Liu (1999)."""
    for level, better, worse in ((0.01, "≫", "≪"), (0.05, ">", "<")):
        if test.p_value <= level:
            return better
        if test.p_reversed <= level:
            return worse
    return "~"


class PairedTest(NamedTuple):
    """Result of a one-sided test of two systems A and B.

    Parameters
    ----------
    wins, losses : int
        How often A was better, and how often B was.
    statistic : float
        Z of the sign tests (NaN if they are exact), or the rank sum of the signed-rank test.
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
        """≫, >, ~, < or ≪: better or worse at the levels 0.01 and 0.05."""
        return _sign(self)


def micro_sign_test(truth: Any, decisions_a: Any, decisions_b: Any) -> PairedTest:
    """Compare two systems by all their yes/no decisions: the s-test of Yang & Liu (1999).

    Of the n decisions in which they differ, A is right in k. If the systems were equal, k would be binomial with
    probability ½; the test is exact for n ≤ 12 and uses Z = (k − n/2) / (√n/2) beyond.

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories)
        Which documents are in the category.
    decisions_a, decisions_b : arrays of the same shape
        Which documents each system accepted.

    Examples
    --------
    >>> from bayesift.evaluate import micro_sign_test
    >>> micro_sign_test([1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0])
    PairedTest(wins=4, losses=0, statistic=nan, p_value=0.0625, p_reversed=1.0)
    """
    y = as_booleans(truth, "truth")
    a, b = as_booleans(decisions_a, "decisions_a"), as_booleans(decisions_b, "decisions_b")
    check_same_shape(y, "truth", a, "decisions_a")
    check_same_shape(y, "truth", b, "decisions_b")
    differ = a != b
    wins = int(np.count_nonzero(differ & (a == y)))
    return _sign_test(wins, int(np.count_nonzero(differ)) - wins)


def macro_sign_test(values_a: Any, values_b: Any) -> PairedTest:
    """Compare two systems by a value for each category: the S-test of Yang & Liu (1999).

    Of the n categories in which they differ, A is better in k; the test continues as :func:`micro_sign_test`.

    Parameters
    ----------
    values_a, values_b : arrays of shape (n_categories,)
        Each system's values, such as F1; greater is better. Categories in which one of them is NaN are left out.

    Examples
    --------
    >>> from bayesift.evaluate import macro_sign_test
    >>> macro_sign_test([0.9, 0.8, 0.7, 0.7, 0.5], [0.8, 0.6, 0.5, 0.7, 0.6])
    PairedTest(wins=3, losses=1, statistic=nan, p_value=0.3125, p_reversed=0.9375)
    """
    gain = _differences(values_a, values_b)
    return _sign_test(int(np.count_nonzero(gain > 0)), int(np.count_nonzero(gain < 0)))


def wilcoxon_test(values_a: Any, values_b: Any) -> PairedTest:
    """Compare two systems by a value for each category: Wilcoxon's signed-rank test.

    Categories in which they do not differ are left out. Parameters and result are those of :func:`macro_sign_test`.

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


class BootstrapDifference(NamedTuple):
    """The difference of two systems, A − B, with bounds.

    Parameters
    ----------
    difference : float
        The difference on the documents as they are.
    low, high : float
        Bounds of the percentile interval.
    p_value, p_reversed : float
        Share of draws in which A is not better, and in which B is not better.
    """

    difference: float
    low: float
    high: float
    p_value: float
    p_reversed: float

    @property
    def sign(self) -> str:
        """≫, >, ~, < or ≪: better or worse at the levels 0.01 and 0.05."""
        return _sign(self)


def paired_bootstrap(
    truth: Any,
    decisions_a: Any,
    decisions_b: Any,
    *,
    measure: Callable[..., Any] = f_beta,
    average: Average = "micro",
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: Any = None,
) -> BootstrapDifference:
    """Compare a measure of two systems on documents drawn with replacement, the same for both.

    Draws in which the measure is undefined are left out.

    Parameters
    ----------
    truth, decisions_a, decisions_b
        As for :func:`micro_sign_test`.
    measure : callable, default=f_beta
        A measure of this package that takes :class:`Outcomes`, such as ``recall`` or ``t11su``; greater is better.
    average : {"micro", "macro"}, default="micro"
        How the measure is averaged over categories.
    n_resamples : int, default=1000
        Number of draws.
    level : float, default=0.95
        Confidence level of the interval.
    random_state : int, RandomState or None
        Source of the draws.

    Returns
    -------
    BootstrapDifference
        The difference, its interval, and p-values as shares of the draws.

    Examples
    --------
    >>> from bayesift.evaluate import paired_bootstrap
    >>> truth = [1, 0] * 40
    >>> found = paired_bootstrap(truth, truth, [1, 0, 0, 0] * 20, random_state=0)
    >>> round(found.difference, 3), found.low < found.difference < found.high, found.sign
    (0.333, True, '≫')
    """
    check_average(average)
    y = as_booleans(truth, "truth")
    if y.ndim == 2 and average is None:
        raise ValueError("average is None; expected 'micro' or 'macro' for several categories")
    accepted = [as_booleans(decisions_a, "decisions_a"), as_booleans(decisions_b, "decisions_b")]
    for decisions, name in zip(accepted, ("decisions_a", "decisions_b"), strict=True):
        check_same_shape(y, "truth", decisions, name)
    n_resamples, level = whole_number("n_resamples", n_resamples, 1), number("level", level, INSIDE_UNIT)
    table, sizes = _table(y, accepted)
    difference = float(_difference(sizes[None, :], table, measure, average)[0])
    draws = [_difference(weights, table, measure, average) for weights in _weights(sizes, n_resamples, random_state)]
    gains = np.concatenate(draws)
    gains = gains[~np.isnan(gains)]
    low, high = np.quantile(gains, [(1 - level) / 2, (1 + level) / 2]) if gains.size else (np.nan, np.nan)
    p_value, p_reversed = ((1 + np.count_nonzero(side <= 0)) / (1 + gains.size) for side in (gains, -gains))
    return BootstrapDifference(difference, float(low), float(high), float(p_value), float(p_reversed))


def _table(y: BoolArray, accepted: list[BoolArray]) -> tuple[FloatArray, FloatArray]:
    """Return what each kind of document adds to the positives and to each system's acceptances and hits.

    Documents with the same truth and the same decisions are of one kind; also returned is how many of it there are.
    """
    marked = np.stack([part.reshape(len(y), -1) for part in (y, *accepted)], axis=1)
    packed = np.packbits(marked.reshape(len(y), -1), axis=1)
    _, first, number = np.unique(packed, axis=0, return_index=True, return_counts=True)
    # In the order of the documents, so that the draws are the same when A and B change places.
    order = np.argsort(first)
    truth, a, b = np.moveaxis(marked[first[order]], 1, 0)
    table = np.stack([truth, a, a & truth, b, b & truth], axis=1).astype(np.float64)
    return table, number[order].astype(np.float64)


def _weights(number: FloatArray, n_resamples: int, random_state: Any) -> Iterator[FloatArray]:
    """Yield how often each kind of document is drawn, in batches of draws."""
    rng = check_random_state(random_state)
    n = int(number.sum())
    batch = max(1, _BATCH // len(number))
    for start in range(0, n_resamples, batch):
        yield rng.multinomial(n, number / n, size=min(batch, n_resamples - start)).astype(np.float64)


def _difference(weights: FloatArray, table: FloatArray, measure: Callable[..., Any], average: Average) -> FloatArray:
    n = weights[0].sum()
    sums = (weights @ table.reshape(len(table), -1)).reshape(len(weights), *table.shape[1:])
    positive = sums[:, 0]
    values = []
    for system in (0, 1):
        taken, hits = sums[:, 1 + 2 * system], sums[:, 2 + 2 * system]
        outcomes = Outcomes(hits, taken - hits, positive - hits, n - positive - taken + hits)
        values.append(np.asarray(measure(outcomes, average=average or "micro")))
    return values[0] - values[1]
