"""Files of databases and managers of literature, good ones and hostile ones."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from bayesift.datasets import (
    CellTooLongError,
    DamagedFileError,
    ExpansionError,
    FormatError,
    MalformedFileError,
    read_documents,
)
from bayesift.datasets._files import members_of

PUBMED = """\
PMID- 31415926
OWN - NLM
DP  - 2019 Mar 14
TI  - Opioids for chronic pain:
      a randomised trial.
LID - S0140-6736(19)1 [pii]
LID - 10.1000/abc [doi]
AB  - BACKGROUND: Pain is
      common. METHODS: A trial.
FAU - Doe, Jane
AU  - Doe J
FAU - Roe, Rob
JT  - Lancet
MH  - Analgesics
OT  - pain

PMID- 2718281
TI  - Untitled [sic]
AU  - Solo A
"""

BIBTEX = r"""
% a comment
@string{jan = "January"}
@comment{nothing {at all}}
@Article{doe2019,
  title = {The {DNA} of {\"U}ber-people: it's \'etrange \& {\o}dd},
  author = "Doe, Jane and M{\"u}ller, J{\'o}zef",
  year = 2019, month = jan # { 5},
  abstract = {Line one
     and two.},
  doi = {10.1000/abc},
}
@book(x, title = {Second}
)
"""

ENDNOTE = """<?xml version="1.0" encoding="UTF-8"?><xml><records><record>
<rec-number>7</rec-number><ref-type name="Journal Article">17</ref-type>
<contributors><authors><author><style face="normal">Doe, Jane</style></author><author>Roe, R</author></authors>
</contributors>
<titles><title><style>On </style><style face="italic">E. coli</style></title>
<secondary-title>J Test</secondary-title></titles>
<periodical><full-title>Other</full-title></periodical>
<dates><year>2019</year></dates><abstract><style>5 &lt; 6 &#233;</style></abstract>
<electronic-resource-num>10.1000/abc</electronic-resource-num>
<urls><pdf-urls><url>https://x.org/a.pdf</url></pdf-urls></urls></record><record><titles><title>Two</title></titles></record>
</records></xml>"""


def read(tmp_path, name, content, **options):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return [tuple(document) for document in read_documents(path, **options)]


def test_pubmed(tmp_path):
    first, second = read(tmp_path, "x.nbib", PUBMED)
    assert first[:3] == (
        "31415926", "Opioids for chronic pain: a randomised trial.", "BACKGROUND: Pain is common. METHODS: A trial.",
    )  # fmt: skip
    assert first[3] == {
        "pmid": "31415926", "date": "2019 Mar 14", "year": "2019", "doi": "10.1000/abc",
        "authors": "Doe, Jane; Roe, Rob", "journal": "Lancet", "keywords": "Analgesics; pain",
    }  # fmt: skip
    assert second == ("2718281", "Untitled [sic]", "", {"pmid": "2718281", "authors": "Solo A"})


def test_bibtex(tmp_path):
    first, second = read(tmp_path, "x.bib", BIBTEX)
    assert first[:3] == ("doe2019", "The DNA of Über-people: it's étrange & ødd", "Line one and two.")
    assert first[3] == {
        "type": "article", "authors": "Doe, Jane; Müller, Józef", "year": "2019", "month": "January 5",
        "doi": "10.1000/abc",
    }  # fmt: skip
    assert second == ("x", "Second", "", {"type": "book"})


def test_entries_of_bibtex_may_stand_in_parentheses_and_in_one_line(tmp_path):
    content = """\
@string(J = "Journal (of) Tin") @book(a, title = {One :-)}, publisher = "(x", journal = j) @book{b, title = "Two
)
and {"}3{"}"} @misc(c, title = {Four}
)"""
    found = read(tmp_path, "x.bib", content)
    assert [document[:2] for document in found] == [("a", "One :-)"), ("b", 'Two ) and "3"'), ("c", "Four")]
    assert found[0][3] == {"type": "book", "publisher": "(x", "journal": "Journal (of) Tin"}


def test_very_many_entries_of_bibtex_in_one_line_take_no_quadratic_time(tmp_path):
    content, begun = "@a{k, title = {Tin}} " * 100_000, time.process_time()
    assert len(read(tmp_path, "x.bib", content)) == 100_000
    assert time.process_time() - begun < 20


def test_abbreviations_of_bibtex_do_not_grow_without_end(tmp_path):
    lines = ["@string{a0 = {xxxxxxxxxx}}"]
    lines += [f"@string{{a{n + 1} = {' # '.join([f'a{n}'] * 10)}}}" for n in range(9)]
    with pytest.raises(CellTooLongError, match=r"x\.bib, line 4: "):
        read(tmp_path, "x.bib", "\n".join([*lines, "@misc{k, title = a9}"]), max_cell=9_999)
    entries = [f"@misc{{k{n}, title = a3}}" for n in range(10_000)]
    with pytest.raises(MalformedFileError, match=r"line 67\d\d: .* stand for more than 67,108,864 characters"):
        read(tmp_path, "x.bib", "\n".join([*lines[:4], *entries]))
    assert len(read(tmp_path, "x.bib", "\n".join([*lines[:4], *entries[:6000]]))) == 6000


def test_endnote(tmp_path):
    first, second = read(tmp_path, "x.xml", ENDNOTE)
    assert first == (
        "7", "On E. coli", "5 < 6 é",
        {
            "type": "Journal Article", "authors": "Doe, Jane; Roe, R", "journal": "J Test", "year": "2019",
            "doi": "10.1000/abc", "pdf_url": "https://x.org/a.pdf",
        },
    )  # fmt: skip
    assert second == ("2", "Two", "", {})


BOMB = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<xml><records><record><titles><title>&b;</title></titles></record></records></xml>"""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.xml", BOMB, "document type"),
        ("x.xml", BOMB.replace('"aaaaaaaaaa"', 'SYSTEM "file:///etc/passwd"'), "document type"),
        ("x.xml", "<xml><records><record>" + "<a>" * 50, "nested too deeply"),
        ("x.xml", f"<xml><records><record><{'a' * 1000}>", "the name of an element is too long"),
        ("x.xml", "<xml><records>", "not XML"),
        ("x.bib", "@article{a, title = {never ends", "does not end"),
        ("x.bib", "@article{a, title = {x} } @book{b, what is this}", "expected a field"),
        ("x.nbib", "PMID- 1\nno tag here\n", "expected a tag"),
    ],
)
def test_what_is_malformed_is_refused(tmp_path, name, content, message):
    with pytest.raises(MalformedFileError, match=message):
        read(tmp_path, name, content)


@pytest.mark.parametrize(
    ("name", "begin", "end"),
    [
        ("x.nbib", "PMID- 1\nAB  - ", "\n"),
        ("x.bib", "@article{a, title = {", "}}"),
        ("x.xml", "<xml><records><record><abstract>", "</abstract></record></records></xml>"),
    ],
)
def test_no_record_is_longer_than_the_limit(tmp_path, name, begin, end):
    words = "word\n      " * 3000
    with pytest.raises(CellTooLongError):
        read(tmp_path, name, begin + words + end, max_cell=10_000)


@pytest.mark.parametrize(
    ("name", "begin", "middle", "end"),
    [
        ("x.nbib", "PMID- 1\nTI  - Tin\n", "      a\n", ""),
        ("x.xml", "<xml><records><record><titles><title>Tin\n", "a\n", "</title></titles></record></records></xml>"),
    ],
)
def test_a_text_of_very_many_lines_takes_no_quadratic_time(tmp_path, name, begin, middle, end):
    content, begun = begin + middle * 500_000 + end, time.process_time()
    [(_, title, _, _)] = read(tmp_path, name, content)
    assert title == "Tin" + " a" * 500_000
    assert time.process_time() - begun < 20


def test_a_record_of_very_many_empty_elements_is_refused(tmp_path):
    with pytest.raises(CellTooLongError, match=r"x\.xml, line 1: .* longer than 10,000 bytes"):
        read(tmp_path, "x.xml", "<xml><records><record>" + "<author/>" * 2000 + "</record>", max_cell=10_000)


def make_project(path, records, results=(), **files):
    base = path.with_suffix(".db")
    with closing(sqlite3.connect(base)) as connection:
        connection.execute(
            "CREATE TABLE record (record_id INTEGER PRIMARY KEY, title, abstract, authors, keywords, year, doi, url)"
        )
        connection.execute("CREATE TABLE results (record_id, label, note)")
        connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)", records)
        connection.executemany("INSERT INTO results VALUES (?, ?, ?)", results)
        connection.commit()
    with ZipFile(path, "w") as archive:
        archive.writestr("project.json", json.dumps({"version": "3"}))
        archive.write(base, "../results.db")
        for name, content in files.items():
            archive.writestr(name, content)


def test_a_project_of_asreview(tmp_path):
    path = tmp_path / "x.asreview"
    records = [
        (0, "Tin", "On tin.", '["A, B", "C"]', "[]", 1987, "10.1000/1", None),
        (1, "Ships", None, "[broken", "[]", None, None, None),
    ]
    make_project(path, records, [(0, 1, "see"), (1, None, None)])
    first, second = read_documents(path)
    assert tuple(first) == (
        "0", "Tin", "On tin.",
        {"authors": "A, B; C", "year": "1987", "doi": "10.1000/1", "asreview_label": "1", "asreview_note": "see"},
    )  # fmt: skip
    assert tuple(second) == ("1", "Ships", "", {"authors": "[broken"})
    assert not (tmp_path.parent / "results.db").exists()


def test_what_the_tables_of_asreview_would_compute_is_not_computed(tmp_path):
    path = tmp_path / "x.asreview"
    for number, (table, documents) in enumerate(
        {
            "CREATE TABLE record(record_id INTEGER, title TEXT, abstract TEXT AS (printf('%.*c', 9, 'x')))": ["Tin"],
            "CREATE TABLE record(record_id INTEGER, title TEXT DEFAULT 'a', abstract TEXT)": ["Tin"],
            "CREATE VIRTUAL TABLE record USING fts5(record_id, title)": None,
            "CREATE VIEW record AS SELECT 1 AS record_id, printf('%.*c', 9, 'x') AS title": None,
        }.items()
    ):
        base = tmp_path / f"{number}.db"
        with closing(sqlite3.connect(base)) as connection:
            connection.execute(table)
            if "VIEW" not in table:
                connection.execute("INSERT INTO record(record_id, title) VALUES (1, 'Tin')")
            connection.commit()
        with ZipFile(path, "w") as archive:
            archive.writestr("project.json", "{}")
            archive.write(base, "results.db")
        if documents is None:
            with pytest.raises(FormatError, match="holds no table of records"):
                list(read_documents(path))
        else:
            assert [tuple(document)[1:3] for document in read_documents(path)] == [("Tin", "")]


def test_what_is_no_project_of_asreview_is_refused(tmp_path):
    path = tmp_path / "x.asreview"
    for content in (b"PK no zip", b""):
        path.write_bytes(content)
        with pytest.raises(FormatError, match="no project of ASReview"):
            list(read_documents(path))
    with ZipFile(path, "w") as archive:
        archive.writestr("project.json", "{}")
    with pytest.raises(FormatError, match="no table of records"):
        list(read_documents(path))
    with ZipFile(path, "w") as archive:
        archive.writestr("project.json", "{}")
        archive.writestr("results.db", b"no database at all" * 100)
    with pytest.raises(FormatError, match="no project of ASReview"):
        list(read_documents(path))


def test_a_comment_of_bibtex_may_have_a_brace_that_closes_nothing(tmp_path):
    [found] = read(tmp_path, "x.bib", "@comment(a stray } here)\n@article{a, title = {Tin}}")
    assert found[1] == "Tin"


def test_the_paths_of_endnotes_elements_count(tmp_path):
    deep = "".join(f"<{letter * 90}>" for letter in "abcdefgh")
    empty = "".join(f"<b{n}/>" for n in range(100))
    with pytest.raises(CellTooLongError):
        read(tmp_path, "x.xml", f"<xml><records><record>{deep}{empty}", max_cell=20_000)


def test_members_of_one_name_are_unpacked_once_each(tmp_path):
    path = tmp_path / "x.asreview"
    make_project(path, [(0, "Tin", None, None, None, None, None, None)])
    with ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("../results.db", b"")
    assert [document.id for document in read_documents(path)] == ["0"]


def test_a_project_that_is_encrypted_is_not_called_damaged(tmp_path):
    path = tmp_path / "x.asreview"
    with ZipFile(path, "w") as archive:
        archive.writestr("project.json", "{}")
        archive.writestr("results.db", b"secret")
    content = bytearray(path.read_bytes())
    # The flag that a member is encrypted, in front of its content and in the list at the end.
    for sign, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.rindex(sign) + place] |= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"no project of ASReview: .* is encrypted"):
        list(read_documents(path))


def test_a_damaged_project_of_asreview_is_named(tmp_path):
    path = tmp_path / "x.asreview"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("project.json", "{}")
        archive.writestr("results.db", b"no database at all" * 100)
    content = bytearray(path.read_bytes())
    # The first byte of what is packed says how.
    content[content.index(b"results.db") + len("results.db")] |= 0b110
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"x\.asreview .*damaged"):
        list(read_documents(path))


def test_names_in_a_damaged_archive_make_no_endless_message(tmp_path):
    for ending in ("asreview", "zip"):
        path = tmp_path / f"x.{ending}"
        with ZipFile(path, "w") as archive:
            archive.writestr("project.json", "{}")
            archive.writestr("a" * 60_000 + ".db", b"nothing")
        # The name before the content is another than that in the list of contents.
        path.write_bytes(path.read_bytes().replace(b"aaaa", b"bbbb", 1))
        with pytest.raises(DamagedFileError) as caught:
            list(read_documents(path) if ending == "asreview" else members_of(path, path.name))
        assert str(caught.value).startswith(f"{path} cannot be read, it is damaged or cut short: File name")
        assert len(str(caught.value)) < 1000


def test_a_project_of_asreview_takes_neither_disk_nor_memory_without_bound(tmp_path):
    path = tmp_path / "x.asreview"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("project.json", "{}")
        archive.writestr("results.db", bytes(80 << 20))
    with pytest.raises(ExpansionError, match="67,108,864 bytes"):
        list(read_documents(path))
    make_project(path, [(n, "Tin", "x" * 100 * n, None, None, None, None, None) for n in (1, 2, 300)])
    assert [document.id for document in read_documents(path)] == ["1", "2", "300"]
    with pytest.raises(FormatError, match=r"x\.asreview .* longer than 20,000 bytes; .* raise max_cell"):
        list(read_documents(path, max_cell=20_000))
    # More than SQLite knows.
    assert len(list(read_documents(path, max_cell=1 << 40))) == 3
