from __future__ import annotations

import csv
import gzip
import json
import time
from contextlib import suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.review.decisions import Decisions
from bayesift.review.exporting import Row, rows, to_csv, to_jsonl, to_ris
from bayesift.review.importing import Columns, ending_of, import_documents, read_labels
from bayesift.review.literature import to_bibtex, to_endnote, to_pubmed
from bayesift.review.marks import marks
from bayesift.review.storage import Document, Event

RIS = """\ufeffTY  - JOUR
AU  - Aalto, A.
AU  - Berg, B.
TI  - Tin in cans
AB  - On tin.
  It rusts not.
PY  - 1987
DO  - 10.1/tin
XX  - odd
ER  -

TY  - BOOK
T1  - Ships
ER  -
"""


def test_ris_is_read_with_its_details(tmp_path):
    path = tmp_path / "papers.ris"
    path.write_text(RIS)
    first, second = import_documents(path)
    assert first == Document(
        "10.1/tin", "Tin in cans", "On tin. It rusts not.",
        {"type": "JOUR", "authors": "Aalto, A.; Berg, B.", "year": "1987", "doi": "10.1/tin", "XX": "odd"},
    )  # fmt: skip
    assert second == Document("2", "Ships", "", {"type": "BOOK"})


def test_ris_that_is_none_is_refused_with_its_line(tmp_path):
    path = tmp_path / "papers.ris"
    path.write_text("hello\n")
    with pytest.raises(ValueError, match=r"papers.ris, line 1: found 'hello', expected a tag"):
        list(import_documents(path))
    path.write_bytes(b"TY  - JOUR\nTI  - \xff\n")
    with pytest.raises(ValueError, match=r"line 2: not utf-8"):
        list(import_documents(path, encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "content", "notes"),
    [
        ("a.csv", "title;abstract\nÖl;Maße, so\n", ["not UTF-8: read as cp1252", "fields separated by ';'"]),
        ("a.ris", "TY  - JOUR\nTI  - Öl\nAB  - Maße, so\nER  - \n", ["not UTF-8: read as cp1252"]),
        ("a/Öl.txt", "Maße, so", ["1 file not UTF-8: read as cp1252"]),
    ],
)
def test_separators_and_encodings_are_recognised_and_told(tmp_path, name, content, notes):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode("cp1252"))
    told = []
    [found] = import_documents(tmp_path / name.partition("/")[0], tell=told.append)
    assert (found.title, found.text) == ("Öl", "Maße, so")
    assert told == notes


def test_tables_are_read_by_the_usual_names(tmp_path):
    path = tmp_path / "papers.csv.gz"
    path.write_bytes(
        gzip.compress(b"record_id,Title,Abstract,year,label_included\n7,Tin,On tin.,1987,1\n,Lead,,1988,0\n")
    )
    assert list(import_documents(path)) == [
        Document("7", "Tin", "On tin.", {"year": "1987", "label_included": "1"}),
        Document("2", "Lead", "", {"year": "1988", "label_included": "0"}),
    ]
    path = tmp_path / "papers.jsonl"
    path.write_text('{"text": "On tin.", "tags": ["a"], "n": NaN, "year": 1987}\n')
    assert list(import_documents(path)) == [Document("1", "", "On tin.", {"tags": "['a']", "n": None, "year": 1987})]
    path = tmp_path / "papers.tsv"
    path.write_text("name\tsays\nx\ty\n")
    assert list(import_documents(path, Columns(text="says", title="name"))) == [Document("1", "x", "y")]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (Columns(), "no column has a usual name; its columns are 'name', 'says'"),
        (Columns(text="body"), "text: .* has no column 'body'"),
        (Columns(title="head"), "title: .* has no column 'head'"),
    ],
)
def test_columns_that_are_missing_are_named(tmp_path, columns, problem):
    path = tmp_path / "papers.csv"
    path.write_text("name,says\nx,y\n")
    with pytest.raises(ValueError, match=problem):
        list(import_documents(path, columns))


def test_a_folder_is_a_document_a_file(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "b.txt").write_text("second")
    (tmp_path / "in" / "deep" / "a.txt").write_text("third")
    (tmp_path / "in" / ".hidden").write_text("never")
    assert [document[:3] for document in import_documents(tmp_path / "in")] == [
        ("b.txt", "b", "second"), ("deep/a.txt", "a", "third"),
    ]  # fmt: skip


DOCUMENTS = [
    Document("a", "Tin: falls!", "x", {"doi": "10.1/A"}, 0),
    Document("b", "Ships", "y", {}, 1),
    Document("c", "Ships", "z", {}, 2),
]


def labels_of(content, ending=".csv", documents=DOCUMENTS, **options):
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        path.write_bytes(content)
        return read_labels(path, documents, **options)


@pytest.mark.parametrize(
    ("content", "decisions", "unmatched", "undecided"),
    [
        (b"record_id,included\na,1\nb,0\nd,1\n", {0: "relevant", 1: "irrelevant"}, 1, 0),
        (b"\xef\xbb\xbfid;decision\nb;yes\nc;maybe\na;\n", {1: "relevant", 2: "unsure"}, 0, 1),
        (b"title\tasreview_label\nTIN  FALLS\t1.0\nShips\t0\n", {0: "relevant"}, 1, 0),
        (b"doi,label\n10.1/a,excluded\n,1\n", {0: "irrelevant"}, 1, 0),
        (b"id,label\na,1\na,0\n", {0: "irrelevant"}, 0, 0),
    ],
)
def test_labels_of_other_programs_find_their_documents(content, decisions, unmatched, undecided):
    assert labels_of(content) == (decisions, unmatched, undecided, {})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty; expected a decision for each of its records"),
        (b"id,colour\na,red\n", "no column of the file holds decisions"),
        (b"colour,label\nred,1\n", "which document is meant"),
        (b"id,label\na,perhaps\n", "line 2 of the file has the decision 'perhaps'"),
        (b"id,label\n\xff\x00\xff,1\n", "NUL|zero|not "),
    ],
)
def test_files_without_labels_are_refused(content, problem):
    with pytest.raises(ValueError, match=problem):
        labels_of(content)


@given(st.binary(max_size=200))
def test_any_file_is_read_or_refused(content):
    # Anything else than a ValueError would be a fault of the server.
    with suppress(ValueError):
        labels_of(b"id,label\n" + content)


def exported():
    decisions = Decisions(
        [
            Event(0, 1, "label", "relevant", None, "random", "prior", 3, 0.25, id=1, at="2026-01-01T00:00:00.000Z"),
            Event(1, 1, "label", "irrelevant", id=2),
            Event(1, 2, "label", "relevant", id=3),
        ]
    )
    return list(rows(DOCUMENTS, np.array([0.9, 0.5, 0.125]), decisions, {1: "Anna", 2: "Ben"}, decided_only=False))


def test_exports_say_who_decided_what_and_why():
    table = list(csv.DictReader(StringIO("".join(to_csv(exported(), ["doi", "title"])))))
    assert [row["decision"] for row in table] == ["relevant", "conflict", ""]
    assert [row["included"] for row in table] == ["1", "", ""]
    assert table[0]["decision of Anna"] == "relevant"
    assert table[0]["shown because"] == "random"
    assert table[0]["shown with rank"] == "3"
    assert table[0]["doi"] == "10.1/A"
    assert table[1]["decision of Ben"] == "relevant"
    assert [float(row["probability"]) for row in table] == [0.9, 0.5, 0.125]
    objects = [json.loads(line) for line in to_jsonl(exported())]
    assert objects[0]["doi"] == "10.1/A"
    assert objects[0]["shown with probability"] == 0.25


def test_what_is_exported_can_be_imported():
    content = "".join(to_csv(exported(), ["doi"])).encode()
    # What is in conflict is not decided yet.
    assert labels_of(content)[:3] == ({0: "relevant"}, 0, 2)
    settled = [row._replace(decision="relevant") for row in exported()[:2]]
    assert labels_of("".join(to_csv(settled, [])).encode()).decisions == {0: "relevant", 1: "relevant"}


FORMATS = {
    ".csv": to_csv,
    ".jsonl": to_jsonl,
    ".ris": to_ris,
    ".bib": to_bibtex,
    ".nbib": to_pubmed,
    ".xml": to_endnote,
}


@pytest.mark.parametrize("ending", FORMATS)
def test_every_export_of_ours_comes_in_with_its_reasons(ending):
    """Also about documents of the same title, and where an older export had decided otherwise."""
    before = {"N1": "Bayesift decision: relevant; Bayesift reason: old; ASReview_relevant", "note": "x", "notes": "y"}
    documents = [*DOCUMENTS, Document("d", "Gold", "", before, 3), Document("e f", "", "only text", {}, 4)]
    said = ["relevant", "irrelevant", "irrelevant", "irrelevant", "unsure"]
    reasons = ["", "wrong subject; or none", "", "animals", ""]
    note = "Anna: Bayesift decision: unsure; Bayesift reason: no"
    found = [
        Row(document, 0.5, decision, {}, reason, "London", note, copy_of="a")
        for document, decision, reason in zip(documents, said, reasons, strict=True)
    ]
    labels = labels_of("".join(FORMATS[ending](found, ["doi"])).encode(), ending, documents)
    assert labels.decisions == dict(enumerate(said))
    assert labels.reasons == {1: "wrong subject; or none", 3: "animals"}
    assert (labels.unmatched, labels.undecided) == (0, 0)


RAYYAN = (
    "RAYYAN-INCLUSION: {%s} | RAYYAN-LABELS: ML | RAYYAN-EXCLUSION-REASONS: wrong population,foreign | USER-NOTES: {}"
)


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("ASReview_relevant", ("relevant", "")),
        ("<p>Seen</p>; ASReview_irrelevant", ("irrelevant", "")),
        ("ASReview_not_seen", (None, "")),
        ("ASReview_relevant; ASReview_irrelevant", (None, "")),
        ("Bayesift decision: unsure", ("unsure", "")),
        ("Bayesift decision: none; ASReview_relevant", (None, "")),
        (RAYYAN % '"Kofi"=>"Included"', ("relevant", "")),
        (RAYYAN % '"Kofi"=>"Excluded", "A. B."=>"Excluded"', ("irrelevant", "wrong population,foreign")),
        ('RAYYAN-INCLUSION: {"Kofi"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS:  | USER-NOTES: {}', ("irrelevant", "")),
        (RAYYAN % '"Kofi"=>"Maybe"', ("unsure", "")),
        (RAYYAN % '"Kofi"=>"Included", "Ama"=>"Excluded"', (None, "")),
    ],
)
def test_notes_of_this_and_other_programs_are_decisions(note, expected):
    first, second = marks([{"N1": note}, {"N1": "ASReview_relevant"}], "x.ris", notes_first=True)
    assert (first, second) == (expected, ("relevant", ""))
    # Keywords are where managers of literature keep tags, and tables may have notes without a column of decisions.
    assert (
        marks([{"keywords": f"a; {note}; b"}, {"keywords": "ASReview_relevant"}], "x", notes_first=True)[0][0]
        == first[0]
    )
    assert marks([{"notes": note}, {"notes": "ASReview_relevant"}], "x.csv")[0] == first


@pytest.mark.parametrize(
    ("note", "decision"),
    [
        ("RAYYAN-INCLUSION: {" * 40_000, None),
        ('RAYYAN-INCLUSION: {"K"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: a' + " " * 600_000 + "b", "irrelevant"),
    ],
)
def test_long_notes_are_searched_in_little_time(note, decision):
    begun = time.process_time()
    assert marks([{"N1": note}, {"N1": "ASReview_relevant"}], "x.ris", notes_first=True)[0].decision == decision
    assert time.process_time() - begun < 10


def test_a_field_of_literature_decides_if_all_of_it_are_decisions():
    ris = b"TY  - JOUR\nTI  - Tin falls\nLB  - %s\nER  - \nTY  - JOUR\nTI  - Gold\nLB  - 0\nER  - \n"
    assert labels_of(ris % b"included", ".ris")[:3] == ({0: "relevant"}, 1, 0)
    with pytest.raises(ValueError, match=r"no column of the file holds decisions; .* 'ASReview_relevant' or 'RAYYAN"):
        labels_of(ris % b"Smith 2010", ".ris")


def test_a_list_of_what_was_included_or_excluded_needs_no_marks():
    ris = b"TY  - JOUR\nTI  - Tin falls\nER  - \nTY  - JOUR\nTI  - Gold\nN1  - ASReview_relevant\nER  - \n"
    assert labels_of(ris, ".ris", all_are="irrelevant") == ({0: "irrelevant"}, 1, 0, {})
    assert labels_of(b"id\na\nb\n", all_are="relevant") == ({0: "relevant", 1: "relevant"}, 0, 0, {})


def test_records_that_a_manager_of_literature_numbers_anew_find_their_documents():
    documents = [Document("1", "Tin", "", {"doi": "10.1000/TIN"}, 0), Document("2", "Ships", "", {}, 1)]
    entry = "TY  - JOUR\nID  - %s\nTI  - %s\nDO  - %s\nN1  - ASReview_relevant\nER  - \n"
    content = (
        entry % ("2", "Tin, again", "https://doi.org/10.1000/tin")
        + entry % ("1", "Ships", "")
        + entry % ("1", "Gold", "")
    )
    assert labels_of(content.encode(), ".ris", documents)[:3] == ({0: "relevant", 1: "relevant"}, 1, 0)


@pytest.mark.parametrize(
    ("name", "content", "ending"),
    [
        ("x.CSV", b"TY  - JOUR", ".csv"),
        ("x.txt", b"\xef\xbb\xbfTY  - JOUR\n", ".ris"),
        ("x.txt", b"\nPMID- 7\n", ".nbib"),
        ("x.txt", b"% made by hand\n@article{a,\n", ".bib"),
        ("x.txt", b"%% one\r\n\n % two %\r\n@article{a,\n", ".bib"),
        # Ways to cut this into comments are many; nobody has time to try them all.
        ("x.txt", b"%" * 1000, ".csv"),
        ("x.txt", b"% \n" * 250, ".csv"),
        ("x.txt", b"<?xml version='1.0'?>", ".xml"),
        ("x.txt", b'{"id": 1}', ".jsonl"),
        ("x.txt", b"id;label\n", ".csv"),
    ],
)
def test_texts_are_recognised_by_their_content(name, content, ending):
    assert ending_of(name, content) == ending
    with pytest.raises(ValueError, match=r"the file is called 'x\.docx'; expected one that ends in \.csv, "):
        ending_of("x.docx", content)


def test_ris_comes_back_as_it_went(tmp_path):
    path = tmp_path / "papers.ris"
    path.write_text(RIS)
    given = list(import_documents(path))
    path.write_text("".join(to_ris([Row(document, 0.5, "relevant", {}) for document in given])))
    again = list(import_documents(path))
    for before, after in zip(given, again, strict=True):
        assert after[:3] == before[:3]
        notes = after.extra.pop("N1")
        assert notes == "Bayesift decision: relevant; Bayesift probability: 0.5000"
        assert {**after.extra, "ID": before.key} == {**before.extra, "ID": before.key}
