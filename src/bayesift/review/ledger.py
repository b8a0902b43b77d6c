"""What holds after all that was decided and taken back: the history of a topic, added up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal

from bayesift.review.storage import Event

#: How a document stands; ``conflict`` where reviewers contradict each other and nobody has settled it.
Standing = Literal["relevant", "irrelevant", "unsure", "skip", "conflict"]

#: These can be taken back one by one with the key for undo.
_UNDOABLE = ("label", "resolve")


class Ledger:
    """The events of one topic and what follows from them.

    The last decision of a reviewer about a document that was not taken back is the one that holds. For all
    reviewers together a settlement of a conflict comes before everything else.

    Attributes
    ----------
    last : int
        Number of the last event that was entered.
    events : list of Event
        All events, in order.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.last = 0
        self.events: list[Event] = []
        self._by_document: dict[int, list[Event]] = defaultdict(list)
        self._undoable: dict[int, list[Event]] = defaultdict(list)
        self._undone: dict[int, list[Event]] = defaultdict(list)
        self.enter(events)

    def enter(self, events: Iterable[Event]) -> list[int]:
        """Enter events that follow the last one; return the documents they are about."""
        touched = []
        for event in events:
            if event.action == "undo":
                self._take_back(event)
            else:
                self._put(event)
            self.events.append(event)
            self.last = event.id
            touched.append(event.document)
        return touched

    def _put(self, event: Event) -> None:
        self._by_document[event.document].append(event)
        if event.action in _UNDOABLE:
            self._undoable[event.reviewer].append(event)
        undone = self._undone[event.reviewer]
        self._undone[event.reviewer] = [earlier for earlier in undone if earlier.document != event.document]

    def _take_back(self, undo: Event) -> None:
        taken = next(event for event in reversed(self._undoable[undo.reviewer]) if event.id == undo.undoes)
        self._undoable[undo.reviewer].remove(taken)
        self._by_document[taken.document].remove(taken)
        self._undone[undo.reviewer].append(taken)

    def last_undoable(self, reviewer: int) -> Event | None:
        """Return the event that an undo of the reviewer would take back."""
        events = self._undoable[reviewer]
        return events[-1] if events else None

    def undone(self, reviewer: int) -> Event | None:
        """Return what the reviewer took back last and has not decided again: the card to show next."""
        events = self._undone[reviewer]
        return events[-1] if events else None

    def held(self, document: int) -> dict[int, Event]:
        """Return the decisions that hold, by reviewer; how a conflict was settled is none of them."""
        events = self._by_document.get(document, ())
        return {event.reviewer: event for event in events if event.action != "resolve"}

    def settlement(self, document: int) -> Event | None:
        """Return the event by which a conflict was settled."""
        events = self._by_document.get(document, ())
        return next((event for event in reversed(events) if event.action == "resolve"), None)

    def standing(self, document: int, reviewer: int | None = None) -> Standing | None:
        """Tell how a document stands, for one reviewer or for all together; None if nobody has decided."""
        events = self._by_document.get(document)
        if not events:
            return None
        settled = self.settlement(document)
        if settled is not None:
            return settled.decision
        if reviewer is not None:
            own = self.held(document).get(reviewer)
            return None if own is None else own.decision
        decisions = {event.decision for event in self.held(document).values()}
        if {"relevant", "irrelevant"} <= decisions:
            return "conflict"
        order: tuple[Standing, ...] = ("relevant", "irrelevant", "unsure", "skip")
        return next(decision for decision in order if decision in decisions)

    def reason(self, document: int, reviewer: int | None = None) -> str:
        """Tell why a document was first shown, of the decisions that hold."""
        events = self._by_document.get(document, ())
        first = next((event for event in events if reviewer in (None, event.reviewer)), None)
        return "chosen" if first is None or first.why is None else first.why

    def decided(self) -> Iterator[int]:
        """Return the documents about which any decision holds."""
        return (document for document, events in self._by_document.items() if events)

    def in_order(self, reviewer: int | None = None) -> list[int]:
        """Return the documents that are decided, for one reviewer or for all, by when they came to be so."""
        since = {}
        for document in self.decided():
            standing = self.standing(document, reviewer)
            if standing is not None:
                settled = self.settlement(document)
                held = [settled] if settled else self.held(document).values()
                agreeing = [event.id for event in held if event.decision == standing]
                since[document] = min(agreeing) if agreeing else max(event.id for event in held)
        return sorted(since, key=since.__getitem__)

    def counts(self, reviewer: int | None = None) -> tuple[int, int]:
        """Tell how many documents are decided, skipped ones not counted, and how many of them relevant."""
        standings = [self.standing(document, reviewer) for document in self.decided()]
        decided = [standing for standing in standings if standing not in (None, "skip")]
        return len(decided), decided.count("relevant")

    def recently_skipped(self, reviewer: int, memory: int) -> list[int]:
        """Return the documents that the reviewer skipped among the last ``memory`` decisions that hold."""
        recent = self._undoable[reviewer][-memory:]
        skipped = dict.fromkeys(event.document for event in recent if event.decision == "skip")
        return [document for document in skipped if self.standing(document, reviewer) == "skip"]

    def conflicts(self) -> list[int]:
        """Return the documents about which reviewers contradict each other."""
        return [document for document in self.decided() if self.standing(document) == "conflict"]

    def history(self, document: int) -> list[Event]:
        """Return everything that ever happened to a document."""
        return [event for event in self.events if event.document == document]
