"""Read documents, and decisions about them, from ASReview, another program or an earlier export."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from bayesift.datasets import USUAL_NAMES, find_column, open_table, read_documents
from bayesift.review.exporting import unescaped
from bayesift.review.marks import DECISIONS, Mark, NoMarksError, marks
from bayesift.review.storage import Decision, Document, doi_of, values_of

#: Endings of the files with decisions that the page takes; for text files, the content tells the format.
ENDINGS = (".csv", ".tsv", ".jsonl", ".ris", ".bib", ".nbib", ".xml", ".asreview", ".txt")

#: Formats of reference managers: fields have names of their own, and what a review adds is in the notes.
_LITERATURE = (".ris", ".bib", ".bibtex", ".nbib", ".xml")

#: How the content of each format begins.
_BEGINNINGS = (
    (".ris", re.compile(rb"\s*TY  ?- ")),
    (".nbib", re.compile(rb"\s*PMID *- ")),
    (".xml", re.compile(rb"\s*<")),
    (".bib", re.compile(rb"\s*(?:%[^\n]*\n\s*)*@\s*\w+\s*[{(]")),
    (".jsonl", re.compile(rb"\s*[{\[]")),
)


class Columns(NamedTuple):
    """Names of columns, if they are not the usual ones.

    Parameters
    ----------
    text, title, id : str, optional
        The columns of texts, titles and identifiers.
    delimiter : str, optional
        The field separator of a CSV or TSV file.
    """

    text: str | None = None
    title: str | None = None
    id: str | None = None
    delimiter: str | None = None


class Labels(NamedTuple):
    """The decisions of a file about the documents of a project.

    Parameters
    ----------
    decisions : dict
        From the place of a document to the decision.
    unmatched : int
        Number of rows with a decision about a document that is not in the project.
    undecided : int
        Number of rows without a decision.
    reasons : dict
        From the place of an excluded document to the reason, if the file gives one.
    """

    decisions: dict[int, Decision]
    unmatched: int
    undecided: int
    reasons: dict[int, str]


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
        Which columns hold what, if their names are not the usual ones.
    encoding : str, optional
        Encoding of the texts; detected by default.
    tell : callable, optional
        Called, when all documents have been read, with each sentence about what was detected, such as the encoding.

    Returns
    -------
    iterator of Document
    """
    found = read_documents(path, **columns._asdict(), encoding=encoding, tell=tell)
    return (Document(*document) for document in found)


def ending_of(name: str, content: bytes) -> str:
    """Return the ending that decides how a file with decisions is read; for text files the content decides it.

    Parameters
    ----------
    name : str
        Name of the file.
    content : bytes
        The beginning of its content.

    Examples
    --------
    >>> from bayesift.review.importing import ending_of
    >>> ending_of("Old.RIS", b""), ending_of("pubmed.txt", b"PMID- 7"), ending_of("list.txt", b"id,label")
    ('.ris', '.nbib', '.csv')
    """
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)
    if ending is None:
        raise ValueError(f"the file is called {name!r}; expected one that ends in {', '.join(ENDINGS)}")
    if ending != ".txt":
        return ending
    begin = content[:1000].removeprefix(b"\xef\xbb\xbf")
    return next((found for found, pattern in _BEGINNINGS if pattern.match(begin)), ".csv")


def is_literature(path: Path) -> bool:
    """Tell by its name whether a file is of a reference manager; it may be compressed."""
    name = Path(path.stem) if path.suffix in (".gz", ".xz", ".bz2") else path
    return name.suffix.lower() in _LITERATURE


def read_labels(
    path: Path,
    documents: Iterable[Document],
    same: Mapping[int, int] = MappingProxyType({}),
    all_are: Decision | None = None,
) -> Labels:
    """Read decisions from a file, and find their documents.

    A row of a table is matched by the identifier of the document, as it is or as an export escapes it; then, ignoring
    case and punctuation, by identifier, DOI and title, except those that several documents share. Reference managers
    renumber records, so in their files an identifier counts only together with the title, or if a record has neither
    title nor DOI.

    Parameters
    ----------
    path : Path
        A table with a header, an ASReview project, or RIS, PubMed, BibTeX or EndNote XML, by its ending.
    documents : iterable of Document
        The documents of the project.
    same : mapping
        From the place of each copy of a document to that of its original, which is meant by what all copies share.
    all_are : {"relevant", "irrelevant", "unsure"}, optional
        The decision about every record, whatever the file says; for a file that lists, say, what was included.

    Returns
    -------
    Labels
        If several rows are about the same document, the last one counts.
    """
    if not path.stat().st_size:
        raise ValueError("the file is empty; expected a decision for each of its records")
    is_table = not is_literature(path) and path.suffix != ".asreview"
    records = list(_of_table(path) if is_table else _of_literature(path))
    if all_are is not None:
        given = [Mark(all_are)] * len(records)
    else:
        details = [record.details for record in records]
        given = marks(details, "the file", lambda place: records[place].where, notes_first=is_literature(path))
    places = _index(documents, same)
    decided: dict[int, Mark] = {}
    unmatched = undecided = 0
    for record, mark in zip(records, given, strict=True):
        if mark.decision is None:
            undecided += 1
            continue
        place = next((places[name] for name in record.names if name in places), None)
        if place is None:
            unmatched += 1
        else:
            decided[place] = mark
    decisions = {place: mark.decision for place, mark in decided.items() if mark.decision is not None}
    reasons = {place: mark.reason for place, mark in decided.items() if mark.reason}
    return Labels(decisions, unmatched, undecided, reasons)


def find_documents(names: Sequence[str], documents: Iterable[Document]) -> dict[str, int]:
    """Find documents by identifier, DOI or title, ignoring case and punctuation.

    Parameters
    ----------
    names : sequence of str
        The identifiers, DOIs or titles to look for.
    documents : iterable of Document
        The documents of the project.

    Returns
    -------
    dict
        From each name that belongs to only one document to the place of that document.

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
    """Return, for each document, whether a column of its file says that it is relevant.

    Parameters
    ----------
    documents : sequence of Document
        The documents; at least one.
    column : str, optional
        The column; by default, one with a usual name.

    Examples
    --------
    >>> from bayesift.review.importing import relevance
    >>> from bayesift.review.storage import Document
    >>> relevance([Document("1", "Tin", "", {"included": "1"}), Document("2", "Ships", "", {"included": "0"})])
    [True, False]
    """
    if not documents:
        raise ValueError("there are no documents; expected at least one")
    details = [document.extra for document in documents]
    names = list(dict.fromkeys(name for extra in details for name in extra))
    found = column if column is not None else find_column(names, ("label_included",))
    kept = details if found is None else [{"included": extra[found]} if found in extra else {} for extra in details]
    try:
        given = marks(kept, "the file", lambda place: f"record {documents[place].key[:40]}")
    except NoMarksError as error:
        raise ValueError(f"label must name a column with decisions; the columns are {', '.join(names)}") from error
    for document, mark in zip(documents, given, strict=True):
        if mark.decision not in ("relevant", "irrelevant"):
            said = mark.decision or "not decided"
            raise ValueError(f"record {document.key[:40]} of the file is {said}; expected relevant or irrelevant")
    return [mark.decision == "relevant" for mark in given]


class _Record(NamedTuple):
    """A record of a file with decisions: where it is, what it is found by, in this order, and the decision."""

    where: str
    names: list[tuple[str, str]]
    details: Mapping[str, Any]


def _of_literature(path: Path) -> Iterator[_Record]:
    for number, document in enumerate(read_documents(path), start=1):
        doi, title = _doi(document.details), _same(document.title)
        names = [("doi", doi), ("title", title)]
        # ASReview projects number their records themselves.
        if path.suffix != ".asreview":
            names = [("key and title", f"{_same(document.id)}\n{title}"), *names] if title else names
            names = names if doi or title else [("exact key", document.id), ("key", _same(document.id))]
        yield _Record(f"record {number}", names, document.details)


def _of_table(path: Path) -> Iterator[_Record]:
    with open_table(path, strict=False, wanted=(*DECISIONS, "id", "doi", "title")) as table:
        columns = table.columns
        id = find_column(columns, (*USUAL_NAMES["id"], *USUAL_NAMES["record id"]))
        title = find_column(columns, USUAL_NAMES["title"])
        if not (id or title or find_column(columns, ("doi",))):
            expected = "expected one named id, doi or title"
            raise ValueError(f"no column of the file says which document is meant; {expected}")
        for line, row in table.rows():
            names = [("doi", _doi(row)), ("title", _same(row.get(title) if title else ""))]
            if id is not None:
                key = str(row.get(id) or "")
                names = [("exact key", unescaped(key)), ("exact key", key), ("key", _same(key)), *names]
            yield _Record(f"line {line}", names, row)


def _index(documents: Iterable[Document], same: Mapping[int, int]) -> dict[tuple[str, str], int]:
    """Map each identifier, DOI and title to its place, except those of several documents that are not copies."""
    places: dict[tuple[str, str], int | None] = {}
    for document in documents:
        key, title = _same(document.key), _same(document.title)
        identifiers = {
            ("exact key", document.key),
            ("key", key),
            ("key and title", f"{key}\n{title}" if key and title else ""),
            ("doi", _doi(document.extra)),
            ("title", title),
        }
        original = same.get(document.place, document.place)
        for identifier in identifiers:
            places[identifier] = original if places.get(identifier, original) == original else None
    return {identifier: place for identifier, place in places.items() if place is not None and identifier[1]}


def _doi(details: Mapping[str, Any]) -> str:
    return _same(doi_of(details) or next(iter(values_of(details, ("doi",))), ""))


def _same(text: object) -> str:
    """Return a text without case, punctuation and spaces."""
    return re.sub(r"[\W_]+", " ", str(text or "").lower()).strip()
