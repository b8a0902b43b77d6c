"""Texts and objects as they come, tables from bytes, and what errors know about the file."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from bayesift.datasets import (
    ColumnError,
    EncodingError,
    FormatError,
    MalformedFileError,
    open_table,
    open_texts,
    read,
    read_texts,
    stream_objects,
)


def all_texts(path, *arguments, **options):
    with open_texts(path, *arguments, **options) as stream:
        blocks = list(stream.blocks)
    texts = [text for block in blocks for text in block.texts]
    return stream, texts, [row for block in blocks for row in block.rows]


@pytest.fixture
def standard_input(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def test_a_scanned_file_has_lines_and_rows(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress('id,text\r\n7,"a ""b"", ü"\r\n8,c\r\n'.encode()))
    with open_texts(path) as stream:
        (block,) = stream.blocks
    assert (stream.format, stream.columns, stream.text, stream.delimiter) == ("csv", ["id", "text"], "text", ",")
    assert block.texts == ['a "b", ü', "c"]
    assert block.lines == ['7,"a ""b"", ü"'.encode(), b"8,c"]
    assert block.rows == [["7", 'a "b", ü'], ["8", "c"]]


@pytest.mark.parametrize(("encoding", "delimiter", "scanned"), [("utf-16", ";", ";"), ("utf-8", "¦", None)])
def test_what_cannot_be_scanned_is_read_by_the_csv_module(tmp_path, encoding, delimiter, scanned):
    path = tmp_path / "a.csv"
    path.write_bytes(f"id{delimiter}text\n7{delimiter}ü\n".encode(encoding))
    stream, texts, rows = all_texts(path, encoding=encoding, delimiter=delimiter)
    assert (stream.delimiter, texts, rows) == (scanned, ["ü"], [["7", "ü"]])


def test_every_format_of_texts(tmp_path, standard_input):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.txt").write_text("two\nlines")
    assert all_texts(tmp_path)[1:] == (["two\nlines"], [{"id": "deep/b.txt"}])
    (tmp_path / "plain").write_text("one\ntwo\n")
    assert all_texts(tmp_path / "plain")[1:] == (["one", "two"], [["one"], ["two"]])
    (tmp_path / "a.jsonl").write_text('{"text": null, "n": 1}\n{"text": "x"}\n')
    assert all_texts(tmp_path / "a.jsonl")[1:] == (["", "x"], [{"text": None, "n": 1}, {"text": "x"}])
    for content, format in ((b'{"text": "x"}\n', "jsonl"), (b"id\ttext\n1\tx\n", "tsv"), (b"x\n", "lines")):
        standard_input(content)
        stream, texts, _ = all_texts("-")
        assert (stream.format, texts) == (format, ["x"])


@pytest.mark.parametrize(
    ("header", "options", "column"),
    [
        ("a,text", {}, "text"),
        ("Body,text", {"prefer": "Body"}, "Body"),
        ("only", {"prefer": "other"}, "only"),
        ("a,text", {"text": "a", "prefer": "text"}, "a"),
    ],
)
def test_the_column_of_the_texts(tmp_path, header, options, column):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\nx{',x' * header.count(',')}\n")
    assert all_texts(path, **options)[0].text == column


def test_errors_know_what_they_are_about(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"one;two\nbad;x\nbad\n")
    with pytest.raises(ColumnError) as column:
        read(path, "body")
    error = column.value
    assert (error.path, error.role, error.name, error.columns) == (path, "text", "body", ("one;two",))
    assert error.delimiter == ";"
    with pytest.raises(ColumnError, match=r"text must name a column .*: the model learned from 'text'") as column:
        all_texts(path, prefer="text", delimiter=";")
    assert (column.value.name, column.value.delimiter) == (None, None)
    path.write_bytes(b"one;two\nb\xfcse;x\n")
    utf_8 = {"delimiter": ";", "encoding": "utf-8"}
    for reading in (lambda: read(path, "one", "two", **utf_8), lambda: all_texts(path, "one", **utf_8)):
        with pytest.raises(EncodingError, match=r"a\.csv, line 2: not utf-8") as encoding:
            reading()
        assert (encoding.value.line, encoding.value.path) == (2, path)
        assert isinstance(encoding.value, MalformedFileError)
    vectors = tmp_path / "a.svm"
    vectors.write_text("1 1:2\n")
    for reading in (lambda: read_texts(vectors), lambda: all_texts(vectors)):
        with pytest.raises(FormatError, match="holds vectors, not texts") as format:
            reading()
        assert format.value.format == "svmlight"
    with pytest.raises(FormatError, match="cannot be told from its name") as format:
        read(path.rename(tmp_path / "a.doc"))
    assert format.value.format is None


def test_a_table_from_bytes_may_be_ragged():
    content = b'a,b\n1\n1,2,3\n"x"y,2\n'
    with open_table(content, strict=False) as table:
        assert [row for _, row in table.rows()] == [{"a": "1", "b": ""}, {"a": "1", "b": "2"}, {"a": "xy", "b": "2"}]
    with open_table(content) as table, pytest.raises(MalformedFileError, match="the file, line 2: found 1 field"):
        list(table.rows())
    with open_table(b"", strict=False) as table:
        assert (table.columns, list(table.rows())) == ([], [])


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(FormatError, match="read as folder, which has no columns"), open_table(tmp_path):
        pass


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"[]", "expected a JSON object, found list"),
        (b'{"a"', r"not JSON: .* \(column 5\)"),
        (b'"\xff"', "not utf-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_objects_that_are_none(tmp_path, line, problem):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n": 1}\n\n{"n": 2}\n' + line)
    with pytest.raises(MalformedFileError, match=rf"a\.jsonl, line 4: {problem}"):
        list(stream_objects(path))
    assert list(stream_objects(path, skip=3)) == []
    path.write_bytes(b'{"n": 1}\n\n{"n": 2}\n')
    assert list(stream_objects(path, skip=1)) == [[(3, {"n": 2})]]
