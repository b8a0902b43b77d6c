"""A review replayed: the engine asks, the known judgements answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesift._typing import BoolArray
from bayesift.review.engine import Knowledge, Mix, Pile, ReviewEngine
from bayesift.review.engine.recall import QUIET
from bayesift.review.simulate.rules import RULES, Look, Rule, Stop
from bayesift.review.simulate.simulation import Simulation

#: All judgements are fitted anew when so large a share of them is new.
_NEW_SHARE = 0.03

#: While a check goes on, every card is a random draw.
_CHECK = Mix(0.0, 0.0, 1.0)

NOTHING, USUAL = Knowledge(), Mix()


def simulate(
    pile: Pile | Sequence[str],
    relevant: Any,
    *,
    knowledge: Knowledge = NOTHING,
    start: Iterable[int] = (),
    mix: Mix = USUAL,
    check: bool = False,
    rules: Mapping[str, Rule] | None = None,
    target_recall: float = 0.95,
    confidence: float = 0.95,
    look_every: int = 5,
    seed: int = 0,
) -> Simulation:
    """Replay a review whose judgements are known.

    Parameters
    ----------
    pile : Pile or sequence of str
        The documents.
    relevant : array of shape (n_documents,)
        The judgements.
    knowledge : Knowledge
        What is known of the topic before any judgement.
    start : iterable of int
        Documents whose judgements are known from the start; they are no part of the measures.
    mix : Mix
        In what shares documents are read for which reason.
    check : bool, default=False
        Read at random, for the sake of the bound, as soon as a quiet time has come (see
        :mod:`bayesift.review.engine.recall`), until a relevant document turns up.
    rules : mapping from name to rule, optional
        Rules that watch; :data:`RULES` by default. With an empty one the replay is faster.
    target_recall, confidence : float, default=0.95
        What the rules aim at.
    look_every : int, default=5
        The rules look after every so many documents.
    seed : int, default=0
        Fixes the random share.

    Returns
    -------
    Simulation
        It ends when every relevant document is found and every rule has spoken.

    Examples
    --------
    >>> from bayesift.review.engine import Knowledge
    >>> from bayesift.review.simulate import simulate
    >>> texts = ["wheat harvest", "corn", "gold", "wheat", "iron ore", "tin"]
    >>> run = simulate(texts, [1, 0, 0, 1, 0, 0], knowledge=Knowledge("wheat"))
    >>> run.order[:2].tolist(), round(run.wss95, 2)
    ([3, 0], 0.62)
    """
    pile = pile if isinstance(pile, Pile) else Pile.build(pile)
    truth = _checked(relevant, len(pile))
    known = tuple(int(document) for document in start)
    engine = ReviewEngine(pile, knowledge, mix=mix, seed=seed)
    for document in known:
        engine.label(document, bool(truth[document]), why="known")
    watch = _Watch(dict(RULES if rules is None else rules), truth, known, (target_recall, confidence))
    turn = _Turn(mix, check)
    order: list[int] = []
    reasons: list[str] = []
    fitted = 0
    while len(order) + len(known) < len(pile) and not watch.over:
        n_judged = len(order) + len(known)
        if n_judged - fitted >= max(1.0, _NEW_SHARE * n_judged):
            engine.adopt(engine.refit())
            fitted = n_judged
        engine.mix = turn.mix
        card = engine.next()[0]
        engine.label(card.document, bool(truth[card.document]), why=card.why)
        order.append(card.document)
        reasons.append(card.why)
        turn.judged(bool(truth[card.document]))
        watch.judged(bool(truth[card.document]))
        if watch.pending and len(order) % look_every == 0:
            watch.look(engine)
    rest = [document for document in range(len(pile)) if document not in {*order, *known}]
    reading = np.array(order + rest, dtype=np.int64)
    return Simulation(reading, truth[reading], reasons + ["rest"] * len(rest), known, watch.stops())


def starting_pair(relevant: Any, seed: int) -> tuple[int, int]:
    """Draw one relevant and one irrelevant document to start from.

    Parameters
    ----------
    relevant : array of shape (n_documents,)
        The judgements.
    seed : int
        Fixes the draw.

    Returns
    -------
    tuple of two int

    Examples
    --------
    >>> from bayesift.review.simulate import starting_pair
    >>> starting_pair([0, 1, 0], seed=0)
    (1, 2)
    """
    truth = np.asarray(relevant, dtype=bool)
    random = np.random.default_rng(seed)
    return int(random.choice(np.flatnonzero(truth))), int(random.choice(np.flatnonzero(~truth)))


class _Turn:
    """Which mix is due: the usual one, or only random draws once it has been quiet."""

    def __init__(self, mix: Mix, check: bool) -> None:
        self.mix, self._usual, self._check = mix, mix, check
        self._silence, self._patience, self._found = 0, QUIET, False

    def judged(self, relevant: bool) -> None:
        self._found = self._found or relevant
        self._silence = 0 if relevant else self._silence + 1
        if not self._check:
            return
        if relevant and self.mix is _CHECK:
            self.mix = self._usual
        elif self.mix is not _CHECK and self._found and self._silence >= self._patience:
            self.mix, self._patience = _CHECK, 2 * self._patience


class _Watch:
    """Keeps the score and asks the rules."""

    def __init__(
        self, rules: dict[str, Rule], truth: BoolArray, known: tuple[int, ...], aim: tuple[float, float]
    ) -> None:
        self.pending = rules
        self._names = list(rules)
        self._aim, self._n = aim, len(truth)
        self._total, self._found = int(truth.sum()), int(truth[list(known)].sum())
        self._n_known, self._read, self._silence = len(known), 0, 0
        self._stops: dict[str, Stop] = {}

    @property
    def over(self) -> bool:
        return not self.pending and self._found == self._total

    def judged(self, relevant: bool) -> None:
        self._read += 1
        self._found += relevant
        self._silence = 0 if relevant else self._silence + 1

    def look(self, engine: ReviewEngine) -> None:
        look = Look(engine.stopping(*self._aim), self._silence, self._n)
        for name in [name for name, rule in self.pending.items() if rule(look)]:
            del self.pending[name]
            self._stops[name] = self._stop(name)

    def stops(self) -> dict[str, Stop]:
        everything = {name: Stop(name, self._n - self._n_known, 1.0, 1.0) for name in self.pending}
        found = {**self._stops, **everything}
        return {name: found[name] for name in self._names}

    def _stop(self, name: str) -> Stop:
        recall = self._found / self._total if self._total else 1.0
        return Stop(name, self._read, self._read / (self._n - self._n_known), recall)


def _checked(relevant: Any, n: int) -> BoolArray:
    truth = np.asarray(relevant)
    if truth.shape != (n,) or not np.isin(truth, (0, 1)).all():
        raise ValueError(f"relevant has shape {truth.shape}; expected {n} truth values, one for each document")
    if not truth.any():
        raise ValueError("relevant marks no document; expected at least one")
    return truth.astype(bool)
