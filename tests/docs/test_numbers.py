"""Numbers of the README and tables of the documentation are those that the benchmarks kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import pages

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {str(path.relative_to(ROOT)): path for path in pages.pages()}


def prose(page):
    """A page without code, tables, addresses and names of files."""
    page = re.sub(r"^```.*?^```$|^\|.*?$|<!--.*?-->", "", page, flags=re.M | re.S)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", page)


def rows_of(page, heading):
    """Rows of the first table below a heading."""
    text = page[page.index(f"\n{heading}\n") :]
    lines = re.search(r"^\|.*?(?=^[^|])", text, re.M | re.S)[0].splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.parametrize("name", PAGES)
def test_tables_are_those_that_were_kept(name):
    text = PAGES[name].read_text(encoding="utf-8")
    assert pages.written(text) == text, "run python -m benchmarks.pages"


def test_a_number_that_was_changed_by_hand_is_seen():
    [(name, number)] = {
        (row[0], row[-1]) for row in pages.result("side_by_side")["tables"][0]["rows"] if row[0].startswith("choose")
    }
    row = re.search(rf"^\| {re.escape(name)} \|.*$", README, re.M)[0]
    forged = README.replace(row, row.replace(number, f"1{number}"))
    assert forged != README
    assert pages.written(forged) == README


@pytest.mark.parametrize("mark", ["<!-- results: nothing 1 -->\n", "<!-- results: side_by_side 9 -->\n"])
def test_a_mark_without_a_result_is_an_error(mark):
    with pytest.raises((FileNotFoundError, IndexError)):
        pages.written(mark)


@pytest.mark.parametrize("mark", ["side_by_side", "side_by_side 0", "side_by_side one", "side-by-side 1"])
def test_a_mark_that_is_none_is_an_error(mark):
    with pytest.raises(ValueError, match="is no mark"):
        pages.written(f"Text\n\n<!-- results: {mark} -->\n")


def test_another_table_is_not_taken_for_the_own():
    with pytest.raises(ValueError, match=r"followed by the table \| model \| \|"):
        pages.written("<!-- results: side_by_side 1 -->\n\n| model | |\n|---|---|\n| lasso | few words |\n")


def test_a_table_is_not_followed_by_a_line_of_text():
    page = pages.written("<!-- results: side_by_side 1 -->\nText\n")
    assert re.search(r"\|\n\nText\n$", page)
    assert pages.written(page) == page


def test_every_run_says_how_it_was_made():
    for path in pages.RESULTS.glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        assert found["command"].startswith("python -m benchmarks"), path
        assert {"date", "versions", "cores", "load", "minutes"} <= found.keys(), path


def few_labels():
    """What the README says of few labels, from the page that has the table."""
    page = (ROOT / "docs" / "few_labels.md").read_text(encoding="utf-8")
    rows = rows_of(page, "### 20newsgroups")
    cells = (rows[system]["5"] for system in ("words and vectors", "tf-idf + LogisticRegression"))
    ours, theirs = (f"{float(cell.split()[0]):.0f}" for cell in cells)
    return (
        f"With 5 labels per group, {ours}% of 20 Newsgroups are classified correctly, against {theirs}% with logistic "
        "regression on words"
    )


def speed():
    """What the README says of speed, from the kept tables."""
    whole = {row[0]: row[-1] for row in pages.result("side_by_side")["tables"][0]["rows"]}
    to_a_matrix, to_a_classifier, *_ = whole.values()
    [single] = [row[-1] for row in pages.result("logistic")["tables"][0]["rows"] if row[0] == "median"]
    return (
        f"Bayesift turns texts into a matrix {to_a_matrix} times as fast as scikit-learn and tunes and fits a "
        f"classifier {to_a_classifier} times as fast (below). Single lasso fits are "
        f"{float(single):.1f} times as fast as with the fastest other program measured"
    )


def accuracy():
    """What the README says of accuracy with all labels, from the kept table."""
    [(theirs, ours)] = [
        row[1:3] for row in pages.result("side_by_side")["tables"][0]["rows"] if row[0] == "test texts right"
    ]
    return f"With all labels the accuracy is level, {ours} against {theirs} for a tuned linear SVM"


def test_no_number_of_the_readme_comes_from_elsewhere():
    """What is left of the text without the sentences whose numbers are compared has only names and versions."""
    text = " ".join(prose(README).replace("[", "").split())
    for told in (few_labels(), speed(), accuracy()):
        assert told in text
        text = text.replace(told, "")
    left = re.findall(r"(?<![\w.])\d[\d.,]*\d|(?<![\w.-])\d\b", text)
    # 20 Newsgroups, Python 3.11, the licence's three clauses.
    assert set(left) <= {"20", "3.11", "3"}, left
