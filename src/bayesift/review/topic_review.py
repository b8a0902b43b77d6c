"""The review of one topic: its decisions, the engines that learn from them, and the cards in front of reviewers.

A decision is written to the history first. When it is on the disk it is added to the topic's
:class:`~bayesift.review.decisions.Decisions`, and the engine of every queue follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from threading import RLock
from time import monotonic, sleep
from typing import NamedTuple

import numpy as np

from bayesift.review import full_text
from bayesift.review.decisions import Decisions, Judgements
from bayesift.review.earlier import rows_of
from bayesift.review.engine import Corpus, Mix, ReviewEngine, Suggestion
from bayesift.review.queues import Queue, assigned, knowledge_of
from bayesift.review.storage import Decision, Event, NotSavedError, Project, Stage, Topic

#: The stages of a review, in their order.
STAGES: tuple[Stage, ...] = ("abstract", "full text")

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
    """All events about a document, the present decision of each reviewer, and whether these contradict each other."""

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
        From the place of each copy of a document to that of its original.
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
        self._open_full: dict[int, OpenCard] = {}
        self._same = same
        self._queues: dict[int | None, Queue] = {}
        self._counted: dict[int | None, Judgements] = {}
        self._begin(project.history.since(topic.id))

    def _begin(self, events: Sequence[Event]) -> None:
        """Derive everything from the events, by the settings of the topic."""
        self._own_queues = self.topic.own_queues
        readers = 2 if self.topic.double else 1
        shares = assigned(dict(self.topic.shares), self._n_documents, readers, self.topic.id)
        # If all share one queue, documents of others are held back when the next one is chosen.
        self._not_mine = {} if self._own_queues else {who: np.flatnonzero(~mine) for who, mine in shares.items()}
        mine = shares if self._own_queues else {}
        self._stages = {
            stage: Decisions(
                [event for event in events if event.stage == stage],
                self._same,
                double=self.topic.double,
                mine=mine if stage == "abstract" else {},
            )
            for stage in STAGES
        }
        self._decisions, self._full = self._stages["abstract"], self._stages["full text"]
        self._kept: dict[Stage, Decisions] = {}

    def _owner(self, reviewer: int | None) -> int | None:
        """Return whose decisions count in a reviewer's queue: the reviewer's own, or everybody's (also for None)."""
        return reviewer if self._own_queues else None

    def queue(self, reviewer: int | None) -> Queue:
        """Return the queue that a reviewer gets cards from."""
        owner, topic = self._owner(reviewer), self.topic
        known = self._queues.get(owner)
        if known is not None:
            return known
        with self._lock:
            if owner not in self._queues:
                engine = ReviewEngine(
                    self._corpus,
                    knowledge_of(topic),
                    self._decisions.judgements(self._n_documents, owner),
                    mix=Mix(1.0 - topic.informative - topic.random, topic.informative, topic.random),
                    seed=topic.id,
                    earlier=rows_of(self._project.earlier.records(topic.earlier), self._corpus),
                )
                self._queues[owner] = Queue(engine, self._lock, self._background)
            return self._queues[owner]

    def counts(self, reviewer: int | None) -> tuple[int, int]:
        """Return how many documents are decided for a reviewer, and how many of these are relevant."""
        owner = self._owner(reviewer)
        judgements = self._counted.get(owner)
        if judgements is None:
            with self._lock:
                judgements = self._counted[owner] = self._decisions.judgements(self._n_documents, owner)
        return len(judgements) - judgements.shown["duplicate"] - judgements.shown["elsewhere"], judgements.found

    def size(self, reviewer: int | None) -> int:
        """Return how many documents are for a reviewer, not counting copies and documents of others."""
        decided, _ = self.counts(reviewer)
        return decided + self._counted[self._owner(reviewer)].unjudged

    def refresh(self) -> None:
        """Take note of what others have written."""
        with self._lock:
            self._follow(self._project.history.since(self.topic.id, self._last))

    @property
    def _last(self) -> int:
        """The number of the last event that is known, of any stage."""
        return max(decisions.last for decisions in self._stages.values())

    def decisions(self, stage: Stage = "abstract") -> Decisions:
        """Return the present decisions, as a copy that nobody changes."""
        with self._lock:
            self.refresh()
            # They follow the present settings: a change of the topic starts again, with other copies.
            known, copies = self._stages[stage], self._kept
            kept = copies.get(stage)
            if kept is not None and kept.last == known.last:
                return kept
            before = kept or Decisions((), known.same, double=known.double, mine=known.mine)
            events = known.events[len(before.events) :]
        copies[stage] = before.with_events(events)
        return copies[stage]

    def about(self, document: int) -> DocumentDecisions:
        """Return everything that was ever decided about a document."""
        with self._lock:
            self.refresh()
            known = self._decisions
            in_conflict = known.status(document) == "conflict"
            history = sorted([*known.history(document), *self._full.history(document)], key=lambda event: event.id)
            return DocumentDecisions(history, known.by_reviewer(document), in_conflict)

    def may_see(self, reviewer: int | None, document: int) -> bool:
        """Tell whether a reviewer may see what others say about a document: if two read it, only after deciding."""
        if reviewer is None or not self.topic.double:
            return True
        with self._lock:
            known = [decisions for decisions in self._stages.values() if decisions.by_reviewer(document)]
            return all(
                reviewer in decisions.readers(document) or decisions.is_elsewhere(document, reviewer)
                for decisions in known
            )

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
        if self._decisions.is_elsewhere(document, self._owner(reviewer)):
            return False
        return self._decisions.status(document, self._owner(reviewer)) in (None, "skip")

    def _undone(self, reviewer: int) -> Suggestion | None:
        undone = self._decisions.undone(reviewer)
        if undone is None or not self._waits(undone.document, reviewer):
            return None
        # It is shown again for the same reason as before, so that the random sample stays random.
        return self.suggestion(reviewer, undone.document, undone.why)

    def _next(self, reviewer: int) -> Suggestion | None:
        held = self._held(reviewer, self._open, self._decisions)
        skipped = self._decisions.recently_skipped(reviewer, SKIP_MEMORY)
        exclude: Collection[int] = {*held, *skipped}
        if reviewer in self._not_mine:
            exclude = np.append(self._not_mine[reviewer], list(exclude)).astype(np.int64).tolist()
        found = self.queue(reviewer).next(exclude)
        if found is None and skipped:
            # When nothing else is left, the skipped come back at once, the one skipped longest ago first.
            return self.suggestion(reviewer, skipped[0])
        return found

    def _held(self, reviewer: int, cards: Mapping[int, OpenCard], decisions: Decisions) -> set[int]:
        """Return the documents that others have open and that need no other reader then."""
        oldest = monotonic() - CARD_LIFETIME
        others = [card.suggestion.document for who, card in cards.items() if who != reviewer and card.since > oldest]
        if self.topic.double:
            counted = Counter(others)
            return {place for place, n in counted.items() if n + len(decisions.readers(place)) >= 2}
        return set() if self._own_queues else set(others)

    def full_text_counts(self, reviewer: int) -> tuple[int, int, int]:
        """Return how many full texts a reviewer has decided, how many of them are relevant, and how many there are."""
        with self._lock:
            return full_text.counts(self._sought(), self._full, self._owner(reviewer))

    def _sought(self) -> list[int]:
        """Return what is relevant by title and abstract, for all together."""
        judged = self._decisions.judgements(self._n_documents).learnable()
        return [place for place, relevant in judged.items() if relevant]

    def full_text_card(self, reviewer: int) -> Suggestion | None:
        """Return the next full text to judge: the most probable document that is relevant by title and abstract."""
        self.refresh()
        probabilities = self.queue(reviewer).probabilities()
        with self._lock:
            held = self._held(reviewer, self._open_full, self._full)
            waiting = full_text.waiting(self._sought(), self._full, self._owner(reviewer))
            undone, shown = self._full.undone(reviewer), self._open_full.pop(reviewer, None)
            first = [undone.document] if undone else [shown.suggestion.document] if shown else []
            skipped = self._full.recently_skipped(reviewer, SKIP_MEMORY)
            places = [place for place in waiting if place not in held]
            chosen = full_text.choose(places, first, skipped, probabilities)
            if chosen is None:
                return None
            suggestion = self.suggestion(reviewer, chosen, "full text")
            self._open_full[reviewer] = OpenCard(suggestion, monotonic())
            return suggestion

    def suggestion(self, reviewer: int | None, document: int, why: str | None = None) -> Suggestion:
        """Return the card of any document, shown for the given reason or else for the known one."""
        with self._lock:
            reason = why or self._decisions.reason(document, self._owner(reviewer))
            return self.queue(reviewer).suggestion(document, reason)

    def label(
        self, reviewer: int, document: int, decision: Decision, reason: str | None = None, stage: Stage = "abstract"
    ) -> Event:
        """Write a decision to the history, and learn it when it is on disk.

        Raises
        ------
        ValueError
            If a reason is given that is not one of the topic's, or without an exclusion.
        """
        self._check_reason(decision, reason, stage)
        with self._lock:
            if stage == "full text" and self._decisions.status(document) != "relevant":
                raise ValueError(f"document {document} is not relevant by title and abstract; expected one that is")
            shown = (self._open if stage == "abstract" else self._open_full).get(reviewer)
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
                stage=stage,
            )
            return self._write(lambda: [event])[0]

    def undo(self, reviewer: int, stage: Stage = "abstract") -> Event | None:
        """Take back the last decision of a reviewer that still holds; return the event that was taken back."""

        def take_back() -> list[Event]:
            last = self._stages[stage].last_undoable(reviewer)
            return [] if last is None else [Event(last.document, reviewer, "undo", undoes=last.id, stage=stage)]

        with self._lock:
            written = self._write(take_back)
            (self._open if stage == "abstract" else self._open_full).pop(reviewer, None)
            return self._stages[stage].undone(reviewer) if written else None

    def resolve(
        self, reviewer: int, document: int, decision: Decision, reason: str | None = None, stage: Stage = "abstract"
    ) -> Event | None:
        """Resolve a conflict; return None if there is none, or somebody else was faster.

        Raises
        ------
        PermissionError
            If two read each document and the reviewer is one of those who disagree.
        """
        self._check_reason(decision, reason, stage)

        def resolution() -> list[Event]:
            decisions = self._stages[stage]
            if decisions.status(document) != "conflict":
                return []
            if self.topic.double and reviewer in decisions.readers(document):
                raise PermissionError("a conflict must be resolved by somebody who has not taken part in it")
            return [Event(document, reviewer, "resolve", decision, reason=reason, stage=stage)]

        with self._lock:
            written = self._write(resolution)
            return written[0] if written else None

    def add(self, events: Sequence[Event]) -> None:
        """Write many events, such as known documents and labels from a file; what a reviewer has decided so is skipped.

        They are written in parts, between which others may write. If a part cannot be saved, those before it are
        kept, and all of them may be added again.
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
                # Whoever waits for the lock gets it, and as much time as this takes.
                sleep(monotonic() - since)

    def reasons(self, stage: Stage) -> tuple[str, ...]:
        """Return the reasons for exclusion at a stage; a full text may also not be retrievable."""
        return self.topic.reasons if stage == "abstract" else (*self.topic.reasons, full_text.NOT_RETRIEVED)

    def _check_reason(self, decision: Decision, reason: str | None, stage: Stage) -> None:
        known = self.reasons(stage)
        if reason is not None and (decision != "irrelevant" or reason not in known):
            expected = f"one of {', '.join(known)}" if known else "none: the topic has none"
            raise ValueError(f"reason is {reason!r} for the decision {decision}; expected, for irrelevant, {expected}")

    def _holds(self, event: Event) -> bool:
        """Tell whether a reviewer has already decided like this."""
        held = self._decisions.by_reviewer(event.document).get(event.reviewer)
        return held is not None and held.decision == event.decision and event.reason in (None, held.reason)

    def _write(self, make: Callable[[], Sequence[Event]]) -> list[Event]:
        """Write what ``make`` returns, when nobody else writes and everything that others wrote is known."""
        with self._project.history.turn(self.topic.id) as turn:
            self._follow(turn.since(self._last))
            written = turn.add_all(make())
        self._follow(written)
        return written

    def _follow(self, events: Iterable[Event]) -> None:
        before, events = self._decisions.last, list(events)
        for stage, decisions in self._stages.items():
            decisions.add([event for event in events if event.stage == stage])
        if self._decisions.last != before:
            for queue in self._queues.values():
                queue.follow()

    def change(self, topic: Topic) -> None:
        """Continue with other words, shares or queues; decisions stay."""
        with self._lock:
            events = sorted(
                (event for known in self._stages.values() for event in known.events), key=lambda event: event.id
            )
            self.topic = topic
            self._begin(events)
            for held in (self._queues, self._counted, self._open, self._open_full):
                held.clear()

    def wait_for_fits(self) -> None:
        """Wait for all running fits."""
        for queue in list(self._queues.values()):
            queue.wait_for_fit()
