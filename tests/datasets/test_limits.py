"""What a hostile file can take: cells, rows and lines are limited, packed files expand so far and no further."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import zipfile

import pytest

from bayesift.datasets import (
    CellTooLongError,
    ExpansionError,
    MalformedFileError,
    iter_records,
    open_table,
    open_texts,
    read,
    read_documents,
    read_texts,
    stream_objects,
)
from bayesift.datasets._files import members_of

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}

LIMIT = 1000
LONG = "wheat " * 300

#: Reads everything in a file and limits how long a cell may be.
READERS = {
    "read": lambda path, limit: read(path, labels=None, max_cell=limit),
    "read_texts": lambda path, limit: read_texts(path, max_cell=limit),
    "iter_records": lambda path, limit: list(iter_records(path, max_cell=limit)),
    "open_texts": lambda path, limit: texts_of(path, limit),
    "open_table": lambda path, limit: rows_of(path, limit),
    "read_documents": lambda path, limit: list(read_documents(path, max_cell=limit)),
}


def texts_of(path, limit, **options):
    with open_texts(path, max_cell=limit, **options) as stream:
        return [text for block in stream.blocks for text in block.texts]


def rows_of(path, limit):
    with open_table(path, max_cell=limit) as table:
        return list(table.rows())


TABLES = {
    "a.csv": (f"text,label\nshort,x\n{LONG},y\n", 3),
    "a.tsv": (f"text\tlabel\nshort\tx\n{LONG}\ty\n", 3),
    # Several lines make one row, of which no cell is too long by itself.
    "row.csv": ("text,label\nshort,x\n" + '"' + "\n".join(["wheat", *["corn"] * 300]) + '",y\n', 3),
    "a.jsonl": ('{"text": "a", "label": "x"}\n' + json.dumps({"text": LONG, "label": "y"}) + "\n", 2),
    "header.csv": (f"text,{LONG},label\na,b,c\n", 1),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("reader", READERS)
def test_a_cell_or_row_that_is_too_long_is_named_with_its_line(name, reader, tmp_path):
    content, line = TABLES[name]
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(CellTooLongError, match=rf"{name}, line {line}: .*longer than 1,000 bytes.*max_cell") as found:
        READERS[reader](path, LIMIT)
    assert (found.value.line, found.value.limit) == (line, LIMIT)
    READERS[reader](path, 10 * LIMIT)


def test_lines_of_plain_text_and_files_of_folders_are_limited(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(f"short\n{LONG}\n")
    with pytest.raises(CellTooLongError, match=r"a\.txt, line 2"):
        texts_of(path, LIMIT)
    (tmp_path / "folder" / "x").mkdir(parents=True)
    (tmp_path / "folder" / "x" / "b.txt").write_text(LONG)
    for reader in ("read", "open_texts", "read_documents"):
        with pytest.raises(CellTooLongError, match=r"b\.txt"):
            READERS[reader](tmp_path / "folder", LIMIT)
    assert texts_of(tmp_path / "folder", len(LONG)) == [LONG]


@pytest.mark.parametrize("beginning", ["TY  - JOUR\nAB  - ", "TY  - JOUR\nAB  - a\n"])
def test_records_of_ris_are_limited(beginning, tmp_path):
    path = tmp_path / "a.ris"
    text = LONG if beginning.endswith(" ") else LONG.replace(" ", "\n")
    path.write_text(f"TY  - JOUR\nAB  - first\nER  - \n{beginning}{text}\nER  - \n")
    with pytest.raises(CellTooLongError, match=r"a\.ris, line 4"):
        list(read_documents(path, max_cell=LIMIT))
    assert len(list(read_documents(path, max_cell=10 * LIMIT))) == 2


def test_objects_of_a_stream_are_limited(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n\n' + json.dumps({"text": LONG}))
    with pytest.raises(CellTooLongError, match=r"a\.jsonl, line 3"):
        list(stream_objects(path, max_cell=LIMIT))
    assert sum(map(len, stream_objects(path, max_cell=10 * LIMIT))) == 2


def test_the_limit_comes_from_the_environment_where_it_is_not_given(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text(TABLES["a.csv"][0])
    assert len(read(path).texts) == 2
    monkeypatch.setenv("BAYESIFT_MAX_CELL", str(LIMIT))
    with pytest.raises(CellTooLongError):
        read(path)
    assert len(read(path, max_cell=10 * LIMIT).texts) == 2
    monkeypatch.setenv("BAYESIFT_MAX_CELL", "much")
    with pytest.raises(ValueError, match="BAYESIFT_MAX_CELL must be a number of bytes, at least 1, found 'much'"):
        read(path)


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "x"])
def test_a_limit_is_a_positive_whole_number(value, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,b\n")
    with pytest.raises(ValueError, match="max_cell must be a number of bytes, at least 1"):
        read(path, max_cell=value)


def test_a_limit_where_there_are_no_cells_is_refused(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:2\n")
    with pytest.raises(ValueError, match=r"max_cell is 5, but .* is read as svmlight"):
        read(path, max_cell=5)


NESTED = ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000, "[" * 300 + "]" * 300]


@pytest.mark.parametrize("value", NESTED)
@pytest.mark.parametrize("reader", READERS)
def test_deeply_nested_json_is_named_with_its_line(value, reader, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": "x"}\n{"text": "b", "label": "y", "more": ' + value + "}\n")
    with pytest.raises(MalformedFileError, match=r"a\.jsonl, line 2: nested too deeply, expected at most 100 levels"):
        READERS[reader](path, None)
    with pytest.raises(MalformedFileError, match=r"a\.jsonl, line 2: nested too deeply"):
        list(stream_objects(path))


def test_json_that_is_nested_as_people_nest_it_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    deep = "[" * 99 + '{"a": 1}' + "]" * 99
    path.write_text('{"text": "a", "label": "x", "more": ' + deep + "}\n")
    assert read(path).texts == ["a"]


def test_numbers_of_too_many_digits_are_named_with_their_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "label": 1}\n{"text": "b", "label": ' + "1" * 5000 + "}\n")
    with pytest.raises(MalformedFileError, match=r"a\.jsonl, line 2: .*digits"):
        read(path)


def test_very_many_columns_take_no_quadratic_time_and_no_endless_message(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"column{number}" for number in range(200_000)) + "\n")
    with pytest.raises(ValueError, match=r"'column0', 'column1', .*…") as found:
        read(path)
    assert len(str(found.value)) < 2000


def bomb(path, head, block, megabytes):
    """Write a small packed file that unpacks to very much: packed parts one after the other are one file."""
    pack = PACKERS[path.suffix[1:]]
    path.write_bytes(pack(head) + pack(block * (2**20 // len(block))) * megabytes)
    return path


#: Reads files under the usual limits; tells the errors, and by how many megabytes the process grew.
SCRIPT = """
import resource, sys
from bayesift.datasets import open_texts, read, read_documents, stream_objects
def texts(path):
    with open_texts(path) as stream:
        return [text for block in stream.blocks for text in block.texts]
readers = {"read": read, "texts": texts, "documents": lambda path: list(read_documents(path)),
           "stream": lambda path: list(stream_objects(path))}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for argument in sys.argv[1:]:
    reader, _, path = argument.partition("=")
    try:
        readers[reader](path)
    except ValueError as error:
        print(type(error).__name__)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_small_files_that_unpack_to_gigabytes_of_one_line_take_little_memory(tmp_path):
    cases = [
        ("a.csv", b"text,label\n", "read"),
        ("b.csv", b"text,label\n", "texts"),
        ("a.jsonl", b'{"text": "a", "label": "b"}\n{"text": "', "read"),
        ("b.jsonl", b'{"text": "a"}\n{"text": "', "stream"),
        ("a.ris", b"TY  - JOUR\nAB  - ", "documents"),
    ]
    arguments = []
    for ending in PACKERS:
        for name, head, reader in cases:
            path = bomb(tmp_path / f"{name}.{ending}", head, b"a", 2000 if ending == "bz2" else 100)
            assert path.stat().st_size < 200_000
            arguments.append(f"{reader}={path}")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=True, timeout=300
    )
    *errors, growth = done.stdout.split()
    assert errors == ["CellTooLongError"] * len(arguments)
    assert int(growth) < 200


@pytest.mark.parametrize("ending", ["bz2", "xz"])
@pytest.mark.parametrize(("name", "line"), [("a.svm", b"1 1:1\n"), ("a.csv", b"wheat and corn" * 1000 + b",x\n")])
def test_a_small_file_that_unpacks_to_very_many_lines_is_refused(name, line, ending, tmp_path):
    path = bomb(tmp_path / f"{name}.{ending}", b"text,label\n" if name == "a.csv" else b"", line, 80)
    with pytest.raises(ExpansionError, match=rf"{name}\.{ending} is packed and unpacks to more than 67,108,864 bytes"):
        read(path)


@pytest.mark.parametrize("ending", PACKERS)
def test_texts_that_pack_well_are_read(ending, tmp_path):
    path = tmp_path / f"a.csv.{ending}"
    lines = ["text,label", *(f"wheat and corn {number},x" for number in range(50_000))]
    path.write_bytes(PACKERS[ending]("\n".join(lines).encode()))
    assert len(read(path).texts) == 50_000


def test_a_member_of_an_archive_that_is_far_too_large_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.txt", bytes(70 * 2**20))
    with pytest.raises(ExpansionError, match=r"a\.zip is packed and unpacks to more than 67,108,864 bytes"):
        list(members_of(path, path.name))


@pytest.mark.slow
def test_the_command_line_says_what_to_do_about_a_cell_that_is_too_long(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TABLES["a.csv"][0])
    done = subprocess.run(
        [sys.executable, "-m", "bayesift", "train", str(path), "-o", str(tmp_path / "m.bayesift")],
        env={**os.environ, "BAYESIFT_MAX_CELL": str(LIMIT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "a.csv, line 3: a cell or a row is longer than 1,000 bytes" in " ".join(done.stderr.split())
    assert "BAYESIFT_MAX_CELL" in done.stderr
    assert "bug" not in done.stderr
