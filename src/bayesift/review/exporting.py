"""Export documents with their probabilities and decisions, as CSV, JSONL or RIS."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from types import MappingProxyType
from typing import Any, NamedTuple

from bayesift._typing import FloatArray
from bayesift.datasets import RIS_NAMES
from bayesift.review.decisions import Decisions
from bayesift.review.storage import Document, Remark


class Row(NamedTuple):
    """A document as it is exported.

    Parameters
    ----------
    document : Document
        The document as it was read.
    probability : float
        Its present probability under the model.
    decision : str
        Its status for all reviewers together; empty if nobody has decided.
    by : mapping
        The decision of each reviewer, by name.
    reason : str
        Why it was excluded.
    tags, notes : str
        The tags of all reviewers, and their notes with their names.
    copy_of : str
        The identifier, in the source, of the document that this one is a copy of.
    at, why, model, rank, shown_probability
        When the last decision was made, why the document was shown, by which model, with which rank and probability.
    """

    document: Document
    probability: float
    decision: str
    by: Mapping[str, str]
    reason: str = ""
    tags: str = ""
    notes: str = ""
    copy_of: str = ""
    at: str = ""
    why: str = ""
    model: str = ""
    rank: int | None = None
    shown_probability: float | None = None

    @property
    def included(self) -> str:
        """The decision as other programs write it: 1, 0 or empty."""
        return {"relevant": "1", "irrelevant": "0"}.get(self.decision, "")

    def columns(self) -> dict[str, Any]:
        """Return what the review adds to the document, by column name."""
        return {
            "probability": round(self.probability, 6),
            "decision": self.decision,
            "included": self.included,
            "reason for exclusion": self.reason,
            "tags": self.tags,
            "notes": self.notes,
            "duplicate of": self.copy_of,
            **{f"decision of {name}": decision for name, decision in self.by.items()},
            "decided at": self.at,
            "shown because": self.why,
            "shown by model": self.model,
            "shown with rank": self.rank,
            "shown with probability": self.shown_probability,
        }


def rows(
    documents: Iterable[Document],
    probabilities: FloatArray,
    decisions: Decisions,
    names: Mapping[int, str],
    remarks: Mapping[int, Mapping[int, Remark]] = MappingProxyType({}),
    *,
    decided_only: bool,
) -> Iterator[Row]:
    """Return the documents of a topic in the order of the file, with the decisions and remarks of reviewers."""
    originals = set(decisions.same.values())
    keys: dict[int, str] = {}
    for document in documents:
        status = decisions.status(document.place)
        if document.place in originals:
            keys[document.place] = document.key
        if decided_only and status in (None, "skip"):
            continue
        held = decisions.by_reviewer(document.place)
        last = max(held.values(), key=lambda event: event.id, default=None)
        row = Row(
            document,
            float(probabilities[document.place]),
            status or "",
            {name: str(held[number].decision) if number in held else "" for number, name in names.items()},
            decisions.exclusion(document.place) or "",
            *_remarked(remarks.get(document.place, {}), names),
            # Originals come before their copies.
            keys.get(decisions.same.get(document.place, -1), ""),
        )
        if last is not None:
            row = row._replace(
                at=last.at,
                why=last.why or "",
                model=last.model or "",
                rank=last.rank,
                shown_probability=last.probability,
            )
        yield row


def _remarked(remarks: Mapping[int, Remark], names: Mapping[int, str]) -> tuple[str, str]:
    """Return the tags of all reviewers, each once, and their notes."""
    tags = dict.fromkeys(tag for remark in remarks.values() for tag in remark.tags)
    notes = (f"{names[who]}: {remark.note}" for who, remark in remarks.items() if remark.note)
    return "; ".join(tags), "\n".join(notes)


#: What a spreadsheet takes for a formula, and what is already escaped.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def spreadsheet_safe(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would take for a formula; numbers are left alone.

    To undo it, remove the first apostrophe of an escaped cell.

    Examples
    --------
    >>> from bayesift.review.exporting import spreadsheet_safe
    >>> [spreadsheet_safe(cell) for cell in ("=1+1", "@here", "-0.5", -0.5, "'=x", "'x", "a = b")]
    ["'=1+1", "'@here", '-0.5', -0.5, "''=x", "'x", 'a = b']
    """
    is_formula = isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def unescaped(cell: str) -> str:
    """Return the text that :func:`spreadsheet_safe` made a cell of.

    Examples
    --------
    >>> from bayesift.review.exporting import unescaped
    >>> [unescaped(cell) for cell in ("'=1+1", "''=x", "'x", "-0.5")]
    ['=1+1', "'=x", "'x", '-0.5']
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def to_csv(found: Iterable[Row], extra: Iterable[str], *, unchanged: bool = False) -> Iterator[str]:
    """Write rows as CSV, with the given columns of the source and those of the review.

    Parameters
    ----------
    found : iterable of Row
        The documents.
    extra : iterable of str
        Columns of the source.
    unchanged : bool
        Whether to write all texts as they are, even those that a spreadsheet takes for formulas.

    Yields
    ------
    str
        One or more lines.
    """
    extra = list(extra)
    cell = (lambda value: value) if unchanged else spreadsheet_safe
    stream = StringIO(newline="")
    writer = csv.writer(stream)
    for number, row in enumerate(found):
        added = row.columns()
        # A column of the file may have the name of a column of the review, which then wins.
        others = [name for name in extra if name not in (*added, "id", "title", "text")]
        if number == 0:
            writer.writerow(map(cell, ["id", "title", "text", *added, *others]))
        document = row.document
        details = (document.extra.get(name) for name in others)
        writer.writerow(map(cell, [document.key, document.title, document.text, *added.values(), *details]))
        yield _taken(stream)


def to_jsonl(found: Iterable[Row], _extra: Iterable[str] = ()) -> Iterator[str]:
    """Write rows as one JSON object per line."""
    for row in found:
        document = row.document
        own = {"id": document.key, "title": document.title, "text": document.text, **row.columns()}
        yield json.dumps({**document.extra, **own}, ensure_ascii=False) + "\n"


def added_notes(row: Row) -> list[str]:
    """Return what the review adds to a document, a line each, for formats that have no fields for it."""
    notes = [f"Bayesift decision: {row.decision or 'none'}", f"Bayesift probability: {row.probability:.4f}"]
    more = (("reason", row.reason), ("tags", row.tags), ("notes", row.notes), ("duplicate of", row.copy_of))
    return [*notes, *(f"Bayesift {name}: {' '.join(value.split())}" for name, value in more if value)]


_RIS_TAG = re.compile("[A-Z][A-Z0-9]")

#: Tags that mark the beginning and end of a record, and those that the export writes itself.
_RIS_RESERVED = ("TY", "ER", "ID", "TI", "AB")


def to_ris(found: Iterable[Row], _extra: Iterable[str] = ()) -> Iterator[str]:
    """Write rows as RIS; decision and probability become notes, as does a column named like a tag that is written."""
    for row in found:
        document = row.document
        kind = str(document.extra.get("type") or "").strip() or "GEN"
        lines = [("TY", kind), ("ID", document.key), ("TI", document.title), ("AB", document.text)]
        for name, value in document.extra.items():
            lines.extend(_ris_lines(name, str(value)))
        lines.extend(("N1", note) for note in added_notes(row))
        texts = ((tag, " ".join(value.split())) for tag, value in lines)
        yield "".join(f"{tag}  - {text}\n" for tag, text in texts if text) + "ER  - \n\n"


def _ris_lines(name: str, value: str) -> list[tuple[str, str]]:
    """Return tags and values for a column of the source; nothing for one that RIS has no tag for."""
    if name in _RIS_RESERVED:
        return [("N1", f"{name}: {value}")]
    tag = _RIS_TAGS.get(name, name)
    if tag in _RIS_RESERVED or not _RIS_TAG.fullmatch(tag):
        return []
    return [(tag, part) for part in (value.split("; ") if tag in ("AU", "KW") else [value])]


#: The tag for each name; if there are several, the first.
_RIS_TAGS = {name: tag for tag, name in reversed(list(RIS_NAMES.items()))}


Writer = Callable[..., Iterator[str]]

#: How to write each format, and its media type.
WRITERS: dict[str, tuple[Writer, str]] = {
    "csv": (to_csv, "text/csv; charset=utf-8"),
    "jsonl": (to_jsonl, "application/jsonl; charset=utf-8"),
    "ris": (to_ris, "application/x-research-info-systems; charset=utf-8"),
}


def _taken(stream: StringIO) -> str:
    text = stream.getvalue()
    stream.seek(0)
    stream.truncate()
    return text
