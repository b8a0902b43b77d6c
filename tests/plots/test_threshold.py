"""The display of thresholds: the curves by counting, what is drawn, and what a model chose."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import f1_score, precision_score, recall_score

import linear_cases as cases
from bayesift.decide import Utility, best_threshold
from bayesift.evaluate import t11su
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import ThresholdDisplay

X, Y = cases.documents(seed=2, n=60)


def judged(n=40):
    rng = np.random.default_rng(3)
    truth = rng.random(n) < 0.4
    return truth, np.round(rng.normal(truth, 1.0), 1)


@pytest.mark.usefixtures("without_matplotlib")
def test_the_curves_are_those_of_the_decisions():
    truth, scores = judged()
    shown = ThresholdDisplay.from_predictions(truth, scores)
    for k, threshold in enumerate(shown.outcomes.thresholds):
        accepted = scores >= threshold
        assert_allclose(shown.curves["recall"][k], recall_score(truth, accepted))
        assert_allclose(shown.curves["F1"][k], f1_score(truth, accepted))
        assert_allclose(shown.curves["utility"][k], t11su(truth, accepted))
        if accepted.any():
            assert_allclose(shown.curves["precision"][k], precision_score(truth, accepted))
    assert np.isnan(shown.curves["precision"][0])
    assert shown.chosen == best_threshold(scores, truth, policy="max_f1")
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_a_line_has_at_every_threshold_the_value_of_its_decisions():
    truth, scores = judged()
    shown = ThresholdDisplay.from_predictions(truth, scores, chosen=0.35).plot()
    line = shown.lines_[1]
    assert line.get_drawstyle() == "steps-post"
    places, values = line.get_data()
    for threshold in np.linspace(scores.min() - 0.01, scores.max() + 0.01, 50):
        # Of steps over falling places the last place that is not below counts.
        drawn = values[np.flatnonzero(places >= threshold)[-1]]
        assert_allclose(drawn, recall_score(truth, scores >= threshold))
    assert [label.get_text() for label in shown.ax_.texts] == ["chosen: 0.35"]
    assert shown.ax_.lines[-1].get_xdata()[0] == 0.35
    shown.figure_.canvas.draw()


def test_a_model_brings_its_own_threshold():
    model = BayesianLogisticRegression(variance=1.0, threshold="max_f1", threshold_on="train").fit(X, Y)
    shown = ThresholdDisplay.from_estimator(model, X, Y)
    assert shown.chosen == model.threshold_.thresholds_[0]
    best = np.nanmax(shown.curves["F1"])
    assert_allclose(f1_score(model.classes_[1] == Y, model.predict(X) == model.classes_[1]), best)


def test_one_of_several_categories():
    labels = np.array(["a", "b", "c"])[np.arange(60) % 3]
    single = BayesianLogisticRegression(variance=1.0).fit(X, labels)
    indicator = (labels[:, None] == ["a", "b", "c"]).astype(int)
    several = BayesianLogisticRegression(variance=1.0).fit(X, indicator)
    for category in range(3):
        tables = [
            ThresholdDisplay.from_estimator(model, X, y, category=category).plot_data()
            for model, y in ((single, labels), (several, indicator))
        ]
        assert_allclose(tables[0]["tp"], tables[1]["tp"])
        assert tables[0]["tp"][-1] == 20
    with pytest.raises(ValueError, match="category is 3; expected a number from 0 to 2"):
        ThresholdDisplay.from_estimator(single, X, labels, category=3)
    with pytest.raises(ValueError, match="expected a fitted model with decision_function"):
        ThresholdDisplay.from_estimator("model", X, Y)


@pytest.mark.parametrize(
    ("utility", "formula"),
    [
        ({"tp": 2, "fp": -1}, "2TP − FP"),
        (Utility(tp=0.5, fn=-3, tn=1), "0.5TP − 3FN + TN"),
        (Utility(fp=-1, fn=-1, tp=2), "2TP − FP − FN"),
        (Utility(fp=-1, tn=1), "−FP + TN"),
    ],
)
def test_utilities_are_written_by_hand(utility, formula):
    shown = ThresholdDisplay.from_predictions([0, 1, 1], [0.1, 0.4, 0.9], utility=utility).plot()
    assert shown.ax_.get_legend().get_texts()[-1].get_text() == f"scaled utility ({formula})"


@pytest.mark.parametrize("scores", [[0.5, 0.5], [0.2, 0.8]])
def test_thresholds_that_reject_or_accept_all_are_drawn_at_the_border(scores):
    for chosen in (np.inf, -np.inf):
        shown = ThresholdDisplay.from_predictions([0, 1], scores, chosen=chosen).plot()
        shown.figure_.canvas.draw()
        assert np.isfinite(shown.ax_.lines[-1].get_xdata()).all()
