"""The scanner of CSV files: against Python's csv module, wherever the chunks are cut, and where files are broken."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.datasets import _csv_scan
from bayesift.datasets._csv_scan import CsvScanner

PATH = Path("some.csv")
CELLS = st.text(st.sampled_from('",;\r\n\0 aé€'), max_size=6)


@pytest.fixture
def small_chunks(monkeypatch):
    """Cut the file into chunks of so many bytes, and find so many rows at a time."""

    def cut(size, rows=3):
        monkeypatch.setattr(_csv_scan, "CHUNK", size)
        monkeypatch.setattr(_csv_scan, "ROWS", rows)

    return cut


def by_csv(content, delimiter=","):
    """What the csv module makes of it: header and rows, or the line of the first error."""
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    rows, begin = [], 1
    try:
        for row in reader:
            if row:
                rows.append(row)
                if len(row) != len(rows[0]):
                    return rows[0], begin
            begin = reader.line_num + 1
    except csv.Error:
        return (rows[0] if rows else None), begin
    return (rows[0], rows[1:]) if rows else (None, 1)


def rows_of(scanner, column, **options):
    return [pair for texts, rows in scanner.blocks(column, **options) for pair in zip(texts, rows, strict=True)]


def by_scanner(content, column, delimiter=","):
    try:
        scanner = CsvScanner(io.BytesIO(content.encode()), PATH, delimiter, True)
    except ValueError as error:
        return None, getattr(error, "line", 1)
    try:
        rows = rows_of(scanner, column)
    except ValueError as error:
        return scanner.columns, error.line
    fields = [scanner.fields(raw) for _, raw in rows]
    assert [text for text, _ in rows] == [row[column] for row in fields]
    return scanner.columns, fields


@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    size=st.integers(1, 40),
)
def test_what_the_csv_module_writes_is_read_the_same(rows, end, last, size):
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([["text", "b"], *rows])
    content = stream.getvalue() if last else stream.getvalue().removesuffix(end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv_scan, "CHUNK", size)
        patch.setattr(_csv_scan, "ROWS", 1 + size % 3)
        assert by_scanner(content, 0) == (["text", "b"], rows)
        assert by_scanner(content, 1) == (["text", "b"], rows)


@given(content=st.text(st.sampled_from('",\n\ra'), max_size=25), size=st.integers(1, 30))
def test_any_bytes_are_read_as_the_csv_module_reads_them(content, size):
    header, expected = by_csv(content)
    if header is None or header == []:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csv_scan, "CHUNK", size)
        found_header, found = by_scanner(content, 0)
    assert found_header == header
    if isinstance(expected, int):
        assert isinstance(found, int)
    else:
        assert found == expected


def test_a_delimiter_of_its_own():
    assert by_scanner('a;b\n"x;y";z\n', 0, ";") == (["a", "b"], [["x;y", "z"]])


def test_doubled_quotes_may_stay_where_they_do_no_harm():
    scanner = CsvScanner(io.BytesIO(b'text\n"a ""b"""\n'), PATH, ",", True)
    assert rows_of(scanner, 0, exact=False) == [('a ""b""', b'"a ""b"""')]


def test_without_quotes_they_are_characters():
    scanner = CsvScanner(io.BytesIO(b'text,b\n"a,"c\n'), PATH, ",", False)
    assert rows_of(scanner, 0) == [('"a', b'"a,"c')]
    assert scanner.fields(b'"a,"c') == ['"a', '"c']


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "some.csv is empty"),
        (b"\n\n", "some.csv is empty"),
        (b"a,b\n1,2\n\n3\n", "some.csv, line 4: found 1 field, expected 2 as in the header"),
        (b'a,b\n1,"2\n3\n', "some.csv, line 2: a field begins with a quote that never closes"),
        (b'a,b\n1,"2"x\n', "some.csv, line 2: ',' expected after '\"'"),
        (b'"a"x,b\n', "some.csv, line 1: ',' expected after '\"'"),
        (b'a,b\n"one\ntwo",2\nb\xfc,4\n', "some.csv, line 4: not utf-8"),
    ],
)
@pytest.mark.parametrize("size", [3, 1 << 20])
def test_broken_files(small_chunks, content, message, size):
    small_chunks(size)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        rows_of(CsvScanner(io.BytesIO(content), PATH, ",", True), 0)


def test_a_row_longer_than_a_chunk(small_chunks):
    small_chunks(7)
    text = "word " * 1000
    assert by_scanner(f'text,n\n"{text}",1\nshort,2\n', 0) == (["text", "n"], [[text, "1"], ["short", "2"]])
