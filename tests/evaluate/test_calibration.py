"""Scores of probabilities beside scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from bayesift.evaluate import (
    brier,
    calibration_interval,
    expected_calibration_error,
    log_loss,
    logistic_recalibration,
    reliability_curve,
    top_label,
)


def forecasts(n: int = 500, n_categories: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    p = rng.beta(0.5, 1.5, (n, n_categories))
    return rng.random(p.shape) < p**1.3, p


def test_brier_and_log_loss_as_scikit_learn() -> None:
    y, p = forecasts()
    columns = list(zip(y.T, p.T, strict=True))
    assert_allclose(brier(y, p), [metrics.brier_score_loss(*column) for column in columns])
    assert_allclose(log_loss(y, p), [metrics.log_loss(*column) for column in columns])
    for score, peer in ((brier, metrics.brier_score_loss), (log_loss, metrics.log_loss)):
        assert score(y, p, average="micro") == pytest.approx(peer(y.ravel(), p.ravel()))
        assert score(y, p, average="macro") == pytest.approx(np.mean(score(y, p)))


def test_the_impossible_costs_everything() -> None:
    assert log_loss([1, 0], [0.0, 0.0]) == np.inf
    assert log_loss([1, 0], [1.0, 0.0]) == 0
    assert brier([1, 0], [0.0, 0.0]) == 0.5


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [1, 4, 10])
def test_reliability_as_scikit_learn(strategy: str, bins: int) -> None:
    y, p = (part[:, 0] for part in forecasts())
    curve = reliability_curve(y, p, bins=bins, strategy=strategy)
    observed, predicted = calibration_curve(y, p, n_bins=bins, strategy=strategy)
    assert_allclose(curve.observed, observed)
    assert_allclose(curve.predicted, predicted)
    assert curve.n_documents.sum() == 500
    error = sum(n / 500 * abs(o - q) for n, q, o in zip(*curve, strict=True))
    assert expected_calibration_error(y, p, bins=bins, strategy=strategy) == pytest.approx(error)


def test_categories_together() -> None:
    y, p = forecasts()
    each = expected_calibration_error(y, p)
    assert_allclose(each, [expected_calibration_error(y[:, j], p[:, j]) for j in range(3)])
    assert expected_calibration_error(y, p, average="macro") == pytest.approx(each.mean())
    pooled = expected_calibration_error(y, p, average="micro")
    assert pooled == pytest.approx(expected_calibration_error(y.ravel(), p.ravel()))
    assert reliability_curve(y, p).n_documents.sum() == y.size


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40), st.integers(1, 12))
def test_properties(rows: list[tuple[bool, float]], bins: int) -> None:
    y, p = (np.array(part) for part in zip(*rows, strict=True))
    for strategy in ("uniform", "quantile"):
        curve = reliability_curve(y, p, bins=bins, strategy=strategy)
        assert curve.n_documents.sum() == len(y)
        assert np.all(curve.n_documents > 0)
        assert curve.n_documents @ curve.observed == pytest.approx(y.sum())
        assert np.all(np.diff(curve.predicted) >= -1e-12)
        error = expected_calibration_error(y, p, bins=bins, strategy=strategy)
        assert abs(y.mean() - p.mean()) - 1e-12 <= error <= 1  # groups can only hide what cancels inside them
    assert expected_calibration_error(y, y.astype(float), bins=bins) == pytest.approx(0)
    assert 0 <= brier(y, p) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probabilities": [0.5, 1.5]}, "probabilities has values from 0.5 to 1.5"),
        ({"probabilities": [0.5]}, r"probabilities has shape \(1,\); expected \(2,\)"),
        ({"probabilities": [0.5, np.nan]}, "probabilities contains NaN"),
        ({"truth": [0, 3]}, "truth holds 3"),
        ({"bins": 0}, "bins is 0"),
        ({"bins": 2.5}, "bins is 2.5"),
        ({"bins": True}, "bins is True; expected a whole number of at least 1"),
        ({"strategy": "kmeans"}, "strategy is 'kmeans'; expected one of"),
        ({"average": "mean"}, "average is 'mean'"),
    ],
)
def test_bad_input_is_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(**{"truth": [0, 1], "probabilities": [0.2, 0.9], **arguments})


def test_top_label_of_labels_that_exclude_each_other() -> None:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), 300)
    y = np.eye(4, dtype=int)[rng.integers(0, 4, 300)]
    right, confidence = top_label(y, p)
    for i in range(300):
        assert confidence[i] == p[i].max()
        assert right[i] == (y[i, p[i].argmax()] == 1)
    with pytest.raises(ValueError, match="truth has 2 labels in row 1; expected labels that exclude each other"):
        top_label([[1, 0], [1, 1]], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match=r"truth has shape \(2,\)"):
        top_label([1, 0], [0.5, 0.5])


def test_interval_is_about_the_error_itself() -> None:
    y, p = forecasts()
    found = calibration_interval(y, p, n_resamples=50)
    assert_allclose(found.error, expected_calibration_error(y, p))
    for average, error in (("micro", expected_calibration_error(y, p, average="micro")), (None, found.error[1])):
        truth, said = (y, p) if average else (y[:, 1], p[:, 1])
        single = calibration_interval(truth, said, average=average, strategy="uniform", n_resamples=50)
        assert single.error == pytest.approx(error)
        assert 0 <= single.low <= single.high
    again = calibration_interval(y, p, n_resamples=50)
    assert_allclose(again.low, found.low)
    quantiles = calibration_interval(y, p, strategy="quantile", n_resamples=10).error
    assert_allclose(quantiles, expected_calibration_error(y, p, strategy="quantile"))


def test_interval_holds_the_error_of_endless_documents() -> None:
    """Probabilities of four values, so that the error of endless documents is known: Σ share · |truth − said|."""
    rng = np.random.default_rng(0)
    said, truth = np.array([0.05, 0.25, 0.55, 0.85]), np.array([0.12, 0.20, 0.65, 0.75])
    exact = np.abs(said - truth).mean()
    held = []
    for seed in range(80):
        kind = rng.integers(0, 4, 400)
        found = calibration_interval(rng.random(400) < truth[kind], said[kind], n_resamples=100, random_state=seed)
        held.append(found.low <= exact <= found.high)
    assert np.mean(held) >= 0.87


def test_error_by_chance_is_that_of_right_probabilities() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(600)
    errors = [expected_calibration_error(rng.random(600) < p, p) for _ in range(200)]
    assert calibration_interval(p > 0.5, p, n_resamples=2).by_chance == pytest.approx(np.mean(errors), rel=0.05)


def test_recalibration_is_the_maximum_likelihood_line() -> None:
    y, p = forecasts()
    found = logistic_recalibration(y, p)
    for j in range(3):
        peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(p[:, [j]]), y[:, j])
        assert found.slope[j] == pytest.approx(peer.coef_[0, 0], rel=1e-5)
        assert found.intercept[j] == pytest.approx(peer.intercept_[0], rel=1e-4)
    together = logistic_recalibration(y, p, average="micro")
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(p.reshape(-1, 1)), y.ravel())
    assert together.slope == pytest.approx(peer.coef_[0, 0], rel=1e-5)


def test_recalibration_knows_its_errors() -> None:
    """Standard errors beside the spread over many draws; copies within a document do not make it surer."""
    rng = np.random.default_rng(2)
    lines = []
    for _ in range(150):
        odds = rng.normal(-1, 1.5, 300)
        y, p = rng.random(300) < expit(0.3 + 1.2 * odds), expit(odds)
        lines.append(logistic_recalibration(y, p))
    copied = logistic_recalibration(np.column_stack([y] * 3), np.column_stack([p] * 3), average="micro")
    assert_allclose(copied, lines[-1], rtol=1e-6)
    slope, intercept, slope_error, intercept_error = np.array(lines).T
    assert np.median(slope_error) == pytest.approx(slope.std(), rel=0.2)
    assert np.median(intercept_error) == pytest.approx(intercept.std(), rel=0.2)
    assert slope.mean() == pytest.approx(1.2, abs=0.05)


def test_lines_that_do_not_exist() -> None:
    assert np.isnan(logistic_recalibration([1, 1], [0.2, 0.3])).all()
    assert np.isnan(logistic_recalibration([1, 0], [0.3, 0.3])).all()
    assert logistic_recalibration([0, 0, 1], [0.2, 0.3, 0.4]).slope == np.inf
    assert logistic_recalibration([1, 0, 0], [0.2, 0.3, 0.4]).slope == -np.inf
    extreme = logistic_recalibration([1, 0, 0, 1, 1], [1.0, 0.0, 0.9, 0.8, 0.1])
    assert np.isfinite(extreme).all()


@pytest.mark.parametrize(
    ("measure", "arguments", "message"),
    [
        (calibration_interval, {"average": "macro"}, "average is 'macro'; expected 'micro' or None"),
        (calibration_interval, {"level": 1.0}, "level is 1; expected a number between 0 and 1"),
        (calibration_interval, {"n_resamples": 1.5}, "n_resamples is 1.5; expected a whole number of at least 1"),
        (calibration_interval, {"n_resamples": 0}, "n_resamples is 0"),
        (logistic_recalibration, {"average": "macro"}, "average is 'macro'; expected 'micro' or None"),
        (logistic_recalibration, {"probabilities": [0.5, 1.5]}, "probabilities has values from 0.5 to 1.5"),
    ],
)
def test_bad_input_of_intervals_and_lines(measure: Any, arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure(**{"truth": [0, 1], "probabilities": [0.2, 0.9], **arguments})
