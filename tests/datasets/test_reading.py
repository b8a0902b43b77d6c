from __future__ import annotations

import bz2
import csv
import gzip
import json
import tracemalloc

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import random as random_matrix
from sklearn.datasets import dump_svmlight_file

from bayesift.datasets import (
    ColumnError,
    MalformedFileError,
    iter_records,
    open_table,
    read,
    read_texts,
)
from bayesift.datasets._columns import columns_by_content


def write(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding))
    return path


ROWS = [('Tin, gold and "more"\nrose', ["metals", "trade"]), ("naïve Ωμέγα", []), ("plain", ["trade"])]


def write_table(path, delimiter):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(["key", "story", "codes"])
        for number, (text, labels) in enumerate(ROWS):
            writer.writerow([f"k{number}", text, "|".join(labels)])


def write_json(path):
    rows = [{"key": f"k{n}", "story": text, "codes": labels} for n, (text, labels) in enumerate(ROWS)]
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")


def frame():
    return {"key": ["k0", "k1", "k2"], "story": [text for text, _ in ROWS], "codes": [labels for _, labels in ROWS]}


WRITERS = {
    "news.csv": lambda path: write_table(path, ","),
    "news.tsv": lambda path: write_table(path, "\t"),
    "news.jsonl": write_json,
    "pandas.parquet": lambda path: pandas.DataFrame(frame()).to_parquet(path),
    "polars.parquet": lambda path: polars.DataFrame(frame()).write_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_documents(name, tmp_path):
    WRITERS[name](tmp_path / name)
    found = read(tmp_path / name, text="story", labels="codes", id="key", label_separator="|")
    assert found.texts == [text for text, _ in ROWS]
    assert found.labels == [tuple(labels) for _, labels in ROWS]
    assert found.ids == ["k0", "k1", "k2"]
    assert found.categories == ("metals", "trade")
    assert found.indicator().toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
    assert found.origin.guessed == ()
    assert found.origin.path == tmp_path / name


def test_missing_values_of_parquet(tmp_path, either_package):
    path = tmp_path / "a.parquet"
    polars.DataFrame({"text": ["a", "b", "c"], "label": ["x", None, "y"]}).write_parquet(path)
    assert read(path).labels == [("x",), (), ("y",)]
    polars.DataFrame({"text": ["a", "b"], "label": [2, None], "id": [7, None]}).write_parquet(path)
    assert read(path).labels == [("2",), ()]
    assert read(path).ids == ["7", "2"]
    polars.DataFrame({"text": ["a", "b"], "label": [float("nan"), 1.5]}).write_parquet(path)
    assert read(path).labels == [(), ("1.5",)]
    polars.DataFrame({"text": ["a", "b"], "label": [[float("nan"), 2.0], [None, 1.5]]}).write_parquet(path)
    assert read(path).labels == [("2.0",), ("1.5",)]
    polars.DataFrame({"text": ["a", None], "label": ["x", "y"]}).write_parquet(path)
    assert (read(path).texts, read(path).origin.notes) == (["a", ""], ("1 missing text taken as empty",))


def test_missing_values_of_json(tmp_path):
    cells = ["NaN", "null", "[null, 1.0]", "[NaN]", "[]", '"NaN"']
    path = write(tmp_path / "a.jsonl", "\n".join(f'{{"text": "a", "label": {cell}}}' for cell in cells))
    assert read(path).labels == [(), (), ("1.0",), (), (), ("NaN",)]
    ids = write(tmp_path / "b.jsonl", '{"text": "a", "id": null}\n{"text": "b", "id": NaN}\n{"text": "c", "id": 0}\n')
    assert read(ids, labels=False).ids == ["1", "2", "0"]
    missing = write(tmp_path / "c.jsonl", '{"text": NaN, "label": "x"}\n{"text": null, "label": "x"}\n')
    assert (read(missing).texts, read(missing).origin.notes) == (["", ""], ("2 missing texts taken as empty",))


def test_missing_values_of_csv_and_svmlight(tmp_path):
    found = read(write(tmp_path / "a.csv", "id,text,label\n,a,\nk,b,x\n"))
    assert (found.ids, found.labels) == (["1", "k"], [(), ("x",)])
    assert read(write(tmp_path / "a.svm", "nan 1:1\n2 1:3\n")).labels == [(), ("2",)]


@pytest.mark.parametrize("name", ["pandas.parquet", "polars.parquet"])
def test_parquet_by_pyarrow_where_polars_is_missing(name, tmp_path, without_polars):
    WRITERS[name](tmp_path / name)
    found = read(tmp_path / name, text="story", labels="codes")
    assert found.labels == [tuple(labels) for _, labels in ROWS]


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.booleans()), min_size=1, max_size=5))
def test_what_the_csv_module_writes_is_read(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("csv")
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])
    (folder / "a.jsonl").write_text(
        "\n".join(json.dumps({"text": text, "label": str(label)}) for text, label in rows), encoding="utf-8"
    )
    for name in ("a.csv", "a.jsonl"):
        found = read(folder / name)
        assert found.texts == [text for text, _ in rows]
        assert found.labels == [(str(label),) for _, label in rows]


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_packed_files(ending, pack, tmp_path):
    path = tmp_path / f"a.csv.{ending}"
    path.write_bytes(pack(b"text,label\nhello,greeting\n"))
    assert read(path).texts == ["hello"]


def test_columns_are_guessed_only_without_doubt(tmp_path):
    found = read(write(tmp_path / "a.csv", "ID,Body,Topic,extra\n7,words,x,y\n"))
    assert (found.texts, found.labels, found.ids) == (["words"], [("x",)], ["7"])
    assert (found.origin.text, found.origin.labels, found.origin.id) == ("Body", "Topic", "ID")
    assert found.origin.guessed == ("text", "labels", "id")
    only = read(write(tmp_path / "b.csv", "label,sms\nham,hello\n"))
    assert only.texts == ["hello"]
    two = write(tmp_path / "c.csv", "text,body,label\na,b,c\n")
    with pytest.raises(ValueError, match=r"text must name a column of .*: 'text', 'body' could each be it"):
        read(two)
    assert read(two, text="body").texts == ["b"]
    odd = write(tmp_path / "d.csv", "one,two,label\na,b,c\n")
    with pytest.raises(ValueError, match="no column has a usual name; its columns are 'one', 'two', 'label'"):
        read(odd)


def test_without_labels(tmp_path):
    path = write(tmp_path / "a.csv", "text,when\nwords,now\n")
    with pytest.raises(ValueError, match=r"labels must name a column .* labels=False reads texts alone"):
        read(path)
    assert read(path, labels=False).labels == [()]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("argument", ["text", "labels", "id"])
def test_a_wrong_column_lists_those_that_exist(name, argument, tmp_path):
    path = tmp_path / name
    if name.endswith("parquet"):
        polars.DataFrame({"text": ["a"], "label": ["b"]}).write_parquet(path)
    elif name.endswith("jsonl"):
        write(path, '{"text": "a", "label": "b"}\n')
    else:
        write(path, "text,label\na,b\n".replace(",", "," if name == "a.csv" else "\t"))
    with pytest.raises(ValueError, match=rf"{argument}: .* has no column 'x'; its columns are 'text', 'label'"):
        read(path, **{argument: "x"})
    with pytest.raises(ValueError, match=r"has no column 'x'"):
        iter_records(path, **{argument: "x"})  # at once, not at the first record


@pytest.mark.parametrize(
    ("name", "content", "line", "problem"),
    [
        ("a.csv", 'text,label\na,b\n"two\nlines",c\na,b,c\n', 5, "found 3 fields, expected 2"),
        ("a.csv", "text,label\na,b\nalone\n", 3, "found 1 field, expected 2"),
        ("a.csv", 'text,label\na,b\n\n"open,c\nd,e\n', 4, "begins with a quote that never closes"),
        ("a.csv", 'text,label\n"a"x,b\n', 2, "expected after"),
        ("a.tsv", "text\tlabel\na\tb\tc\n", 2, "found 3 fields"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n\n{"text": "a", "label": }\n', 3, "not JSON: Expecting value"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n["a"]\n', 2, "expected a JSON object, found list"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n{"text": "a"}\n', 2, "no key 'label'; its keys are 'text'"),
        ("a.jsonl", '{"text": "a", "label": "b"}\n{"text": 3, "label": "b"}\n', 2, "must be a string, found int"),
        ("a.jsonl", '{"text": "a", "label": {"b": 1}}\n', 1, "a string, a number or a list of them, found dict"),
        ("a.svm", "1 1:2 3:4\n-1 1:2 3=4\n", 2, "expected index:value, found '3=4'"),
        ("a.svm", "1 1:2 3:4 # fine\n# only words\nx 1:2\n", 3, "labels must be numbers"),
        ("a.svm", "1 1:2\n1 3:4 2:1\n", 2, "indices must ascend, found 2 after 3"),
        ("a.svm", "1 1:2\n1 3:four\n", 2, "expected index:value"),
    ],
)
def test_a_malformed_line_names_file_and_line(name, content, line, problem, tmp_path):
    path = write(tmp_path / name, content)
    with pytest.raises(MalformedFileError, match=problem) as error:
        read(path)
    assert str(error.value).startswith(f"{path}, line {line}: ")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_wrong_encoding_names_the_line(name, tmp_path):
    rows = ["text,label", "a,b", "caf\xe9,b"] if name == "a.csv" else ['{"text": "a", "label": "b"}'] * 2 + ['"\xe9"']
    path = write(tmp_path / name, "\n".join(rows), "latin-1")
    with pytest.raises(MalformedFileError, match="line 3: not utf-8"):
        read(path, encoding="utf-8")
    if name == "a.csv":
        assert read(path, encoding="latin-1").texts == ["a", "caf\xe9"]


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path):
    assert read(write(tmp_path / "a.csv", "text,label\na,b\n", "utf-8-sig")).origin.text == "text"
    assert read(write(tmp_path / "b.csv", "text,label\na,b\n", "utf-16"), encoding="utf-16").texts == ["a"]


def test_quotes_may_be_plain_characters(tmp_path):
    path = write(tmp_path / "a.tsv", 'label\ttext\nham\t"so he said\nspam\tbuy "now"\n')
    assert read(path, quotes=False).texts == ['"so he said', 'buy "now"']
    with pytest.raises(MalformedFileError, match=r"line 2: .* expected after"):
        read(path)


def test_labels_of_every_kind(tmp_path):
    lines = ['"a, b,a"', '["z", "y"]', "3", "null", '""', "[1, 2]", "true"]
    path = write(tmp_path / "a.jsonl", "\n".join(f'{{"text": "t", "label": {label}}}' for label in lines))
    expected = [("a", "b"), ("y", "z"), ("3",), (), (), ("1", "2"), ("True",)]
    assert read(path, label_separator=",").labels == expected
    assert read(path).labels[0] == ("a, b,a",)


def test_a_very_large_field(tmp_path):
    path = write(tmp_path / "a.csv", f'text,label\n"{"word " * 600_000}",x\n')
    assert len(read(path).texts[0]) == 3_000_000


def test_records_in_constant_memory_and_again(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w") as stream:
        stream.write("text,label\n")
        stream.writelines(f"{'word ' * 200}{number},x\n" for number in range(20_000))
    records = iter_records(path)
    tracemalloc.start()
    count = sum(1 for _ in records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 1_000_000  # the file is twenty times as large
    assert next(iter(records)).id == "1"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv is empty, expected a header line"),
        ("a.csv", "\n\n", "a.csv is empty"),
        ("a.csv", "text,label\n", "a.csv has no rows after its header"),
        ("a.csv", "text,text,label\na,b,c\n", "more than one column named 'text'"),
        ("a.jsonl", "\n", "a.jsonl is empty, expected one JSON object per line"),
        ("a.svm", "", "a.svm holds no vectors, expected one per line"),
        ("a.svm", "# words\n\n# more words\n", "a.svm holds no vectors, expected one per line"),
        ("a.parquet", "text", "a.parquet is not a Parquet file"),
        ("a.doc", "text", "the format of .* cannot be told from its name; give format as one of csv, tsv"),
    ],
)
def test_files_of_no_use(name, content, message, tmp_path):
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match=message):
        read(path)


def test_missing_file_and_wrong_format(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.csv does not exist"):
        read(tmp_path / "no.csv")
    path = write(tmp_path / "a.txt", "text,label\na,b\n")
    assert read(path, format="csv").texts == ["a"]
    with pytest.raises(ValueError, match=r"format must be one of .* found 'xls'"):
        read(path, format="xls")
    with pytest.raises(ValueError, match="format must be csv, tsv, jsonl or parquet to read record by record"):
        iter_records(tmp_path)


def test_a_folder_of_folders(tmp_path):
    for name in ("sports/b.txt", "sports/a.txt", "arts/deep/c.txt", ".git/d", "arts/.hidden"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"text of {name} é", encoding="utf-8")
    (tmp_path / "readme").write_text("no document")
    found = read(tmp_path)
    assert found.ids == ["arts/deep/c.txt", "sports/a.txt", "sports/b.txt"]
    assert found.labels == [("arts",), ("sports",), ("sports",)]
    assert found.texts[0] == "text of arts/deep/c.txt é"
    with pytest.raises(MalformedFileError, match=r"c\.txt, line 1: not ascii"):
        read(tmp_path, encoding="ascii")


def test_folders_of_no_use(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match="has no folders in it, expected one per label"):
        read(tmp_path)
    (tmp_path / "label").mkdir()
    with pytest.raises(ValueError, match="has folders but no files in them"):
        read(tmp_path)


def test_svmlight_equals_what_was_written(tmp_path):
    X = random_matrix(20, 30, 0.2, format="csr", random_state=0)
    y = np.where(np.arange(20) % 3, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    found = read(tmp_path / "a.svm", n_features=30)
    np.testing.assert_allclose(found.matrix.toarray(), X.toarray())
    assert found.labels == [(str(value),) for value in y]
    assert found.origin.format == "svmlight"


def test_svmlight_label_sets(tmp_path):
    path = write(tmp_path / "a.svm", "1,12 1:0.5 # words\n3:2\n2.5 2:1\n")
    found = read(path)
    assert found.labels == [("1", "12"), (), ("2.5",)]
    assert found.matrix.toarray().tolist() == [[0.5, 0, 0], [0, 0, 2], [0, 1, 0]]


def test_svmlight_labels_keep_their_digits(tmp_path):
    labels = ["1234567", "1234568", "+1.0", "-0", "0.1234567", "1e-320", "1e400", "3e2"]
    path = write(tmp_path / "a.svm", "".join(f"{label} 1:1\n" for label in labels))
    expected = ["1234567", "1234568", "1", "0", "0.1234567", "1e-320", "inf", "300"]
    assert read(path).labels == [(label,) for label in expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("say,kind\nlong words here,a\nmore long words,a\nand words,b\nlast words,b\n", ("say", "kind")),
        ("message,x,y\na b,1,2\nc d,1,2\ne f,2,1\ng h,2,1\n", ("message", None)),
        ("n,body,topic,other\n1,a b,u,u\n2,c d,u,u\n", ("body", "topic")),
    ],
)
def test_columns_by_what_stands_in_them(tmp_path, content, expected):
    path = tmp_path / "data.csv"
    path.write_text(content)
    with open_table(path) as table:
        rows = [row for _, row in table.rows()]
    assert columns_by_content(rows, None, None) == expected
    if None in expected:
        with pytest.raises(ColumnError, match="labels must name a column") as error:
            read_texts(path)
        assert (error.value.role, error.value.name, error.value.columns) == ("labels", None, ("message", "x", "y"))
    else:
        origin = read_texts(path).origin
        assert (origin.text, origin.labels, origin.guessed) == (*expected, ("text", "labels"))
