"""The display of learning curves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import sem
from sklearn.model_selection import ShuffleSplit

import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import LearningCurveDisplay
from bayesift.priors import Laplace

REPEATS = np.random.default_rng(0).random((3, 5))


@pytest.mark.usefixtures("without_matplotlib")
def test_means_and_errors_of_repeats():
    shown = LearningCurveDisplay([1, 10, 100], {"many": REPEATS, "one": [0.1, 0.2, 0.3]})
    assert_allclose(shown.means["many"], REPEATS.mean(axis=1))
    assert_allclose(shown.errors["many"], sem(REPEATS, axis=1))
    assert_allclose(shown.errors["one"], 0)
    table = shown.plot_data()
    assert_allclose(table["F1"], [*REPEATS.mean(axis=1), 0.1, 0.2, 0.3])
    assert_allclose(table["standard error"], [*sem(REPEATS, axis=1), 0, 0, 0])
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_lines_and_bands():
    shown = LearningCurveDisplay([1, 10, 100], {"many": REPEATS, "one": [0.1, 0.2, 0.3]}, measure="F1, %").plot()
    assert_allclose([line.get_ydata() for line in shown.lines_], list(shown.means.values()))
    assert len(shown.ax_.collections) == 1
    band = shown.ax_.collections[0].get_paths()[0].get_extents()
    assert_allclose(band.y1, (shown.means["many"] + shown.errors["many"]).max())
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["1", "10", "100"]
    assert shown.ax_.get_ylabel() == "F1, %"
    shown.figure_.canvas.draw()


def test_forecasts_are_drawn_dashed_and_are_in_the_table():
    rows = [[0.5, 0.4, 0.6], [0.7, 0.5, 0.9]]
    shown = LearningCurveDisplay([1, 10, 100], {"many": REPEATS}, ahead=[100, 400], forecasts={"many": rows}).plot()
    assert [line.get_linestyle() for line in shown.lines_] == ["-", "--"]
    assert_allclose(shown.lines_[1].get_ydata(), [0.5, 0.7])
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["1", "100", "200", "400"]
    table = shown.plot_data()
    assert {len(column) for column in table.values()} == {5}
    assert_allclose(table["size"], [1, 10, 100, 100, 400])
    assert_allclose(table["low"][3:], [0.4, 0.5])
    assert_allclose(table["high"][3:], [0.6, 0.9])
    assert table["expected"].tolist() == [False] * 3 + [True] * 2
    shown.figure_.canvas.draw()


def test_knowledge_is_worth_most_with_few_documents():
    X, y = cases.documents(seed=2, n=200)
    best = BayesianLogisticRegression(variance=10.0).fit(X, y).coef_[0]
    estimators = {
        "with": BayesianLogisticRegression(Laplace(mode=best, variance=0.01)),
        "without": BayesianLogisticRegression(variance=1.0),
    }
    cv = ShuffleSplit(4, test_size=0.5, random_state=0)
    shown = LearningCurveDisplay.from_estimators(estimators, X, y, sizes=[10, 100], cv=cv, scoring="accuracy")
    gain = shown.means["with"] - shown.means["without"]
    assert gain[0] > gain[1]
    assert shown.measure == "accuracy"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([10, 1], {}), r"sizes is \[10, 1\]; expected increasing numbers above 0"),
        (([0, 1], {}), "expected increasing numbers above 0"),
        (([1, 10], {"x": [1, 2, 3]}), r"curves\['x'\] has shape \(3,\); expected 2 values, or rows of repeats"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        LearningCurveDisplay(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ahead": [4, 2], "forecasts": {}}, r"ahead is \[4, 2\]; expected increasing numbers above 0"),
        ({"ahead": [4], "forecasts": {"x": [[1, 2]]}}, r"forecasts\['x'\] has shape \(1, 2\); expected \(1, 3\)"),
        ({"ahead": [4], "forecasts": {"y": [[1, 2, 3]]}}, r"forecasts\['y'\].*for one of 'x'"),
    ],
)
def test_bad_forecasts(options, message):
    with pytest.raises(ValueError, match=message):
        LearningCurveDisplay([1, 2], {"x": [0.1, 0.2]}, **options)
