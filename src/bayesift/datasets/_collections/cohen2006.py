"""Screening for systematic reviews of drug classes (Cohen et al. 2006)."""

from __future__ import annotations

import csv
from io import StringIO

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import Archive, Unpacked
from bayesift.datasets._selection import split_of
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._source import Member
from bayesift.datasets._split import Split
from bayesift.datasets._table import Table

PARSER_VERSION = 1

CATEGORIES = {
    "abstract": "kept when the abstract was screened",
    "included": "kept when the full text was read: part of the review",
}
_COLUMNS = {"abstract": "label_abstract_screening", "included": "label_included"}


def parse(members: list[Member]) -> Table:
    """Make the table of the records of all reviews."""
    records = [
        (name.rpartition("/")[2].removesuffix(".csv"), record)
        for name, content in sorted(members)
        if name.endswith(".csv")
        for record in csv.DictReader(StringIO(content.decode("utf-8-sig"), newline=""))
    ]
    return Table(
        ids=[record["pubmedID"] or f"record {record['record_id']}" for _, record in records],
        groups=[review for review, _ in records],
        labels=[_decisions(record) for _, record in records],
        texts=["\n".join(filter(None, (record["title"], record["abstract"]))) for _, record in records],
    )


def _decisions(record: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name, column in _COLUMNS.items() if record[column] == "1")


def build(shelf: Shelf, *, review: str = "ACEInhibitors") -> Collection:
    """Return the records of one review, all in the training part."""
    table = shelf.table(parse, version=PARSER_VERSION)
    reviews = sorted(set(table.groups))
    if review not in reviews:
        raise ValueError(f"review must be one of {', '.join(reviews)}, found {review!r}")
    return Collection(
        name=shelf.holding.name,
        train=split_of(table, review),
        test=Split([], [], []),
        categories=tuple(CATEGORIES),
        descriptions=CATEGORIES,
    )


ENTRY = Entry(
    name="cohen2006",
    title="Drug-class systematic reviews, 14 of 15",
    summary=(
        "Records from MEDLINE that were screened for systematic reviews, with the decisions on the "
        "abstract and on the full text; one review at a time. There is no split: every record is in the "
        "training part and the test part is empty. The text is the title, a newline and the abstract, "
        "which 5 to 18 % lack. Statins, the fifteenth review, is missing."
    ),
    citation="A. M. Cohen, W. R. Hersh, K. Peterson, P.-Y. Yen, JAMIA 13(2), 2006",
    terms="texts from MEDLINE as assembled by the ASReview project; custom open licence",
    homepage="https://github.com/asreview/systematic-review-datasets",
    build=build,
    folders=("cohen2006",),
    archives=(Archive("cohen2006.tar.xz", "812e51e2c9ff70e63194c8c1f3a522169e18e6eb04a71ec6d37cbc284fdc7fb1"),),
    unpacked=(Unpacked(("*.csv",)), Unpacked(("cohen2006/*.csv",))),
    options={"review": "ACEInhibitors (default), ADHD, Antihistamines, ...; a wrong name lists them all"},
)
