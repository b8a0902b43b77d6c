"""Classified texts as Parquet and packed; names of formats that are not written are refused."""

from __future__ import annotations

import bz2
import datetime
import gzip
import json
import lzma

import pytest

from bayesift.workflow import TextClassifier, classify
from bayesift.workflow.errors import OutputFormatError

TEXTS = ["wheat harvest", "wheat and corn", "ships at sea", "the sea was calm"]
LABELS = ["farm", "farm", "sea", "sea"]


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier("ridge", variance=1.0).fit(TEXTS * 5, LABELS * 5)


@pytest.fixture
def package():
    return pytest.importorskip("pyarrow.parquet")


def test_columns_of_a_csv_file_are_strings(classifier, package, tmp_path):
    (tmp_path / "a.csv").write_text("id,text,label\n" + "".join(f"{n},{t},x\n" for n, t in enumerate(TEXTS)))
    classify(classifier, tmp_path / "a.csv", tmp_path / "a.parquet", proba=True, explain=1)
    found = package.read_table(tmp_path / "a.parquet").to_pydict()
    assert (found["id"], found["text"], found["predicted"]) == (["0", "1", "2", "3"], TEXTS, LABELS)
    assert found["p(farm)"] == pytest.approx(classifier.predict_proba(TEXTS)[:, 0].round(6).tolist())
    assert all("+" in why for why in found["reasons"])


def test_columns_of_a_parquet_file_keep_their_types(classifier, package, tmp_path):
    polars = pytest.importorskip("polars")
    columns = {
        "text": TEXTS,
        "n": [1, None, 3, 4],
        "day": [datetime.date(2024, 5, 1)] * 4,
        "tags": [["x"], [], None, ["y", "z"]],
        "empty": [None] * 4,
    }
    schema = {"text": polars.String, "n": polars.Int32, "day": polars.Date, "tags": polars.List(polars.String)}
    polars.DataFrame(columns, schema={**schema, "empty": polars.Float64}).write_parquet(tmp_path / "a.parquet")
    classify(classifier, tmp_path / "a.parquet", tmp_path / "b.parquet")
    before, after = package.read_table(tmp_path / "a.parquet"), package.read_table(tmp_path / "b.parquet")
    assert after.select(before.column_names).to_pydict() == before.to_pydict()
    assert after.schema.field("n").type == "int32"
    assert after.schema.field("day").type == "date32"
    assert after["predicted"].to_pylist() == LABELS


def test_json_values_that_are_no_strings_are_written_as_json(classifier, package, tmp_path):
    rows = [{"text": text, "n": n, "more": {"a": [n]}} for n, text in enumerate(TEXTS)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    classify(classifier, tmp_path / "a.json", tmp_path / "a.parquet")
    found = package.read_table(tmp_path / "a.parquet").to_pydict()
    assert (found["n"], found["more"][2]) == (["0", "1", "2", "3"], '{"a": [2]}')
    classify(classifier, tmp_path / "a.json", tmp_path / "b.parquet", brief=True)
    assert package.read_table(tmp_path / "b.parquet").to_pydict() == {"row": [1, 2, 3, 4], "predicted": LABELS}


def test_a_file_without_rows(classifier, package, tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n")
    classify(classifier, tmp_path / "a.csv", tmp_path / "a.parquet")
    assert package.read_table(tmp_path / "a.parquet").column_names == ["id", "text", "predicted"]


def test_many_blocks(classifier, package, tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "wheat harvest\nthe sea\n" * 25_000)
    classify(classifier, tmp_path / "a.csv", tmp_path / "a.parquet")
    found = package.read_table(tmp_path / "a.parquet")
    assert found.num_rows == 50_000
    assert found["predicted"].to_pylist()[-2:] == ["farm", "sea"]


@pytest.mark.parametrize(("ending", "unpack"), [("gz", gzip.open), ("xz", lzma.open), ("bz2", bz2.open)])
def test_packed(classifier, tmp_path, ending, unpack):
    (tmp_path / "a.csv").write_text("text\nwheat\n")
    classify(classifier, tmp_path / "a.csv", tmp_path / f"b.csv.{ending}")
    with unpack(tmp_path / f"b.csv.{ending}", "rt") as stream:
        assert stream.read() == "text,predicted\nwheat,farm\n"


@pytest.mark.parametrize("name", ["b.xlsx", "b.json", "b.ods", "b.pkl"])
def test_formats_that_are_not_written(classifier, tmp_path, name):
    (tmp_path / "a.csv").write_text("text\nwheat\n")
    with pytest.raises(OutputFormatError, match=r"cannot be written; expected \.csv, \.tsv, \.jsonl, \.parquet"):
        classify(classifier, tmp_path / "a.csv", tmp_path / name)
    assert not (tmp_path / name).exists()
