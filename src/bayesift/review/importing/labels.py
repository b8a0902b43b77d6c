"""Decisions from a file: of ASReview, of another program, or of an earlier export."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import NamedTuple

from bayesift.review.importing.tables import KEYS, TITLES, usual
from bayesift.review.storage import Decision, Document

#: Columns that hold a decision; the most telling first.
DECISIONS = (
    "decision", "asreview_label", "included", "label_included", "final_included", "relevant", "label", "labels",
    "label_abstract_screening", "include",
)  # fmt: skip

_MEANINGS: dict[str, Decision] = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "relevant", "include", "included"), "relevant"),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "irrelevant", "exclude", "excluded"), "irrelevant"),
    **dict.fromkeys(("unsure", "maybe", "?"), "unsure"),
}


class Labels(NamedTuple):
    """What a file decides about the pile.

    Parameters
    ----------
    decisions : dict
        Place of a document to the decision.
    unmatched : int
        Rows with a decision whose document is not in the pile.
    undecided : int
        Rows without a decision.
    """

    decisions: dict[int, Decision]
    unmatched: int
    undecided: int


def read_labels(content: bytes, pile: Iterable[Document]) -> Labels:
    """Read decisions from a CSV or TSV file with a header, and find their documents.

    A row is matched by the identifier of the document, then by its DOI, then by its title, whatever its case and
    punctuation; where several documents share one of these, it says nothing.

    Parameters
    ----------
    content : bytes
        The file, in UTF-8.
    pile : iterable of Document
        The documents.

    Returns
    -------
    Labels
        Of several rows about one document, the last counts.
    """
    names, rows = _table(content)
    column = usual(names, DECISIONS)
    if column is None:
        raise ValueError(f"no column of the file holds decisions; expected one named {', '.join(DECISIONS[:4])}, …")
    columns = {"key": usual(names, KEYS), "doi": usual(names, ("doi",)), "title": usual(names, TITLES)}
    if not any(columns.values()):
        raise ValueError("no column of the file says which document is meant; expected one named id, doi or title")
    places = _index(pile)
    decisions: dict[int, Decision] = {}
    unmatched = undecided = 0
    for line, row in rows:
        said = row[column].strip().lower()
        if said in ("", "-1", "nan", "none"):
            undecided += 1
            continue
        if said not in _MEANINGS:
            raise ValueError(f"line {line} of the file decides {said[:40]!r}; expected 1 or 0, yes or no, or unsure")
        marks = ((kind, _same(row[name])) for kind, name in columns.items() if name is not None)
        place = next((places[mark] for mark in marks if mark in places), None)
        if place is None:
            unmatched += 1
        else:
            decisions[place] = _MEANINGS[said]
    return Labels(decisions, unmatched, undecided)


def relevance(pile: Sequence[Document], column: str | None = None) -> list[bool]:
    """Return for each document whether a column of its own file calls it relevant.

    Parameters
    ----------
    pile : sequence of Document
        The documents; at least one.
    column : str, optional
        The column; by its usual name if not given.

    Returns
    -------
    list of bool

    Examples
    --------
    >>> from bayesift.review.importing import relevance
    >>> from bayesift.review.storage import Document
    >>> relevance([Document("1", "Tin", "", {"included": "1"}), Document("2", "Ships", "", {"included": "0"})])
    [True, False]
    """
    if not pile:
        raise ValueError("the pile has no documents; expected at least one")
    names = list(pile[0].extra)
    found = column if column is not None else usual(names, ("label_included", *DECISIONS))
    if found is None or found not in names:
        raise ValueError(f"label must name a column with decisions; the columns are {', '.join(names)}")
    answers = []
    for document in pile:
        said = str(document.extra.get(found, "")).strip().lower()
        if _MEANINGS.get(said) not in ("relevant", "irrelevant"):
            raise ValueError(f"{found} of document {document.key} is {said[:40]!r}; expected 1 or 0, yes or no")
        answers.append(_MEANINGS[said] == "relevant")
    return answers


def _table(content: bytes) -> tuple[list[str], Iterator[tuple[int, Mapping[str, str]]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("the file is not UTF-8; save it as CSV in UTF-8") from error
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter, restval="")
    try:
        names = list(reader.fieldnames or ())
    except csv.Error as error:
        raise ValueError(f"the file is no table: {error}") from error
    return names, _rows(reader)


def _rows(reader: csv.DictReader[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num} of the file is malformed: {error}") from error


def _index(pile: Iterable[Document]) -> dict[tuple[str, str], int]:
    """Note where each identifier, DOI and title is; those of several documents nowhere."""
    places: dict[tuple[str, str], int | None] = {}
    for document in pile:
        marks = {
            ("key", _same(document.key)),
            ("doi", _same(str(document.extra.get("doi", document.extra.get("DOI", ""))))),
            ("title", _same(document.title)),
        }
        for mark in marks:
            places[mark] = None if mark in places else document.place
    return {mark: place for mark, place in places.items() if place is not None and mark[1]}


def _same(text: str | None) -> str:
    """Return what is left of a text when case, punctuation and spaces do not count."""
    return re.sub(r"[\W_]+", " ", (text or "").lower()).strip()
