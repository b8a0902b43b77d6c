"""Everything about one topic that is kept in memory: the ledger, its desks, and the cards that lie open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from threading import RLock
from time import monotonic
from typing import NamedTuple

from bayesift.review.desk import Desk
from bayesift.review.engine import Pile, Suggestion
from bayesift.review.ledger import Ledger
from bayesift.review.storage import Decision, Event, Project, Topic

#: A skipped document comes back after so many further decisions.
SKIP_MEMORY = 20

#: A card that lies open for so many seconds may be shown to another reviewer too.
CARD_LIFETIME = 1800.0


class OpenCard(NamedTuple):
    """A card in front of a reviewer, and since when."""

    suggestion: Suggestion
    since: float


class Room:
    """A topic at work: decisions are written to the history, then learnt.

    Every method may be called from any thread.

    Parameters
    ----------
    project : Project
        Where the history is kept.
    pile : Pile
        The documents as the engine reads them.
    topic : Topic
        What is looked for.
    background : Executor
        Runs the full fits.
    """

    def __init__(self, project: Project, pile: Pile, topic: Topic, background: Executor) -> None:
        self.topic = topic
        self._project = project
        self._pile = pile
        self._background = background
        self._lock = RLock()
        self._open: dict[int, OpenCard] = {}
        self._ledger = Ledger(project.history.since(topic.id))
        self._desks: dict[int | None, Desk] = {}

    def desk(self, reviewer: int) -> Desk:
        """Return the desk at which a reviewer works."""
        return self._desk(None if self.topic.shared else reviewer)

    def _desk(self, key: int | None) -> Desk:
        with self._lock:
            if key not in self._desks:
                self._desks[key] = Desk(self._pile, self.topic, self._ledger, key, self._background)
            return self._desks[key]

    def counts(self, reviewer: int) -> tuple[int, int]:
        """Tell how many documents are decided for a reviewer, and how many of them relevant."""
        key = None if self.topic.shared else reviewer
        with self._lock:
            desk = self._desks.get(key)
            return desk.counts() if desk is not None else self._ledger.counts(key)

    def refresh(self) -> None:
        """Take note of what others have written."""
        with self._lock:
            self._follow(self._project.history.since(self.topic.id, self._ledger.last))

    def ledger(self) -> Ledger:
        """Return a ledger of this moment that nobody else writes into."""
        with self._lock:
            self.refresh()
            return Ledger(self._ledger.events)

    def card(self, reviewer: int) -> Suggestion | None:
        """Return the card of a reviewer: the same one until it is decided, then what was undone, then the next."""
        with self._lock:
            self.refresh()
            desk = self.desk(reviewer)
            lying = self._open.get(reviewer)
            if lying is not None and self._waits(lying.suggestion.document, reviewer):
                return lying.suggestion
            suggestion = self._undone(reviewer) or self._next(desk, reviewer)
            if suggestion is None:
                self._open.pop(reviewer, None)
            else:
                self._open[reviewer] = OpenCard(suggestion, monotonic())
            return suggestion

    def _waits(self, document: int, reviewer: int) -> bool:
        """Tell whether a document still waits for a decision at this reviewer's desk."""
        if document in self._ledger.recently_skipped(reviewer, 1):
            return False
        return self._ledger.standing(document, None if self.topic.shared else reviewer) in (None, "skip")

    def _undone(self, reviewer: int) -> Suggestion | None:
        undone = self._ledger.undone(reviewer)
        if undone is None or not self._waits(undone.document, reviewer):
            return None
        # Shown again for the reason for which it was shown: the random sample stays one.
        return self.desk(reviewer).look(undone.document, undone.why)

    def _next(self, desk: Desk, reviewer: int) -> Suggestion | None:
        oldest = monotonic() - CARD_LIFETIME
        others = (card for other, card in self._open.items() if other != reviewer and self.topic.shared)
        held = {card.suggestion.document for card in others if card.since > oldest}
        skipped = self._ledger.recently_skipped(reviewer, SKIP_MEMORY)
        # When nothing else is left, the skipped come back at once, the one skipped longest ago first.
        return desk.next({*held, *skipped}) or (desk.look(skipped[0], None) if skipped else None)

    def label(self, reviewer: int, document: int, decision: Decision) -> Event:
        """Write a decision to the history, and learn it when it is on the disk."""
        with self._lock:
            shown = self._open.get(reviewer)
            if shown is not None and shown.suggestion.document == document:
                seen = shown.suggestion
            else:
                seen = self.desk(reviewer).look(document, "chosen")
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
            last = self._ledger.last_undoable(reviewer)
            return [] if last is None else [Event(last.document, reviewer, "undo", undoes=last.id)]

        with self._lock:
            written = self._write(take_back)
            self._open.pop(reviewer, None)
            return self._ledger.undone(reviewer) if written else None

    def resolve(self, reviewer: int, document: int, decision: Decision) -> Event | None:
        """Settle a conflict; None if there is none, or somebody was faster."""

        def settle() -> list[Event]:
            in_conflict = self._ledger.standing(document) == "conflict"
            return [Event(document, reviewer, "resolve", decision)] if in_conflict else []

        with self._lock:
            written = self._write(settle)
            return written[0] if written else None

    def enter(self, events: Sequence[Event]) -> None:
        """Write many events, such as known documents and labels from a file."""
        with self._lock:
            self._write(lambda: events)

    def _write(self, make: Callable[[], Sequence[Event]]) -> list[Event]:
        """Write what ``make`` gives when nobody else writes and all that others wrote is known."""
        with self._project.history.turn(self.topic.id) as turn:
            self._follow(turn.since(self._ledger.last))
            written = turn.add_all(make())
        self._follow(written)
        return written

    def _follow(self, events: Iterable[Event]) -> None:
        touched = self._ledger.enter(events)
        if touched:
            for desk in self._desks.values():
                desk.follow(touched)

    def change(self, topic: Topic) -> None:
        """Work on with other words, shares or queues; what was decided stays."""
        with self._lock:
            self.topic = topic
            self._desks.clear()
            self._open.clear()

    def settle(self) -> None:
        """Wait for all fits that are under way."""
        for desk in list(self._desks.values()):
            desk.settle()
