"""Tables 2 and 3 of 2002 on a part of the collection."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from bayesift.datasets import load
from reproduction.catalogue import PieceCache, Runner, published
from reproduction.chai2002 import classifiers as classifiers
from reproduction.chai2002.classifiers import (
    ACCEPTED,
    ALL_WORDS,
    LIGHT,
    METHODS,
    SELECTED,
    SLOW,
    decisions,
    informative_columns,
    scores,
    table2,
    table3,
    weighed,
)
from reproduction.shared import f1_percent

pytestmark = pytest.mark.collection("reuters21578", "smart")


@pytest.fixture(scope="module")
def small():
    """Every eighth training and test document, the four largest categories."""
    collection = load("reuters21578")
    columns = [collection.categories.index(name) for name in ("earn", "acq", "money-fx", "grain")]
    parts = [
        (part.texts[::8], part.indicator(collection.categories).toarray()[::8, columns])
        for part in (collection.train, collection.test)
    ]
    return weighed(*parts[0], *parts[1])


def test_columns_are_those_of_a_ratio_counted_by_hand(small):
    X, y = (small.X_train[:200].toarray() > 0), small.Y_train[:200, 0] == 1
    used = X.any(axis=0)

    def log_likelihood(k, n, p):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(k > 0, k * np.log(p), 0.0) + np.where(n - k > 0, (n - k) * np.log1p(-p), 0.0)

    inside, outside = X[y].sum(axis=0), X[~y].sum(axis=0)
    n1, n2 = y.sum(), (~y).sum()
    p = (inside + outside) / (n1 + n2)
    ratio = 2 * (
        log_likelihood(inside, n1, inside / n1)
        + log_likelihood(outside, n2, outside / n2)
        - log_likelihood(inside, n1, p)
        - log_likelihood(outside, n2, p)
    )
    expected = np.flatnonzero(used & (ratio > 12.13))
    expected = np.sort(expected[np.argsort(-ratio[expected], kind="stable")[:300]])
    [found] = informative_columns(small.X_train[:200], small.Y_train[:200, [0]])
    assert found.tolist() == expected.tolist()


def test_the_linear_process_is_the_perceptron(small):
    perceptron, process = scores(small, "perceptron"), scores(small, "GP-1")
    assert process.test == pytest.approx(perceptron.test, abs=1e-4)
    assert np.abs(scores(small, "GP-C").test - perceptron.test).max() > 0.01


@pytest.mark.parametrize("method", ["perceptron", SELECTED, ALL_WORDS])
def test_rules_by_trying_all_thresholds(small, method):
    found = scores(small, method)
    made = decisions(found, small.Y_train)
    assert set(made) == {"0.5", "MaxF1", ACCEPTED} | ({"ExpectedF1"} if found.probabilities else set())
    # A cut at the last accepted training score is never below one midway to the next.
    assert np.all(made[ACCEPTED] <= made["MaxF1"])
    assert np.array_equal(made["0.5"], found.test >= (0.5 if found.probabilities else 0.0))
    for k, column in enumerate(found.train.T):
        y = small.Y_train[:, k]
        best = max(f1(y, column >= cut) for cut in column[y == 1])
        # The rule's own cut of the training scores, found from what it does with the test scores.
        rejected, accepted = found.test[~made["MaxF1"][:, k], k], found.test[made["MaxF1"][:, k], k]
        low, high = rejected.max(initial=-np.inf), accepted.min(initial=np.inf)
        between = [cut for cut in np.sort(np.append(column, high)) if low < cut <= high]
        assert max(f1(y, column >= cut) for cut in between) == pytest.approx(best)


def f1(y, accepted):
    return 2 * np.sum(y[accepted]) / (np.sum(y) + np.sum(accepted))


def test_tables_of_a_small_part(small, tmp_path, monkeypatch):
    monkeypatch.setattr(classifiers, "modapte", lambda: small)
    told = []
    runner = Runner(PieceCache(tmp_path), quick=True, report=lambda *state: told.append(state))
    two, three = table2(runner), table3(runner)
    methods = [method for method in METHODS if method not in SLOW]
    table, variant = two.tables
    assert list(table.rows) == methods
    assert list(variant.rows) == [*(method for method in methods if "SVM" not in method), *LIGHT]
    own = decisions(scores(small, f"{SELECTED}, SVM_light"), small.Y_train)[ACCEPTED]
    column = f"{ACCEPTED}, macro"
    assert variant.ours(f"{SELECTED}, SVM_light", column) == pytest.approx(f1_percent(small.Y_test, own)[0])
    assert table.cell("perceptron", "MaxF1, micro").published == 86.69
    assert table.ours(SELECTED, "ExpectedF1, micro") is None
    own = decisions(scores(small, "GP-C"), small.Y_train)["MaxF1"]
    assert table.ours("GP-C", "MaxF1, macro") == pytest.approx(f1_percent(small.Y_test, own)[0])
    mirrored = {"≫": "≪", "≪": "≫", ">": "<", "<": ">", "~": "~"}
    for signs, (a, b) in product(three.tables, permutations(methods, 2)):
        there, back = signs.cell(a, b).mark.split(), signs.cell(b, a).mark.split()
        assert [mirrored[sign] for sign in there] == back
    assert [claim.text for claim in three.claims[4:]] == [f"variant: {claim.text}" for claim in three.claims[:4]]
    assert len(two.claims) == 5
    # Table 3 trains nothing again.
    n = len(methods) + len(LIGHT)
    assert told[-1] == ("classifiers", n, n)
    assert told.count(("classifiers", 0, n)) == 1


def test_printed_numbers():
    grid = published("chai2002")["table2"]
    assert grid.row("perceptron") == (85.12, 45.23, 86.69, 52.16, 86.44, 53.08)
