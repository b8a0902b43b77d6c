"""The OHSU topics of the TREC-9 Filtering Track: topics, judgements and, if they are at hand, the MEDLINE records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, split_of
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

    A tag is on a line of its own and its text on the next lines. Keys are the letters of the tags.
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


def parse(members: list[Member]) -> Parsed:
    """Return all records, in the order of their numbers, as the track prescribes."""
    found = []
    for name, content in members:
        group = "train" if name.rpartition("/")[2].startswith(TRAINING) else "test"
        found += [(int(record["I"]), group, record) for record in records(name, content.decode("latin-1"))]
    found.sort(key=lambda row: row[0])
    return Parsed(
        ids=[record["U"] for _, _, record in found],
        groups=[group for _, group, _ in found],
        labels=[()] * len(found),
        texts=["\n".join(record[tag] for tag in _TEXT if record.get(tag)) for _, _, record in found],
    )


def build(files: DatasetFiles, *, level: Literal[1, 2] = 1, documents: bool = False) -> Collection:
    """Return the judged documents of 1988 to 1991 with their topics, or all records of 1987 to 1991."""
    if level not in (1, 2):
        raise ValueError(f"level must be 1 or 2, found {level!r}")
    if documents not in (True, False):
        raise ValueError(f"documents must be True or False, found {documents!r}")
    _, page = files.only_file("topics")
    descriptions = topics(page.decode("latin-1"))
    labels = _labels(files, "judgements", level)
    if documents:
        train, test = _splits(files, _labels(files, TRAINING_JUDGEMENTS, level), labels)
    else:
        ids = sorted(labels)
        train, test = Split([], []), Split([tuple(sorted(labels[document])) for document in ids], ids)
    return Collection(
        name=files.info.name,
        train=train,
        test=test,
        categories=tuple(sorted(descriptions)),
        descriptions=descriptions,
    )


def _labels(files: DatasetFiles, part: str, level: int) -> dict[str, set[str]]:
    """Return every judged document the topics that it is relevant to, at a level at least."""
    name, qrels = files.only_file(part)
    labels: dict[str, set[str]] = {}
    for topic, document, found in judgements(name, qrels.decode("ascii")):
        labels.setdefault(document, set()).update([topic] if found >= level else [])
    return labels


def _splits(files: DatasetFiles, *labels: dict[str, set[str]]) -> Iterator[Split]:
    parsed = files.parsed(parse, version=PARSER_VERSION)
    for group, judged in zip(("train", "test"), labels, strict=True):
        part = split_of(parsed, group)
        yield Split([tuple(sorted(judged.get(document, ()))) for document in part.ids], part.ids, part.texts)
