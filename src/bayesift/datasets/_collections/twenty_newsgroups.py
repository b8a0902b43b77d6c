"""20 Newsgroups, the version split by date."""

from __future__ import annotations

import re
from typing import Literal

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, split_of

PARSER_VERSION = 1

# A header may go on in lines that begin with white space.
_SUBJECT = re.compile(r"^Subject:[ \t]*(.*(?:\n[ \t]+.*)*)", re.IGNORECASE | re.MULTILINE)


def parse(members: list[Member]) -> Parsed:
    """Return all messages, sorted by split, group and number."""
    rows = []
    for name, content in members:
        split, group, number = name.split("/")[-3:]
        rows.append((split.removeprefix("20news-bydate-"), group, int(number), content.decode("latin-1")))
    rows.sort(key=lambda row: row[:3])
    return Parsed(
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


def build(files: DatasetFiles, *, headers: Literal["all", "subject"] = "all") -> Collection:
    """Return the messages, whole or without the headers other than Subject."""
    if headers not in ("all", "subject"):
        raise ValueError(f"headers must be 'all' or 'subject', found {headers!r}")
    parsed = files.parsed(parse, version=PARSER_VERSION)

    def part(group: str) -> Split:
        split = split_of(parsed, group)
        if headers == "all":
            return split
        return Split(split.labels, split.ids, [subject_and_body(text) for text in split.texts])

    train = part("train")
    return Collection(name=files.info.name, train=train, test=part("test"), categories=train.categories)
