"""Beliefs that leave the range of floating-point numbers: under flip noise only the direction of the weights counts."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import norm

import bayesift
from bayesift._sparse import compressed
from bayesift.filtering import AdaptiveFilter
from bayesift.online import BayesianPerceptron, OnlineGaussianProcess, grow, outcome_moments, prior_belief, update
from bayesift.online.belief import fields, learn, unscaled

WORDS = [f"{first}{second}" for first in ("wheat", "maize", "barley", "rye") for second in "abcdefghij"]


def decimal_scores(X, y, kappa, diagonal=False):
    """u of all documents after one pass over them, by the formulas of the paper in numbers without a least one."""
    with localcontext() as context:
        context.prec = 40
        d = X.shape[1]
        mean = [Decimal(0)] * d
        C = [[Decimal(int(i == j)) for j in range(d)] for i in range(d)]
        rows = [[Decimal(float(value)) for value in x] for x in X]

        def field(x):
            direction = [sum(c * v for c, v in zip(row, x, strict=True) if v) for row in C]
            spread = sum(v * e for v, e in zip(x, direction, strict=True)).sqrt()
            return direction, spread, sum(m * v for m, v in zip(mean, x, strict=True))

        for x, label in zip(rows, y, strict=True):
            direction, spread, middle = field(x)
            u = float(label * 1.0) * float(middle / spread)
            # Φ and its density are needed to 15 digits only, and are of ordinary size
            log_inside = np.log1p(-2 * kappa) + norm.logcdf(u)
            log_z = np.logaddexp(np.log(kappa), log_inside) if kappa else log_inside
            rho = np.exp(np.log1p(-2 * kappa) + norm.logpdf(u) - log_z)
            gain, shrink = Decimal(float(label * rho)) / spread, Decimal(float(rho * (u + rho))) / spread**2
            mean = [m + gain * e for m, e in zip(mean, direction, strict=True)]
            C = [
                [C[i][j] - shrink * (a * b) * (i == j or not diagonal) for j, b in enumerate(direction)]
                for i, a in enumerate(direction)
            ]
        scores = []
        for x in rows:
            _, spread, middle = field(x)
            scores.append(float(middle / spread))
        return np.array(scores), float(C[-1][-1].log10())


def noisy(n, seed=0):
    """A column that nearly no document has, random numbers and a constant; the labels have nothing to do with them."""
    random = np.random.default_rng(seed)
    X = np.column_stack([np.zeros(n), random.normal(size=n), np.ones(n)])
    X[[n // 3, n - 1], 0] = 0.5
    return X, random.choice([-1.0, 1.0], n)


@pytest.mark.parametrize(
    ("covariance", "kappa", "n"), [("full", 0.05, 6900), ("full", 0.0, 1500), ("diagonal", 0.0, 2000)]
)
def test_scores_are_those_of_numbers_without_a_least_one(covariance, kappa, n):
    X, y = noisy(n)
    expected, digits = decimal_scores(X, y, kappa, covariance == "diagonal")
    assert digits < -330  # no floating-point number is as small as this
    rows, order = compressed(X), np.arange(y.size)
    belief = learn(prior_belief(3, likelihood="flip", kappa=kappa, covariance=covariance), rows, y, order)
    mean, variance = fields(belief, rows)
    np.testing.assert_allclose(mean / np.sqrt(variance), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "low-rank"])
def test_probabilities_after_thousands_of_contradictions(covariance):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3000, 1)), random.integers(0, 2, 3000)
    model = BayesianPerceptron(likelihood="flip", covariance=covariance, passes=6).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.isfinite(model.predict_log_proba(X)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.unique(probabilities.round(6)).size > 10
    assert np.isfinite(model.mean_).all()
    assert np.isfinite(model.log_evidence_).all()
    bits = model.information_gain(X)
    assert np.all((bits >= 0) & (bits <= 1))


def test_an_update_says_the_field_in_the_units_of_the_weights():
    belief = prior_belief(2, likelihood="flip")
    for k in range(1200):
        belief, info = update(belief, [1.0, 0.0], (-1) ** k)
    assert belief.exponents is not None
    assert 0 < info.field_variance < 1e-100
    assert info.field_variance == pytest.approx(unscaled(belief).covariance[0, 0], rel=0.9)
    assert unscaled(belief).covariance[1, 1] == 1.0


@pytest.mark.parametrize("covariance", ["full", "diagonal", "low-rank"])
def test_features_added_to_a_vanishing_belief(covariance):
    X, y = noisy(4000)
    y = y * (-1) ** np.arange(y.size)
    early = prior_belief(3, likelihood="flip", covariance=covariance, rank=4)
    late = prior_belief(2, likelihood="flip", covariance=covariance, rank=4)
    X[:2000, 0] = 0.0
    early = learn(early, compressed(X), y, np.arange(4000))
    late = learn(late, compressed(X[:, 1:]), y, np.arange(2000))
    late = learn(grow(late, 1, at=0), compressed(X), y, np.arange(2000, 4000))
    (a, v), (b, w) = fields(early, compressed(X)), fields(late, compressed(X))
    np.testing.assert_allclose(a / np.sqrt(v), b / np.sqrt(w), rtol=1e-6, atol=1e-9)


def test_a_vanishing_belief_in_a_file_goes_on_as_before(tmp_path):
    X, y = noisy(5000)
    X = X[:, :2]
    model = BayesianPerceptron("flip").fit(X, y)
    assert model.states_[0].exponents is not None
    bayesift.save(model, tmp_path / "model")
    loaded = bayesift.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.partial_fit(X, y).predict_proba(X), model.partial_fit(X, y).predict_proba(X))


def sentences(n=1500):
    random = np.random.default_rng(5)
    texts = [" ".join(random.choice(WORDS, 6)) for _ in range(n)]
    return texts, [("farming",) if random.random() < 0.5 else () for _ in range(n)]


def test_a_filter_trained_on_contradictions_still_retrieves(tmp_path):
    texts, labels = sentences()

    def judge(decision):
        return bool(labels[decision.entry.place])

    def begin():
        return AdaptiveFilter(snapshot_every=40).fit(texts, labels, {"farming": "wheata"}, state=tmp_path / "run")

    whole = AdaptiveFilter().fit(texts, labels, {"farming": "wheata"}).run(texts[:200], judge)
    assert len(whole) > 50
    assert all(0 < entry.probability < 1 and 0 <= entry.information <= 1 for entry in whole)
    first = begin()
    first.run(texts[:100], judge)
    first.close()
    again = begin()
    record = again.run(texts[100:200], judge)
    assert [entry[:-1] for entry in record] == [entry[:-1] for entry in whole]
    again.close()


def test_column_scales_do_not_matter_to_a_low_rank_belief():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 6)) * 10.0 ** np.array([0, 2, 4, 6, 8, 0])
    y = np.where(X @ (random.normal(size=6) / np.abs(X).mean(axis=0)) + random.normal(size=400) > 0, 1, 0)
    full = BayesianPerceptron().fit(X, y).predict_proba(X)
    low = BayesianPerceptron(covariance="low-rank", rank=8).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(low, full, atol=1e-6)


@pytest.mark.parametrize("rank", [1, 2, 20])
@pytest.mark.parametrize("likelihood", ["probit", "flip"])
def test_a_low_rank_belief_stays_a_number_at_any_scale(likelihood, rank):
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 9)) * np.logspace(0, 8, 9)
    y = random.integers(0, 2, 600)
    model = BayesianPerceptron(likelihood, covariance="low-rank", rank=rank).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "cosine"])
def test_a_process_stays_a_number_after_thousands_of_contradictions(kernel):
    random = np.random.default_rng(2)
    X, y = random.integers(1, 3, size=(700, 1)), random.integers(0, 2, 700)
    model = OnlineGaussianProcess(kernel, likelihood="flip", budget=5, passes=12).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("mean", [-1e300, -1e200, 1e200, 1e300])
@pytest.mark.parametrize(("sigma", "kappa"), [(0.5, 0.0), (0.0, 0.05), (0.0, 0.0)])
def test_moments_of_a_field_out_of_all_proportion(mean, sigma, kappa):
    assert np.isfinite(outcome_moments(1.0, mean, 1e-10, sigma, kappa)).all()
