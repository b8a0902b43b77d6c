"""Property tests of classify after train: any text that a file can hold comes through, with its row and a label."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift.datasets import read_texts
from bayesift.workflow import TextClassifier, classify

pytestmark = pytest.mark.filterwarnings("ignore::bayesift.workflow.errors.NoWordsWarning")

# Anything at all, and what breaks files: quotes, separators, line ends, NUL, byte order marks, odd spaces.
CELLS = st.text(
    st.one_of(st.sampled_from('",;\t\r\n\0\ufeff\x1a\u2028\x85a wheat'), st.characters(exclude_categories=["Cs"])),
    max_size=30,
)
ODD_CELLS = st.text(st.one_of(st.characters(), st.sampled_from("\ud800\udfff")), max_size=30)
LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(
    lambda label: label.strip() == label
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("unicode")


@pytest.fixture(scope="module")
def classifier():
    texts = ["wheat harvest", "wheat and corn", "ships at sea", "the sea was calm"] * 3
    return TextClassifier("ridge", variance=1.0).fit(texts, ["farm", "farm", "sea", "sea"] * 3)


def csv_bytes(header, rows, mark):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue().encode("utf-8-sig" if mark else "utf-8")


def read_back(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream, strict=True))


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), mark=st.booleans())
def test_any_csv_comes_through(folder, classifier, rows, mark):
    source, target = folder / "in.csv", folder / "out.csv"
    source.write_bytes(csv_bytes(["text", "note"], rows, mark))
    found = classify(classifier, source, target)
    header, *written = read_back(target)
    assert header == ["text", "note", "predicted"]
    assert [tuple(row[:2]) for row in written] == rows
    assert [row[2] for row in written] == classifier.predict([text for text, _ in rows]).tolist()
    assert found.n_texts == len(rows)


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(ODD_CELLS, ODD_CELLS), min_size=1, max_size=6), explain=st.integers(0, 2))
def test_any_json_lines_come_through(folder, classifier, rows, explain):
    source, target = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text("".join(json.dumps({"text": text, "note": note}) + "\n" for text, note in rows))
    classify(classifier, source, target, proba=True, explain=explain)
    written = [json.loads(line) for line in target.read_bytes().splitlines()]
    assert [(row["text"], row["note"]) for row in written] == rows
    assert [row["predicted"] for row in written] == classifier.predict([text for text, _ in rows]).tolist()
    # Half a pair of surrogates cannot be written to a CSV file, but must not stop one either.
    classify(classifier, source, folder / "out.csv")
    assert len(read_back(folder / "out.csv")) == len(rows) + 1


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(CELLS, LABELS), min_size=4, max_size=8),
    labels=st.lists(LABELS, min_size=2, max_size=3, unique=True),
    mark=st.booleans(),
)
def test_training_on_any_csv_gives_a_model_or_a_sentence(folder, rows, labels, mark):
    source, target = folder / "train.csv", folder / "trained.csv"
    rows = [(text, labels[place % len(labels)]) for place, (text, _) in enumerate(rows)]
    source.write_bytes(csv_bytes(["text", "label"], rows, mark))
    data = read_texts(source)
    assert data.texts == [text for text, _ in rows]
    assert [found[0] for found in data.labels] == [label for _, label in rows]
    if not any(re.search(r"\w\w", text.lower()) for text in data.texts):
        with pytest.raises(ValueError, match="no term was found"):
            TextClassifier("nb").fit(data.texts, data.labels)
        return
    trained = TextClassifier("nb").fit(data.texts, data.labels)
    classify(trained, source, target)
    assert {row[-1] for row in read_back(target)[1:]} <= set(labels)


def test_a_file_that_is_no_utf_8_is_named_with_its_line(folder, classifier):
    source = folder / "bad.csv"
    source.write_bytes(b"text\nfine\nb\xfc\xfc\xfc\xfcse\n")
    with pytest.raises(ValueError, match=r"bad\.csv, line 3: not utf-8"):
        classify(classifier, source, folder / "never.csv")
    assert not (folder / "never.csv").exists()
    assert classify(classifier, source, folder / "now.csv", encoding="latin-1").n_texts == 2
