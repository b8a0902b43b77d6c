"""A project at work: the decisions of each topic, the engines that learn them, and the cards in front of reviewers.

A decision is written to the history first. When it is on the disk it is added to the topic's
:class:`~bayesift.review.decisions.Decisions`, and the engine of every queue follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from threading import RLock
from time import monotonic, sleep
from typing import NamedTuple

from bayesift.review.decisions import Decisions, Judgements
from bayesift.review.engine import Corpus, Knowledge, Mix, ReviewEngine, Suggestion
from bayesift.review.queues import Queue
from bayesift.review.storage import COMMAND_LINE, Actor, Copy, Decision, Event, NotSavedError, Project, Topic

#: A skipped document comes back after so many further decisions.
SKIP_MEMORY = 20

#: So many events are written at once; then others may write.
_PART = 250

#: A card that has been open for so many seconds may be shown to another reviewer too.
CARD_LIFETIME = 1800.0


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
    same : mapping
        The place of each copy of a document to that of its original.
    """

    def __init__(
        self, project: Project, corpus: Corpus, topic: Topic, background: Executor, same: Mapping[int, int]
    ) -> None:
        self.topic = topic
        self._project = project
        self._corpus = corpus
        self._n_documents = len(corpus)
        self._background = background
        self._lock = RLock()
        self._open: dict[int, OpenCard] = {}
        self._decisions = Decisions(project.history.since(topic.id), same)
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
        return len(judgements) - len(self._decisions.same), judgements.found

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
        self._kept = Decisions(events, self._decisions.same)
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

    def label(self, reviewer: int, document: int, decision: Decision, reason: str | None = None) -> Event:
        """Write a decision to the history, and learn it when it is on the disk.

        Raises
        ------
        ValueError
            If a reason is given that is not one of the topic's, or without an exclusion.
        """
        self._check_reason(decision, reason)
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
                reason=reason,
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

    def resolve(self, reviewer: int, document: int, decision: Decision, reason: str | None = None) -> Event | None:
        """Resolve a conflict; None if there is none, or somebody was faster."""
        self._check_reason(decision, reason)

        def resolution() -> list[Event]:
            in_conflict = self._decisions.status(document) == "conflict"
            return [Event(document, reviewer, "resolve", decision, reason=reason)] if in_conflict else []

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

    def _check_reason(self, decision: Decision, reason: str | None) -> None:
        if reason is not None and (decision != "irrelevant" or reason not in self.topic.reasons):
            expected = f"one of {', '.join(self.topic.reasons)}" if self.topic.reasons else "none: the topic has none"
            raise ValueError(f"reason is {reason!r} of {decision}; expected, for irrelevant, {expected}")

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
        self.copies: dict[int, Copy] = {}
        self._groups: dict[int, list[int]] = {}
        # One fit at a time: the cores are for those who wait for a card.
        self._background = ThreadPoolExecutor(1, "refit")
        self._reviews: dict[int, TopicReview] = {}
        self._lock = RLock()
        self.regroup()

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
            copies = self.copies
            same = {document: copy.original for document, copy in copies.items()}
            made = TopicReview(self.project, self.corpus, found, self._background, same)
            with self._lock:
                if copies is not self.copies:
                    return self.topic(id)
                review = self._reviews.setdefault(id, made)
        return review

    @property
    def n_records(self) -> int:
        """Documents without the copies of others: those that are judged."""
        return self.n_documents - len(self.copies)

    def group(self, document: int) -> list[int]:
        """Return a document and all that are the same, in their order."""
        held = self.copies.get(document)
        return self._groups.get(document if held is None else held.original, [document])

    def regroup(self) -> None:
        """Work on with the groups of copies that the project holds now; what was decided stays."""
        copies = self.project.duplicates.all()
        groups: dict[int, list[int]] = {}
        for place, copy in copies.items():
            groups.setdefault(copy.original, [copy.original]).append(place)
        with self._lock:
            self.copies, self._groups = copies, groups
            self._reviews.clear()

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
