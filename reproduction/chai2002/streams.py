"""Collections as streams with topics, for the filtering experiments of :mod:`reproduction.chai2002.experiments`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import NamedTuple

import numpy as np

from bayesift.datasets import MissingDataError, dataset_files, load
from reproduction.shared import OWN_DESCRIPTIONS

#: With few judgements, a topic has so many relevant documents in the batch phase, beside its statement.
FEW = 3
#: The share of the documents, the earliest, that is the batch phase where the collection itself has no split.
EARLY_SHARE = 0.2
#: Topics of which at most this share of all documents is relevant count as rare; categories of OHSUMED are large.
RARE_SHARE = {"reuters": 0.01, "ohsumed": 0.05}

REVIEWS = (
    *("ACEInhibitors", "ADHD", "Antihistamines", "AtypicalAntipsychotics", "BetaBlockers", "CalciumChannelBlockers"),
    *("Estrogens", "NSAIDS", "Opioids", "OralHypoglycemics", "ProtonPumpInhibitors", "SkeletalMuscleRelaxants"),
    *("Triptans", "UrinaryIncontinence"),
)

_DATED = re.compile(r'<REUTERS\s[^>]*NEWID="(\d+)"[^>]*>\s*<DATE>(.*?)</DATE>', re.DOTALL)
# One hour is misprinted with three digits, of which the last two are meant.
_DATE = re.compile(r"(\d+-[A-Z]{3}-\d{4})\s+\d*?(\d?\d:\d\d:\d\d)", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")


class Document(NamedTuple):
    """A text and the topics that it is relevant to."""

    id: str
    text: str
    topics: tuple[str, ...]


class Stream(NamedTuple):
    """Documents judged beforehand, documents that come one by one, and what each topic is about."""

    name: str
    statements: dict[str, str]
    batch: list[Document]
    documents: list[Document]

    @property
    def n_relevant(self) -> dict[str, int]:
        """How many documents that come are relevant to each topic."""
        return _counts(self.documents, self.statements)

    @property
    def n_judged(self) -> dict[str, int]:
        """How many documents of the batch phase are relevant to each topic."""
        return _counts(self.batch, self.statements)

    @property
    def share(self) -> float:
        """The share of relevant documents in the stream, mean over topics."""
        return float(np.mean(list(self.n_relevant.values()))) / len(self.documents)


def few_judgements(documents: Iterable[Document], at_most: int = FEW) -> list[Document]:
    """Keep documents, in their order, that give no topic more relevant ones than so many."""
    kept, found = [], Counter[str]()
    for document in documents:
        if all(found[topic] < at_most for topic in document.topics):
            kept.append(document)
            found.update(document.topics)
    return kept


def reuters() -> Stream:
    """Take ModApte: all training judgements, then the test documents by date; 90 topics."""
    train, test, statements = _reuters()
    return Stream("Reuters, all judgements", statements, train, test)


def reuters_few(at_most: int = FEW) -> Stream:
    """Take all documents of ModApte by date, the first fifth with few judgements, and the rare topics."""
    train, test, statements = _reuters()
    everything = train + test
    start = round(EARLY_SHARE * len(everything))
    name = f"Reuters, rare topics, {at_most} judged"
    return _few(name, statements, everything[:start], everything[start:], RARE_SHARE["reuters"], at_most)


def ohsumed() -> Stream:
    """Take the training and the test documents of OHSUMED's 23 disease categories, by number."""
    train, test, statements = _ohsumed()
    return Stream("OHSUMED, all judgements", statements, train, test)


def ohsumed_few(at_most: int = FEW) -> Stream:
    """Take the same with few judgements of the rarer categories."""
    train, test, statements = _ohsumed()
    return _few(f"OHSUMED, rare topics, {at_most} judged", statements, train, test, RARE_SHARE["ohsumed"], at_most)


def reviews_few(at_most: int = FEW) -> Stream:
    """Pool the records of the 14 drug reviews, in random order, a fifth with few judgements.

    A record is relevant to a review if it was included after the full text was read. A record in several reviews comes
    once.
    """
    found: dict[str, tuple[str, set[str]]] = {}
    for review in REVIEWS:
        records = load("cohen2006", review=review).train
        for id_, text, labels in zip(records.ids, records.texts, records.labels, strict=True):
            key = id_ if not id_.startswith("record ") else f"{review} {id_}"
            found.setdefault(key, (text, set()))[1].update([review] if "included" in labels else [])
    rows = [Document(key, text, tuple(sorted(topics))) for key, (text, topics) in found.items()]
    mixed = [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]
    start = round(EARLY_SHARE * len(mixed))
    statements = {review: " ".join(_WORD.findall(review)) for review in REVIEWS}
    return _few(f"Drug reviews, {at_most} judged", statements, mixed[:start], mixed[start:], 1.0, at_most)


def trec9() -> Stream:
    """Take the task of the paper, where the MEDLINE records are in the data root."""
    found = load("trec9", documents=True)
    train, test = (_documents(part.ids, part.texts, part.labels) for part in (found.train, found.test))
    return Stream("TREC-9", dict(found.descriptions), train, test)


STREAMS: dict[str, Callable[[], Stream]] = {
    "trec9": trec9,
    "reuters": reuters,
    "reuters-few": reuters_few,
    "ohsumed": ohsumed,
    "ohsumed-few": ohsumed_few,
    "reviews-few": reviews_few,
}


@cache
def stream_of(name: str) -> Stream:
    """Return a stream, read once."""
    return STREAMS[name]()


def available(names: Iterable[str]) -> list[str]:
    """Choose the streams whose files are in the data root."""
    found = []
    for name in names:
        with suppress(MissingDataError):
            stream_of(name)
            found.append(name)
    return found


@cache
def reuters_dates() -> dict[str, datetime]:
    """Read when each story of Reuters-21578 was sent, by its identifier."""
    return {
        id_: story_date(written)
        for name, content in dataset_files("reuters21578").locate().members()
        if name.endswith(".sgm")
        for id_, written in _DATED.findall(content.decode("latin-1"))
    }


def story_date(written: str) -> datetime:
    """Read a date like ``26-FEB-1987 15:01:01.79``."""
    found = _DATE.search(written)
    if found is None:
        raise ValueError(f"expected a date like 26-FEB-1987 15:01:01.79, found {written!r}")
    return datetime.strptime(f"{found[1]} {found[2]}", "%d-%b-%Y %H:%M:%S")


def _reuters() -> tuple[list[Document], list[Document], dict[str, str]]:
    collection = load("reuters21578")
    dates = reuters_dates()
    parts = []
    for split in (collection.train, collection.test):
        rows = _documents(split.ids, split.texts, split.labels)
        parts.append(sorted(rows, key=lambda document: (dates[document.id], int(document.id))))
    statements = {name: collection.descriptions.get(name) or OWN_DESCRIPTIONS[name] for name in collection.categories}
    return parts[0], parts[1], statements


def _ohsumed() -> tuple[list[Document], list[Document], dict[str, str]]:
    collection = load("ohsumed")
    train, test = (_documents(part.ids, part.texts, part.labels) for part in (collection.train, collection.test))
    return train, test, dict(collection.descriptions)


def _documents(ids: Sequence[str], texts: Sequence[str], labels: Sequence[tuple[str, ...]]) -> list[Document]:
    return [Document(*row) for row in zip(ids, texts, labels, strict=True)]


def _few(
    name: str,
    statements: dict[str, str],
    batch: list[Document],
    documents: list[Document],
    rare: float,
    at_most: int,
) -> Stream:
    """Take rare topics and few judgements; a topic must have a relevant document in each phase."""
    limit = rare * (len(batch) + len(documents))
    early, late = _counts(batch, statements), _counts(documents, statements)
    topics = {topic for topic in statements if early[topic] + late[topic] <= limit and late[topic]}
    judged = few_judgements(_narrowed(batch, topics), at_most)
    topics = {topic for topic, number in _counts(judged, topics).items() if number}
    chosen = {topic: text for topic, text in statements.items() if topic in topics}
    return Stream(name, chosen, _narrowed(judged, topics), _narrowed(documents, topics))


def _narrowed(documents: Iterable[Document], topics: set[str]) -> list[Document]:
    return [
        document._replace(topics=tuple(topic for topic in document.topics if topic in topics)) for document in documents
    ]


def _counts(documents: Iterable[Document], topics: Iterable[str]) -> dict[str, int]:
    found = Counter(_each_topic(documents))
    return {topic: found[topic] for topic in topics}


def _each_topic(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        yield from document.topics
