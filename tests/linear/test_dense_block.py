"""Words and a dense block: each with a prior variance of its own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_ndtr, logsumexp

from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.linear._fit.blocks import _simplest, _Together
from bayesift.linear._fit.variance import FoldFit
from bayesift.linear._losses import LOGISTIC
from bayesift.priors import Gaussian, Laplace

BINARY = (BayesianLogisticRegression, BayesianProbitRegression)
ALL = (*BINARY, BayesianMultinomialRegression)


def documents(n=80, words=30, dense=4, classes=2, seed=0):
    """Sparse words that say a little about the class, and dense numbers that say more; some words in no document."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    counts = random.random((n, words)) < 0.1 + 0.2 * ((np.arange(words) % classes) == y[:, None])
    counts[:, -5:] = False
    centres = random.normal(size=(classes, dense))
    Z = centres[y] + random.normal(size=(n, dense))
    return sp.csr_matrix(counts * 1.0), Z, y


def together(X, Z):
    return sp.hstack([X, sp.csr_matrix(Z)], format="csr")


def objective_of(model):
    """The negative log posterior of one binary decision up to a constant, with different variances in each block."""

    def objective(beta, X, y, precision):
        r = np.where(y > 0, 1.0, -1.0) * (X @ beta[:-1] + beta[-1])
        loss = np.logaddexp(0.0, -r) if model is BayesianLogisticRegression else -log_ndtr(r)
        return loss.sum() + 0.5 * np.sum(precision * beta[:-1] ** 2)

    return objective


@pytest.mark.parametrize("model", BINARY)
def test_two_variances_give_the_optimum_of_the_sum(model):
    X, Z, y = documents()
    both = together(X, Z)
    fitted = model("gaussian", 0.5, dense_features=4, dense_variance=2.0, tol=1e-10).fit(both, y)
    precision = np.r_[np.full(30, 1 / 0.5), np.full(4, 1 / 2.0)]
    found = minimize(
        objective_of(model), np.zeros(35), (both.toarray(), y, precision), method="BFGS", options={"gtol": 1e-8}
    )
    assert_allclose(np.r_[fitted.coef_[0], fitted.intercept_], found.x, atol=1e-5)
    assert_allclose(fitted.certificate_.objective, found.fun, rtol=1e-9)
    assert fitted.certificate_.relative_gap[0] <= 1e-9


def test_two_variances_give_the_optimum_of_a_softmax():
    X, Z, y = documents(classes=3)
    both = together(X, Z)
    fitted = BayesianMultinomialRegression("gaussian", 0.5, dense_features=4, dense_variance=2.0, tol=1e-10).fit(
        both, y
    )
    precision = np.r_[np.full(30, 1 / 0.5), np.full(4, 1 / 2.0)]

    def objective(flat):
        B = flat.reshape(3, 35)
        z = both.toarray() @ B[:, :-1].T + B[:, -1]
        return float((logsumexp(z, axis=1) - z[np.arange(80), y]).sum() + 0.5 * np.sum(precision * B[:, :-1] ** 2))

    assert_allclose(fitted.certificate_.objective[0], minimize(objective, np.zeros(105), method="BFGS").fun, rtol=1e-6)


def test_sparse_words_and_a_gaussian_block_keep_the_conditions_of_the_optimum():
    X, Z, y = documents(n=150)
    both = together(X, Z)
    fitted = BayesianLogisticRegression("laplace", 1.0, dense_features=4, dense_variance=2.0, tol=1e-9).fit(both, y)
    beta = fitted.coef_[0]
    p = 1 / (1 + np.exp(-(both @ beta + fitted.intercept_[0])))
    slope = both.T @ (y - p)
    rate = np.sqrt(2 / 1.0)
    words = beta[:30]
    assert 0 < np.count_nonzero(words) < 25
    assert np.all(beta[30:] != 0)
    assert_allclose(slope[:30][words != 0], rate * np.sign(words[words != 0]), atol=1e-3)
    assert np.all(np.abs(slope[:30][words == 0]) <= rate * (1 + 1e-6))
    assert_allclose(slope[30:], beta[30:] / 2.0, atol=1e-3)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("model", BINARY)
def test_dense_features_together_or_one_by_one_have_the_same_optimum(model, prior, monkeypatch):
    X, Z, y = documents(n=600, words=60, dense=110, seed=3)
    # Documents without a vector, and without weight.
    Z[:9] = 0.0
    weights = np.where(np.arange(600) % 7 == 2, 0.0, 1.0)
    found = []
    monkeypatch.setattr("bayesift.linear._fit.problem._LONG_BLOCK", 1)
    for largest in (1_000, 0):
        monkeypatch.setattr("bayesift.linear._fit.problem._LARGEST_BLOCK", largest)
        fitted = model(prior, 2.0, dense_features=110, dense_variance=0.5, tol=1e-9).fit(together(X, Z), y, weights)
        assert fitted.certificate_.converged.all()
        assert fitted.certificate_.relative_gap[0] <= 1e-9
        found.append(fitted)
    assert_allclose(found[0].certificate_.objective, found[1].certificate_.objective, rtol=2e-9)
    assert_allclose(found[0].coef_, found[1].coef_, atol=2e-4)


@pytest.mark.parametrize("model", ALL)
def test_one_variance_for_both_is_the_model_without_blocks(model):
    X, Z, y = documents()
    both = together(X, Z)
    blocks = model("gaussian", 0.7, dense_features=4, dense_variance=0.7, tol=1e-9).fit(both, y)
    plain = model("gaussian", 0.7, tol=1e-9).fit(both, y)
    assert_allclose(blocks.coef_, plain.coef_, atol=1e-6)


@pytest.mark.parametrize("model", ALL)
def test_both_variances_are_chosen_the_same_for_all_categories(model):
    X, Z, y = documents(classes=3, n=90)
    fitted = model("gaussian", dense_features=4).fit(together(X, Z), y)
    assert np.unique(fitted.variance_).size == np.unique(fitted.dense_variance_).size == 1
    assert fitted.dense_variance_[0] > 0
    given = model(
        "gaussian", float(fitted.variance_[0]), dense_features=4, dense_variance=float(fitted.dense_variance_[0])
    ).fit(together(X, Z), y)
    assert_allclose(given.coef_, fitted.coef_, atol=1e-3)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_a_block_of_noise_fades(prior):
    X, _, y = documents(n=400, words=60, seed=1)
    noise = np.random.default_rng(3).normal(size=(400, 20))
    fitted = BayesianLogisticRegression(prior, dense_features=20).fit(together(X, noise), y)
    spread = fitted.dense_variance_[0] * 20
    assert spread < 0.1 * fitted.variance_[0] * X.multiply(X).sum() / 400


def test_a_block_that_knows_the_class_leads():
    X, Z, y = documents(n=60, dense=3, seed=2)
    Z[:, 0] = 3.0 * (2 * y - 1)
    shuffled = X[np.random.default_rng(0).permutation(60)]
    fitted = BayesianLogisticRegression("gaussian", dense_features=3).fit(together(shuffled, Z), y)
    assert np.abs(fitted.coef_[0, 30:]).max() > 10 * np.abs(fitted.coef_[0, :30]).max()


def test_of_ratios_that_are_as_good_the_smallest_is_taken():
    alike = np.array([-10.0, -12.0, -11.0])
    better, clearly = alike + np.array([0.5, -0.2, 0.3]), alike + np.array([2.0, 2.2, 2.1])
    assert _simplest([alike, better]) == 0
    assert _simplest([alike, better, clearly]) == 2
    assert _simplest([clearly, clearly]) == 0
    assert _simplest([alike[:1], better[:1]]) == 1


def test_tuned_thresholds_compare_ratios_on_the_best_line_of_all_scores():
    random = np.random.default_rng(0)
    y = np.where(random.random((2, 60)) < 0.3, 1.0, -1.0)
    scores, weights = 0.2 * y + 0.2 * random.normal(size=y.shape) - 1.0, random.random(y.shape) + 0.5

    def fit_of(k, slope):
        decisions = y[k], slope * scores[k], weights[k]
        return lambda run, variance, start: FoldFit(np.zeros(3), -weights[k].sum() * (1 + slope), True, decisions)

    def judged(slope, link):
        together = _Together([fit_of(0, slope), fit_of(1, slope)], link)
        fit = together(0, 2.0, None)
        assert fit.beta.shape == (2, 3)
        assert_allclose(fit.score, -weights.sum() * (1 + slope))
        return together.judged(2.0, 1)[0]

    inside, outside = weights[y > 0].sum(), weights[y < 0].sum()
    target = np.where(y > 0, (inside + 1) / (inside + 2), 1 / (outside + 2))

    def loss(line, share):
        z = line[0] * scores + line[1]
        return np.sum(weights * (share * np.logaddexp(0, -z) + (1 - share) * np.logaddexp(0, z)))

    best = minimize(loss, np.zeros(2), target, tol=1e-10).x
    assert_allclose(judged(1.0, LOGISTIC), -loss(best, y > 0), rtol=1e-6)
    assert_allclose(judged(7.0, LOGISTIC), judged(1.0, LOGISTIC), rtol=1e-6)
    assert_allclose(judged(1.0, None), -2 * weights.sum())


def test_vectors_that_only_enlarge_scores_fade_where_thresholds_are_tuned():
    random = np.random.default_rng(1)
    # Words that each few documents of a category have; two dense features that say of it what most of them say.
    y = np.arange(120) % 3
    words = (random.random((120, 90)) < 0.12) & (np.arange(90) % 3 == y[:, None])
    Z = 1.0 * (np.arange(3) == y[:, None]) + 0.35 * random.normal(size=(120, 3))
    both, indicator = together(sp.csr_matrix(words * 1.0), Z), np.eye(3, dtype=int)[y]
    half, tuned = (
        BayesianLogisticRegression("gaussian", "shared", dense_features=3, threshold=policy).fit(both, indicator)
        for policy in ("half", "max_f1")
    )
    assert tuned.dense_variance_[0] < half.dense_variance_[0]


def test_a_given_variance_of_words_leaves_the_other_to_be_chosen():
    X, Z, y = documents()
    fitted = BayesianLogisticRegression("gaussian", 0.25, dense_features=4).fit(together(X, Z), y)
    assert fitted.variance_[0] == 0.25
    assert fitted.dense_variance_[0] > 0
    own = BayesianLogisticRegression(Laplace(0.25), dense_features=4).fit(together(X, Z), y)
    assert np.isnan(own.variance_[0])
    assert own.dense_variance_[0] > 0


def test_a_given_variance_of_the_block_leaves_the_other_to_be_chosen():
    X, Z, y = documents()
    fitted = BayesianLogisticRegression("gaussian", dense_features=4, dense_variance=0.5).fit(together(X, Z), y)
    assert fitted.dense_variance_[0] == 0.5
    assert fitted.cv_results_[0]["variance"] == fitted.variance_[0]


@pytest.mark.parametrize("model", ALL)
def test_too_few_documents_to_choose_by_take_the_usual_variances(model):
    X, Z, y = documents(n=40)
    first = [int(np.flatnonzero(y == k)[0]) for k in (0, 1)]
    with pytest.warns(UserWarning, match="too few documents"):
        fitted = model("gaussian", dense_features=4).fit(together(X[first], Z[first]), y[first])
    assert np.isfinite(fitted.coef_).all()
    assert fitted.dense_variance_[0] > 0


def test_the_scale_of_a_block_does_not_matter():
    # The folds depend on the numbers: enough documents, so that they choose alike.
    X, Z, y = documents(n=200, seed=1)
    one = BayesianLogisticRegression("gaussian", dense_features=4).fit(together(X, Z), y)
    other = BayesianLogisticRegression("gaussian", dense_features=4).fit(together(X, 1000.0 * Z), y)
    assert_allclose(other.predict_proba(together(X, 1000.0 * Z)), one.predict_proba(together(X, Z)), atol=2e-3)


def test_priors_that_name_words_name_the_first_columns():
    X, Z, y = documents()
    names = [f"w{k}" for k in range(30)] + [f"z{k}" for k in range(4)]
    prior = Gaussian(mode={"w3": 2.0})
    fitted = BayesianLogisticRegression(prior, 1e-6, dense_features=4, dense_variance=1.0)
    fitted.fit(together(X, Z), y, feature_names=names)
    assert_allclose(fitted.coef_[0, 3], 2.0, atol=1e-3)
    with pytest.raises(ValueError, match="z1"):
        BayesianLogisticRegression(Gaussian(mode={"z1": 2.0}), 1.0, dense_features=4).fit(
            together(X, Z), y, feature_names=names
        )


@pytest.mark.parametrize("model", BINARY)
def test_categories_may_share_one_variance_without_a_dense_block(model):
    X, _, y = documents(classes=3, n=60)
    shared = model("gaussian", "shared").fit(X, y)
    assert np.unique(shared.variance_).size == 1
    assert not shared.dense_variance_.any()
    given = model("gaussian", float(shared.variance_[0])).fit(X, y)
    assert_allclose(shared.coef_, given.coef_, atol=1e-3)
    curve = shared.cv_results_[0]
    assert curve["variance"] == curve["variances"][np.argmax(curve["scores"])]
    own = model(Gaussian(0.3), "shared").fit(X, y)
    assert np.isnan(own.variance_).all()


@pytest.mark.parametrize("model", BINARY)
@pytest.mark.parametrize(("variance", "n_dense"), [("shared", 0), ("shared", 2), ("cv", 2), (4.0, 2)])
def test_a_variance_of_its_own_stays_beside_others_that_are_chosen_together(model, variance, n_dense):
    X, _, y = documents(classes=3, n=60)
    known = Gaussian(0.05, intercept_variance="same")
    mixed = model([known, "gaussian", "gaussian"], variance, dense_features=n_dense).fit(X, y)
    assert np.isnan(mixed.variance_).tolist() == [True, False, False]
    alone = model(known, dense_features=n_dense, dense_variance=mixed.dense_variance_[0]).fit(X, y == 0)
    assert_allclose(mixed.coef_[0], alone.coef_[0], atol=1e-3)
    assert_allclose(mixed.intercept_[0], alone.intercept_[0], atol=1e-3)


def test_few_documents_choose_better_together():
    random = np.random.default_rng(0)
    topics = random.dirichlet(np.full(300, 0.3), 12)
    truth = np.repeat(np.arange(12), 40)
    counts = np.array([random.multinomial(12, topics[k]) for k in truth])
    X = sp.csr_matrix(counts / np.linalg.norm(counts, axis=1, keepdims=True))
    few = np.concatenate([np.flatnonzero(truth == k)[:4] for k in range(12)])
    scores = [
        BayesianLogisticRegression("gaussian", how).fit(X[few], truth[few]).score(X, truth) for how in ("shared", "cv")
    ]
    assert scores[0] > scores[1]


def test_learning_goes_on_with_both_blocks():
    X, Z, y = documents(n=120)
    both = together(X, Z)
    model = BayesianProbitRegression("gaussian", 1.0, dense_features=4, dense_variance=1.0)
    model.partial_fit(both[:60], y[:60], classes=[0, 1])
    before = model.coef_.copy()
    model.partial_fit(both[60:], y[60:])
    assert model.coef_.shape == before.shape
    assert model.score(both, y) > 0.8


@pytest.mark.parametrize("value", [-1, 1.5, "4"])
def test_a_number_of_columns_that_is_none_is_refused(value):
    X, Z, y = documents()
    with pytest.raises(ValueError, match="dense_features"):
        BayesianLogisticRegression(dense_features=value).fit(together(X, Z), y)


@pytest.mark.parametrize("model", ALL)
def test_more_dense_columns_than_there_are_is_refused(model):
    X, Z, y = documents()
    with pytest.raises(ValueError, match="dense_features is 35; expected at most 34"):
        model(dense_features=35).fit(together(X, Z), y)


def test_all_columns_may_be_dense():
    _, Z, y = documents()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = BayesianLogisticRegression("gaussian", dense_features=4).fit(Z, y)
    assert fitted.score(Z, y) > 0.7
