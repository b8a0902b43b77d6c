"""Arguments that do and do not fit the format of a file."""

from __future__ import annotations

import re

import pytest

from bayesift.datasets import iter_records, read


def write(path, content):
    path.write_text(content, newline="")
    return path


COLUMNS = {"text": "x", "labels": "x", "id": "x", "label_separator": ";"}
NOT_FITTING = {
    "a.csv": {"n_features": 3},
    "a.tsv": {"n_features": 3},
    "a.jsonl": {"n_features": 3, "quotes": False, "delimiter": ";"},
    "a.parquet": {"n_features": 3, "quotes": False, "delimiter": ";", "encoding": "latin-1"},
    "a.svm": {**COLUMNS, "labels": False, "quotes": False, "delimiter": ";", "encoding": "latin-1"},
    "folder": {**COLUMNS, "quotes": False, "delimiter": ";", "n_features": 3},
}


@pytest.mark.parametrize(("name", "argument"), [(name, each) for name, wrong in NOT_FITTING.items() for each in wrong])
def test_an_argument_that_does_not_fit_the_format_is_refused(name, argument, tmp_path):
    path = tmp_path / name
    path.mkdir() if name == "folder" else path.touch()
    value = NOT_FITTING[name][argument]
    with pytest.raises(ValueError, match=f"{argument} is {value!r}, but .* is read as .*; leave {argument} out"):
        read(path, **{argument: value})
    if name in ("a.jsonl", "a.parquet") and argument != "n_features":
        with pytest.raises(ValueError, match=f"{argument} is {value!r}"):
            iter_records(path, **{argument: value})


def test_text_and_labels_are_different_columns(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,b\n")
    with pytest.raises(ValueError, match=r"text and labels must be different columns of .*, found 'text' for both"):
        read(path, text="text", labels="text")


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_another_delimiter(mark, tmp_path):
    path = write(tmp_path / "a.csv", f"text{mark}label\nTin, gold{mark}metals\n")
    found = read(path, delimiter=mark)
    assert (found.texts, found.labels) == (["Tin, gold"], [("metals",)])
    assert next(iter(iter_records(path, delimiter=mark))).text == "Tin, gold"
    assert read(write(tmp_path / "a.tsv", f"text{mark}label\na{mark}b\n"), delimiter=mark).texts == ["a"]
    # Where rows contradict each other nothing is guessed.
    path = write(tmp_path / "b.csv", f"text{mark}label\nTin, gold{mark}metals\nTin\n")
    hint = re.escape(f"(is {mark!r} the field separator? give delimiter={mark!r})")
    for arguments in ({}, {"text": "text"}, {"labels": "label"}, {"labels": False}):
        with pytest.raises(ValueError, match=hint):
            read(path, **arguments)
    assert read(write(tmp_path / "c.csv", "one;two\na;b\n"), text="one;two", labels=False).texts == ["a;b"]


@pytest.mark.parametrize("delimiter", ["", ";;", "\n", '"'])
def test_a_delimiter_is_one_character(delimiter, tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,b\n")
    with pytest.raises(ValueError, match=rf"delimiter must be one character, .* found {re.escape(repr(delimiter))}"):
        read(path, delimiter=delimiter)
