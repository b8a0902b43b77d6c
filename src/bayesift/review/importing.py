"""Reading documents into a project, and decisions about them: of ASReview, another program or an earlier export."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

from bayesift.datasets import USUAL_NAMES, EncodingError, find_column, open_table, read_documents
from bayesift.review.exporting import unescaped
from bayesift.review.storage import Decision, Document

#: Columns that hold a decision; the most telling first.
DECISIONS = (
    "decision", "asreview_label", "included", "label_included", "final_included", "relevant", "label", "labels",
    "label_abstract_screening", "include",
)  # fmt: skip

#: What is written in such columns, and what it means.
MEANINGS: dict[str, Decision] = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "relevant", "include", "included"), "relevant"),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "irrelevant", "exclude", "excluded"), "irrelevant"),
    **dict.fromkeys(("unsure", "maybe", "?"), "unsure"),
}


#: What stands where nothing is decided.
UNDECIDED = ("", "-1", "nan", "none")


class Columns(NamedTuple):
    """Names of columns, where they are not the usual ones.

    Parameters
    ----------
    text, title, id : str, optional
        What is read, its title, and what a document is called.
    delimiter : str, optional
        The field separator of a CSV or TSV file.
    """

    text: str | None = None
    title: str | None = None
    id: str | None = None
    delimiter: str | None = None


class Labels(NamedTuple):
    """What a file decides about the documents of a project.

    Parameters
    ----------
    decisions : dict
        Place of a document to the decision.
    unmatched : int
        Rows with a decision whose document is not in the project.
    undecided : int
        Rows without a decision.
    """

    decisions: dict[int, Decision]
    unmatched: int
    undecided: int


def import_documents(
    path: Path,
    columns: Columns = Columns(),  # noqa: B008
    encoding: str | None = None,
    tell: Callable[[str], None] = lambda note: None,
) -> Iterator[Document]:
    """Return the documents of any file or folder that :func:`bayesift.datasets.read_documents` knows, one at a time.

    Parameters
    ----------
    path : Path
        The file or folder.
    columns : Columns
        Which columns hold what, where their names are not the usual ones.
    encoding : str, optional
        Encoding of the texts; recognised by default.
    tell : callable, optional
        Called with what was recognised, such as the encoding, a sentence each, when all documents are read.

    Returns
    -------
    iterator of Document
    """
    found = read_documents(path, **columns._asdict(), encoding=encoding, tell=tell)
    return (Document(*document) for document in found)


def read_labels(
    content: bytes, documents: Iterable[Document], same: Mapping[int, int] = MappingProxyType({})
) -> Labels:
    """Read decisions from a CSV or TSV file with a header, or a project of ASReview, and find their documents.

    A row is matched by the identifier of the document, as it is or as an export escapes it, then, whatever case and
    punctuation, by identifier, DOI and title; where several documents share one of these, it says nothing.

    Parameters
    ----------
    content : bytes
        The file; a table in UTF-8.
    documents : iterable of Document
        Those of the project.
    same : mapping
        The place of each copy of a document to that of its original: what all of them share names the original.

    Returns
    -------
    Labels
        Of several rows about one document, the last counts.
    """
    places = _index(documents, same)
    decisions: dict[int, Decision] = {}
    unmatched = undecided = 0
    for line, decision, identifiers in _decided_rows(content):
        if decision in UNDECIDED:
            undecided += 1
            continue
        if decision not in MEANINGS:
            expected = "expected 1 or 0, yes or no, or unsure"
            raise ValueError(f"line {line} of the file decides {decision[:40]!r}; {expected}")
        place = next((places[identifier] for identifier in identifiers if identifier in places), None)
        if place is None:
            unmatched += 1
        else:
            decisions[place] = MEANINGS[decision]
    return Labels(decisions, unmatched, undecided)


def find_documents(names: Sequence[str], documents: Iterable[Document]) -> dict[str, int]:
    """Find documents by what a person calls them: identifier, DOI or title, whatever case and punctuation.

    Parameters
    ----------
    names : sequence of str
        What to look for.
    documents : iterable of Document
        Those of the project.

    Returns
    -------
    dict
        The place of each document that one of the names stands for alone.

    Examples
    --------
    >>> from bayesift.review.importing import find_documents
    >>> from bayesift.review.storage import Document
    >>> find_documents(["tin falls!", "10.1000/1", "ships"], [Document("a", "Tin falls", "", {"doi": "10.1000/1"}, 7)])
    {'tin falls!': 7, '10.1000/1': 7}
    """
    places = _index(documents, {})
    found = {}
    for name in names:
        candidates = (("exact key", name), ("key", _same(name)), ("doi", _same(name)), ("title", _same(name)))
        place = next((places[candidate] for candidate in candidates if candidate in places), None)
        if place is not None:
            found[name] = place
    return found


def relevance(documents: Sequence[Document], column: str | None = None) -> list[bool]:
    """Return for each document whether a column of its own file calls it relevant.

    Parameters
    ----------
    documents : sequence of Document
        The documents; at least one.
    column : str, optional
        The column; by its usual name if not given.

    Examples
    --------
    >>> from bayesift.review.importing import relevance
    >>> from bayesift.review.storage import Document
    >>> relevance([Document("1", "Tin", "", {"included": "1"}), Document("2", "Ships", "", {"included": "0"})])
    [True, False]
    """
    if not documents:
        raise ValueError("there are no documents; expected at least one")
    names = list(documents[0].extra)
    found = column if column is not None else find_column(names, ("label_included", *DECISIONS))
    if found is None or found not in names:
        raise ValueError(f"label must name a column with decisions; the columns are {', '.join(names)}")
    answers = []
    for document in documents:
        said = str(document.extra.get(found, "")).strip().lower()
        if MEANINGS.get(said) not in ("relevant", "irrelevant"):
            raise ValueError(f"{found} of document {document.key} is {said[:40]!r}; expected 1 or 0, yes or no")
        answers.append(MEANINGS[said] == "relevant")
    return answers


def _asreview_rows(content: bytes) -> Iterator[tuple[int, str, list[tuple[str, str]]]]:
    """Return the same of a project of ASReview; its records are numbered by itself."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "project.asreview"
        path.write_bytes(content)
        for number, document in enumerate(read_documents(path), start=1):
            identifiers = [("doi", _same(document.details.get("doi"))), ("title", _same(document.title))]
            yield number, document.details.get("asreview_label", ""), identifiers


def _decided_rows(content: bytes) -> Iterator[tuple[int, str, list[tuple[str, str]]]]:
    """Return line, decision, and the identifier, DOI and title of each row, in the order in which they count."""
    if content.startswith(b"PK"):
        yield from _asreview_rows(content)
        return
    head = content.partition(b"\n")[0]
    delimiter = max(",;\t", key=lambda separator: head.count(separator.encode()))
    try:
        with open_table(content, delimiter=delimiter, strict=False) as table:
            names = table.columns
            column = find_column(names, DECISIONS)
            if column is None:
                expected = f"expected one named {', '.join(DECISIONS[:4])}, …"
                raise ValueError(f"no column of the file holds decisions; {expected}")
            known = {
                "key": find_column(names, (*USUAL_NAMES["id"], *USUAL_NAMES["record id"])),
                "doi": find_column(names, ("doi",)),
                "title": find_column(names, USUAL_NAMES["title"]),
            }
            if not any(known.values()):
                expected = "expected one named id, doi or title"
                raise ValueError(f"no column of the file says which document is meant; {expected}")
            for line, row in table.rows():
                identifiers = [(kind, _same(row[name])) for kind, name in known.items() if name is not None]
                if known["key"] is not None:
                    key = row[known["key"]] or ""
                    identifiers = [("exact key", unescaped(key)), ("exact key", key), *identifiers]
                yield line, row[column].strip().lower(), identifiers
    except EncodingError as error:
        raise ValueError("the file is not UTF-8; save it as CSV in UTF-8") from error


def _index(documents: Iterable[Document], same: Mapping[int, int]) -> dict[tuple[str, str], int]:
    """Note where each identifier, DOI and title is; those of several documents nowhere, unless they are the same."""
    places: dict[tuple[str, str], int | None] = {}
    for document in documents:
        identifiers = {
            ("exact key", document.key),
            ("key", _same(document.key)),
            ("doi", _same(str(document.extra.get("doi", document.extra.get("DOI", ""))))),
            ("title", _same(document.title)),
        }
        original = same.get(document.place, document.place)
        for identifier in identifiers:
            places[identifier] = original if places.get(identifier, original) == original else None
    return {identifier: place for identifier, place in places.items() if place is not None and identifier[1]}


def _same(text: str | None) -> str:
    """Return what is left of a text when case, punctuation and spaces do not count."""
    return re.sub(r"[\W_]+", " ", (text or "").lower()).strip()
