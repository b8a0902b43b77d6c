"""Numbers of the README are those that the benchmarks kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def side_by_side():
    """The kept table, rows by their names."""
    kept = json.loads((ROOT / "benchmarks" / "results" / "side_by_side.json").read_text(encoding="utf-8"))
    [table] = kept["tables"]
    return {name: dict(zip(table["header"][1:], numbers, strict=True)) for name, *numbers in table["rows"]}


def rows_of(page, heading):
    """Rows of the first table below a heading."""
    text = page[page.index(f"\n{heading}\n") :]
    lines = re.search(r"^\|.*?(?=^[^|])", text, re.M | re.S)[0].splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


def test_the_table_beside_scikit_learn(side_by_side):
    shown = rows_of(README, "## Beside scikit-learn")
    assert shown == {name: numbers for name, numbers in side_by_side.items() if name != "test texts right"}


def test_how_many_texts_are_right(side_by_side):
    [theirs, ours] = re.search(
        r"([\d.]+) % of the test texts are right by scikit-learn and ([\d.]+) %", README
    ).groups()
    right = side_by_side["test texts right"]
    assert (f"{theirs}%", f"{ours}%") == (right["scikit-learn"], right["Bayesift"])


def test_what_a_few_labels_give():
    page = (ROOT / "docs" / "few_labels.md").read_text(encoding="utf-8")
    found = re.search(
        r"(\d+) % of 20 Newsgroups from 5 labels a group, where a logistic regression on words has (\d+)", README
    )
    rows = rows_of(page, "### 20newsgroups")
    cells = (rows[system]["5"] for system in ("words and vectors", "tf-idf + LogisticRegression"))
    assert found.groups() == tuple(f"{float(cell.split()[0]):.0f}" for cell in cells)
