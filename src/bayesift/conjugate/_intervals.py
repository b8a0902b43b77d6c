"""Intervals that hold a given share of a distribution."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from bayesift._checks import INSIDE_UNIT, number, plain
from bayesift._typing import FloatArray


class Interval(NamedTuple):
    """Both ends of an interval, each a float or an array with one entry for each parameter."""

    low: Any
    high: Any


class Law(Protocol):
    """What intervals need of a distribution on the line, or of a batch of them."""

    def logpdf(self, value: Any, /) -> Any:
        """Return the log density."""

    def quantile(self, q: Any, /) -> Any:
        """Return the point below which a value lies with probability ``q``."""


def checked_level(level: float) -> float:
    """Return the level after checking that it is a share."""
    return number("level", level, INSIDE_UNIT)


def equal_tailed(law: Law, level: float) -> Interval:
    """Leave out the same share on both sides."""
    tail = (1 - level) / 2
    return Interval(plain(law.quantile(tail)), plain(law.quantile(1 - tail)))


def shortest(law: Law, level: float) -> Interval:
    """Return the shortest interval with the given share of a distribution with at most one peak.

    The interval from the p-quantile to the (p+level)-quantile is shortest where the density is the same at both ends,
    or at p = 0 or p = 1 − level where it only falls or only rises. The balance tanh(½(ln f(high) − ln f(low))) falls
    from 1 to −1 in p; its zero is found by the Illinois rule, for all parameters at once.
    """
    slack = 1 - level
    left = np.zeros_like(np.asarray(law.quantile(0.5)))
    right = np.full_like(left, slack)
    at_left, at_right, side = np.ones_like(left), -np.ones_like(left), np.zeros_like(left)
    best = right / 2
    for _ in range(60):
        best = (left * at_right - right * at_left) / (at_right - at_left)
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = law.logpdf(law.quantile(best + level)) - law.logpdf(law.quantile(best))
        balance = np.tanh(np.nan_to_num(difference, nan=0.0) / 2)
        if np.all((np.abs(balance) < 1e-9) | (right - left < 1e-15)):
            break
        rises = balance > 0
        # An end that stays twice in a row counts half: the secant must not creep.
        at_right = np.where(rises, np.where(side > 0, at_right / 2, at_right), balance)
        at_left = np.where(rises, balance, np.where(side < 0, at_left / 2, at_left))
        left, right = np.where(rises, best, left), np.where(rises, right, best)
        side = np.where(rises, 1.0, -1.0)
    # An end that is nearly reached is meant.
    best = np.where(best < 1e-12, 0.0, np.where(slack - best < 1e-12, slack, best))
    return _narrowest(law, level, np.stack([best, np.zeros_like(best), np.full_like(best, slack)]))


def shortest_of_many_peaks(law: Law, level: float, n_starts: int = 257, n_inside: int = 17) -> Interval:
    """Return the shortest interval with the given share of a distribution that may have several peaks.

    The lower tail is searched on a grid, then on ever finer grids around the best point: many tails at a time, since a
    call of a quantile costs more than the numbers in it.
    """
    slack = 1 - level
    shape = np.shape(law.quantile(0.5))
    left, right = np.zeros(shape), np.full(shape, slack)
    starts = []
    for n in (n_starts, *[n_inside] * 9):
        shares = np.linspace(0, 1, n).reshape(-1, *([1] * len(shape)))
        tails = left + shares * (right - left)
        low, high = law.quantile(np.stack([tails, np.minimum(tails + level, 1.0)]))
        best = np.argmin(high - low, axis=0)[np.newaxis]
        starts.append(np.take_along_axis(tails, best, axis=0)[0])
        left, right = (np.take_along_axis(tails, np.clip(best + side, 0, n - 1), axis=0)[0] for side in (-1, 1))
    return _narrowest(law, level, np.stack([starts[-1], starts[0]]))


def _narrowest(law: Law, level: float, tails: FloatArray) -> Interval:
    """Return the narrowest of the intervals that begin above the given tails (first axis)."""
    low, high = law.quantile(tails), law.quantile(np.minimum(tails + level, 1.0))
    with np.errstate(invalid="ignore"):
        widths = high - low
    choice = np.argmin(np.where(np.isnan(widths), np.inf, widths), axis=0)[np.newaxis]
    return Interval(*(plain(np.take_along_axis(ends, choice, axis=0)[0]) for ends in (low, high)))
