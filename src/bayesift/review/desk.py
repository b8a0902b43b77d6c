"""One queue of one topic: an engine that follows the ledger, and refits in the background."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import Executor, Future
from logging import getLogger
from threading import RLock
from typing import Any

from bayesift._typing import FloatArray
from bayesift.review.engine import Highlight, Knowledge, Mix, Pile, ReviewEngine, Stopping, Suggestion
from bayesift.review.ledger import Ledger
from bayesift.review.storage import Topic

#: A full fit is due when so many labels are new, or this share of all labels.
_NEW_LABELS = 5
_NEW_SHARE = 0.1

#: While a check goes on, every card is drawn at random.
_BY_LOT = Mix(0.0, 0.0, 1.0)

Label = tuple[bool | None, str]


class Desk:
    """Where cards come from: for all reviewers of a topic together, or for one.

    The ledger decides what the engine knows: whatever happened to a document, the engine is brought to what
    holds now. Every method may be called from any thread.

    Parameters
    ----------
    pile : Pile
        The documents as the engine reads them.
    topic : Topic
        What is looked for.
    ledger : Ledger
        What was decided about it.
    reviewer : int, optional
        Whose decisions count; everybody's by default.
    background : Executor
        Runs the full fits.
    """

    def __init__(self, pile: Pile, topic: Topic, ledger: Ledger, reviewer: int | None, background: Executor) -> None:
        self._lock = RLock()
        self._ledger = ledger
        self._reviewer = reviewer
        self._background = background
        wanted = {document: self._wanted(document) for document in ledger.in_order(reviewer)}
        self._known: dict[int, Label] = {document: label for document, label in wanted.items() if label is not None}
        self._relevant = sum(relevant is True for relevant, _ in self._known.values())
        self._usual = Mix(1.0 - topic.informative - topic.random, topic.informative, topic.random)
        self._engine = ReviewEngine.from_labels(
            pile,
            Knowledge(topic.description or topic.name, topic.keywords_for, topic.keywords_against),
            [(document, *label) for document, label in self._known.items()],
            mix=self._usual,
            seed=topic.id,
        )
        self._new = 0
        self._fitting: Future[None] | None = None

    def follow(self, documents: Iterable[int]) -> None:
        """Bring the engine to what the ledger says about some documents."""
        with self._lock:
            for document in documents:
                known, wanted = self._known.get(document), self._wanted(document)
                if wanted == known:
                    continue
                if wanted is None:
                    self._engine.unlabel(document)
                    del self._known[document]
                else:
                    self._engine.label(document, wanted[0], why=wanted[1])
                    self._known[document] = wanted
                if wanted is not None and wanted[0]:
                    # What was looked for at random is found: there is more, and the usual way finds it faster.
                    self.check(False)
                self._relevant += (wanted is not None and wanted[0] is True) - (known is not None and known[0] is True)
                self._new += 1
            self._fit_if_due()

    def _wanted(self, document: int) -> Label | None:
        standing = self._ledger.standing(document, self._reviewer)
        if standing in (None, "skip"):
            return None
        relevant = {"relevant": True, "irrelevant": False}.get(str(standing))
        return relevant, self._ledger.reason(document, self._reviewer)

    def _fit_if_due(self) -> None:
        busy = self._fitting is not None and not self._fitting.done()
        if not busy and self._new >= max(_NEW_LABELS, _NEW_SHARE * len(self._known)):
            self._new = 0
            self._fitting = self._background.submit(self._fit)

    def _fit(self) -> None:
        try:
            refit = self._engine.refit()
            with self._lock:
                self._engine.adopt(refit)
        except Exception:
            # The belief that is learnt card by card goes on; whoever runs the server should know.
            getLogger("bayesift.review").exception("a fit in the background failed")
            raise

    def check(self, on: bool) -> None:
        """Draw all cards at random, until a relevant document turns up; or no longer."""
        with self._lock:
            self._engine.mix = _BY_LOT if on else self._usual

    @property
    def checking(self) -> bool:
        """Whether all cards are drawn at random."""
        return self._engine.mix is _BY_LOT

    def settle(self) -> None:
        """Wait for the fit under way, if there is one."""
        if self._fitting is not None:
            self._fitting.result()

    def counts(self) -> tuple[int, int]:
        """Tell how many documents are decided, and how many of them relevant."""
        with self._lock:
            return len(self._known), self._relevant

    def next(self, exclude: Collection[int]) -> Suggestion | None:
        """Return the next card that is not among the excluded, or None when all are decided."""
        with self._lock:
            found = self._engine.next(1, exclude)
        return found[0] if found else None

    def look(self, document: int, why: str | None = None) -> Suggestion:
        """Return the card of any document, shown for the reason given, or for the one that is known."""
        with self._lock:
            return self._engine.look(document)._replace(why=why or self._ledger.reason(document, self._reviewer))

    def probabilities(self) -> FloatArray:
        """Return the probability of every document."""
        with self._lock:
            return self._engine.probabilities()

    def highlights(self, document: int) -> list[Highlight]:
        """Return the words of a document that speak for and against."""
        with self._lock:
            return self._engine.highlights(document)

    def stopping(self, target_recall: float, confidence: float) -> Stopping:
        """Tell how much is left to be found."""
        with self._lock:
            return self._engine.stopping(target_recall, confidence)

    def model(self) -> Any:
        """Return vectoriser and classifier of this moment as one estimator."""
        with self._lock:
            return self._engine.model()
