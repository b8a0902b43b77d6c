r"""How many relevant documents a collection can hold, given what was drawn from it at random.

A collection holds N relevant documents, N unknown. When u documents are without a judgement and f relevant ones are
found, a document drawn at random from the u is relevant with probability p = (N − f)/u, however the others were chosen.
To test N, bet against it: that the share of relevant documents is only λp, with λ ≤ 1 chosen before the draw. The
wealth is multiplied by λ if the document is relevant and by (1 − λp)/(1 − p) if not. If N is true, the wealth is a
martingale that starts at 1, so the probability that it *ever* reaches 1/α is at most α (Ville). Every N whose wealth
has reached 1/α is ruled out: a bound that holds at all times at once, whatever the reason for looking.

The stake is divided (betting against sampling without replacement: Waudby-Smith & Ramdas 2020). A sixteenth is always
bet on λ = ½. The rest waits for a quiet time: when :data:`QUIET` judgements in a row included no relevant document,
three quarters of it are bet from then on, on a tenth of what N says is left. If a relevant document is drawn
nevertheless, three quarters of what is still waiting are bet after the next quiet time, which must be twice as long,
and so on. As long as none is drawn, such a bet gains nearly as fast as the exact hypergeometric test, which is the bet
λ = 0. The wealth never falls with N.

The best draws for this purpose give every unread document the same chance. When d of u documents are read and none is
relevant, the R relevant ones may be anywhere. Averaged over their places, the probability of that is C(u−d, R)/C(u, R),
however the d were chosen, so for some places it is at least as large; with a uniform draw all places have this value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

from bayesift._typing import BoolArray, FloatArray, Int64Array

#: This many judgements in a row without a relevant one make a quiet time, the first time.
QUIET = 30

#: The shares λ of the steady bet and of those that wait for a quiet time.
STEADY, BOLD = 0.5, 0.1

#: The steady bet's share of the stake, and how much of what is waiting is bet after a quiet time.
STEADY_STAKE, OPENING_STAKE = 0.0625, 0.75


class Bound(NamedTuple):
    """At most ``total`` relevant documents in all, so at most ``left`` not found yet and at least this ``recall``."""

    total: int
    left: int
    recall: float


class Draws(NamedTuple):
    """The random draws in order, and the bets on them.

    ``found`` relevant documents and ``unjudged`` ones before each draw, whether it was ``relevant``, and from which
    draw on each of the bold bets counts (``openings``). At the end: the ``silence`` since the last relevant document,
    how long it must be for the next bet (``patience``), and whether the last bet is still ``undisturbed``.
    """

    found: Int64Array
    unjudged: Int64Array
    relevant: BoolArray
    openings: tuple[int, ...]
    silence: int
    patience: int
    undisturbed: bool


def draws_of(judgements: Iterable[tuple[bool, bool]], n: int, patience: int = QUIET) -> Draws:
    """Collect the random draws from judgements (relevant, drawn at random) of n documents in their order."""
    rows: list[tuple[int, int, bool]] = []
    openings: list[int] = []
    found = silence = 0
    undisturbed = False
    for place, (relevant, random) in enumerate(judgements):
        if not undisturbed and found and silence >= patience:
            openings.append(len(rows))
            patience, undisturbed = 2 * patience, True
        if random:
            rows.append((found, n - place, relevant))
            undisturbed = undisturbed and not relevant
        found += relevant
        silence = 0 if relevant else silence + 1
    table = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Draws(table[0], table[1], table[2] > 0, tuple(openings), silence if found else -n, patience, undisturbed)


def log_wealth(draws: Draws, total: int) -> float:
    """Return the logarithm of the wealth of those who bet against the total N.

    N is at least the number of relevant documents found, and leaves room for the irrelevant ones.
    """
    return float(_log_wealth_after(draws, total)[-1])


def _log_wealth_after(draws: Draws, total: int) -> FloatArray:
    """Return the logarithm of the wealth before the first draw and after each."""
    p = (total - draws.found) / draws.unjudged
    waiting = 1.0 - STEADY_STAKE
    wealth = np.log(STEADY_STAKE) + _growth(p, draws.relevant, STEADY, 0)
    for opening in draws.openings:
        stake = np.log(OPENING_STAKE * waiting)
        waiting *= 1.0 - OPENING_STAKE
        wealth = np.logaddexp(wealth, stake + _growth(p, draws.relevant, BOLD, opening))
    return np.asarray(np.logaddexp(wealth, np.log(waiting)))


def _growth(p: FloatArray, relevant: BoolArray, share: float, opening: int) -> FloatArray:
    """Sum ln λ over the relevant draws and ln((1 − λp)/(1 − p)) over the others, from one draw on; 0 before."""
    with np.errstate(divide="ignore"):
        gains = np.where(relevant, np.log(share), np.log1p(-share * p) - np.log1p(-p))
    gains[:opening] = 0.0
    return np.append(0.0, np.cumsum(gains))


def bound_by_bets(draws: Draws, found: int, unjudged: int, confidence: float = 0.95) -> Bound:
    """Bound the number of relevant documents at all times at once.

    Parameters
    ----------
    draws : Draws
        All random draws so far.
    found : int
        Relevant documents found in any way.
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
    while low < high:
        middle = (low + high + 1) // 2
        if log_wealth(draws, middle) < limit:
            low = middle
        else:
            high = middle - 1
    return bound(low, found)


def bound_by_sample(n: int, size: int, relevant: int, found: int, confidence: float = 0.95) -> Bound:
    """Return a :class:`Bound` on the relevant documents from a simple random sample: exact, for a single look.

    The largest N for which so few relevant documents in the sample would still have a probability above
    1 − confidence under the hypergeometric distribution.

    Parameters
    ----------
    n : int
        Documents in the collection.
    size, relevant : int
        Documents in the sample, and relevant ones among them.
    found : int
        Relevant documents found, in the sample or not; the bound is never less.
    confidence : float, default=0.95
        With this probability the bound holds, for a sample whose size was fixed beforehand.

    Examples
    --------
    >>> from bayesift.review.engine import bound_by_sample
    >>> bound_by_sample(1000, 500, 20, found=38)
    Bound(total=52, left=14, recall=0.7307692307692307)
    """
    low, high = relevant, n
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(relevant, n, middle, size) > 1 - confidence:
            low = middle
        else:
            high = middle - 1
    return bound(max(low, found), found)


def bound(total: int, found: int) -> Bound:
    """Return the bound for a largest possible total: the documents left and the recall."""
    return Bound(total, total - found, found / total if total else 1.0)


def quiet_draws_needed(draws: Draws, found: int, unjudged: int, total: int, confidence: float) -> int | None:
    """Return how many more random draws without a relevant one would rule out ``total``; None if no number does."""
    left = total - found
    if left > unjudged:
        return 0
    more = np.arange(unjudged - left)
    wait = 0 if draws.undisturbed else max(0, draws.patience - draws.silence)
    # A bet that opens after the last draw keeps what it has.
    opens = () if draws.undisturbed else (len(draws.found) + wait,)
    future = draws._replace(
        found=np.append(draws.found, np.full(len(more), found)),
        unjudged=np.append(draws.unjudged, unjudged - more),
        relevant=np.append(draws.relevant, np.zeros(len(more), dtype=bool)),
        openings=draws.openings + opens,
    )
    wealth = _log_wealth_after(future, total)[len(draws.found) :]
    enough = np.flatnonzero(wealth >= -np.log1p(-confidence))
    return int(enough[0]) if len(enough) else None
