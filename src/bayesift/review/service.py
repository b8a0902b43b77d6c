"""A project at work: the decisions of each topic, the engines that learn them, and the cards in front of reviewers.

A decision is written to the history first. When it is on the disk it is added to the topic's
:class:`~bayesift.review.decisions.Decisions`, and the engine of every queue follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from logging import getLogger
from threading import Lock, RLock
from time import monotonic, sleep
from typing import Any, NamedTuple

from bayesift._typing import FloatArray
from bayesift.review.decisions import Decisions, Judgements
from bayesift.review.engine import (
    Advice,
    Corpus,
    Highlight,
    Knowledge,
    Mix,
    Moment,
    ReviewEngine,
    Stopping,
    Suggestion,
)
from bayesift.review.storage import COMMAND_LINE, Actor, Decision, Event, NotSavedError, Project, Topic

#: A full fit is due when so many labels are new, or this share of all labels.
_NEW_LABELS = 5
_NEW_SHARE = 0.1

#: While a check goes on, every card is drawn at random.
_RANDOM_ONLY = Mix(0.0, 0.0, 1.0)

#: A skipped document comes back after so many further decisions.
SKIP_MEMORY = 20

#: So many events are written at once; then others may write.
_PART = 250

#: A card that has been open for so many seconds may be shown to another reviewer too.
CARD_LIFETIME = 1800.0


class Queue:
    """Where cards come from: for all reviewers of a topic together, or for one.

    Full fits run in the background. Every method may be called from any thread.

    Parameters
    ----------
    engine : ReviewEngine
        Learns the judgements of the queue.
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
                # What was looked for at random is found: there is more, and the usual way finds it faster.
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
            # The belief that is learnt card by card goes on; whoever runs the server should know.
            getLogger("bayesift.review").exception("a fit in the background failed")
            raise

    def check(self, on: bool) -> None:
        """Draw all cards at random, until a relevant document turns up; or no longer."""
        with self._lock:
            self._engine.mix = _RANDOM_ONLY if on else self._usual

    @property
    def checking(self) -> bool:
        """Whether all cards are drawn at random."""
        return self._engine.mix is _RANDOM_ONLY

    def wait_for_fit(self) -> None:
        """Wait for the fit under way, if there is one, and for those that follow from it."""
        waited = None
        while self._fitting is not waited and self._fitting is not None:
            waited = self._fitting
            waited.result()

    def rank(self) -> None:
        """Bring the ranking up to what is learnt by now.

        That takes a while and is done without the lock, which must not be held here. Who comes meanwhile waits for the
        next turn, which does for all of them.
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
        """Return the next card that is not among the excluded, or None when all are decided."""
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
        """Return the words of a document that speak for and against; waits for nobody: a model is never changed."""
        return self._engine.highlights(document)

    def stopping(self, target_recall: float, confidence: float) -> Stopping:
        """Estimate how much is left to be found."""
        # What takes long is done without the lock, and one at a time: the other core is for those who wait for a card.
        moment = self._moment()
        with self._estimating:
            return moment.stopping(target_recall, confidence)

    def advice(self, target_recall: float, confidence: float) -> Advice:
        """Tell whether one may stop."""
        moment = self._moment()
        with self._estimating:
            return moment.advice(target_recall, confidence)

    def _moment(self) -> Moment:
        self.rank()
        with self._lock:
            return self._engine.moment()

    def model(self) -> Any:
        """Return vectorizer and classifier of this moment as one estimator."""
        with self._lock:
            return self._engine.model()


class OpenCard(NamedTuple):
    """A card in front of a reviewer, and since when."""

    suggestion: Suggestion
    since: float


class DocumentDecisions(NamedTuple):
    """All events about a document, the decision of each reviewer that holds, and whether they contradict each other."""

    history: list[Event]
    by_reviewer: dict[int, Event]
    in_conflict: bool


class TopicReview:
    """The review of one topic: its decisions, its queues, and the cards that are open.

    Every method may be called from any thread.

    Parameters
    ----------
    project : Project
        Where the history is kept.
    corpus : Corpus
        The documents as the engine reads them.
    topic : Topic
        What is looked for.
    background : Executor
        Runs the full fits.
    """

    def __init__(self, project: Project, corpus: Corpus, topic: Topic, background: Executor) -> None:
        self.topic = topic
        self._project = project
        self._corpus = corpus
        self._n_documents = len(corpus)
        self._background = background
        self._lock = RLock()
        self._open: dict[int, OpenCard] = {}
        self._decisions = Decisions(project.history.since(topic.id))
        self._kept = Decisions()
        self._queues: dict[int | None, Queue] = {}
        self._counted: dict[int | None, Judgements] = {}

    def _owner(self, reviewer: int | None) -> int | None:
        """Return whose decisions count in a reviewer's queue: the reviewer's own, or everybody's (also for None)."""
        return None if self.topic.shared else reviewer

    def queue(self, reviewer: int | None) -> Queue:
        """Return the queue from which a reviewer gets cards."""
        owner, topic = self._owner(reviewer), self.topic
        known = self._queues.get(owner)
        if known is not None:
            return known
        with self._lock:
            if owner not in self._queues:
                engine = ReviewEngine(
                    self._corpus,
                    Knowledge(topic.description or topic.name, topic.keywords_for, topic.keywords_against),
                    self._decisions.judgements(self._n_documents, owner),
                    mix=Mix(1.0 - topic.informative - topic.random, topic.informative, topic.random),
                    seed=topic.id,
                )
                self._queues[owner] = Queue(engine, self._lock, self._background)
            return self._queues[owner]

    def counts(self, reviewer: int | None) -> tuple[int, int]:
        """Return how many documents are decided for a reviewer, and how many of them are relevant."""
        owner = self._owner(reviewer)
        judgements = self._counted.get(owner)
        if judgements is None:
            with self._lock:
                judgements = self._counted[owner] = self._decisions.judgements(self._n_documents, owner)
        return len(judgements), judgements.found

    def refresh(self) -> None:
        """Take note of what others have written."""
        with self._lock:
            self._follow(self._project.history.since(self.topic.id, self._decisions.last))

    def decisions(self) -> Decisions:
        """Return the decisions of this moment, as a copy that nobody writes into."""
        with self._lock:
            self.refresh()
            if self._kept.last == self._decisions.last:
                return self._kept
            events = self._decisions.events.copy()
        self._kept = Decisions(events)
        return self._kept

    def about(self, document: int) -> DocumentDecisions:
        """Return what was ever decided about a document."""
        with self._lock:
            self.refresh()
            known = self._decisions
            in_conflict = known.status(document) == "conflict"
            return DocumentDecisions(known.history(document), known.by_reviewer(document), in_conflict)

    def card(self, reviewer: int) -> Suggestion | None:
        """Return the card of a reviewer: the same one until it is decided, then what was undone, then the next."""
        self.refresh()
        self.queue(reviewer).rank()
        with self._lock:
            shown = self._open.get(reviewer)
            if shown is not None and self._waits(shown.suggestion.document, reviewer):
                return shown.suggestion
            suggestion = self._undone(reviewer) or self._next(reviewer)
            if suggestion is None:
                self._open.pop(reviewer, None)
            else:
                self._open[reviewer] = OpenCard(suggestion, monotonic())
            return suggestion

    def _waits(self, document: int, reviewer: int) -> bool:
        """Tell whether a document still waits for a decision in this reviewer's queue."""
        if document in self._decisions.recently_skipped(reviewer, 1):
            return False
        return self._decisions.status(document, self._owner(reviewer)) in (None, "skip")

    def _undone(self, reviewer: int) -> Suggestion | None:
        undone = self._decisions.undone(reviewer)
        if undone is None or not self._waits(undone.document, reviewer):
            return None
        # Shown again for the reason for which it was shown: the random sample stays one.
        return self.suggestion(reviewer, undone.document, undone.why)

    def _next(self, reviewer: int) -> Suggestion | None:
        oldest = monotonic() - CARD_LIFETIME
        others = (card for other, card in self._open.items() if other != reviewer and self.topic.shared)
        held = {card.suggestion.document for card in others if card.since > oldest}
        skipped = self._decisions.recently_skipped(reviewer, SKIP_MEMORY)
        found = self.queue(reviewer).next({*held, *skipped})
        if found is None and skipped:
            # When nothing else is left, the skipped come back at once, the one skipped longest ago first.
            return self.suggestion(reviewer, skipped[0])
        return found

    def suggestion(self, reviewer: int | None, document: int, why: str | None = None) -> Suggestion:
        """Return the card of any document, shown for the reason given, or for the one that is known."""
        with self._lock:
            reason = why or self._decisions.reason(document, self._owner(reviewer))
            return self.queue(reviewer).suggestion(document, reason)

    def label(self, reviewer: int, document: int, decision: Decision) -> Event:
        """Write a decision to the history, and learn it when it is on the disk."""
        with self._lock:
            shown = self._open.get(reviewer)
            if shown is not None and shown.suggestion.document == document:
                seen = shown.suggestion
            else:
                seen = self.queue(reviewer).suggestion(document, "chosen")
            event = Event(
                document,
                reviewer,
                "label",
                decision,
                why=seen.why,
                model=seen.model,
                rank=seen.rank,
                probability=seen.probability,
            )
            return self._write(lambda: [event])[0]

    def undo(self, reviewer: int) -> Event | None:
        """Take back the last decision of a reviewer that holds; return the event that was taken back."""

        def take_back() -> list[Event]:
            last = self._decisions.last_undoable(reviewer)
            return [] if last is None else [Event(last.document, reviewer, "undo", undoes=last.id)]

        with self._lock:
            written = self._write(take_back)
            self._open.pop(reviewer, None)
            return self._decisions.undone(reviewer) if written else None

    def resolve(self, reviewer: int, document: int, decision: Decision) -> Event | None:
        """Resolve a conflict; None if there is none, or somebody was faster."""

        def resolution() -> list[Event]:
            in_conflict = self._decisions.status(document) == "conflict"
            return [Event(document, reviewer, "resolve", decision)] if in_conflict else []

        with self._lock:
            written = self._write(resolution)
            return written[0] if written else None

    def add(self, events: Sequence[Event]) -> None:
        """Write many events, such as known documents and labels from a file; what a reviewer has decided so is skipped.

        They are written part by part, and others come in between. If one part cannot be saved, those before it are
        kept, and the whole may be added again.
        """
        for begin in range(0, len(events), _PART):
            part = events[begin : begin + _PART]
            since = monotonic()
            try:
                with self._lock:
                    self._write(lambda part=part: [event for event in part if not self._holds(event)])  # type: ignore[misc]
            except NotSavedError as error:
                if not begin:
                    raise
                kept = f"Only {begin} of {len(events)} decisions could be saved: {error.reason or error}. They are kept"
                raise NotSavedError(f"{kept}; add all of them again when there is space.", error.reason) from error
            if begin + _PART < len(events):
                # Who waits for the lock gets it, and as much time as this takes.
                sleep(monotonic() - since)

    def _holds(self, event: Event) -> bool:
        """Tell whether a reviewer has decided just so."""
        held = self._decisions.by_reviewer(event.document).get(event.reviewer)
        return held is not None and held.decision == event.decision

    def _write(self, make: Callable[[], Sequence[Event]]) -> list[Event]:
        """Write what ``make`` gives when nobody else writes and all that others wrote is known."""
        with self._project.history.turn(self.topic.id) as turn:
            self._follow(turn.since(self._decisions.last))
            written = turn.add_all(make())
        self._follow(written)
        return written

    def _follow(self, events: Iterable[Event]) -> None:
        before = self._decisions.last
        self._decisions.add(events)
        if self._decisions.last != before:
            for queue in self._queues.values():
                queue.follow()

    def change(self, topic: Topic) -> None:
        """Work on with other words, shares or queues; what was decided stays."""
        with self._lock:
            self.topic = topic
            self._queues.clear()
            self._open.clear()

    def wait_for_fits(self) -> None:
        """Wait for all fits that are under way."""
        for queue in list(self._queues.values()):
            queue.wait_for_fit()


class Service:
    """The project, its documents as the engine reads them, and the review of each topic.

    Parameters
    ----------
    project : Project
        The open project; closing the service does not close it.
    corpus : Corpus
        Its documents.
    """

    def __init__(self, project: Project, corpus: Corpus) -> None:
        self.project = project
        self.corpus = corpus
        self.n_documents = len(project.documents)
        # One fit at a time: the cores are for those who wait for a card.
        self._background = ThreadPoolExecutor(1, "refit")
        self._reviews: dict[int, TopicReview] = {}
        self._lock = Lock()

    def topic(self, id: int) -> TopicReview:
        """Return the review of a topic.

        Raises
        ------
        LookupError
            If there is no such topic.
        """
        review = self._reviews.get(id)
        if review is None:
            found = self.project.topics.get(id)
            if found is None:
                raise LookupError(f"there is no topic {id}")
            # Reading a long history takes a while, in which the other topics go on.
            made = TopicReview(self.project, self.corpus, found, self._background)
            with self._lock:
                review = self._reviews.setdefault(id, made)
        return review

    def add_topic(
        self, topic: Topic, reviewer: int, known: tuple[int, ...] = (), by: Actor = COMMAND_LINE
    ) -> TopicReview:
        """Add a topic, with documents that the reviewer knows to be relevant."""
        review = self.topic(self.project.topics.add(topic, by).id)
        if known:
            review.add([Event(document, reviewer, "known", "relevant", why="known") for document in known])
        return review

    def change_topic(self, topic: Topic, by: Actor = COMMAND_LINE) -> None:
        """Write a topic anew and work on with it."""
        self.project.topics.change(topic, by)
        self.topic(topic.id).change(topic)

    def wait_for_fits(self) -> None:
        """Wait for all fits that are under way."""
        for review in list(self._reviews.values()):
            review.wait_for_fits()

    def close(self) -> None:
        """Stop the background work; a fit that has begun is finished."""
        self._background.shutdown(cancel_futures=True)
