"""Everything that writes a file leaves the old one, and names it, if there is no space for the new one."""

from __future__ import annotations

import os

import numpy as np
import pytest

from bayesift.bbr import BinaryModel, write_binary_model, write_data
from bayesift.datasets import read_texts
from bayesift.filtering import _snapshot as snapshots
from bayesift.formats import save
from bayesift.workflow import TextClassifier, classify, convert, label_path
from bayesift.workflow.report import write_report
from file_cases import file_size_limit

pytest.importorskip("resource")

TEXTS, LABELS = (
    ["wheat harvest", "corn and wheat", "sea and ship", "a ship sails"] * 20,
    ["farm", "farm", "sea", "sea"] * 20,
)


@pytest.fixture(scope="module")
def writers(tmp_path_factory):
    """Every way to write a file, by the ending of its name."""
    data = tmp_path_factory.mktemp("data") / "data.csv"
    data.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True)))
    model = TextClassifier("ridge", variance=1.0).fit(TEXTS, LABELS)
    path = label_path(read_texts(data), "farm", n_steps=3)
    linear = BinaryModel(tuple(range(1, 100)), np.ones(99), 0.0, 0.0)
    return {
        "model.bayesift": lambda target: save(model, target),
        "report.html": lambda target: write_report("<p>" * 1000, target),
        "path.png": path.draw,
        "path.svg": path.draw,
        "path.pdf": path.draw,
        "pipeline.skops": lambda target: convert(model, "sklearn", target),
        "model.bbr": lambda target: convert(model, "bbr", target),
        "classified.csv": lambda target: classify(model, data, target),
        "classified.csv.gz": lambda target: classify(model, data, target),
        "snapshot.npz": lambda target: snapshots.write(target, {"a": np.arange(1000)}),
        "wheat.model": lambda target: write_binary_model(target, linear),
        "vectors.svm": lambda target: write_data(target, np.eye(30), ["1", "-1"] * 15),
    }


@pytest.mark.parametrize(
    "name",
    [
        "model.bayesift",
        "report.html",
        "path.png",
        "path.svg",
        "path.pdf",
        "pipeline.skops",
        "model.bbr",
        "classified.csv",
        "classified.csv.gz",
        "snapshot.npz",
        "wheat.model",
        "vectors.svm",
    ],
)
def test_the_old_file_stays_and_is_named(writers, name, tmp_path):
    target = tmp_path / name
    # Also compiles what is needed: its results go to files too.
    writers[name](target)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with file_size_limit(100), pytest.raises(OSError, match="File too large, the file is as it was before") as error:
        writers[name](target)
    assert error.value.filename == str(target)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert os.listdir(tmp_path)
