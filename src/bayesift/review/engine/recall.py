r"""How many relevant documents a pile can hold, given what was drawn from it at random.

A pile holds N relevant documents, N unknown. When u documents are without a judgement and f relevant ones have been
found, a document drawn at random from the u is relevant with the probability p = (N − f)/u, however the others were
chosen. Whoever doubts N bets against it: that the share of relevant documents is only λp, λ ≤ 1 chosen before the draw.
The bettor's wealth is multiplied by λ if the document is relevant and by (1 − λp)/(1 − p) if not. If N is the truth the
wealth is a martingale that starts at 1, so the probability that it *ever* reaches 1/α is at most α (Ville). All N whose
wealth has reached 1/α are ruled out: a bound that holds at all times at once, whatever made one look.

Two bettors share the stake (Waudby-Smith & Ramdas 2020 for sampling without replacement by betting). The first bets on
the share of relevant documents among the earlier draws. The second waits until the last :data:`QUIET` judgements held
no relevant document, and bets from then on that a tenth of what N says is left. As long as none is drawn the latter
gains nearly as fast as the exact hypergeometric test, which is the bet λ = 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

from bayesift._typing import BoolArray, FloatArray, Int64Array

#: The second bettor waits for so many judgements without a relevant one.
QUIET = 30

#: The share of what N says is left on which the second bettor bets.
LEFT_SHARE = 0.1

#: Up to so many numbers N all are tried, beyond a net of fewer that is drawn tighter.
_ALL, _NET = 4096, 200


class Bound(NamedTuple):
    """At most ``total`` relevant documents in the pile, so ``left`` not found yet and at least this ``recall``."""

    total: int
    left: int
    recall: float


class Draws(NamedTuple):
    """The random draws in order: relevant ones found and documents unjudged before each, outcome, whether quiet.

    ``silence`` counts the judgements since the last relevant one, and ``calm`` tells whether it has been quiet by now.
    """

    found: Int64Array
    unjudged: Int64Array
    relevant: BoolArray
    quiet: BoolArray
    silence: int
    calm: bool


def draws_of(judgements: Iterable[tuple[bool, bool]], n: int, after: int = QUIET) -> Draws:
    """Collect the random draws from judgements (relevant, drawn at random) of a pile of n in their order.

    It is quiet from the first time on that ``after`` judgements in a row held no relevant document.
    """
    rows = []
    found = silence = 0
    quiet = False
    for place, (relevant, random) in enumerate(judgements):
        quiet = quiet or (found > 0 and silence >= after)
        if random:
            rows.append((found, n - place, relevant, quiet))
        found += relevant
        silence = 0 if relevant else silence + 1
    table = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return Draws(table[0], table[1], table[2] > 0, table[3] > 0, silence if found else -n, quiet)


def log_wealth(draws: Draws, totals: Int64Array) -> FloatArray:
    """Give the logarithm of the wealth of those who bet against each total N.

    Totals are at least the number of relevant documents found, and leave room for the irrelevant ones.
    """
    sums = [[gains.sum() for gains in _log_gains(draws, int(total))] for total in totals]
    return _shared(np.array(sums).reshape(-1, 2).T)


def _shared(wealth: FloatArray) -> FloatArray:
    """Give the logarithm of the mean wealth of the two bettors, from those of each."""
    return np.asarray(np.logaddexp(wealth[0], wealth[1]) - np.log(2))


def _log_gains(draws: Draws, total: int) -> tuple[FloatArray, FloatArray]:
    """Give what each draw adds to the logarithm of the wealth of each bettor: ln(q/p) or ln((1 − q)/(1 − p))."""
    p = (total - draws.found) / draws.unjudged
    odds = np.where(draws.relevant, p, 1 - p)

    def gains(q: FloatArray) -> FloatArray:
        bet = np.where(draws.relevant, q, 1 - q)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bet == odds, 0.0, np.log(bet) - np.log(odds))  # 0/0 is 1

    return gains(np.minimum(_forecasts(draws.relevant), p)), gains(np.where(draws.quiet, LEFT_SHARE * p, p))


def _forecasts(relevant: BoolArray) -> FloatArray:
    """Give the share of relevant documents expected before each draw: (r + ½)/(s + 1) after r of s."""
    before = np.cumsum(relevant, dtype=np.float64) - relevant
    return np.asarray((before + 0.5) / np.arange(1, len(relevant) + 1))


def bound_by_bets(draws: Draws, found: int, unjudged: int, confidence: float = 0.95) -> Bound:
    """Bound the number of relevant documents at all times at once.

    Parameters
    ----------
    draws : Draws
        All random draws so far.
    found : int
        Relevant documents found, by whatever way.
    unjudged : int
        Documents without a judgement.
    confidence : float, default=0.95
        With this probability the bound holds at every moment of a review.

    Returns
    -------
    Bound
    """
    limit = -np.log1p(-confidence)
    low, high = found, found + unjudged
    # Invariant: every total tried above `high` is ruled out. The net is drawn tighter around the last one that is not.
    while True:
        n_tried = high - low + 1 if high - low < _ALL else _NET
        totals = np.unique(np.linspace(low, high, n_tried).astype(np.int64))
        kept = np.flatnonzero(log_wealth(draws, totals) < limit)
        last = int(kept[-1]) if len(kept) else 0
        if last + 1 == len(totals) or totals[last + 1] == totals[last] + 1 or not len(kept):
            return bound(int(totals[last]), found)
        low, high = int(totals[last]), int(totals[last + 1]) - 1


def bound_by_sample(n: int, size: int, relevant: int, found: int, confidence: float = 0.95) -> Bound:
    """Bound the number of relevant documents by a simple random sample: exact, for one look.

    The greatest N for which so few relevant documents in the sample would still have a probability above
    1 − confidence under the hypergeometric distribution.

    Parameters
    ----------
    n : int
        Documents of the pile.
    size, relevant : int
        Documents of the sample, and relevant ones among them.
    found : int
        Relevant documents found, in the sample or not; the bound is never less.
    confidence : float, default=0.95
        With this probability the bound holds, for a sample whose size was fixed before.

    Returns
    -------
    Bound

    Examples
    --------
    >>> from bayesift.review.engine import bound_by_sample
    >>> bound_by_sample(1000, 500, 20, found=38)
    Bound(total=52, left=14, recall=0.7307692307692307)
    """
    low, high = relevant, n - (size - relevant)
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(relevant, n, middle, size) > 1 - confidence:
            low = middle
        else:
            high = middle - 1
    return bound(max(low, found), found)


def bound(total: int, found: int) -> Bound:
    """Say what a greatest total means for the documents left and the recall."""
    return Bound(total, total - found, found / total if total else 1.0)


def quiet_draws_needed(draws: Draws, found: int, unjudged: int, total: int, confidence: float) -> int | None:
    """Give how many more random draws without a relevant one would rule out ``total``; None if no number does."""
    left = total - found
    if left > unjudged:
        return 0
    more = np.arange(unjudged - left)
    quiet = draws.calm | (draws.silence + more >= QUIET)
    future = Draws(
        np.append(draws.found, np.full(len(more), found)),
        np.append(draws.unjudged, unjudged - more),
        np.append(draws.relevant, np.zeros(len(more), dtype=bool)),
        np.append(draws.quiet, quiet),
        0,
        True,
    )
    wealth = _shared(np.cumsum(_log_gains(future, total), axis=1))[len(draws.found) :]
    enough = np.flatnonzero(wealth >= -np.log1p(-confidence))
    return int(enough[0]) + 1 if len(enough) else None
