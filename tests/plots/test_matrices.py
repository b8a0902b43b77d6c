"""The displays of confused classes and of labels that come together."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import ConfusionDisplay, CooccurrenceDisplay

RNG = np.random.default_rng(1)
NAMES = ["gold", "oil", "sea"]
TRUE, DECIDED = RNG.choice(NAMES, 40), RNG.choice(NAMES, 40)
LABELS, OTHERS = RNG.random((40, 3)) < 0.5, RNG.random((40, 3)) < 0.5


@pytest.mark.usefixtures("without_matplotlib")
def test_counts_and_shares_by_hand():
    shown = ConfusionDisplay.from_predictions(TRUE, DECIDED)
    assert shown.names == NAMES
    for i, true in enumerate(NAMES):
        for j, decided in enumerate(NAMES):
            number = np.sum((true == TRUE) & (decided == DECIDED))
            assert shown.counts[i, j] == number
            assert_allclose(shown.shares[i, j], number / np.sum(true == TRUE))
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


@pytest.mark.usefixtures("without_matplotlib")
def test_labels_that_come_together_by_hand():
    both = CooccurrenceDisplay.from_labels(sp.csr_matrix(LABELS.astype(int)), NAMES)
    decided = CooccurrenceDisplay.from_predictions(LABELS, OTHERS)
    for i in range(3):
        for j in range(3):
            assert both.counts[i, j] == np.sum(LABELS[:, i] & LABELS[:, j])
            assert decided.counts[i, j] == np.sum(LABELS[:, i] & OTHERS[:, j])
            assert_allclose(decided.shares[i, j], decided.counts[i, j] / LABELS[:, i].sum())
    assert decided.names == ["0", "1", "2"]
    assert list(both.plot_data()) == ["category", "other", "documents", "share"]
    assert list(decided.plot_data()) == ["category", "decided", "documents", "share"]


def test_cells_carry_their_numbers_in_readable_ink():
    shown = ConfusionDisplay([[9, 1], [0, 0]], ["a", "b"]).plot()
    assert_allclose(shown.ax_.images[0].get_array(), [[0.9, 0.1], [0, 0]])
    found = {text.get_position(): (text.get_text(), to_rgba(text.get_color())) for text in shown.ax_.texts}
    assert found == {(0, 0): ("9", to_rgba("white")), (1, 0): ("1", to_rgba("0.15"))}
    assert not ConfusionDisplay([[9, 1], [0, 0]], ["a", "b"]).plot(numbers=False).ax_.texts
    many = ConfusionDisplay([[1234567, 0], [0, 2.5]], ["a", "b"]).plot().ax_.texts
    assert [text.get_text() for text in many] == ["1,234,567", "2.5"]
    shown.figure_.canvas.draw()


def test_of_many_classes_those_with_the_most_errors_are_drawn():
    counts = np.diag([50, 1, 1, 1])
    counts[1, 3] = counts[3, 1] = 4
    shown = ConfusionDisplay(counts, list("abcd")).plot(most=2)
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["b", "d"]
    assert_allclose(shown.ax_.images[0].get_array(), [[0.2, 0.8], [0.8, 0.2]])
    largest = CooccurrenceDisplay(counts, counts.sum(axis=1), list("abcd")).plot(most=1)
    assert [text.get_text() for text in largest.ax_.get_xticklabels()] == ["a"]


def test_models_decide():
    X, y = cases.documents(seed=2, n=60)
    single = BayesianLogisticRegression(variance=1.0).fit(X, y)
    assert_array_equal(
        ConfusionDisplay.from_estimator(single, X, y).counts,
        ConfusionDisplay.from_predictions(y, single.predict(X)).counts,
    )
    indicator = np.column_stack([y > 0, X[:, 0] > 0]).astype(int)
    several = BayesianLogisticRegression(variance=1.0).fit(X, indicator)
    shown = CooccurrenceDisplay.from_estimator(several, X, indicator, ["y", "x"])
    assert_array_equal(shown.counts, indicator.T @ several.predict(X))
    assert shown.plot().ax_.get_xlabel() == "also decided"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConfusionDisplay([[1, 2]], ["a"]), r"counts has shape \(1, 2\)"),
        (lambda: ConfusionDisplay.from_predictions(LABELS, OTHERS), "expected one label per document"),
        (lambda: CooccurrenceDisplay.from_labels(LABELS[:, 0]), r"labels have shape \(40,\)"),
        (lambda: CooccurrenceDisplay.from_labels(LABELS, ["a"]), r"expected \(1, 1\) and \(1,\), for the categories"),
        (lambda: CooccurrenceDisplay.from_predictions(LABELS, OTHERS[:5]), "decisions has shape"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
