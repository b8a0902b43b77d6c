"""Numbers and weights that are hard to compute with: every estimator gives a right answer or a clear error."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from bayesift._documents import LARGEST, LEAST, checked_weights, usable_values
from bayesift.generative import CategoricalNB, DirichletCompoundMultinomial, GaussianNB
from bayesift.linear import BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.online import BayesianPerceptron, OnlineGaussianProcess
from tools.fuzz.estimators import SETTINGS, attempt, form_for, uncovered
from tools.fuzz.matrices import problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NAMES = [type(settings[0]).__name__ for settings in SETTINGS]


def in_time(code):
    """Run code in a process of its own, so that a hang is an error here; return what it prints."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_every_estimator_of_matrices_is_tried():
    assert not uncovered()


@pytest.mark.parametrize(
    "which",
    [
        # EM takes many rounds on hard matrices.
        pytest.param(which, id=name, marks=pytest.mark.slow if name == "BayesianProbitRegression" else ())
        for which, name in enumerate(NAMES)
    ],
)
def test_hard_matrices_give_right_numbers_or_a_clear_error(which):
    for number in range(36):
        outcome, what = attempt(number, problem(11, number), which)
        assert outcome in ("answered", "refused"), f"matrix {number}: {what}"


@pytest.mark.parametrize("which", range(len(SETTINGS)), ids=NAMES)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_columns_of_all_scales_are_taken(which, form):
    random = np.random.default_rng(3)
    X = random.poisson(1.0, (24, 9)) * np.logspace(-8, 8, 9)
    if NAMES[which] == "CategoricalNB":
        X = np.minimum(X.round(), 1000.0)
    y = random.normal(size=24) if NAMES[which] == "RelevanceVectorRegressor" else np.arange(24) % 2
    for settings in SETTINGS[which]:
        model = clone(settings)
        if getattr(model, "binarize", 0.0) is None:
            continue  # takes zeros and ones
        model.fit(form_for(model, form(X)), y)
        if hasattr(model, "predict_proba"):
            found = model.predict_proba(form_for(model, form(X)))
            assert np.isfinite(found).all()
            np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_matrix])
def test_numbers_too_large_are_refused_and_those_too_small_are_zero(form):
    X = form(np.array([[1.0, -2e300], [0.0, 3.0]]))
    with pytest.raises(ValueError, match=r"X holds -2e\+300; expected numbers from -1e\+110 to 1e\+110"):
        usable_values(X)
    given = np.array([[LARGEST, -LEAST], [LEAST / 2, -5e-324]])
    X = form(given)
    found = usable_values(X)
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, [[LARGEST, -LEAST], [0.0, 0.0]])
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, given)
    right = form(np.eye(2))
    assert usable_values(right) is right


def test_missing_values_are_refused_where_they_are_not_allowed():
    X = np.array([[np.nan, 1.0]])
    assert usable_values(X, missing=True) is X
    with pytest.raises(ValueError, match="Input X contains NaN"):
        usable_values(X)
    with pytest.raises(ValueError, match="y contains infinity"):
        usable_values(np.array([np.inf]), "y")


@pytest.mark.parametrize("weight", [1e51, 1e-51, 5e-324])
def test_weights_out_of_all_proportion_are_refused(weight):
    with pytest.raises(ValueError, match=r"sample_weight is .* at 1; expected 0 or a number from 1e-50 to 1e\+50"):
        checked_weights([1.0, weight, 0.0], np.eye(3))


@pytest.mark.parametrize(
    "model", [BayesianPerceptron(), OnlineGaussianProcess()], ids=lambda model: type(model).__name__
)
def test_online_models_refuse_weights_that_would_take_forever(model):
    with pytest.raises(ValueError, match=r"sample_weight adds up to 2e\+10; expected at most 1,002,000"):
        model.fit(np.eye(2), [0, 1], sample_weight=[1e10, 1e10])


def test_values_of_categories_cannot_fill_the_memory():
    with pytest.raises(ValueError, match=r"X holds 1e\+12; expected values numbered 0, 1, 2, … below 16,777,216"):
        CategoricalNB().fit([[0.0], [1e12]], [0, 1])
    with pytest.raises(ValueError, match=r"expected at most 33,554,432 counts in all"):
        CategoricalNB().fit(np.full((2, 3), 1.6e7) * [[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=r"expected at most 33,554,432 counts in all"):
        CategoricalNB(min_categories=10**9).fit([[0.0], [1.0]], [0, 1])
    model = CategoricalNB().fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_allclose(model.predict_proba([[1e30], [2.0]]), 0.5)


@pytest.mark.parametrize("solver", ["newton", "fixed_point", "edcm"])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-40, 1e-16])
def test_traces_of_words(solver, scale):
    X = np.array([[1, 0], [2, 0], [0, 1], [0, 3.0]]) * scale
    X[0, 1] = 1.0
    found = DirichletCompoundMultinomial(solver=solver).fit(X, [0, 0, 1, 1]).predict_proba(X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.slow
def test_jeffreys_prior_and_a_huge_value_do_not_hang():
    told = in_time(
        "import numpy as np\n"
        "from bayesift.linear import BayesianProbitRegression\n"
        "X = np.array([[1e160, 0], [0, 1], [1, 1], [0, 0.0]])\n"
        "try:\n"
        "    BayesianProbitRegression('jeffreys').fit(X, [0, 1, 0, 1])\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    assert "X holds 1e+160" in told
    X = np.array([[1e100, 0], [0, 1], [1, 1], [0, 0.0]])
    assert np.isfinite(BayesianProbitRegression("jeffreys").fit(X, [0, 1, 0, 1]).predict_proba(X)).all()


@pytest.mark.slow
def test_softmax_of_empty_documents_of_extreme_weights_does_not_hang():
    told = in_time(
        "import numpy as np\n"
        "from bayesift.linear import BayesianMultinomialRegression\n"
        "X = np.zeros((2, 1))\n"
        "model = BayesianMultinomialRegression('gaussian', variance=1.0).fit(X, [0, 1], [1e10, 1e-10])\n"
        "print(model.predict_log_proba(X)[0, 1])\n"
    )
    assert float(told) == pytest.approx(-20 * np.log(10), rel=0.4)
    even = BayesianMultinomialRegression("gaussian", variance=1.0).fit(np.zeros((2, 1)), [0, 1], [1e10, 1e10])
    np.testing.assert_allclose(even.predict_proba(np.zeros((1, 1))), 0.5)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "cosine"])
def test_processes_of_large_numbers(kernel):
    X = np.random.default_rng(0).normal(size=(12, 3))
    y = np.arange(12) % 2
    with pytest.raises(ValueError, match="X holds"):
        OnlineGaussianProcess(kernel).fit(1e155 * X, y)
    if kernel == "polynomial":
        with pytest.raises(ValueError, match="polynomial kernel"):
            OnlineGaussianProcess(kernel).fit(1e100 * X, y)
        X = 1e-80 * X
    assert np.isfinite(OnlineGaussianProcess(kernel).fit(1e100 * X, y).predict_proba(1e100 * X)).all()


def test_values_far_from_all_classes_have_probabilities():
    X = np.array([[1e-100], [2e-100], [5e-100], [9e-100]])
    for estimate in ("posterior", "map"):
        model = GaussianNB(estimate=estimate).fit(X, [0, 0, 1, 1])
        found = model.predict_proba([[1e100], [-1e100], [0.0]])
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore:class", "ignore:category 1")
@pytest.mark.parametrize("which", range(len(SETTINGS)), ids=NAMES)
def test_a_class_without_weight_is_one_that_was_never_seen(which):
    model = clone(SETTINGS[which][0])
    if not hasattr(model, "predict_proba") or NAMES[which] in ("RelevanceTaggingMachine", "RelevanceVectorMachine"):
        return  # predicts numbers or columns, or takes two classes only
    random = np.random.default_rng(5)
    y = np.arange(30) % 3
    X = random.poisson(1.0 + 2.0 * (y[:, None] == np.arange(4)), (30, 4)).astype(float)
    weights = (y != 1).astype(float)
    found = clone(model).fit(X, y, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    expected = clone(model).fit(X[y != 1], y[y != 1]).predict_proba(X)
    others = found[:, [0, 2]] / found[:, [0, 2]].sum(axis=1, keepdims=True)
    assert np.mean(np.argmax(others, axis=1) == np.argmax(expected, axis=1)) > 0.9
