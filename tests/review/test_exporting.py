"""What goes out can be opened anywhere, and comes in again."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.datasets import read_documents
from bayesift.review.exporting import Row, spreadsheet_safe, to_csv, to_jsonl, to_ris, unescaped
from bayesift.review.importing import read_labels
from bayesift.review.storage import Document

FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1"]


def row(document: Document, decision: str = "relevant") -> Row:
    return Row(document, 0.5, decision, {"Anna": decision})


def cells(lines):
    return list(csv.reader(StringIO("".join(lines), newline="")))


def test_no_cell_begins_a_formula():
    documents = [Document(text, text, text, {text: text, "n": -1}) for text in FORMULAS]
    for document in documents:
        head, written = cells(to_csv([row(document)], document.extra))
        assert not any(cell[:1] in tuple("=+@\t\r\n\uff1d") for cell in (*head, *written))
        assert [cell for cell in (*head, *written) if cell.startswith("-")] == ["-1"]
        head, plain = cells(to_csv([row(document)], document.extra, unchanged=True))
        assert plain[0] == document.key
        assert document.key in head


@pytest.mark.parametrize("number", ["-1", "+1.5e3", "-.5", "-0"])
def test_numbers_stay_numbers(number):
    assert spreadsheet_safe(number) == number


@given(st.text(st.sampled_from("'=+-@\t\r\n1a "), max_size=6))
def test_what_was_escaped_comes_back(text):
    assert unescaped(spreadsheet_safe(text)) == text


def test_decisions_about_documents_with_such_names_come_in_again(tmp_path):
    """Also if they differ in nothing but the signs."""
    keys = ["=key", "+key", "-key", "@key", "key", "-1", "1"]
    documents = [Document(key, "", "text", {}, place) for place, key in enumerate(keys)]
    for unchanged in (False, True):
        path = tmp_path / "x.csv"
        path.write_text("".join(to_csv(map(row, documents), [], unchanged=unchanged)), encoding="utf-8", newline="")
        labels = read_labels(path, documents)
        assert (labels.decisions, labels.unmatched) == (dict.fromkeys(range(len(keys)), "relevant"), 0)


RESERVED = {"ER": "x", "TY": "JOUR", "ID": "other", "TI": "other", "AB": "other", "É1": "x", "A": "y", "T9": "kept"}


def test_a_column_named_like_a_tag_breaks_no_record(tmp_path):
    documents = [
        Document("a", "First\nER  - ", "Text\u2028ER  - \nTY  - JOUR", RESERVED),
        Document("b", "Second", "Text", {"type": " ", "authors": "Doe, J.; Roe, R.\nER  - "}),
        Document("c", "", "", {"type": "JOUR\nER  - "}),
    ]
    path = tmp_path / "out.ris"
    path.write_text("".join(to_ris(map(row, documents))))
    found = list(read_documents(path))
    assert [(document.id, document.title, document.text) for document in found] == [
        ("a", "First ER -", "Text ER - TY - JOUR"), ("b", "Second", "Text"), ("c", "", ""),
    ]  # fmt: skip
    assert found[0].details["T9"] == "kept"
    assert "ER: x; TY: JOUR; ID: other; TI: other; AB: other" in found[0].details["N1"]
    assert [document.details["type"] for document in found] == ["GEN", "GEN", "JOUR ER -"]
    lines = path.read_text().splitlines()
    assert sum(line.startswith("ER") for line in lines) == sum(line.startswith("TY") for line in lines) == 3


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(["ER", "TY", "type", "N1", "AU", "E R", "ER  "]), st.text(max_size=4)),
        st.text(max_size=20),
        max_size=4,
    ),
    st.text(max_size=20),
)
def test_every_record_has_one_beginning_and_one_end(extra, text):
    written = "".join(to_ris([row(Document("key", text, text, extra))] * 2))
    records = written.split("ER  - \n\n")
    assert len(records) == 3
    for record in records[:2]:
        assert [line[:2] for line in record.split("\n")].count("TY") == 1
        assert record.startswith("TY  - ")
        assert not any(line.startswith("ER") for line in record.splitlines())


def test_json_keeps_every_text():
    document = Document("=k", "=t", "'=x", {"ER": "=1"})
    found = json.loads("".join(to_jsonl([row(document)])))
    assert (found["id"], found["title"], found["text"], found["ER"]) == ("=k", "=t", "'=x", "=1")
