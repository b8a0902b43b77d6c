"""How far apart two systems are on documents drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from bayesift._typing import BoolArray, FloatArray
from bayesift.evaluate.effectiveness import f_beta
from bayesift.evaluate.outcomes import Average, Outcomes, check_average, check_same_shape, marks
from bayesift.evaluate.significance import verdict

# Draws are made in batches of about so many numbers, to bound memory.
_BATCH = 4_000_000


class BootstrapDifference(NamedTuple):
    """A difference of two systems, A − B, between bounds.

    Parameters
    ----------
    difference : float
        On the documents as they are.
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
        return verdict(self.p_value, self.p_reversed)


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
    """Draw documents with replacement, the same for both systems, and compare a measure of their decisions.

    Draws in which the measure is undefined are left out.

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories)
        Which documents are in the category.
    decisions_a, decisions_b : arrays of the same shape
        Which documents each system accepted.
    measure : callable, default=f_beta
        A measure of this room that takes :class:`Outcomes`, such as ``recall`` or ``t11su``; greater is better.
    average : {"micro", "macro"}, default="micro"
        How it is averaged over categories.
    n_resamples : int, default=1000
        Number of draws.
    level : float, default=0.95
        Of the interval.
    random_state : int, RandomState or None
        Source of the draws.

    Returns
    -------
    BootstrapDifference

    Examples
    --------
    >>> from bayesift.evaluate import paired_bootstrap
    >>> truth = [1, 0] * 40
    >>> found = paired_bootstrap(truth, truth, [1, 0, 0, 0] * 20, random_state=0)
    >>> round(found.difference, 3), found.low < found.difference < found.high, found.sign
    (0.333, True, '≫')
    """
    check_average(average)
    y = marks(truth, "truth")
    if y.ndim == 2 and average is None:
        raise ValueError("average is None; expected 'micro' or 'macro' for several categories")
    accepted = [marks(decisions_a, "decisions_a"), marks(decisions_b, "decisions_b")]
    for decisions, name in zip(accepted, ("decisions_a", "decisions_b"), strict=True):
        check_same_shape(y, "truth", decisions, name)
    if n_resamples < 1 or not 0 < level < 1:
        raise ValueError(f"n_resamples is {n_resamples!r} and level {level!r}; expected at least 1, and from 0 to 1")
    table, number = _table(y, accepted)
    difference = float(_difference(number[None, :], table, measure, average)[0])
    draws = [_difference(weights, table, measure, average) for weights in _weights(number, n_resamples, random_state)]
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
