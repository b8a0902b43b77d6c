"""The OHSU topics of the TREC-9 Filtering Track: topics, judgements and, if they are at hand, the MEDLINE records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import DOCUMENTS, Archive, Unpacked
from bayesift.datasets._selection import split_of
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._source import Member
from bayesift.datasets._split import Split
from bayesift.datasets._table import Table
from bayesift.datasets.errors import MalformedFileError

PARSER_VERSION = 1
TRAINING, TEST = "ohsumed.87", "ohsumed.88-91"
TRAINING_JUDGEMENTS = "training judgements"

_TOPIC = re.compile(r"<num>\s*Number:\s*(\S+)\s*<title>\s*(.*?)\s*<desc>\s*Description:\s*(.*?)\s*</top>", re.DOTALL)
_TAG = re.compile(r"\.([IUMTPWAS])(?:\s+(.*))?$")
# Title, abstract, author and source, the sections that Chai, Ng & Chieu (2002) use: neither MeSH terms nor type.
_TEXT = "TWAS"


def topics(page: str) -> dict[str, str]:
    """Read the topics: number to title, newline, description."""
    return {number: f"{title}\n{description}" for number, title, description in _TOPIC.findall(page)}


def judgements(name: str, page: str) -> list[tuple[str, str, int]]:
    """Read the judgements: topic, document and level of relevance of each line."""
    rows = []
    for number, line in enumerate(page.splitlines(), start=1):
        parts = line.split()
        if len(parts) != 3 or parts[2] not in ("1", "2"):
            raise MalformedFileError(name, number, f"expected topic, document and 1 or 2, found {line!r}")
        rows.append((parts[0], parts[1], int(parts[2])))
    return rows


def records(name: str, page: str) -> Iterator[dict[str, str]]:
    """Read the records of a file in the format of SMART: each begins with ``.I`` and its number in the sequence.

    A tag stands on a line of its own and its text on the next lines. Keys are the letters of the tags.
    """
    record: dict[str, str] = {}
    tag, start = "", 0
    for number, line in enumerate(page.splitlines(), start=1):
        found = _TAG.match(line)
        if found is not None and found[1] == "I":
            if record:
                yield _complete(name, start, record)
            record, start = {}, number
        elif not record:
            if line.strip():
                raise MalformedFileError(name, number, f"expected a record to begin with .I, found {line!r}")
            continue
        if found is not None:
            tag = found[1]
            record[tag] = (found[2] or "").strip()
        else:
            record[tag] = f"{record[tag]} {line.strip()}".strip()
    if record:
        yield _complete(name, start, record)


def _complete(name: str, line: int, record: dict[str, str]) -> dict[str, str]:
    if not record["I"].isdecimal() or not record.get("U"):
        raise MalformedFileError(name, line, "expected a record with a number after .I and an identifier after .U")
    return record


def parse(members: list[Member]) -> Table:
    """Make the table of all records, in the order of their numbers, as the track prescribes."""
    found = []
    for name, content in members:
        group = "train" if name.rpartition("/")[2].startswith(TRAINING) else "test"
        found += [(int(record["I"]), group, record) for record in records(name, content.decode("latin-1"))]
    found.sort(key=lambda row: row[0])
    return Table(
        ids=[record["U"] for _, _, record in found],
        groups=[group for _, group, _ in found],
        labels=[()] * len(found),
        texts=["\n".join(record[tag] for tag in _TEXT if record.get(tag)) for _, _, record in found],
    )


def build(shelf: Shelf, *, level: Literal[1, 2] = 1, documents: bool = False) -> Collection:
    """Return the judged documents of 1988 to 1991 with their topics, or all records of 1987 to 1991."""
    if level not in (1, 2):
        raise ValueError(f"level must be 1 or 2, found {level!r}")
    if documents not in (True, False):
        raise ValueError(f"documents must be True or False, found {documents!r}")
    [(_, page)] = shelf.verified("topics").members()
    descriptions = topics(page.decode("latin-1"))
    labels = _labels(shelf, "judgements", level)
    if documents:
        train, test = _splits(shelf, _labels(shelf, TRAINING_JUDGEMENTS, level), labels)
    else:
        ids = sorted(labels)
        train, test = Split([], []), Split([tuple(sorted(labels[document])) for document in ids], ids)
    return Collection(
        name=shelf.holding.name,
        train=train,
        test=test,
        categories=tuple(sorted(descriptions)),
        descriptions=descriptions,
    )


def _labels(shelf: Shelf, part: str, level: int) -> dict[str, set[str]]:
    """Return every judged document the topics that it is relevant to, at a level at least."""
    [(name, qrels)] = shelf.verified(part).members()
    labels: dict[str, set[str]] = {}
    for topic, document, found in judgements(name, qrels.decode("ascii")):
        labels.setdefault(document, set()).update([topic] if found >= level else [])
    return labels


def _splits(shelf: Shelf, *labels: dict[str, set[str]]) -> Iterator[Split]:
    table = shelf.table(parse, version=PARSER_VERSION)
    for group, judged in zip(("train", "test"), labels, strict=True):
        part = split_of(table, group)
        yield Split([tuple(sorted(judged.get(document, ()))) for document in part.ids], part.ids, part.texts)


ENTRY = Entry(
    name="trec9",
    title="TREC-9 Filtering Track, OHSU topics",
    summary=(
        "63 topics in words and 3,205 judgements of relevance over 3,121 MEDLINE records of 1988 to "
        "1991, all in the test part. The records themselves are not included: the documents have "
        "identifiers and labels but no texts, unless ohsumed.87, ohsumed.88-91 and qrels.ohsu.batch.87 of "
        "the track are put beside them."
    ),
    citation="S. Robertson and D. A. Hull, The TREC-9 filtering track final report, TREC-9, 2000",
    terms="TREC-9 Filtering Track, NIST and OHSU; research use",
    homepage="https://trec.nist.gov/data/t9_filtering.html",
    build=build,
    folders=("ohsumed/trec9-filtering", "trec9-filtering"),
    archives=(
        Archive(
            "query.ohsu.1-63",
            "22fbe38c8e4e22af775780c45b4828a85fdbdd2b026a4108790d19908ee4ba53",
            part="topics",
        ),
        Archive(
            "qrels.ohsu.88-91",
            "6416a96f7065344578a57baae7cd1eb25bb1ce742650e20fb3a0b2482d297779",
            part="judgements",
        ),
        Archive("qrels.ohsu.batch.87", part=TRAINING_JUDGEMENTS),
    ),
    unpacked=(
        Unpacked((TRAINING, TEST), part=DOCUMENTS),
        Unpacked((f"{TRAINING}.*", f"{TEST}.*"), part=DOCUMENTS),
    ),
    needs=("topics", "judgements"),
    options={
        "level": "1 (default): possibly or definitely relevant; 2: definitely relevant",
        "documents": "give all records with their texts, 1987 for training (default: judged identifiers of 1988-91)",
    },
)
