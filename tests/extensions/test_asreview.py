"""Our model inside ASReview, by its own command; needs ASReview 3 beside us, or BAYESIFT_ASREVIEW with its Python."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from bayesift.datasets import load, read_documents

TOP = Path(__file__).parents[2]
EXTENSION = TOP / "extensions" / "asreview-bayesift"


@pytest.fixture
def asreview(tmp_path):
    """How to run ASReview with the extension, as if it were installed."""
    python = os.environ.get("BAYESIFT_ASREVIEW") or (sys.executable if find_spec("asreview") else None)
    if python is None:
        pytest.skip("ASReview is not installed: pip install asreview")
    described = tomllib.loads((EXTENSION / "pyproject.toml").read_text())["project"]
    installed = tmp_path / "site" / "asreview_bayesift-0.1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: asreview-bayesift\nVersion: 0.1.0\n")
    groups = described["entry-points"].items()
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items()) for group, entries in groups
    )
    (installed / "entry_points.txt").write_text("\n".join(lines))
    paths = [str(path) for path in (installed.parent, EXTENSION / "src", TOP / "src")]

    def run(*arguments):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        done = subprocess.run(
            [python, "-m", "asreview", *arguments], env=environment, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


def test_our_model_ranks_inside_asreview(asreview, tmp_path):
    news = load("newsroom")
    texts, labels = news.train.texts[:150], news.train.labels[:150]
    with (tmp_path / "news.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["title", "abstract", "included"])
        for text, given in zip(texts, labels, strict=True):
            title, _, rest = text.strip().partition("\n")
            writer.writerow([title, rest.strip(), int("courts" in given)])
    chosen = ["-e", "bayesift", "-c", "bayesift", "-q", "max", "--n-prior-included", "1", "--n-prior-excluded", "1"]
    asreview("simulate", "news.csv", *chosen, "-o", "news.asreview", "--seed", "1")
    read = list(read_documents(tmp_path / "news.asreview"))
    relevant = sum("courts" in given for given in labels)
    decided = [document.details["asreview_label"] for document in read if "asreview_label" in document.details]
    # All relevant ones are found, and far from all records are read for it.
    assert decided.count("1") == relevant > 3
    assert len(decided) < 100
