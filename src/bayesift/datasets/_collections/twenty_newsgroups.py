"""20 Newsgroups, the version split by date."""

from __future__ import annotations

import re
from typing import Literal

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import Archive, Unpacked
from bayesift.datasets._selection import split_of
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._source import Member
from bayesift.datasets._split import Split
from bayesift.datasets._table import Table

PARSER_VERSION = 1

# A header may go on in lines that begin with white space.
_SUBJECT = re.compile(r"^Subject:[ \t]*(.*(?:\n[ \t]+.*)*)", re.IGNORECASE | re.MULTILINE)


def parse(members: list[Member]) -> Table:
    """Make the table of all messages, sorted by split, group and number."""
    rows = []
    for name, content in members:
        split, group, number = name.split("/")[-3:]
        rows.append((split.removeprefix("20news-bydate-"), group, int(number), content.decode("latin-1")))
    rows.sort(key=lambda row: row[:3])
    return Table(
        ids=[f"{group}/{number}" for _, group, number, _ in rows],
        groups=[split for split, _, _, _ in rows],
        labels=[(group,) for _, group, _, _ in rows],
        texts=[text for _, _, _, text in rows],
    )


def subject_and_body(message: str) -> str:
    """Return the Subject and, after a newline, the body of a message: what follows its first empty line."""
    headers, _, body = message.partition("\n\n")
    subject = _SUBJECT.search(headers)
    return f"{' '.join(subject[1].split())}\n{body}" if subject else body


def build(shelf: Shelf, *, headers: Literal["all", "subject"] = "all") -> Collection:
    """Return the messages, whole or without the headers other than Subject."""
    if headers not in ("all", "subject"):
        raise ValueError(f"headers must be 'all' or 'subject', found {headers!r}")
    table = shelf.table(parse, version=PARSER_VERSION)

    def part(group: str) -> Split:
        split = split_of(table, group)
        if headers == "all":
            return split
        return Split(split.labels, split.ids, [subject_and_body(text) for text in split.texts])

    train = part("train")
    return Collection(name=shelf.holding.name, train=train, test=part("test"), categories=train.categories)


ENTRY = Entry(
    name="20newsgroups",
    title="20 Newsgroups, split by date",
    summary=(
        "Messages to twenty Usenet groups in 1993, one group to a message: 11,314 for training and "
        "7,532 later ones for testing, without duplicates and newsgroup-identifying headers. Read as "
        "Latin-1."
    ),
    citation="K. Lang, NewsWeeder: learning to filter netnews, ICML 1995; split by date by J. Rennie",
    terms="no explicit licence; customary research use",
    homepage="http://qwone.com/~jason/20Newsgroups/",
    build=build,
    folders=("20news-bydate", "."),
    archives=(
        Archive("20news-bydate.tar.xz", "8a2f817c45ab582ad6b65bca068da0359793115e5e1385335f2997c90451a1b5"),
        Archive(
            "20news-bydate.tar.gz",
            "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
        ),
    ),
    unpacked=(Unpacked(("20news-bydate-train", "20news-bydate-test")),),
    options={"headers": "'all' (default): whole messages; 'subject': the Subject, a newline and the body"},
)
