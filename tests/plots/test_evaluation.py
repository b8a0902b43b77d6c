"""The displays of reliability and of recall against effort."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose
from scipy.stats import beta

import linear_cases as cases
from bayesift.evaluate import recall_curve, reliability_curve, wss
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import PALETTE, RecallEffortDisplay, ReliabilityDisplay


def forecasts():
    rng = np.random.default_rng(0)
    p = rng.beta(0.6, 2.0, 300)
    return rng.random(300) < p, p


@pytest.mark.usefixtures("without_matplotlib")
def test_numbers_without_matplotlib():
    shown = ReliabilityDisplay.from_predictions(*forecasts(), bins=5, strategy="quantile")
    assert_allclose(shown.curve, reliability_curve(*forecasts(), bins=5, strategy="quantile"))
    assert_allclose(RecallEffortDisplay.from_predictions(*forecasts()).curve, recall_curve(*forecasts()))
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_reliability_shows_groups_and_their_bounds():
    shown = ReliabilityDisplay.from_predictions(*forecasts(), name="model").plot()
    number, predicted, observed = shown.curve
    assert_allclose(shown.ax_.lines[1].get_xdata(), predicted)
    assert_allclose(shown.ax_.lines[1].get_ydata(), observed)
    bars = np.array([path[:, 1] for path in shown.ax_.collections[0].get_segments()])
    inside = number * observed
    assert_allclose(bars[:, 0], beta.ppf(0.025, 1 + inside, 1 + number - inside))
    assert_allclose(bars[:, 1], beta.ppf(0.975, 1 + inside, 1 + number - inside))
    assert shown.ax_.get_legend().get_texts()[0].get_text() == "model"
    shown.figure_.canvas.draw()


def test_recall_shows_the_work_saved():
    truth, scores = forecasts()
    shown = RecallEffortDisplay.from_predictions(truth, scores).plot()
    assert_allclose(shown.ax_.lines[1].get_ydata(), shown.curve.recall)
    ((start, end),) = shown.ax_.collections[0].get_segments()
    assert end[0] - start[0] == pytest.approx(wss(truth, scores))
    assert not RecallEffortDisplay.from_predictions(truth).plot(level=None).ax_.collections
    shown.figure_.canvas.draw()


def test_the_probabilities_of_a_model():
    X, y = cases.documents(seed=2, n=60)
    model = BayesianLogisticRegression(variance=1.0).fit(X, y)
    truth, p = y == model.classes_[1], model.predict_proba(X)[:, 1]
    shown = ReliabilityDisplay.from_estimator(model, X, y, bins=3, name="model")
    assert_allclose(shown.curve, reliability_curve(truth, p, bins=3))
    assert_allclose(RecallEffortDisplay.from_estimator(model, X, y).curve, recall_curve(truth, p))
    several = BayesianLogisticRegression(variance=1.0).fit(X, np.column_stack([truth, X[:, 0] > 0]).astype(int))
    assert_allclose(RecallEffortDisplay.from_estimator(several, X, np.column_stack([truth, truth])).curve[0][-1], 1)


def test_two_systems_in_one_picture():
    figure, ax = pyplot.subplots()
    for name in ("one", "two"):
        shown = ReliabilityDisplay.from_predictions(*forecasts(), name=name).plot(ax)
    assert shown.figure_ is figure
    assert [line.get_color() for line in ax.lines[1:]] == list(PALETTE[:2])  # one diagonal
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
