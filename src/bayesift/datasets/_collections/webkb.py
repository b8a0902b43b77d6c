"""The 4 Universities Data Set (WebKB)."""

from __future__ import annotations

import html
import re
from functools import partial
from typing import Literal

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, keep_labels, rows_of

PARSER_VERSION = 1
UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
CATEGORIES = ("course", "department", "faculty", "other", "project", "staff", "student")
LARGEST = ("course", "faculty", "project", "student")

# From a first line like "Date: ..." to the first empty line; a few headers are garbled in the collection.
_HEADERS = re.compile(r"\A[a-z][a-z -]*:[^\n<]*\n(?:[a-z-]+:[^\n]*\n|[^\n<]+\n)*?\r?\n", re.IGNORECASE)
_INVISIBLE = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[a-z/!?][^<>]*>", re.IGNORECASE)


def page_text(page: str) -> str:
    """Take the MIME headers, the tags and the comments off a page and decode its entities."""
    body = _HEADERS.sub("", page)
    return html.unescape(_TAG.sub(" ", _INVISIBLE.sub(" ", body))).strip()


def parse(members: list[Member], *, keep_markup: bool) -> Parsed:
    """Return all pages, sorted by category, university and address."""
    rows = []
    for name, content in members:
        category, university, address = name.split("/")[-3:]
        page = content.decode("latin-1")
        rows.append((category, university, address, page if keep_markup else page_text(page)))
    rows.sort(key=lambda row: row[:3])
    return Parsed(
        ids=["/".join(row[:3]) for row in rows],
        groups=[university for _, university, _, _ in rows],
        labels=[(category,) for category, _, _, _ in rows],
        texts=[text for _, _, _, text in rows],
    )


def build(
    files: DatasetFiles, *, test_university: str = "cornell", categories: Literal[7, 4] = 7, markup: bool = False
) -> Collection:
    """Hold one university out for testing and train on the three others and the miscellaneous pages."""
    if test_university not in UNIVERSITIES:
        raise ValueError(f"test_university must be one of {', '.join(UNIVERSITIES)}, found {test_university!r}")
    if categories not in (7, 4):
        raise ValueError(f"categories must be 7 or 4, found {categories!r}")
    variant = "markup" if markup else "text"
    parsed = files.parsed(partial(parse, keep_markup=markup), version=PARSER_VERSION, variant=variant)
    chosen = CATEGORIES if categories == 7 else LARGEST

    def part(*, held_out: bool) -> Split:
        rows = [row for row, name in enumerate(parsed.groups) if (name == test_university) == held_out]
        return keep_labels(rows_of(parsed, rows), chosen, drop_unlabelled=True)

    return Collection(name=files.info.name, train=part(held_out=False), test=part(held_out=True), categories=chosen)
