"""Scores of probabilities beside scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.calibration import calibration_curve

from bayesift.evaluate import brier, expected_calibration_error, log_loss, reliability_curve


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
        ({"strategy": "kmeans"}, "strategy is 'kmeans'; expected one of"),
        ({"average": "mean"}, "average is 'mean'"),
    ],
)
def test_bad_input_is_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(**{"truth": [0, 1], "probabilities": [0.2, 0.9], **arguments})
