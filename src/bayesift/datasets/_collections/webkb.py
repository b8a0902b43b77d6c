"""The 4 Universities Data Set (WebKB)."""

from __future__ import annotations

import html
import re
from functools import partial
from typing import Literal

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import Archive, Unpacked
from bayesift.datasets._selection import keep_labels, rows_of
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._source import Member
from bayesift.datasets._split import Split
from bayesift.datasets._table import Table

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


def parse(members: list[Member], *, keep_markup: bool) -> Table:
    """Make the table of all pages, sorted by category, university and address."""
    rows = []
    for name, content in members:
        category, university, address = name.split("/")[-3:]
        page = content.decode("latin-1")
        rows.append((category, university, address, page if keep_markup else page_text(page)))
    rows.sort(key=lambda row: row[:3])
    return Table(
        ids=["/".join(row[:3]) for row in rows],
        groups=[university for _, university, _, _ in rows],
        labels=[(category,) for category, _, _, _ in rows],
        texts=[text for _, _, _, text in rows],
    )


def build(
    shelf: Shelf, *, test_university: str = "cornell", categories: Literal[7, 4] = 7, markup: bool = False
) -> Collection:
    """Hold one university out for testing and train on the three others and the miscellaneous pages."""
    if test_university not in UNIVERSITIES:
        raise ValueError(f"test_university must be one of {', '.join(UNIVERSITIES)}, found {test_university!r}")
    if categories not in (7, 4):
        raise ValueError(f"categories must be 7 or 4, found {categories!r}")
    variant = "markup" if markup else "text"
    table = shelf.table(partial(parse, keep_markup=markup), version=PARSER_VERSION, variant=variant)
    chosen = CATEGORIES if categories == 7 else LARGEST

    def part(*, held_out: bool) -> Split:
        rows = [row for row, name in enumerate(table.groups) if (name == test_university) == held_out]
        return keep_labels(rows_of(table, rows), chosen, drop_unlabelled=True)

    return Collection(name=shelf.holding.name, train=part(held_out=False), test=part(held_out=True), categories=chosen)


ENTRY = Entry(
    name="webkb",
    title="The 4 Universities Data Set (WebKB)",
    summary=(
        "8,282 pages of computer science departments, January 1997, one of seven kinds to a page. As "
        "its makers advise, one university is held out for testing (Cornell by default) and the pages "
        "of the other three and the miscellaneous ones are for training. The text is the page without "
        "MIME headers and markup."
    ),
    citation="M. Craven et al., Learning to extract symbolic knowledge from the World Wide Web, AAAI 1998",
    terms="research use",
    homepage="http://www.cs.cmu.edu/afs/cs/project/theo-20/www/data/",
    build=build,
    folders=("webkb", "webkb/webkb"),
    archives=(
        Archive("webkb.tar.xz", "c275d93aeb69c5044643eb78e823d178bcf1348232a5a5420d208fc95a075855"),
        Archive(
            "webkb-data.gtar.gz",
            url="http://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-20/www/data/webkb-data.gtar.gz",
        ),
    ),
    unpacked=(Unpacked(CATEGORIES),),
    options={
        "test_university": "held out for testing: cornell (default), texas, washington or wisconsin",
        "categories": "7 (default) or 4: student, faculty, course and project pages only",
        "markup": "keep MIME headers and HTML as they are (default: text only)",
    },
)
