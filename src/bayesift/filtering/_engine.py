"""The stream through all topics at once: who retrieves which document next."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bayesift._typing import Int32Array, Int64Array
from bayesift.filtering import topic as topics
from bayesift.filtering._documents import Block, Terms, TermWeights
from bayesift.filtering._kernels import RELEVANT, next_retrieval
from bayesift.filtering.topic import FilterRules, TopicState
from bayesift.online.belief import exponents_of


class Retrieval(NamedTuple):
    """A document that a topic wants: its row in the block, the number of the topic, and why."""

    row: int
    topic: int
    relevant: bool
    probability: float
    information: float


class Pending(NamedTuple):
    """A document that was retrieved for a topic and is not judged yet."""

    place: int
    topic: int


class Engine:
    """The states of all topics, the terms they share, and how far the stream has come.

    ``place`` is the number of the document at hand, counted from 0, and ``after`` the last topic that retrieved it, −1
    for none; topics decide in their order.
    """

    def __init__(
        self, weights: TermWeights, rules: FilterRules, names: Sequence[str], states: list[TopicState], seed: int
    ) -> None:
        self.weights, self.rules, self.states = weights, rules, states
        self.place, self.after = 0, -1
        self.pending: dict[Pending, Terms] = {}
        self._keys = [_key(seed, name) for name in names]
        self._changes = [0] * len(states)

    def retrievals(self, block: Block) -> Iterator[Retrieval]:
        """Go through the documents that come next; judgements may come between any two retrievals.

        A document is decided on by the state of the topic at that moment. Most topics retrieve none of a block, so each
        looks for its next document once, and again only when something has changed for it.
        """
        begin, n = self.place, len(block.documents)
        places = _Places(block, self.weights)
        upcoming: list[tuple[int, int, float, float]] = [(n, 0, 0.0, 0.0)] * len(self.states)
        known = [-1] * len(self.states)
        while True:
            for k, changes in enumerate(self._changes):
                if known[k] != changes:
                    first = self.place - begin + (k <= self.after)
                    upcoming[k], known[k] = self._next(k, block, places.features(self.states[k]), first, begin), changes
            k = min(range(len(upcoming)), key=lambda topic: upcoming[topic][0], default=-1)
            row, why, probability, information = upcoming[k] if k >= 0 else (n, 0, 0.0, 0.0)
            if row == n:
                break
            self.retrieve(begin + row, k, block.terms(row))
            yield Retrieval(row, k, why == RELEVANT, probability, information)
        self.place, self.after = begin + n, -1

    def retrieve(self, place: int, topic: int, terms: Terms) -> None:
        """Take note that a topic has retrieved a document."""
        self.place, self.after = place, topic
        self.pending[Pending(place, topic)] = terms
        self._change(topic, topics.retrieve(self.states[topic]))

    def learned(self, place: int, topic: int, relevant: bool | None) -> TopicState:
        """Return the state of a topic after the judgement of a retrieved document; None teaches nothing."""
        state = self.states[topic]
        if relevant is None:
            return state
        row = self.weights.row(self.pending[Pending(place, topic)])
        return topics.judge(state, row, relevant, self.weights.terms, self.rules)

    def accept(self, place: int, topic: int, state: TopicState) -> None:
        """Take over what was learned from the judgement of a document, which no longer waits for it."""
        del self.pending[Pending(place, topic)]
        if state is not self.states[topic]:
            self._change(topic, state)

    def _change(self, topic: int, state: TopicState) -> None:
        self.states[topic] = state
        self._changes[topic] += 1

    def _next(
        self, topic: int, block: Block, feature_of: Int32Array, first: int, begin: int
    ) -> tuple[int, int, float, float]:
        state, rules = self.states[topic], self.rules
        threshold, chance = rules.threshold(state.retrieved), rules.chance(state.retrieved)
        belief = state.belief
        found: tuple[int, int, float, float] = next_retrieval(
            *block.weights,
            first,
            begin,
            feature_of,
            belief.mean,
            belief.covariance,
            exponents_of(belief),
            float(rules.kappa),
            threshold,
            chance,
            self._keys[topic],
        )
        return found


class _Places:
    """Where the features of a topic stand among the terms of a block."""

    def __init__(self, block: Block, weights: TermWeights) -> None:
        self._block, self._weights = block, weights
        known = np.flatnonzero(block.columns >= 0)
        self._local_of: Int64Array = np.full(len(weights.terms), -1, dtype=np.int64)
        self._local_of[block.columns[known]] = known

    def features(self, state: TopicState) -> Int32Array:
        """Return the feature of each term of the block, −1 for none."""
        self._follow()
        place = self._local_of[state.columns]
        features = np.flatnonzero(place >= 0)
        result = np.full(max(len(self._block.names), 1), -1, dtype=np.int32)
        result[place[features]] = features
        return result

    def _follow(self) -> None:
        """Take in the terms that have got columns since the last time."""
        fresh = self._weights.terms[self._local_of.size :]
        if fresh:
            get = self._block.column_of.get
            self._local_of = np.append(self._local_of, [get(term, -1) for term in fresh])


def _key(seed: int, name: str) -> np.uint64:
    """Return the key of a topic's random numbers, which do not depend on the other topics."""
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return np.uint64(int.from_bytes(digest[:8], "little"))
