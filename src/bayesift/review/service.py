"""An open project: its documents as the engine reads them, their copies, and the review of each topic."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import RLock

from bayesift.review.engine import Corpus
from bayesift.review.storage import COMMAND_LINE, Actor, Copy, Event, Project, Topic
from bayesift.review.topic_review import TopicReview


class TopicChangedError(ValueError):
    """Somebody else has changed a topic meanwhile."""


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
        # One fit at a time, to leave cores for people who wait for a card.
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
            # Reading a long history takes a while, during which other topics are not blocked.
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
        """Number of documents that are judged: copies of others do not count."""
        return self.n_documents - len(self.copies)

    def group(self, document: int) -> list[int]:
        """Return a document and all its copies, in order."""
        held = self.copies.get(document)
        return self._groups.get(document if held is None else held.original, [document])

    def regroup(self) -> None:
        """Continue with the groups of copies that the project has now; decisions stay."""
        # Read under the lock: what was read before another join must not replace what was read after it.
        with self._lock:
            copies = self.project.duplicates.all()
            groups: dict[int, list[int]] = {}
            for place, copy in copies.items():
                groups.setdefault(copy.original, [copy.original]).append(place)
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

    def change_topic(
        self, topic: Topic, by: Actor = COMMAND_LINE, is_expected: Callable[[Topic], bool] = lambda before: True
    ) -> None:
        """Replace a topic and continue with it.

        Parameters
        ----------
        topic : Topic
            The new topic.
        by : Actor
            Who changes it.
        is_expected : callable
            Tells whether the present topic is still the one that was edited.

        Raises
        ------
        TopicChangedError
            If it is not.
        """
        # Of two changes, the last one written is the one to continue with.
        with self._lock:
            if not is_expected(self.topic(topic.id).topic):
                raise TopicChangedError(
                    "somebody has changed these settings since you opened them, and yours are not saved yet; look at "
                    "theirs in another window, then save again to replace them"
                )
            self.project.topics.change(topic, by)
            self.topic(topic.id).change(topic)

    def wait_for_fits(self) -> None:
        """Wait for all running fits."""
        for review in list(self._reviews.values()):
            review.wait_for_fits()

    def close(self) -> None:
        """Stop the background work; a fit that has begun is finished."""
        self._background.shutdown(cancel_futures=True)
