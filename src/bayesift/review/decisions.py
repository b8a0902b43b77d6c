"""What was decided about the documents of a topic: its events, and everything that follows from them.

The events are the source of truth: they are stored, and only ever added to. :class:`Decisions` derives the present
state from them, for the page and for exports; :class:`Judgements` is the part that a queue's engine learns from.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesift._typing import BoolArray

if TYPE_CHECKING:
    # The engine also works without a database.
    from bayesift.review.storage import Event

#: The present status of a document; ``conflict`` if reviewers contradict each other and nobody has resolved it.
Status = Literal["relevant", "irrelevant", "unsure", "skip", "conflict"]

#: Actions that the key for undo takes back one by one.
_UNDOABLE = ("label", "resolve")

#: Actions that hold even if only one person made them.
_SINGLE = ("known", "import")

#: How many reviewers read each document when reading is double.
_TWO = 2

_RELEVANT = {"relevant": True, "irrelevant": False}


class Judgement(NamedTuple):
    """The judgement of a document (None: unsure), why it was shown, and how probable it was before, if known."""

    relevant: bool | None
    why: str
    probability: float | None = None


class Judgements:
    """The present judgements of n documents, in order, and the counts that are needed all the time.

    Parameters
    ----------
    n : int
        Number of documents.
    judged : iterable of (document, relevant, why) or (document, relevant, why, probability)
        Judgements to begin with, in order.

    Attributes
    ----------
    open : array of shape (n,)
        Which documents have no judgement.
    shown : Counter
        How many were shown for each reason.

    Examples
    --------
    >>> from bayesift.review.decisions import Judgement, Judgements
    >>> judgements = Judgements(3)
    >>> judgements.set(2, Judgement(True, "random"))
    >>> judgements.found, judgements.unjudged
    (1, 2)
    """

    def __init__(self, n: int, judged: Iterable[tuple[Any, ...]] = ()) -> None:
        self._judgements: dict[int, Judgement] = {}
        self._changed: list[int] = []
        self._outcomes: Counter[bool | None] = Counter()
        self.open: BoolArray = np.ones(n, dtype=bool)
        self.shown: Counter[str] = Counter()
        for document, *judgement in judged:
            self.set(document, Judgement(*judgement))
        self.take_changes()

    def copy(self) -> Judgements:
        """Return a copy of the present judgements."""
        made = Judgements(0)
        made._judgements, made._outcomes = dict(self._judgements), self._outcomes.copy()
        made.open, made.shown = self.open.copy(), self.shown.copy()
        return made

    def __len__(self) -> int:
        return len(self._judgements)

    def __contains__(self, document: object) -> bool:
        return document in self._judgements

    def __iter__(self) -> Iterator[tuple[int, bool | None, str]]:
        """Iterate over document, judgement and reason, in order."""
        return ((document, said.relevant, said.why) for document, said in self._judgements.items())

    def in_order(self) -> list[Judgement]:
        """Return the judgements in order; safe while another thread writes."""
        return list(self._judgements.values())

    @property
    def found(self) -> int:
        """Documents judged relevant."""
        return self._outcomes[True]

    @property
    def irrelevant(self) -> int:
        """Documents judged irrelevant."""
        return self._outcomes[False]

    @property
    def unsure(self) -> int:
        """Documents put aside."""
        return self._outcomes[None]

    @property
    def unjudged(self) -> int:
        """Documents without a judgement."""
        return len(self.open) - len(self)

    def get(self, document: int) -> Judgement | None:
        """Return the judgement of a document."""
        return self._judgements.get(document)

    def set(self, document: int, judgement: Judgement | None) -> None:
        """Replace the judgement of a document; None removes it. A new or different judgement comes last."""
        document = int(document)
        earlier = self._judgements.get(document)
        if judgement is earlier or (judgement and earlier and judgement[:2] == earlier[:2]):
            return
        if earlier is not None:
            del self._judgements[document]
            self._count(earlier, -1)
        if judgement is not None:
            relevant = None if judgement.relevant is None else bool(judgement.relevant)
            self._judgements[document] = judgement = judgement._replace(relevant=relevant)
            self._count(judgement, 1)
        self.open[document] = judgement is None
        self._changed.append(document)

    def take_changes(self) -> list[int]:
        """Return the documents whose judgements have changed since the last call."""
        changed, self._changed = self._changed, []
        return changed

    def learnable(self) -> dict[int, bool]:
        """Return the documents judged relevant or irrelevant; safe while another thread writes."""
        kept = dict(self._judgements)
        return {document: judgement.relevant for document, judgement in kept.items() if judgement.relevant is not None}

    def _count(self, judgement: Judgement, change: int) -> None:
        self.shown[judgement.why] += change
        self._outcomes[judgement.relevant] += change


class Decisions:
    """The events of one topic and what follows from them.

    Of the decisions of a reviewer about a document, the last one that was not taken back holds. For all reviewers
    together, the resolution of a conflict comes before everything else. Copies of a document are judged once: a
    decision about one of them is a decision about all.

    Parameters
    ----------
    events : iterable of Event
        Events to begin with.
    same : mapping
        From the place of each copy of a document to that of its original.
    double : bool
        Whether a document is decided only when two reviewers have decided, or somebody has resolved their conflict.
    mine : mapping
        Which documents belong to each reviewer who has a share of the work.

    Attributes
    ----------
    last : int
        Number of the last event that was added.
    events : list of Event
        All events, in order.
    """

    def __init__(
        self,
        events: Iterable[Event] = (),
        same: Mapping[int, int] = MappingProxyType({}),
        *,
        double: bool = False,
        mine: Mapping[int, BoolArray] = MappingProxyType({}),
    ) -> None:
        self.last = 0
        self.same = same
        self.double = double
        self.mine = mine
        self.events: list[Event] = []
        # Tuples, so that making a copy need not go through all documents.
        self._by_document: dict[int, tuple[Event, ...]] = {}
        self._undoable: dict[int, list[Event]] = defaultdict(list)
        self._undone: dict[int, list[Event]] = defaultdict(list)
        self._judgements: dict[int | None, Judgements] = {}
        self.add(events)

    def add(self, events: Iterable[Event]) -> None:
        """Add events that follow the last one; the judgements of all queues are updated."""
        for event in events:
            if event.action == "undo":
                self._take_back(event)
            else:
                self._put(event)
            self.events.append(event)
            self.last = event.id
            for reviewer, judgements in self._judgements.items():
                document = self.original(event.document)
                judgements.set(document, self._judgement(document, reviewer))

    def with_events(self, events: Iterable[Event]) -> Decisions:
        """Return a copy with more events after the last one; this object stays as it is."""
        made = Decisions((), self.same, double=self.double, mine=self.mine)
        made.last = self.last
        made.events = self.events.copy()
        made._by_document = self._by_document.copy()
        made._undoable.update({reviewer: some.copy() for reviewer, some in self._undoable.items()})
        made._undone.update({reviewer: some.copy() for reviewer, some in self._undone.items()})
        made.add(events)
        return made

    def original(self, document: int) -> int:
        """Return the document that stands for this one and its copies."""
        return self.same.get(document, document)

    def _put(self, event: Event) -> None:
        document = self.original(event.document)
        self._by_document[document] = (*self._by_document.get(document, ()), event)
        if event.action in _UNDOABLE:
            self._undoable[event.reviewer].append(event)
        undone = self._undone[event.reviewer]
        self._undone[event.reviewer] = [earlier for earlier in undone if self.original(earlier.document) != document]

    def _take_back(self, undo: Event) -> None:
        own = self._undoable[undo.reviewer]
        # Nearly always the last one.
        place = next(place for place in range(len(own) - 1, -1, -1) if own[place].id == undo.undoes)
        taken = own.pop(place)
        document = self.original(taken.document)
        self._by_document[document] = tuple(event for event in self._by_document[document] if event.id != taken.id)
        self._undone[undo.reviewer].append(taken)

    def judgements(self, n_documents: int, reviewer: int | None = None) -> Judgements:
        """Return the judgements to learn for one reviewer or for all; they are updated by later events."""
        if reviewer not in self._judgements:
            held = ((document, self._judgement(document, reviewer)) for document in self.decided(reviewer))
            judged: list[tuple[Any, ...]] = [(document, *said) for document, said in held if said is not None]
            judged.extend((document, None, "elsewhere") for document in self._elsewhere(n_documents, reviewer))
            # Copies are put aside, so that nothing is learned or drawn twice.
            judged.extend((copy, None, "duplicate") for copy in self.same if copy < n_documents)
            self._judgements[reviewer] = Judgements(n_documents, judged)
        return self._judgements[reviewer]

    def _judgement(self, document: int, reviewer: int | None) -> Judgement | None:
        status = self.status(document, reviewer)
        if status in (None, "skip"):
            return Judgement(None, "elsewhere") if self.is_elsewhere(document, reviewer) else None
        said = self._first(document, reviewer)
        return Judgement(
            _RELEVANT.get(str(status)), self.reason(document, reviewer), said.probability if said else None
        )

    def is_elsewhere(self, document: int, reviewer: int | None) -> bool:
        """Tell whether a document a reviewer has not decided is for others: by shares, or because two have read it."""
        if reviewer is None:
            return False
        if reviewer in self.mine and not self.mine[reviewer][self.original(document)]:
            return True
        return self.double and len(self.readers(document) - {reviewer}) >= _TWO

    def readers(self, document: int) -> set[int]:
        """Return who has decided about a document, if only as unsure; skipping it does not count."""
        return {who for who, event in self.by_reviewer(document).items() if event.decision != "skip"}

    def _elsewhere(self, n_documents: int, reviewer: int | None) -> list[int]:
        """Return the documents that are for others, without copies."""
        if reviewer is None or not (self.double or reviewer in self.mine):
            return []
        candidates = range(n_documents) if reviewer in self.mine else list(self._touched())
        return [
            document
            for document in candidates
            if document not in self.same
            and self.status(document, reviewer) in (None, "skip")
            and self.is_elsewhere(document, reviewer)
        ]

    def last_undoable(self, reviewer: int) -> Event | None:
        """Return the event that an undo by the reviewer would take back."""
        events = self._undoable[reviewer]
        return events[-1] if events else None

    def undone(self, reviewer: int) -> Event | None:
        """Return what the reviewer last took back and has not decided again: the card to show next."""
        events = self._undone[reviewer]
        return events[-1] if events else None

    def by_reviewer(self, document: int) -> dict[int, Event]:
        """Return the decision of each reviewer that holds; the resolution of a conflict is not included."""
        events = self._by_document.get(self.original(document), ())
        return {event.reviewer: event for event in events if event.action != "resolve"}

    def resolution(self, document: int) -> Event | None:
        """Return the event by which a conflict was resolved."""
        events = self._by_document.get(self.original(document), ())
        return next((event for event in reversed(events) if event.action == "resolve"), None)

    def status(self, document: int, reviewer: int | None = None) -> Status | None:
        """Return the status of a document, for one reviewer or for all together; None if nobody has decided."""
        events = self._by_document.get(self.original(document))
        if not events:
            return None
        if len(events) == 1 and not self.double:
            # Most documents are decided once, by one reviewer, and there may be very many of them.
            only = events[0]
            return only.decision if reviewer in (None, only.reviewer) or only.action == "resolve" else None
        resolution = self.resolution(document)
        if resolution is not None:
            return resolution.decision
        if reviewer is not None:
            own = self.by_reviewer(document).get(reviewer)
            return None if own is None else own.decision
        held = self.by_reviewer(document)
        if self.double and self._waits_for_another(held.values()):
            return None
        decisions = {event.decision for event in held.values()}
        if {"relevant", "irrelevant"} <= decisions:
            return "conflict"
        order: tuple[Status, ...] = ("relevant", "irrelevant", "unsure", "skip")
        return next(decision for decision in order if decision in decisions)

    def _waits_for_another(self, held: Iterable[Event]) -> bool:
        """Tell whether a second reviewer has to decide; not needed if it was known before, or decided in a file."""
        given = [event for event in held if event.decision != "skip"]
        return len(given) < _TWO and not any(event.action in _SINGLE for event in given)

    def reason(self, document: int, reviewer: int | None = None) -> str:
        """Return why a document was first shown, according to the decisions that hold."""
        first = self._first(document, reviewer)
        return "chosen" if first is None or first.why is None else first.why

    def _first(self, document: int, reviewer: int | None) -> Event | None:
        events = self._by_document.get(self.original(document), ())
        return next((event for event in events if reviewer in (None, event.reviewer)), None)

    def statuses(self) -> dict[int, Status]:
        """Return the status of each document that anybody has decided about, for all reviewers together."""
        held = ((document, self.status(document)) for document in self._touched())
        return {document: status for document, status in held if status is not None}

    def exclusion(self, document: int, reviewer: int | None = None) -> str | None:
        """Return the reason why a document is excluded, by whoever resolved a conflict or was first to name one.

        None if it is not excluded, or nobody gave a reason.
        """
        if self.status(document, reviewer) != "irrelevant":
            return None
        resolution = self.resolution(document)
        held = [resolution] if resolution else self.by_reviewer(document).values()
        given = (event.reason for event in held if reviewer in (None, event.reviewer) or resolution)
        return next((reason for reason in given if reason), None)

    def decided(self, reviewer: int | None = None) -> list[int]:
        """Return the decided documents, for one reviewer or for all, in the order in which they were decided."""
        since = {}
        for document in self._touched():
            status = self.status(document, reviewer)
            events = self._by_document[document]
            if status is not None and len(events) == 1:
                since[document] = events[0].id
            elif status is not None:
                resolution = self.resolution(document)
                held = [resolution] if resolution else self.by_reviewer(document).values()
                agreeing = [event.id for event in held if event.decision == status]
                since[document] = min(agreeing) if agreeing else max(event.id for event in held)
        return sorted(since, key=since.__getitem__)

    def in_force(self, reviewer: int | None = None) -> list[Event]:
        """Return one event for each document that is decided and not skipped, in order, with its status and why.

        If reviewers contradict each other, the decision of the event is None.
        """
        events = []
        for document in self.decided(reviewer):
            status = self.status(document, reviewer)
            only = self._by_document[document]
            own = len(only) == 1 and reviewer in (None, only[0].reviewer) and only[0].document == document
            if own and status != "skip" and only[0].why:
                events.append(only[0])
            elif status != "skip":
                held = self.by_reviewer(document)
                event = held[reviewer] if reviewer in held else next(iter(held.values()), self.resolution(document))
                assert event is not None
                decision = None if status == "conflict" else status
                why = self.reason(document, reviewer)
                events.append(event._replace(document=document, decision=decision, why=why))
        return events

    def recently_skipped(self, reviewer: int, memory: int) -> list[int]:
        """Return the documents that the reviewer skipped among the last ``memory`` decisions that hold."""
        recent = self._undoable[reviewer][-memory:]
        skipped = dict.fromkeys(self.original(event.document) for event in recent if event.decision == "skip")
        return [document for document in skipped if self.status(document, reviewer) == "skip"]

    def conflicts(self) -> list[int]:
        """Return the documents about which reviewers contradict each other."""
        return [document for document in self._touched() if self.status(document) == "conflict"]

    def history(self, document: int) -> list[Event]:
        """Return everything that ever happened to a document and its copies."""
        original = self.original(document)
        return [event for event in self.events if self.original(event.document) == original]

    def agreements(self, reviewers: Iterable[int]) -> list[Agreement]:
        """Compare all pairs of reviewers who have decided about a common document; resolutions do not count."""
        pairs: dict[tuple[int, int], list[tuple[bool, bool]]] = {}
        for document in self._touched():
            given = {
                reviewer: _RELEVANT[event.decision]
                for reviewer, event in self.by_reviewer(document).items()
                if event.decision in _RELEVANT
            }
            for first, second in combinations(sorted(given), 2):
                pairs.setdefault((first, second), []).append((given[first], given[second]))
        found = []
        for first, second in combinations(sorted(reviewers), 2):
            answers = pairs.get((first, second))
            if answers:
                share = sum(one == other for one, other in answers) / len(answers)
                found.append(Agreement(first, second, len(answers), share, kappa(answers)))
        return found

    def _touched(self) -> Iterator[int]:
        """Return the documents about which any decision holds."""
        return (document for document, events in self._by_document.items() if events)


class Agreement(NamedTuple):
    """Two reviewers, and the documents that both judged relevant or irrelevant.

    Parameters
    ----------
    first, second : int
        The reviewers.
    n_documents : int
        Number of documents that both have decided.
    share : float
        The share of them on which they agree.
    kappa : float or None
        Cohen's κ; None if both always gave the same single answer, or there is no document.
    """

    first: int
    second: int
    n_documents: int
    share: float
    kappa: float | None


def kappa(answers: list[tuple[bool, bool]]) -> float | None:
    r"""Compute Cohen's κ of pairs of answers.

    κ = (p − e)/(1 − e), p the share of equal answers, e its expectation if both answered at random at their own rates.

    Examples
    --------
    >>> from bayesift.review.decisions import kappa
    >>> kappa([(True, True), (True, False), (False, False), (False, False)])
    0.5
    """
    if not answers:
        return None
    n = len(answers)
    share = sum(first == second for first, second in answers) / n
    yes = sum(first for first, _ in answers) / n, sum(second for _, second in answers) / n
    by_chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if by_chance == 1 else (share - by_chance) / (1 - by_chance)
