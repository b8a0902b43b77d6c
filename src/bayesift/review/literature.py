"""Exports for reference managers: BibTeX, PubMed, EndNote XML, and an ASReview project.

What the review adds to a document (decision, reason, tags, notes) goes into the notes of each format, under the same
names as in RIS.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from bayesift.review.exporting import Row, added_notes, to_csv
from bayesift.review.storage import doi_of, values_of

_NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _line(value: object) -> str:
    return " ".join(str(value).split())


def _first(row: Row, *names: str) -> str:
    return _line(next(iter(values_of(row.document.extra, names)), ""))


def _authors(row: Row) -> list[str]:
    return [name.strip() for name in _first(row, "authors", "author").split(";") if name.strip()]


def _keywords(row: Row) -> list[str]:
    return [word.strip() for word in _first(row, "keywords").split(";") if word.strip()]


_BIBTEX_KEY = re.compile(r"[^A-Za-z0-9_.:/+-]+")


def to_bibtex(found: Iterable[Row], _extra: Iterable[str] = ()) -> Iterator[str]:
    """Write rows as BibTeX; decision, reason, tags and notes become a field ``note``."""
    used: set[str] = set()
    for number, row in enumerate(found, start=1):
        key = _BIBTEX_KEY.sub("_", row.document.key).strip("_") or str(number)
        while key.lower() in used:
            key = f"{key}_{number}"
        used.add(key.lower())
        kind = _first(row, "type").lower()
        fields = {
            "title": row.document.title,
            "abstract": row.document.text,
            "author": " and ".join(_authors(row)),
            "year": _first(row, "year"),
            "journal": _first(row, "journal", "source"),
            "doi": doi_of(row.document.extra) or "",
            "url": _first(row, "url"),
            "keywords": "; ".join(_keywords(row)),
            "note": "; ".join(added_notes(row)),
        }
        lines = [f"  {name} = {{{_bibtex(value)}}},\n" for name, value in fields.items() if value]
        yield f"@{kind if re.fullmatch('[a-z]{3,20}', kind) else 'misc'}{{{key},\n{''.join(lines)}}}\n\n"


def _bibtex(text: str) -> str:
    """Escape a text so that its braces are balanced and no character is taken for a command."""
    return re.sub(r"([&%$#_])", r"\\\1", _line(text).replace("\\", "/").replace("{", "(").replace("}", ")"))


def to_pubmed(found: Iterable[Row], _extra: Iterable[str] = ()) -> Iterator[str]:
    """Write rows in PubMed format; what the review adds becomes general notes (``GN``)."""
    for row in found:
        document, doi = row.document, doi_of(row.document.extra)
        fields = [
            ("PMID", _first(row, "pmid") or _line(document.key)),
            ("TI", document.title),
            ("AB", document.text),
            *(("FAU", name) for name in _authors(row)),
            ("DP", _first(row, "date", "year")),
            ("JT", _first(row, "journal", "source")),
            ("LID", f"{doi} [doi]" if doi else ""),
            ("LA", _first(row, "language")),
            *(("OT", word) for word in _keywords(row)),
            *(("GN", note) for note in added_notes(row)),
        ]
        yield "".join(f"{tag:<4}- {_line(value)}\n" for tag, value in fields if value) + "\n"


def to_endnote(found: Iterable[Row], _extra: Iterable[str] = ()) -> Iterator[str]:
    """Write rows as EndNote XML; what the review adds becomes research notes."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<xml><records>\n'
    for row in found:
        document = row.document
        parts = [
            _element("rec-number", document.key),
            f'<ref-type name="{_xml(_first(row, "type") or "Generic", quoted=True)}">13</ref-type>',
            _element("contributors", "authors", *(("author", name) for name in _authors(row))) if _authors(row) else "",
            _element("titles", ("title", document.title), ("secondary-title", _first(row, "journal"))),
            _element("keywords", *(("keyword", word) for word in _keywords(row))),
            f"<dates>{_element('year', _first(row, 'year'))}</dates>",
            _element("accession-num", _first(row, "pmid", "accession number")),
            _element("abstract", document.text),
            _element("electronic-resource-num", doi_of(document.extra) or ""),
            f"<urls>{_element('related-urls', ('url', _first(row, 'url')))}</urls>",
            _element("research-notes", "\n".join(added_notes(row))),
        ]
        yield f"<record>{''.join(parts)}</record>\n"
    yield "</records></xml>\n"


def _element(name: str, *inside: str | tuple[str, str]) -> str:
    """Write an element around a text or around elements; more names are elements in between."""
    if len(inside) == 1 and isinstance(inside[0], str):
        return f"<{name}>{_xml(inside[0])}</{name}>" if inside[0] else ""
    if inside and isinstance(inside[0], str):
        return f"<{name}>{_element(inside[0], *inside[1:])}</{name}>"
    return f"<{name}>{''.join(_element(*child) for child in inside if isinstance(child, tuple))}</{name}>"


def _xml(text: str, *, quoted: bool = False) -> str:
    return escape(_NO_XML.sub("\ufffd", text), {'"': "&quot;"} if quoted else {})


_ASREVIEW_TABLES = """
CREATE TABLE record (dataset_row INTEGER NOT NULL, dataset_id VARCHAR NOT NULL, title VARCHAR NOT NULL,
    abstract VARCHAR NOT NULL, authors JSON NOT NULL, keywords JSON NOT NULL, year INTEGER, doi VARCHAR, url VARCHAR,
    included INTEGER, record_id INTEGER NOT NULL, duplicate_of INTEGER,
    group_id INTEGER NOT NULL GENERATED ALWAYS AS (COALESCE(duplicate_of, record_id)) VIRTUAL,
    PRIMARY KEY (record_id), UNIQUE (dataset_row, dataset_id),
    CONSTRAINT no_self_duplicate CHECK (duplicate_of IS NULL OR duplicate_of != record_id),
    FOREIGN KEY(duplicate_of) REFERENCES record (record_id) ON DELETE SET NULL);
CREATE INDEX idx_record_group_id ON record (group_id);
CREATE TABLE results (record_id INTEGER UNIQUE, label INTEGER, classifier TEXT, querier TEXT, balancer TEXT,
    feature_extractor TEXT, training_set INTEGER, time FLOAT, note TEXT, tags JSON, user_id INTEGER);
CREATE TABLE last_ranking (record_id INTEGER UNIQUE, ranking INT, classifier TEXT, querier TEXT, balancer TEXT,
    feature_extractor TEXT, training_set INTEGER, time FLOAT);
CREATE TABLE decision_changes (record_id INTEGER, label INTEGER, time FLOAT, user_id INTEGER);
"""


#: The default model of ASReview, with which it continues.
_ASREVIEW_MODEL = {
    "querier": "max", "classifier": "svm", "balancer": "balanced", "feature_extractor": "tfidf",
    "classifier_param": {"loss": "squared_hinge", "C": 0.11}, "balancer_param": {"ratio": 9.8},
    "feature_extractor_param": {"ngram_range": [1, 2], "sublinear_tf": True, "min_df": 1, "max_df": 0.95},
}  # fmt: skip


def asreview_project(found: Iterable[Row], name: str) -> bytes:
    """Return rows as a project of ASReview 3: the records, with decisions (relevant or irrelevant) as labels.

    Reasons, tags and notes become the note of a label.
    """
    dataset, made = "bayesift.csv", datetime.now(UTC).timestamp()
    described = {
        "version": "3.0.0", "id": "bayesift", "mode": "oracle", "name": name, "created_at_unix": int(made),
        "feature_matrices": [], "tags": None, "project_file_version": 3,
        "datasets": [{"id": dataset, "name": dataset}],
        "review": {"status": "review", "model": {"name": "elas_u4", "current_value": _ASREVIEW_MODEL}},
    }  # fmt: skip
    kept = list(found)
    with TemporaryDirectory() as folder:
        base = Path(folder) / "results.db"
        with closing(sqlite3.connect(base)) as connection:
            connection.executescript(_ASREVIEW_TABLES)
            columns = "dataset_row, dataset_id, title, abstract, authors, keywords, year, doi, url, included, record_id"
            marks = ", ".join("?" * 11)
            records = [_record(row, number, dataset) for number, row in enumerate(kept)]
            connection.executemany(f"INSERT INTO record ({columns}) VALUES ({marks})", records)  # noqa: S608
            labels = [_label(row, number, made) for number, row in enumerate(kept) if row.included and not row.copy_of]
            connection.executemany("INSERT INTO results (record_id, label, time, note) VALUES (?, ?, ?, ?)", labels)
            connection.commit()
        stream = BytesIO()
        with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
            archive.writestr("project.json", json.dumps(described))
            archive.write(base, "results.db")
            archive.writestr(f"data/{dataset}", "".join(to_csv(kept, (), unchanged=True)))
    return stream.getvalue()


def _record(row: Row, number: int, dataset: str) -> tuple[Any, ...]:
    year = re.search(r"\d{4}", _first(row, "year"))
    return (
        number, dataset, row.document.title, row.document.text, json.dumps(_authors(row)), json.dumps(_keywords(row)),
        int(year[0]) if year else None, doi_of(row.document.extra), _first(row, "url") or None,
        int(row.included) if row.included else None, number,
    )  # fmt: skip


def _label(row: Row, number: int, made: float) -> tuple[int, int, float, str | None]:
    at = datetime.fromisoformat(row.at).timestamp() if row.at else made
    said = (("reason", row.reason), ("tags", row.tags), ("notes", row.notes))
    return number, int(row.included), at, "; ".join(f"{name}: {_line(value)}" for name, value in said if value) or None


#: How to write each format, and its media type.
WRITERS: dict[str, tuple[Callable[..., Iterator[str]], str]] = {
    "bib": (to_bibtex, "application/x-bibtex; charset=utf-8"),
    "nbib": (to_pubmed, "application/nbib; charset=utf-8"),
    "xml": (to_endnote, "application/xml; charset=utf-8"),
}
