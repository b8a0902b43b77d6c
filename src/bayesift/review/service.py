"""A project at work: one room for each topic, all over the same pile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from bayesift.review.engine import Pile
from bayesift.review.room import Room
from bayesift.review.storage import Event, Project, Topic


class Service:
    """The project, the pile as the engine reads it, and the rooms of the topics.

    Parameters
    ----------
    project : Project
        The open project; closing the service does not close it.
    pile : Pile
        Its documents.
    """

    def __init__(self, project: Project, pile: Pile) -> None:
        self.project = project
        self.pile = pile
        self.n_documents = len(project.documents)
        # One fit at a time: the cores are for those who wait for a card.
        self._background = ThreadPoolExecutor(1, "refit")
        self._rooms: dict[int, Room] = {}
        self._lock = Lock()

    def room(self, topic: int) -> Room:
        """Return the room of a topic.

        Raises
        ------
        LookupError
            If there is no such topic.
        """
        with self._lock:
            if topic not in self._rooms:
                found = self.project.topics.get(topic)
                if found is None:
                    raise LookupError(f"there is no topic {topic}")
                self._rooms[topic] = Room(self.project, self.pile, found, self._background)
            return self._rooms[topic]

    def add_topic(self, topic: Topic, reviewer: int, known: tuple[int, ...] = ()) -> Room:
        """Add a topic, with documents that are known to be relevant."""
        room = self.room(self.project.topics.add(topic).id)
        if known:
            room.enter([Event(document, reviewer, "known", "relevant", why="known") for document in known])
        return room

    def change_topic(self, topic: Topic) -> None:
        """Write a topic anew and work on with it."""
        self.project.topics.change(topic)
        self.room(topic.id).change(topic)

    def settle(self) -> None:
        """Wait for all fits that are under way."""
        for room in list(self._rooms.values()):
            room.settle()

    def close(self) -> None:
        """Stop the background work; a fit that has begun is finished."""
        self._background.shutdown(cancel_futures=True)
