"""Reuters-21578, Distribution 1.0, in the ModApte split."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from bayesift.datasets._collection import Collection
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, keep_labels, split_of

PARSER_VERSION = 1
FILES = tuple(f"reut2-{number:03d}.sgm" for number in range(22))

_STORY = re.compile(r"<REUTERS\s([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TOPIC = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_TEXT = re.compile(r'<TEXT(?:\s+TYPE="(\w+)")?\s*>(.*?)</TEXT>', re.DOTALL)
_TITLE = re.compile(r"<TITLE>(.*?)</TITLE>", re.DOTALL)
_BODY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
_DESCRIPTION = re.compile(r"^(\S.*?)\s*\(([A-Z][A-Z0-9-]*)\)\s*$", re.MULTILINE)


class Story(NamedTuple):
    """One story of the wire, as its SGML element has it."""

    id: str
    lewis_split: str
    has_topics: str
    topics: tuple[str, ...]
    type: str
    title: str | None
    body: str | None
    rest: str

    @property
    def group(self) -> str:
        """The part of the ModApte split: LEWISSPLIT, provided that TOPICS is "YES"."""
        if self.has_topics == "YES" and self.lewis_split in ("TRAIN", "TEST"):
            return self.lewis_split.lower()
        return "unused"

    @property
    def text(self) -> str:
        """Title, newline, body; a BRIEF story has its title alone, an UNPROC one the whole of its text."""
        if self.type == "UNPROC":
            return self.rest
        return "\n".join(part for part in (self.title, self.body) if part is not None)


def stories(sgml: str) -> Iterator[Story]:
    """Parse one SGML file of the distribution, entities decoded and control characters dropped."""
    for element in _STORY.finditer(sgml):
        attributes = dict(_ATTRIBUTE.findall(element[1]))
        content = element[2]
        topics = _TOPICS.search(content)
        text = _TEXT.search(content)
        inner = text[2] if text else ""
        yield Story(
            id=attributes["NEWID"],
            lewis_split=attributes["LEWISSPLIT"],
            has_topics=attributes["TOPICS"],
            topics=tuple(sorted(set(_TOPIC.findall(topics[1])))) if topics else (),
            type=(text[1] if text else None) or "NORM",
            title=_first(_TITLE, inner),
            body=_first(_BODY, inner),
            rest=_clean(inner),
        )


def descriptions(page: str) -> dict[str, str]:
    """Read the names of the subject codes, ``Money Supply (MONEY-SUPPLY)``; commodities have none."""
    _, _, subjects = page.partition("Subject Codes")
    # A line separates the subjects from the next list, of organisations.
    subjects = re.split(r"^_{10}", subjects, maxsplit=1, flags=re.MULTILINE)[0]
    return {code.lower(): name for name, code in _DESCRIPTION.findall(subjects)}


def parse(members: list[Member]) -> Parsed:
    """Return all stories, in the order of the files."""
    pages = {name.rpartition("/")[2]: content for name, content in members}
    found = [
        story for name in sorted(pages) if name.endswith(".sgm") for story in stories(pages[name].decode("latin-1"))
    ]
    notes = pages.get("cat-descriptions_120396.txt", b"").decode("latin-1")
    return Parsed(
        ids=[story.id for story in found],
        groups=[story.group for story in found],
        labels=[story.topics for story in found],
        texts=[story.text for story in found],
        notes=descriptions(notes),
    )


def build(files: DatasetFiles, *, categories: Literal[90, 10, "all"] = 90, drop_unlabelled: bool = False) -> Collection:
    """Choose the categories and the documents of the ModApte split."""
    if categories not in (90, 10, "all"):
        raise ValueError(f"categories must be 90, 10 or 'all', found {categories!r}")
    parsed = files.parsed(parse, version=PARSER_VERSION)
    train, test = split_of(parsed, "train"), split_of(parsed, "test")
    positives = Counter(topic for labels in train.labels for topic in labels)
    chosen = set(positives) | set(test.categories)
    if categories != "all":
        chosen = set(positives) & set(test.categories)
    if categories == 10:
        chosen = set(sorted(chosen, key=lambda topic: (-positives[topic], topic))[:10])
    return Collection(
        name=files.info.name,
        train=keep_labels(train, chosen, drop_unlabelled=drop_unlabelled),
        test=keep_labels(test, chosen, drop_unlabelled=drop_unlabelled),
        categories=tuple(sorted(chosen)),
        descriptions={topic: text for topic, text in parsed.notes.items() if topic in chosen},
    )


def _clean(sgml: str) -> str:
    # html.unescape drops references to control characters, of which the wire is full (&#2; begins a text).
    return html.unescape(sgml).strip("\n ")


def _first(pattern: re.Pattern[str], sgml: str) -> str | None:
    found = pattern.search(sgml)
    return _clean(found[1]) if found else None
