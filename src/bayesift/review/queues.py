"""The source of a topic's cards: an engine that is fitted in the background; and who gets which cards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from logging import getLogger
from threading import Lock, RLock
from typing import Any

import numpy as np

from bayesift._typing import BoolArray, FloatArray
from bayesift.review.engine import Advice, Highlight, Knowledge, Mix, Moment, ReviewEngine, Stopping, Suggestion
from bayesift.review.storage import Topic

#: A full fit is due when this many labels are new, or this share of all labels.
_NEW_LABELS = 5
_NEW_SHARE = 0.1

#: During a check, every card is drawn at random.
_RANDOM_ONLY = Mix(0.0, 0.0, 1.0)


class Queue:
    """The source of cards, for all reviewers of a topic together or for one of them.

    Full fits run in the background. Every method may be called from any thread.

    Parameters
    ----------
    engine : ReviewEngine
        The engine that learns the judgements of the queue.
    lock : RLock
        Held by whoever changes the topic's decisions.
    background : Executor
        Runs the full fits.
    """

    def __init__(self, engine: ReviewEngine, lock: RLock, background: Executor) -> None:
        self._engine = engine
        engine.lagging = True
        self._usual = engine.mix
        self._ranking = Lock()
        self._ranked = 0
        self._lock = lock
        self._background = background
        self._estimating = Lock()
        self._new = 0
        self._busy = False
        self._fitting: Future[None] | None = None
        with lock:
            self._fit_if_due()

    def follow(self) -> None:
        """Let the engine learn what has changed; start a full fit if one is due."""
        with self._lock:
            changed = self._engine.follow()
            judgements = [self._engine.judgements.get(document) for document in changed]
            if any(judgement is not None and judgement.relevant for judgement in judgements):
                # The random draws have found something: there is more, and the usual way finds it faster.
                self.check(False)
            self._new += len(changed)
            self._fit_if_due()

    def _fit_if_due(self) -> None:
        due = self._engine.behind or self._new >= max(_NEW_LABELS, _NEW_SHARE * len(self._engine.judgements))
        if due and not self._busy:
            fitting = self._background.submit(self._fit)
            self._busy, self._new, self._fitting = True, 0, fitting

    def _fit(self) -> None:
        try:
            # All that takes long is done before anybody has to wait for it.
            refit = self._engine.catch_up(self._engine.refit())
            with self._lock:
                self._engine.adopt(refit)
                self._busy = False
                # What changed meanwhile waited for this fit. A server that is being closed begins no other.
                with suppress(RuntimeError):
                    self._fit_if_due()
        except Exception:
            self._busy = False
            # The belief that is learned card by card goes on, but whoever runs the server should know.
            getLogger("bayesift.review").exception("a fit in the background failed")
            raise

    def check(self, on: bool) -> None:
        """Start to draw all cards at random, until a relevant document turns up, or stop doing so."""
        with self._lock:
            self._engine.mix = _RANDOM_ONLY if on else self._usual

    @property
    def checking(self) -> bool:
        """Whether all cards are drawn at random."""
        return self._engine.mix is _RANDOM_ONLY

    def wait_for_fit(self) -> None:
        """Wait for the fit that is running, if there is one, and for those that follow from it."""
        waited = None
        while self._fitting is not waited and self._fitting is not None:
            waited = self._fitting
            waited.result()

    def rank(self) -> None:
        """Update the ranking to what has been learned so far.

        This takes a while and is done without the lock, which the caller must not hold. Callers that come meanwhile
        wait for the next turn, which serves all of them.
        """
        wanted = self._engine.steps
        with self._ranking:
            if self._ranked >= wanted:
                return
            steps, ranking = self._engine.steps, self._engine.ranking()
            with self._lock:
                self._engine.take_ranking(ranking)
            self._ranked = steps

    def next(self, exclude: Collection[int]) -> Suggestion | None:
        """Return the next card that is not excluded, or None if all are decided."""
        with self._lock:
            found = self._engine.next(1, exclude)
        return found[0] if found else None

    def suggestion(self, document: int, why: str) -> Suggestion:
        """Return the card of any document, shown for the reason given."""
        with self._lock:
            return self._engine.suggestion(document)._replace(why=why)

    def probabilities(self) -> FloatArray:
        """Return the probability of every document."""
        self.rank()
        with self._lock:
            return self._engine.probabilities()

    def highlights(self, document: int) -> list[Highlight]:
        """Return the words of a document that count for and against; never waits, because models are not changed."""
        return self._engine.highlights(document)

    def stopping(self, topic: Topic) -> Stopping:
        """Estimate how much is left to find, and compare it with the target of a topic."""
        # The slow part is done without the lock, one at a time, to leave a core for people who wait for a card.
        moment = self._moment()
        with self._estimating:
            return moment.stopping(topic.target_recall, topic.confidence, topic.at_most)

    def advice(self, topic: Topic) -> Advice:
        """Tell whether one may stop, by the target of a topic."""
        moment = self._moment()
        with self._estimating:
            return moment.advice(topic.target_recall, topic.confidence, topic.at_most)

    def _moment(self) -> Moment:
        self.rank()
        with self._lock:
            return self._engine.moment()

    def model(self) -> Any:
        """Return the present vectorizer and classifier as one estimator."""
        with self._lock:
            return self._engine.model()


def knowledge_of(topic: Topic) -> Knowledge:
    r"""Return what a topic says before any decision: its description (or criteria), its words, and what it excludes.

    Examples
    --------
    >>> from bayesift.review.queues import knowledge_of
    >>> from bayesift.review.storage import Topic
    >>> knowledge_of(Topic("Zinc", inclusion="trials in adults", exclusion="animals"))
    Knowledge(description='Zinc\ntrials in adults', keywords_for=(), keywords_against=(), exclusion='animals')
    """
    protocol = {"title": topic.description or topic.name, "exclusion_criteria": topic.exclusion}
    if not topic.description:
        protocol["inclusion_criteria"] = topic.inclusion
    said = Knowledge.of_protocol(protocol)
    return said._replace(keywords_for=topic.keywords_for, keywords_against=topic.keywords_against)


def assigned(shares: Mapping[int, float], n_documents: int, readers: int, seed: int) -> dict[int, BoolArray]:
    """Assign every document to as many reviewers as should read it, in proportion to their shares.

    Every reviewer draws an exponential time for every document, with the share as its rate, and the earliest get it
    (weighted rendezvous hashing). When somebody joins or leaves, only the documents that they gain or lose move.

    Parameters
    ----------
    shares : mapping
        The share of each reviewer, by reviewer number, in any unit.
    n_documents : int
        Number of documents.
    readers : int
        How many reviewers read each document.
    seed : int
        Fixes the assignment.

    Returns
    -------
    dict
        For each reviewer, which documents are theirs.

    Examples
    --------
    >>> from bayesift.review.queues import assigned
    >>> found = assigned({1: 3, 2: 1}, 10_000, 1, seed=0)
    >>> round(float(found[1].mean()), 2), bool((found[1] ^ found[2]).all())
    (0.75, True)
    """
    given = {reviewer: share for reviewer, share in shares.items() if share > 0}
    if not given:
        return {}
    times = np.array([
        np.random.default_rng([seed, reviewer]).exponential(1 / share, n_documents) for reviewer, share in given.items()
    ])  # fmt: skip
    first = np.argsort(times, axis=0, kind="stable")[: max(1, readers)]
    return {reviewer: (first == place).any(axis=0) for place, reviewer in enumerate(given)}
