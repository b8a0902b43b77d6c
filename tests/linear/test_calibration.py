"""Calibrated scores: Platt's map by another optimiser, beside scikit-learn, and everything that follows from it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_ndtr, log_softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit

import bayesift
from bayesift.formats import ModelFileError
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.linear._fit.platt import (
    LEAST_SLOPE,
    class_line,
    folds_needed,
    folds_needed_of_all,
    sigmoid_line,
    temperature,
)
from bayesift.linear._losses import LOGISTIC, PROBIT

LOG_F = {LOGISTIC: log_expit, PROBIT: log_ndtr}


def documents(n: int = 160, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw few features that say something about the class, and many that do not."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 12))
    X[np.arange(n), y] += 1.5
    return X, y


def by_scipy(link: int, s: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Platt's map as he describes it: his targets, any optimiser."""
    positive, negative = w[y].sum(), w[~y].sum()
    t = np.where(y, (positive + 1) / (positive + 2), 1 / (negative + 2))

    def loss(line: np.ndarray) -> float:
        z = line[0] * s + line[1]
        return float(-(w * (t * LOG_F[link](z) + (1 - t) * LOG_F[link](-z))).sum())

    return minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000}).x


@pytest.mark.parametrize("link", [LOGISTIC, PROBIT])
@pytest.mark.parametrize("seed", range(4))
def test_platts_map_by_another_optimiser(link: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    s = rng.normal(-1, 2, 80)
    y = rng.random(80) < expit(0.6 * s + 1)
    w = rng.integers(1, 4, 80).astype(float)
    assert_allclose(sigmoid_line(link, s, y, w), by_scipy(link, s, y, w), rtol=1e-4, atol=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.sampled_from([LOGISTIC, PROBIT]))
@settings(max_examples=60, deadline=None)
def test_a_map_rises_and_is_finite(seed: int, n: int, link: int) -> None:
    rng = np.random.default_rng(seed)
    s = rng.choice([rng.normal(size=n), np.round(rng.normal(size=n)), 1e6 * rng.normal(size=n), np.zeros(n)])
    y, w = rng.random(n) < 0.3, rng.choice([0.0, 1.0, 2.5, 1e-6], n)
    slope, intercept = sigmoid_line(link, s, y, w)
    assert slope > 0
    assert np.isfinite([slope, intercept]).all()


def test_scores_that_say_nothing_or_the_contrary_keep_their_order() -> None:
    y = np.arange(40) % 4 == 0
    ones = np.ones(40)
    for s in (np.where(y, -1.0, 1.0), np.arange(40.0) % 2):
        slope, intercept = sigmoid_line(LOGISTIC, s, y, ones)
        assert slope == LEAST_SLOPE
        # All documents have about the share of the category, by his targets 10 · 11/12 + 30 · 1/32 of 40.
        assert expit(slope * s + intercept).mean() == pytest.approx((10 * 11 / 12 + 30 / 32) / 40, abs=1e-6)
    constant = sigmoid_line(LOGISTIC, np.full(40, 3.0), y, ones)
    assert constant.slope == 1.0
    assert expit(3.0 + constant.intercept) == pytest.approx((10 * 11 / 12 + 30 / 32) / 40)
    assert sigmoid_line(LOGISTIC, np.arange(3.0), np.ones(3, bool), np.ones(3)) == (1.0, 0.0)


def test_separated_scores_have_a_finite_slope() -> None:
    s = np.linspace(-1, 1, 20)
    slope, _ = sigmoid_line(LOGISTIC, s, s > 0, np.ones(20))
    assert 1 < slope < 100


def test_scores_of_documents_that_were_not_held_out_do_not_count() -> None:
    rng = np.random.default_rng(1)
    s, y = rng.normal(size=50), rng.random(50) < 0.5
    w = np.ones(50)
    some = np.where(np.arange(50) < 30, s, np.nan)
    assert_allclose(sigmoid_line(LOGISTIC, some, y, w), sigmoid_line(LOGISTIC, s[:30], y[:30], w[:30]))


@pytest.mark.parametrize("n_classes", [2, 5])
def test_temperature_by_another_optimiser(n_classes: int) -> None:
    rng = np.random.default_rng(2)
    z = 3 * rng.normal(size=(200, n_classes))
    y = np.array([rng.choice(n_classes, p=np.exp(row)) for row in log_softmax(0.4 * z, axis=1)])
    w = rng.integers(1, 3, 200).astype(float)
    target = np.full((200, n_classes), 1 / (w.sum() + 2) / (n_classes - 1))
    target[np.arange(200), y] = (w.sum() + 1) / (w.sum() + 2)

    def loss(factor: np.ndarray) -> float:
        return float(-(w * (target * log_softmax(factor[0] * z, axis=1)).sum(axis=1)).sum())

    expected = minimize(loss, [1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11}).x[0]
    assert temperature(z, y, w) == pytest.approx(expected, rel=1e-4)
    assert temperature(-z, y, w) == LEAST_SLOPE
    assert temperature(np.zeros((200, n_classes)), y, w) == 1.0


@pytest.mark.parametrize("link", [LOGISTIC, PROBIT])
def test_one_line_of_several_classes_by_another_optimiser(link: int) -> None:
    rng = np.random.default_rng(5)
    s = 2 * rng.normal(size=(300, 4)) - 1
    shares = np.exp(LOG_F[link](0.5 * s + 0.7))
    y = np.array([rng.choice(4, p=row / row.sum()) for row in shares])
    w = rng.integers(1, 3, 300).astype(float)
    target = np.full((300, 4), 1 / (w.sum() + 2) / 3)
    target[np.arange(300), y] = (w.sum() + 1) / (w.sum() + 2)

    def loss(line: np.ndarray) -> float:
        logs = LOG_F[link](line[0] * s + line[1])
        return float(-(w * (target * log_softmax(logs, axis=1)).sum(axis=1)).sum()) + line[1] ** 2 / 18

    expected = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x
    found = class_line(link, s, y, w)
    assert loss(np.array(found)) <= loss(expected) + 1e-4
    assert_allclose(found, expected, rtol=0.01, atol=0.01)
    assert class_line(link, np.zeros((300, 4)), y, w) == (1.0, 0.0)
    assert class_line(link, -s, y, w).slope > 0


def test_as_scikit_learn_calibrates_the_same_scores() -> None:
    """CalibratedClassifierCV without an ensemble fits the same map to scores of the same folds."""
    X, y = documents(240)
    model = BayesianLogisticRegression("gaussian", 0.05, calibration="sigmoid", tol=1e-10, threshold="min_error").fit(
        X, y
    )
    fold = _folds(model, X, y)
    plain = LogisticRegression(C=0.05, tol=1e-10, max_iter=10_000)
    theirs = CalibratedClassifierCV(plain, method="sigmoid", cv=PredefinedSplit(fold), ensemble=False).fit(X, y)
    assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=2e-3)
    assert model.calibration_[0, 0] > 1.2


def _folds(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from sklearn.utils import check_random_state

    from bayesift.linear._fit.problem import design_of
    from bayesift.linear._fit.variance import LabelledDocuments

    found = LabelledDocuments(design_of(sp.csr_matrix(X)), np.where(y > 0, 1.0, -1.0), np.ones(len(y)))
    return found.folds(model.folds, int(check_random_state(model.random_state).randint(2**31 - 1)))


MODELS = [
    BayesianLogisticRegression("gaussian", 0.02, calibration="sigmoid"),
    BayesianLogisticRegression("laplace", 0.02, calibration="sigmoid"),
    BayesianProbitRegression("gaussian", 0.02, calibration="sigmoid"),
    BayesianMultinomialRegression("gaussian", 0.02, calibration="sigmoid"),
    BayesianMultinomialRegression("laplace", 0.02, calibration="sigmoid"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_everything_follows_from_calibrated_scores(model: Any, n_classes: int) -> None:
    X, y = documents(200, n_classes)
    fitted, plain = clone(model).fit(X, y), clone(model).set_params(calibration=None).fit(X, y)
    assert_array_equal(fitted.coef_, plain.coef_)
    scores, before = (one.decision_function(X).reshape(len(y), -1) for one in (fitted, plain))
    assert_allclose(scores, before * fitted.calibration_[:, 0] + fitted.calibration_[:, 1])
    for k in range(scores.shape[1]):
        assert_array_equal(np.argsort(scores[:, k]), np.argsort(before[:, k]))
    weights, intercept = fitted.linear_scores()
    assert_allclose(X @ weights.T + intercept, scores)
    assert_allclose(fitted.word_weights(), weights)
    assert_allclose(fitted.predict_log_proba(X), fitted.scores_to_log_proba(fitted.decision_function(X)))
    # Strong priors draw scores together.
    assert n_classes > 2 or fitted.calibration_[0, 0] > 1.1
    assert np.abs(fitted.calibration_ - [1.0, 0.0]).max() > 0.1
    dense = fitted.predict_proba(X)
    fitted.sparsify()
    assert_allclose(fitted.predict_proba(sp.csr_matrix(X)), dense)
    assert sp.issparse(fitted.word_weights())


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_one_line_leaves_the_decisions_between_several_classes(model: Any) -> None:
    X, y = documents(200, 4)
    fitted, plain = clone(model).fit(X, y), clone(model).set_params(calibration=None).fit(X, y)
    assert_array_equal(fitted.predict(X), plain.predict(X))
    assert_array_equal(np.ptp(fitted.calibration_, axis=0), [0, 0])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_probabilities_of_new_documents_are_better(model: Any) -> None:
    X, y = documents(400, 3)
    new, truth = documents(2000, 3, seed=1)

    def loss(fitted: Any) -> float:
        return float(-fitted.predict_log_proba(new)[np.arange(len(truth)), truth].mean())

    strong = clone(model).set_params(variance=0.004)
    assert loss(clone(strong).fit(X, y)) < loss(strong.set_params(calibration=None).fit(X, y)) - 0.02


def test_thresholds_are_those_of_calibrated_scores() -> None:
    """They are tuned on the same scores: where fits stop alike, decisions do not change, thresholds lie on the line."""
    X, y = documents(150)
    Y = np.column_stack([y, 1 - y, y * (X[:, 3] > 0)])
    options = {"prior": "gaussian", "variance": 0.05, "threshold": "max_f1", "tol": 1e-3}
    plain = BayesianLogisticRegression(**options).fit(X, Y)
    fitted = BayesianLogisticRegression(calibration="sigmoid", **options).fit(X, Y)
    assert_array_equal(fitted.predict(X), plain.predict(X))
    slope, intercept = fitted.calibration_.T
    assert_allclose(fitted.threshold_.thresholds_, slope * plain.threshold_.thresholds_ + intercept, rtol=1e-6)


def test_a_label_of_a_single_document_stays_as_it_is() -> None:
    X, y = documents(60)
    Y = np.column_stack([y, np.arange(60) == 7])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = BayesianLogisticRegression("gaussian", 1.0, calibration="sigmoid").fit(X, Y)
    assert fitted.calibration_[1].tolist() == [1.0, 0.0]
    assert fitted.calibration_[0].tolist() != [1.0, 0.0]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_weight_of_two_is_two_documents(model: Any) -> None:
    X, y = documents(90, 3)
    weight = 1 + np.arange(90) % 2
    twice = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = clone(model).fit(X, y, sample_weight=weight)
    assert_allclose(weighted.calibration_, twice.calibration_, rtol=2e-3, atol=1e-4)


def test_class_weights_count_for_the_map_as_well() -> None:
    """What they ask for is a world with other shares of the classes, and probabilities are those of that world."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.1).astype(int)
    X = rng.normal(size=(400, 5)) + y[:, None]
    options = {"prior": "gaussian", "variance": 0.05, "calibration": "sigmoid"}
    balanced = BayesianLogisticRegression(class_weight="balanced", **options).fit(X, y)
    plain = BayesianLogisticRegression(**options).fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > 2 * plain.predict_proba(X)[:, 1].mean()


def test_enough_folds_are_left_out() -> None:
    assert [folds_needed(10, n) for n in (2, 100, 500, 1000, 2500, 100_000)] == [10, 10, 10, 5, 2, 1]
    assert [folds_needed_of_all(10, np.ones(n)) for n in (5, 1000, 2000, 8000, 50_000)] == [10, 10, 5, 2, 1]


def test_a_fit_without_forgets_the_map() -> None:
    X, y = documents(80)
    model = BayesianLogisticRegression("gaussian", 1.0, calibration="sigmoid").fit(X, y)
    model.set_params(calibration=None).fit(X, y)
    assert not hasattr(model, "calibration_")


def test_what_cannot_be_together_is_refused() -> None:
    X, y = documents(40)
    with pytest.raises(ValueError, match="calibration is 'sigmoid'; expected None when posterior is 'laplace'"):
        BayesianLogisticRegression("gaussian", 1.0, calibration="sigmoid", posterior="laplace").fit(X, y)
    with pytest.raises(ValueError, match="calibration is 'sigmoid'; expected None for partial_fit"):
        BayesianProbitRegression("gaussian", 1.0, calibration="sigmoid").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="calibration is 'sigmoid'; expected None for coefficients that are given"):
        BayesianLogisticRegression.from_coefficients([[1.0]], [0.0], classes=["a", "b"], calibration="sigmoid")
    fitted = BayesianLogisticRegression("gaussian", 1.0, calibration="sigmoid").fit(X, y)
    with pytest.raises(ValueError, match="calibration is 'sigmoid'; expected None when posterior is 'laplace'"):
        fitted.with_posterior(X, y, "laplace")
    with pytest.raises(ValueError, match="'calibration' parameter"):
        BayesianLogisticRegression(calibration="isotonic").fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_stay_in_a_file(model: Any, tmp_path: Any) -> None:
    X, y = documents(80, 3)
    fitted = clone(model).fit(X, y)
    bayesift.save(fitted, tmp_path / "model")
    assert_array_equal(bayesift.load(tmp_path / "model").predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    "forged",
    [
        np.ones((2, 2)),
        np.ones((3, 1)),
        np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]),
        np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]),
        np.array([[1.0, np.nan], [1.0, 0.0], [1.0, 0.0]]),
        np.array([[np.inf, 0.0], [1.0, 0.0], [1.0, 0.0]]),
        np.array([[1.0, 1e200], [1.0, 0.0], [1.0, 0.0]]),
        np.ones((3, 2), dtype=np.int64),
        "sigmoid",
    ],
)
@pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=str)
def test_forged_lines_are_refused(model: Any, forged: Any, tmp_path: Any) -> None:
    X, y = documents(60, 3)
    fitted = clone(model).fit(X, y)
    fitted.calibration_ = forged
    with pytest.raises((ValueError, ModelFileError)):
        bayesift.save(fitted, tmp_path / "model")
