"""The display of weights: numbers without drawing, and what is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ard_cases import telling_tags
from bayesift.ard import RelevanceTaggingMachine, RelevanceVectorRegressor
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import WeightsDisplay

X, T = telling_tags(0)
NAMES = [f"tag{j}" for j in range(10)]


def test_the_largest_by_size_from_positive_to_negative():
    shown = WeightsDisplay([0.1, -0.5, 0.0, 0.4, -0.2])
    assert shown.top(3).tolist() == [3, 4, 1]
    assert shown.top(99).tolist() == [3, 0, 4, 1]


def test_of_equal_weights_the_more_frequent_comes_first():
    shown = WeightsDisplay([0.4, 0.4 + 1e-13, -0.4, 0.4], frequency=[1, 2, 3, 9])
    assert shown.top(3).tolist() == [3, 1, 2]


def test_the_weights_of_models():
    machine = RelevanceTaggingMachine().fit(pd.DataFrame(X, columns=NAMES), T)
    shown = WeightsDisplay.from_estimator(machine)
    assert_allclose(shown.weights, machine.q_ - 0.5)
    assert list(shown.feature_names) == NAMES
    linear = BayesianLogisticRegression(variance=1.0).fit(X, T)
    assert_allclose(WeightsDisplay.from_estimator(linear.sparsify(), NAMES).weights, linear.coef_.toarray()[0])
    regressor = RelevanceVectorRegressor().fit(X, X[:, 0])
    assert_allclose(WeightsDisplay.from_estimator(regressor).weights, regressor.coef_)


def test_bars_and_names():
    shown = WeightsDisplay([0.1, -0.5, 0.0], ["a", "b", "c"], "log odds").plot()
    assert [bar.get_width() for bar in shown.bars_] == [0.1, -0.5]
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["a", "b"]
    assert shown.ax_.get_xlabel() == "log odds"
    assert shown.ax_.get_ylim()[0] > shown.ax_.get_ylim()[1]


def test_no_weight_at_all_draws_an_empty_picture():
    shown = WeightsDisplay(np.zeros(3)).plot()
    shown.figure_.canvas.draw()
    assert len(shown.bars_) == 0


@pytest.mark.usefixtures("without_matplotlib")
def test_the_numbers_are_there_without_matplotlib():
    shown = WeightsDisplay([1.0, 2.0])
    assert shown.top(1).tolist() == [1]
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]],), "weights has shape"),
        (([1.0], ["a", "b"]), "feature_names has 2 names; expected 1"),
        (([1.0], ["a"], "w", [1, 2]), "frequency has shape"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        WeightsDisplay(*arguments)
    with pytest.raises(ValueError, match="expected a fitted model"):
        WeightsDisplay.from_estimator(RelevanceTaggingMachine())
