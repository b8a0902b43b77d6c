"""Documents with their probabilities and decisions, as CSV, JSONL or RIS."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from bayesift._typing import FloatArray
from bayesift.datasets import RIS_NAMES
from bayesift.review.decisions import Decisions
from bayesift.review.storage import Document


class Row(NamedTuple):
    """A document as it is exported.

    Parameters
    ----------
    document : Document
        What was read.
    probability : float
        What the model thinks now.
    decision : str
        What holds for all reviewers together; empty if nobody has decided.
    by : mapping
        The decision of each reviewer, by name.
    at, why, model, rank, shown_probability
        When the last decision was made, why the document was shown, by which model, with which rank and probability.
    """

    document: Document
    probability: float
    decision: str
    by: Mapping[str, str]
    at: str = ""
    why: str = ""
    model: str = ""
    rank: int | None = None
    shown_probability: float | None = None

    @property
    def included(self) -> str:
        """The decision as other programs write it: 1, 0 or nothing."""
        return {"relevant": "1", "irrelevant": "0"}.get(self.decision, "")

    def columns(self) -> dict[str, Any]:
        """Return what the review adds to the document, by the names of columns."""
        return {
            "probability": float(np.round(self.probability, 6)),
            "decision": self.decision,
            "included": self.included,
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
    *,
    decided_only: bool,
) -> Iterator[Row]:
    """Return the documents of a topic in the order of the file."""
    for document in documents:
        status = decisions.status(document.place)
        if decided_only and status in (None, "skip"):
            continue
        held = decisions.by_reviewer(document.place)
        last = max(held.values(), key=lambda event: event.id, default=None)
        row = Row(
            document,
            float(probabilities[document.place]),
            status or "",
            {name: str(held[number].decision) if number in held else "" for number, name in names.items()},
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


def to_csv(found: Iterable[Row], extra: Iterable[str]) -> Iterator[str]:
    """Write rows as CSV, with the columns named besides the own ones."""
    extra = list(extra)
    stream = StringIO(newline="")
    writer = csv.writer(stream)
    for number, row in enumerate(found):
        added = row.columns()
        # A column of the file may have the name of one of ours; ours wins.
        others = [name for name in extra if name not in (*added, "id", "title", "text")]
        if number == 0:
            writer.writerow(["id", "title", "text", *added, *others])
        document = row.document
        writer.writerow(
            [document.key, document.title, document.text, *added.values(), *(document.extra.get(key) for key in others)]
        )
        yield _taken(stream)


def to_jsonl(found: Iterable[Row], _extra: Iterable[str] = ()) -> Iterator[str]:
    """Write rows as one JSON object a line."""
    for row in found:
        document = row.document
        own = {"id": document.key, "title": document.title, "text": document.text, **row.columns()}
        yield json.dumps({**document.extra, **own}, ensure_ascii=False) + "\n"


def to_ris(found: Iterable[Row], _extra: Iterable[str] = ()) -> Iterator[str]:
    """Write rows as RIS; decision and probability become notes."""
    tags: dict[str, str] = {}
    for tag, name in RIS_NAMES.items():
        tags.setdefault(name, tag)
    for row in found:
        document = row.document
        lines = [("TY", str(document.extra.get("type", "GEN"))), ("ID", document.key), ("TI", document.title)]
        lines.append(("AB", document.text))
        for name, value in document.extra.items():
            tag = tags.get(name, name if len(name) == 2 and name.isalnum() and name.isupper() else "")
            if tag and tag not in ("TY", "ID"):
                parts = str(value).split("; ") if tag in ("AU", "KW") else [str(value)]
                lines.extend((tag, part) for part in parts)
        lines.append(("N1", f"Bayesift decision: {row.decision or 'none'}"))
        lines.append(("N1", f"Bayesift probability: {row.probability:.4f}"))
        yield "".join(f"{tag}  - {' '.join(value.split())}\n" for tag, value in lines if value) + "ER  - \n\n"


Writer = Callable[[Iterable[Row], Iterable[str]], Iterator[str]]

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
