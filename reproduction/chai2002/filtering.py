"""The systems of tables 4 and 5 of Chai, Ng & Chieu (2002): filters with and without retraining and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesift.evaluate import Outcomes, precision, recall, t9p, t9u, t11u
from bayesift.filtering import AdaptiveFilter
from bayesift.text import TextVectorizer
from reproduction.catalogue import Family, Runner
from reproduction.chai2002.streams import Stream, stream_of

#: The systems that are ours: retraining on past relevant documents (rel), and queries by expected information (ig) or
#: at random (rnd).
SYSTEMS: dict[str, dict[str, Any]] = {
    "pptron+rel+ig": {"relearn_relevant": True, "query": "information"},
    "pptron+ig": {"relearn_relevant": False, "query": "information"},
    "pptron+rnd": {"relearn_relevant": False, "query": "random"},
    "pptron+rel": {"relearn_relevant": True, "query": None},
    "pptron": {"relearn_relevant": False, "query": None},
}
#: Seeds of the random queries; numbers of that system are means over them.
SEEDS = (0, 1, 2, 3, 4)
#: Features of a topic where all judgements of a collection are known, as in table 2; with few there is no limit.
MOST_FEATURES = 300

_FAMILY = Family(
    "chai2002-filtering",
    (
        "reproduction.chai2002.filtering",
        "reproduction.chai2002.streams",
        "bayesift.filtering",
        "bayesift.online",
        "bayesift.text",
    ),
    ("reuters21578", "ohsumed", "cohen2006", "trec9", "smart"),
)


class Filtered(NamedTuple):
    """What one system did with a stream: a row of ``events`` for each retrieved document, in order.

    Parameters
    ----------
    topics : list of str
        Names of the topics.
    n_documents : int
        Documents of the stream.
    n_relevant, n_features : array of shape (n_topics,)
        Relevant documents of the stream, and features of the topic before it.
    events : array of shape (n_retrieved, 5)
        Number of the topic, place in the stream, whether it was a query, whether it is relevant, and the features of
        the topic after the judgement.
    """

    topics: list[str]
    n_documents: int
    n_relevant: NDArray[Any]
    n_features: NDArray[Any]
    events: NDArray[Any]

    def outcomes(self, queried: bool | None = None) -> Outcomes:
        """Count right and wrong retrievals of each topic; of all documents, of queries, or of the others."""
        chosen = self.events if queried is None else self.events[self.events[:, 2] == queried]
        n_topics = len(self.topics)
        tp = np.bincount(chosen[chosen[:, 3] == 1, 0], minlength=n_topics)
        fp = np.bincount(chosen[chosen[:, 3] == 0, 0], minlength=n_topics)
        return Outcomes(tp, fp, self.n_relevant - tp, self.n_documents - self.n_relevant - fp)

    def growth(self, places: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the relevant documents retrieved and the features before each place, means over topics."""
        found, features = np.zeros(len(places)), np.zeros(len(places))
        for k, start in enumerate(self.n_features):
            own = self.events[self.events[:, 0] == k]
            before = np.searchsorted(own[:, 1], places)
            found += np.append(0, np.cumsum(own[:, 3]))[before]
            features += np.append(start, own[:, 4])[before]
        return found / len(self.topics), features / len(self.topics)


def measures(filtered: Filtered) -> dict[str, float]:
    """Compute the rows of table 4.

    A topic for which nothing was retrieved has a precision of 0. The scaled utility of a topic is T9U as a share of
    the utility of all relevant documents.
    """
    found = filtered.outcomes()
    shares = t9u(found) / (2 * filtered.n_relevant)
    return {
        "retrieved": float(np.sum(found.tp + found.fp)),
        "relevant retrieved": float(np.sum(found.tp)),
        "macro recall, %": 100 * recall(found, average="macro"),
        "macro precision, %": 100 * precision(found, average="macro", empty=0),
        "mean T9P, %": 100 * t9p(found, average="macro"),
        "mean utility": t11u(found, average="macro"),
        "mean T9U": t9u(found, average="macro"),
        "mean scaled utility": float(np.mean(shares)),
        "zero returns": float(np.count_nonzero(found.tp + found.fp == 0)),
    }


def filtered_by_all(
    runner: Runner, streams: Sequence[str], seeds: Sequence[int]
) -> dict[str, dict[str, list[Filtered]]]:
    """Run all systems on all streams, or take what was run before: for each a list of one result, or one per seed."""
    settings: list[dict[str, Any]] = [
        {"stream": stream, "system": system, "seed": seed}
        for stream in streams
        for system, options in SYSTEMS.items()
        for seed in (seeds if options["query"] == "random" else (0,))
    ]
    found = runner.pieces(_FAMILY, settings, lambda setting: _piece(runner.n_jobs, setting), stage="filters")
    result: dict[str, dict[str, list[Filtered]]] = {stream: {system: [] for system in SYSTEMS} for stream in streams}
    for setting, value in zip(settings, found, strict=True):
        arrays = {name: np.array(value[name], dtype=np.int64) for name in ("n_relevant", "n_features")}
        events = np.array(value["events"], dtype=np.int64).reshape(-1, 5)
        result[setting["stream"]][setting["system"]].append(Filtered(**{**value, **arrays, "events": events}))
    return result


def _piece(n_jobs: int, setting: Mapping[str, Any]) -> dict[str, Any]:
    limit = None if setting["stream"].endswith("few") else MOST_FEATURES
    return filter_stream(stream_of(setting["stream"]), setting["system"], setting["seed"], limit, n_jobs)._asdict()


def filter_stream(
    stream: Stream, system: str, seed: int = 0, max_features: int | None = None, n_jobs: int = -1
) -> Filtered:
    """Run one system on a stream; what it retrieves is judged at once."""
    model = AdaptiveFilter(
        TextVectorizer("ltc", stop_words="smart", stemmer="porter"),
        max_features=max_features,
        stream_size=len(stream.documents),
        random_state=seed,
        n_jobs=n_jobs,
        **SYSTEMS[system],
    )
    model.fit([d.text for d in stream.batch], [d.topics for d in stream.batch], stream.statements)
    start = [model.states_[topic].columns.size for topic in stream.statements]
    relevant = [set(document.topics) for document in stream.documents]
    record = model.run(
        [(document.id, document.text) for document in stream.documents],
        lambda decision: decision.entry.topic in relevant[decision.entry.place],
    )
    number = {topic: k for k, topic in enumerate(stream.statements)}
    events = [
        (number[entry.topic], entry.place, entry.reason == "query", bool(entry.relevant), entry.n_features_after)
        for entry in record
    ]
    return Filtered(
        list(stream.statements),
        len(stream.documents),
        np.array(list(stream.n_relevant.values())),
        np.array(start),
        np.array(events, dtype=np.int64).reshape(-1, 5),
    )
