"""What a filter retrieved, why, and how it was judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np

from bayesift.evaluate import Outcomes

Reason = Literal["relevant", "query"]


class Entry(NamedTuple):
    """One retrieved document of one topic.

    Parameters
    ----------
    place : int
        Number of the document in the stream, counted from 0.
    id : str
        Its identifier, which need not be unique.
    topic : str
        The topic that retrieved it.
    reason : {"relevant", "query"}
        Whether the document looked relevant, or was retrieved to learn from its judgement (or at random).
    probability, information : float
        Probability of relevance, and information expected from the judgement in bits, at the time of the decision.
    retrieved : int
        Number of documents retrieved for the topic so far, including this one.
    n_features : int
        Number of features of the topic at the time of the decision.
    judged : bool
        Whether a judgement has come.
    relevant : bool or None
        The judgement; None if there is none yet, and for "unsure".
    n_features_after : int
        Number of features of the topic after the judgement; before it, the number at the decision.
    """

    place: int
    id: str
    topic: str
    reason: Reason
    probability: float
    information: float
    retrieved: int
    n_features: int
    judged: bool = False
    relevant: bool | None = None
    n_features_after: int = 0


class FilterRecord:
    """Everything that was retrieved, in the order of retrieval.

    Parameters
    ----------
    topics : tuple of str
        Names of the topics.

    Examples
    --------
    >>> from bayesift.filtering import Entry, FilterRecord
    >>> record = FilterRecord(("wheat",))
    >>> entry = record.add(Entry(7, "d7", "wheat", "relevant", 0.8, 0.1, 1, 12))
    >>> record.judge(7, "wheat", True, 13)
    >>> record.outcomes({"wheat": 5}).tp, record.of("wheat")[0].n_features_after
    (array([1]), 13)
    """

    def __init__(self, topics: tuple[str, ...]) -> None:
        self.topics = topics
        self._entries: dict[tuple[int, str], Entry] = {}

    def add(self, entry: Entry) -> Entry:
        """Record a retrieved document; return the entry without a judgement."""
        waiting = entry._replace(judged=False, relevant=None, n_features_after=entry.n_features)
        self._entries[entry.place, entry.topic] = waiting
        return waiting

    def judge(self, place: int, topic: str, relevant: bool | None, n_features: int) -> None:
        """Record a judgement."""
        entry = self._entries[place, topic]
        self._entries[place, topic] = entry._replace(judged=True, relevant=relevant, n_features_after=n_features)

    def get(self, place: int, topic: str) -> Entry | None:
        """Return the entry of a document and topic, None if it was not retrieved."""
        return self._entries.get((place, topic))

    def of(self, topic: str) -> list[Entry]:
        """Return what was retrieved for one topic."""
        if topic not in self.topics:
            raise ValueError(f"topic is {topic!r}; expected one of {', '.join(map(repr, self.topics))}")
        return [entry for entry in self if entry.topic == topic]

    def outcomes(self, n_relevant: Mapping[str, int] | None = None) -> Outcomes:
        """Count right and wrong retrievals of each topic, for the measures of :mod:`bayesift.evaluate`.

        Parameters
        ----------
        n_relevant : mapping of str to int, optional
            How many documents of the stream are relevant to each topic; by default those that were retrieved.

        Returns
        -------
        outcomes : Outcomes
            ``tp``: judged relevant; ``fp``: all others retrieved, including those without a judgement; ``fn``: relevant
            documents that were missed; ``tn``: not known, set to 0.
        """
        column = {name: k for k, name in enumerate(self.topics)}
        tp, retrieved = np.zeros(len(column), dtype=np.int64), np.zeros(len(column), dtype=np.int64)
        for entry in self:
            retrieved[column[entry.topic]] += 1
            tp[column[entry.topic]] += entry.relevant is True
        total = tp if n_relevant is None else np.array([n_relevant[name] for name in self.topics], dtype=np.int64)
        if np.any(total < tp):
            wrong = self.topics[int(np.argmax(total < tp))]
            raise ValueError(f"n_relevant[{wrong!r}] is less than the {tp[column[wrong]]} found relevant")
        return Outcomes(tp=tp, fp=retrieved - tp, fn=total - tp, tn=np.zeros_like(tp))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        judged = sum(entry.judged for entry in self)
        return f"FilterRecord({len(self.topics)} topics, {len(self)} retrieved, {judged} judged)"
