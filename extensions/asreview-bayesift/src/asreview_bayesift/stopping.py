"""Stopping rules of Bayesift's review page for ASReview, as far as its results tell what they need."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from bayesift.review.engine.recall import draws_of, log_wealth
from bayesift.review.engine.statements import SIGNIFICANCE, Aim, Cards, chance_of_denser_draws

#: What ASReview calls its querier that draws at random, and the one that takes records as they stand in the file.
_RANDOM, _IN_ORDER = "random", "top_down"


class Stopper(BaseEstimator):
    """Stop when more relevant records left than the aim allows are ruled out.

    Parameters
    ----------
    recall : float
        The share of the relevant records that is to be found.
    confidence : float
        How sure that has to be.
    at_most : int
        Stop also when at most so many are left.
    """

    def __init__(self, recall: float = 0.95, confidence: float = 0.95, at_most: int = 0) -> None:
        self.recall = recall
        self.confidence = confidence
        self.at_most = at_most

    def stop(self, results: Any, data: Any) -> bool:
        """Tell whether one may stop.

        Parameters
        ----------
        results : DataFrame
            The labels so far, in their order, with the querier that chose each; none for prior knowledge.
        data : sequence
            All records; only their number is looked at.
        """
        aim = Aim(self.recall, self.confidence, self.at_most).checked()
        return len(results) >= len(data) or self._reached(results, len(data), aim)

    def _reached(self, results: Any, n: int, aim: Aim) -> bool:
        """Tell whether the aim is reached, of n records, some of them without a label."""
        raise NotImplementedError


class _Bets(Stopper):
    """Count some records as random draws, and bet against every number left: it holds however often one looks."""

    def _reached(self, results: Any, n: int, aim: Aim) -> bool:
        cards = _cards(results)
        allowed = aim.allowed(cards.found)
        if not cards.found or not self._draws(cards).any() or not self._holds(cards):
            return False
        if allowed >= n - len(results):
            return True
        draws = draws_of(zip(cards.relevant.tolist(), self._draws(cards).tolist(), strict=True), n)
        # The wealth never falls with the number left: with the least that is too many, all others are ruled out.
        return bool(log_wealth(draws, cards.found + allowed + 1) >= -np.log1p(-aim.confidence))

    def _draws(self, cards: Cards) -> np.ndarray:
        raise NotImplementedError

    def _holds(self, _cards: Cards) -> bool:
        return True


class Queue(_Bets):
    """Statement B: assumes that what the querier chose was at least as probably relevant as a record drawn at random.

    Every queried record counts as a draw. Where some were drawn at random and held significantly more relevant ones
    than the others of the last quarter, the rule does not stop.
    """

    name = "bayesift_queue"
    label = "Bayesift: the queue is no worse than chance"

    def _draws(self, cards: Cards) -> np.ndarray:
        return cards.queued

    def _holds(self, cards: Cards) -> bool:
        return chance_of_denser_draws(cards.recent()) >= SIGNIFICANCE


class Random(_Bets):
    """Statement A: assumes nothing, and counts only records that ASReview's querier ``random`` chose."""

    name = "bayesift_random"
    label = "Bayesift: random draws only"

    def _draws(self, cards: Cards) -> np.ndarray:
        return cards.random


def _cards(results: Any) -> Cards:
    """Read the results of ASReview; it does not keep how probable a record was when it was shown."""
    querier = results["querier"]
    relevant = results["label"].to_numpy().astype(float) == 1
    queued = (querier.notna() & (querier != _IN_ORDER)).to_numpy(dtype=bool)
    return Cards(relevant, queued, (querier == _RANDOM).to_numpy(dtype=bool), np.zeros(len(relevant)))
