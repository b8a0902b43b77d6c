"""Screening for systematic reviews of drug classes (Cohen et al. 2006)."""

from __future__ import annotations

import csv
from io import StringIO

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, split_of

PARSER_VERSION = 1

CATEGORIES = {
    "abstract": "kept when the abstract was screened",
    "included": "kept when the full text was read: part of the review",
}
_COLUMNS = {"abstract": "label_abstract_screening", "included": "label_included"}


def parse(members: list[Member]) -> Parsed:
    """Return the records of all reviews."""
    records = [
        (name.rpartition("/")[2].removesuffix(".csv"), record)
        for name, content in sorted(members)
        if name.endswith(".csv")
        for record in csv.DictReader(StringIO(content.decode("utf-8-sig"), newline=""))
    ]
    return Parsed(
        ids=[record["pubmedID"] or f"record {record['record_id']}" for _, record in records],
        groups=[review for review, _ in records],
        labels=[_decisions(record) for _, record in records],
        texts=["\n".join(filter(None, (record["title"], record["abstract"]))) for _, record in records],
    )


def _decisions(record: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name, column in _COLUMNS.items() if record[column] == "1")


def build(files: DatasetFiles, *, review: str = "ACEInhibitors") -> Collection:
    """Return the records of one review, all in the training part."""
    parsed = files.parsed(parse, version=PARSER_VERSION)
    reviews = sorted(set(parsed.groups))
    if review not in reviews:
        raise ValueError(f"review must be one of {', '.join(reviews)}, found {review!r}")
    return Collection(
        name=files.info.name,
        train=split_of(parsed, review),
        test=Split([], [], []),
        categories=tuple(CATEGORIES),
        descriptions=CATEGORIES,
    )
