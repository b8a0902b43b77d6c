"""The OHSU topics of the TREC-9 Filtering Track: topics and judgements, without the documents."""

from __future__ import annotations

import re
from typing import Literal

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._errors import MalformedFileError
from bayesift.datasets._holding import Archive
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._split import Split

_TOPIC = re.compile(r"<num>\s*Number:\s*(\S+)\s*<title>\s*(.*?)\s*<desc>\s*Description:\s*(.*?)\s*</top>", re.DOTALL)


def topics(page: str) -> dict[str, str]:
    """Read the topics: number to title and description, parted by a newline."""
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


def build(shelf: Shelf, *, level: Literal[1, 2] = 1) -> Collection:
    """Give the judged documents of 1988 to 1991 with the topics they are relevant to."""
    if level not in (1, 2):
        raise ValueError(f"level must be 1 or 2, found {level!r}")
    [(_, page)] = shelf.verified("topics").members()
    [(name, qrels)] = shelf.verified("judgements").members()
    labels: dict[str, set[str]] = {}
    for topic, document, found in judgements(name, qrels.decode("ascii")):
        labels.setdefault(document, set()).update([topic] if found >= level else [])
    ids = sorted(labels)
    descriptions = topics(page.decode("latin-1"))
    return Collection(
        name=shelf.holding.name,
        train=Split([], []),
        test=Split([tuple(sorted(labels[document])) for document in ids], ids),
        categories=tuple(sorted(descriptions)),
        descriptions=descriptions,
    )


ENTRY = Entry(
    name="trec9",
    title="TREC-9 Filtering Track, OHSU topics",
    summary=(
        "63 topics in words and 3,205 judgements of relevance over 3,121 MEDLINE records of 1988 to "
        "1991, all in the test part. The records themselves are not included: the documents have "
        "identifiers and labels but no texts."
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
    ),
    needs=("topics", "judgements"),
    options={"level": "1 (default): possibly or definitely relevant; 2: definitely relevant"},
)
