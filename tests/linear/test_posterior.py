"""Linear models that keep their posterior: averaged probabilities, intervals, evidence."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit, ndtri
from sklearn.base import clone

import bayesift
from bayesift.linear import BayesianLogisticRegression, BayesianProbitRegression
from bayesift.posterior import choice, find_posterior, greatest_evidence, update_posterior
from bayesift.priors import Gaussian, Laplace
from posterior_cases import few_texts

MODELS = {"logistic": BayesianLogisticRegression, "probit": BayesianProbitRegression}
X, Y, _ = few_texts(n=40, d=80)
NEW = few_texts(n=15, d=80, seed=5)[0]


@pytest.fixture(params=MODELS)
def link(request):
    return request.param


@pytest.mark.parametrize("method", ["auto", "laplace", "ep", "gibbs"])
def test_probabilities_are_averaged(link, method):
    model = MODELS[link]("gaussian", 3.0, posterior=method).fit(X, Y)
    expected = find_posterior(X, Y, Gaussian(3.0), link=link, method=method)
    [found] = model.posteriors_
    assert type(found) is type(expected)
    # Draws of a sampled one have a seed of their own.
    tolerance = 0.05 if method == "gibbs" else 1e-8
    np.testing.assert_allclose(
        model.predict_proba(NEW)[:, 1], expected.predict_proba(NEW, tempered=True), atol=tolerance
    )
    np.testing.assert_allclose(
        model.predict_interval(NEW, 0.8), expected.predict_interval(NEW, 0.8), atol=2 * tolerance
    )
    np.testing.assert_allclose(model.predict_proba(NEW)[:, 1], found.predict_proba(NEW, tempered=True), atol=1e-9)
    assert model.log_evidence_.shape == (1,)
    assert np.isnan(model.log_evidence_[0]) == (method == "gibbs")


def test_what_follows_from_scores_is_averaged_too(link):
    model = MODELS[link]("gaussian", 3.0, posterior="ep").fit(X, Y)
    scores = model.decision_function(NEW)
    np.testing.assert_allclose(model.scores_to_log_proba(scores), model.predict_log_proba(NEW))
    np.testing.assert_array_equal(model.predict(NEW), (model.predict_proba(NEW)[:, 1] >= 0.5).astype(int))
    assert model.linear_scores() is None
    plain = MODELS[link]("gaussian", 3.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, plain.coef_)
    assert plain.linear_scores() is not None
    assert not hasattr(plain, "predict_interval")
    assert not hasattr(plain, "log_evidence_")


def test_scores_far_into_the_tails(link):
    model = MODELS[link]("gaussian", 3.0, posterior="ep").fit(X, Y)
    far = sp.vstack([1e3 * X[0], -1e3 * X[0]])
    logs = model.predict_log_proba(far)
    assert np.all(np.isfinite(logs))
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)


def test_several_categories_have_posteriors_of_their_own(link):
    labels = np.arange(40) % 3
    model = MODELS[link]("gaussian", 3.0, posterior="ep").fit(X, labels)
    assert len(model.posteriors_) == 3
    assert model.predict_interval(NEW).shape == (15, 3, 2)
    np.testing.assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)
    indicator = np.column_stack([labels == k for k in range(3)]).astype(int)
    several = MODELS[link]("gaussian", 3.0, posterior="ep", n_jobs=2).fit(X, indicator)
    np.testing.assert_allclose(several.score_interval(NEW), model.score_interval(NEW), atol=1e-9)
    expected = find_posterior(X, indicator[:, 1], Gaussian(3.0), link=link)
    np.testing.assert_allclose(several.predict_proba(NEW)[:, 1], expected.predict_proba(NEW, tempered=True), atol=1e-8)


def test_a_category_of_one_class_has_no_posterior(link):
    indicator = np.column_stack([Y, np.zeros(40, int)])
    with pytest.warns(UserWarning, match="one class only"):
        model = MODELS[link]("gaussian", 3.0, posterior="ep").fit(X, indicator)
    assert model.posteriors_[1] is None
    np.testing.assert_array_equal(model.predict_interval(NEW)[:, 1], np.tile([0.0, 1.0], (15, 1)))
    assert np.all(model.predict_proba(NEW)[:, 1] < 0.1)
    assert np.isnan(model.log_evidence_[1])


def test_laplace_priors_are_sampled(link, monkeypatch):
    monkeypatch.setattr(choice, "by_draws", partial(choice.by_draws, n_draws=250, warmup=100))
    model = MODELS[link]("laplace", 3.0, posterior="auto").fit(X, Y)
    expected = find_posterior(X, Y, Laplace(3.0), link=link)
    assert type(model.posteriors_[0]) is type(expected)
    np.testing.assert_allclose(model.predict_proba(NEW)[:, 1], expected.predict_proba(NEW), atol=0.06)


def test_the_variance_may_be_that_of_the_greatest_evidence(link):
    model = MODELS[link]("gaussian", "evidence", posterior="ep").fit(X, Y)
    best = greatest_evidence(X, Y, Gaussian(), link=link)
    assert model.variance_[0] == pytest.approx(best.variance)
    assert model.log_evidence_[0] == pytest.approx(best.log_evidence, abs=1e-3)
    plain = MODELS[link]("gaussian", "evidence").fit(X, Y)
    assert plain.variance_[0] == model.variance_[0]


def test_the_variance_of_a_single_class_is_that_of_the_norm(link):
    with pytest.warns(UserWarning, match="one class only"):
        model = MODELS[link]("gaussian", "evidence").fit(X, np.column_stack([Y, np.zeros(40, int)]))
    by_norm = MODELS[link]("gaussian", "norm").fit(X, Y)
    assert model.variance_[1] == by_norm.variance_[0]


def test_copies_and_weights(link):
    weights = np.arange(40) % 3
    one = MODELS[link]("gaussian", 3.0, posterior="gibbs").fit(X, Y, sample_weight=weights)
    rows = np.repeat(np.arange(40), weights)
    other = MODELS[link]("gaussian", 3.0, posterior="gibbs").fit(X[rows], Y[rows])
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), atol=0.05)


@pytest.mark.parametrize(("prior", "method"), [("gaussian", "ep"), ("laplace", "gibbs"), ("gaussian", "laplace")])
@pytest.mark.parametrize("n", [10, 40])
def test_a_model_file_keeps_the_posterior(tmp_path, link, prior, method, n, monkeypatch):
    monkeypatch.setattr(choice, "by_draws", partial(choice.by_draws, n_draws=200, warmup=50))
    many = sp.csr_matrix(X[:, :15]) if n == 40 else X
    new = NEW[:, : many.shape[1]]
    model = MODELS[link](prior, 3.0, posterior=method).fit(many[:n], Y[:n])
    model.predict_interval(new)
    path = tmp_path / "model.bayesift"
    bayesift.save(model, path)
    loaded = bayesift.load(path)
    np.testing.assert_array_equal(loaded.predict_interval(new), model.predict_interval(new))
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_a_new_fit_forgets_the_posterior(link):
    model = MODELS[link]("gaussian", 3.0, posterior="ep").fit(X, Y)
    model.set_params(posterior=None).fit(X, Y)
    assert not hasattr(model, "posteriors_")
    assert model.linear_scores() is not None
    assert clone(model.set_params(posterior="ep")).posterior == "ep"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"posterior": "vb"}, "The 'posterior' parameter of"),
        ({"posterior": "ep", "threshold": "max_f1"}, "threshold is .*; expected 'half' when posterior is 'ep'"),
        ({"posterior": "ep", "prior": "laplace"}, "prior is Laplace, for which expectation propagation"),
        ({"variance": "evidence", "prior": "laplace"}, "prior is Laplace, for which expectation propagation"),
        ({"posterior": "ep", "prior": Gaussian(np.inf)}, "there is no posterior"),
        ({"posterior": "gibbs", "class_weight": "balanced"}, "sample_weight holds .*; expected whole numbers"),
    ],
)
def test_bad_input(link, options, message):
    with pytest.raises(ValueError, match=message):
        MODELS[link](**{"prior": "gaussian", "variance": 3.0, **options}).fit(X, Y)


def test_batches_are_refused():
    model = BayesianProbitRegression("gaussian", 3.0, posterior="ep")
    with pytest.raises(ValueError, match="posterior is 'ep'; expected None for partial_fit"):
        model.partial_fit(X, Y, classes=[0, 1])


def test_dense_features_have_their_own_variance_in_the_posterior(link):
    dense = np.random.default_rng(0).normal(size=(40, 2))
    both = sp.hstack([X, dense], format="csr")
    model = MODELS[link]("gaussian", 3.0, dense_features=2, dense_variance=0.5, posterior="ep").fit(both, Y)
    expected = find_posterior(both, Y, Gaussian([3.0] * 80 + [0.5] * 2), link=link)
    np.testing.assert_allclose(model.predict_interval(both), expected.predict_interval(both), atol=1e-8)


@pytest.mark.parametrize("method", ["ep", "gibbs"])
def test_intervals_and_draws_of_coefficients(link, method):
    model = MODELS[link]("gaussian", 3.0, posterior=method).fit(X, np.arange(40) % 3)
    ends = model.coef_interval(0.8, [0, 5])
    assert ends.shape == (3, 3, 2)
    draws = model.sample(4000, [0, 5], random_state=1)
    assert draws.shape == (4000, 3, 3)
    share = np.mean((ends[..., 0] <= draws) & (draws <= ends[..., 1]), axis=0)
    np.testing.assert_allclose(share, 0.8, atol=0.04)
    rows = sp.csr_matrix(([2.0, 3.0, -1.0], ([0, 1, 1], [5, 0, 5])), shape=(2, 80))
    added = model.contribution_interval(rows, 0.8)
    np.testing.assert_allclose(added[0], 2.0 * ends[1], atol=0.05 if method == "gibbs" else 1e-9)
    both = 3.0 * draws[:, 0] - draws[:, 1]
    share = np.mean((added[1, :, 0] <= both) & (both <= added[1, :, 1]), axis=0)
    np.testing.assert_allclose(share, 0.8, atol=0.04)
    one = MODELS[link]("gaussian", 3.0, posterior=method).fit(X, Y)
    assert one.coef_interval().shape == (81, 2)
    assert one.sample(7).shape == (7, 81)


def test_intervals_of_scores_and_probabilities_belong_together(link):
    labels = np.arange(40) % 3
    model = MODELS[link]("gaussian", 3.0, posterior="ep").fit(X, labels)
    against_rest = np.exp(model._log_probability(model.score_interval(NEW)))
    for k, found in enumerate(model.posteriors_):
        np.testing.assert_allclose(against_rest[:, k], found.predict_interval(NEW), atol=1e-9)
    ends, shares = model.predict_interval(NEW), model.predict_proba(NEW)
    assert np.all((ends[..., 0] <= shares) & (shares <= ends[..., 1]))
    np.testing.assert_allclose(
        model.mode_scores(NEW), MODELS[link]("gaussian", 3.0).fit(X, labels).decision_function(NEW), atol=1e-9
    )


@pytest.mark.parametrize("variance", [3.0, "evidence"])
def test_a_posterior_after_the_fit(variance):
    plain = BayesianLogisticRegression("gaussian", variance, class_weight="balanced").fit(X, Y)
    later = plain.with_posterior(X, Y, "ep")
    together = BayesianLogisticRegression("gaussian", variance, class_weight="balanced", posterior="ep").fit(X, Y)
    np.testing.assert_allclose(later.predict_proba(X), together.predict_proba(X))
    np.testing.assert_allclose(later.predict_interval(X), together.predict_interval(X))
    np.testing.assert_array_equal(later.coef_, plain.coef_)
    assert plain.posterior is None
    assert not hasattr(plain, "posteriors_")
    with pytest.raises(ValueError, match="y has the classes 0, 1, 2; expected those of the fit"):
        plain.with_posterior(X, np.arange(len(Y)) % 3)
    with pytest.raises(ValueError, match="'posterior' parameter"):
        plain.with_posterior(X, Y, "vb")


@pytest.mark.parametrize("variance", [3.0, "evidence"])
def test_further_documents_with_the_full_covariance(link, variance):
    first = MODELS[link]("gaussian", variance, posterior="ep").fit(X[:20], Y[:20])
    before = first.predict_proba(NEW)
    second = first.update_posterior(X[20:], Y[20:])
    expected = update_posterior(first.posteriors_[0], X[20:], Y[20:], method="ep")
    np.testing.assert_allclose(second.predict_interval(NEW), expected.predict_interval(NEW), atol=1e-12)
    np.testing.assert_allclose(second.log_evidence_, [expected.log_evidence])
    np.testing.assert_array_equal(first.predict_proba(NEW), before)
    assert not hasattr(second, "certificate_")


@pytest.mark.parametrize("variance", [3.0, "cv", "evidence"])
def test_a_model_that_went_on_is_stored(link, variance, tmp_path):
    settings = {"posterior": "ep", "dense_features": 2, "folds": 3, "grid": [1.0]}
    first = MODELS[link]("gaussian", variance, **settings).fit(X[:20], Y[:20])
    second = first.update_posterior(X[20:30], Y[20:30]).update_posterior(X[30:], Y[30:])
    bayesift.save(second, tmp_path / "m.bayesift")
    loaded = bayesift.load(tmp_path / "m.bayesift")
    np.testing.assert_array_equal(loaded.predict_interval(NEW), second.predict_interval(NEW))
    third = second.update_posterior(NEW, Y[:15])
    np.testing.assert_array_equal(loaded.update_posterior(NEW, Y[:15]).predict_proba(X), third.predict_proba(X))


def test_the_mode_after_further_documents_is_that_under_the_earlier_posterior():
    """Brute force: the penalty ½(β − m)ᵀS⁻¹(β − m) with all covariances S of the first, minimised by scipy."""
    few, labels = X[:, :6].toarray(), Y
    first = BayesianLogisticRegression("gaussian", 3.0, posterior="laplace").fit(few[:20], labels[:20])
    second = first.update_posterior(few[20:], labels[20:])
    draws = np.column_stack([np.ones(20), few[:20]])
    beta = np.append(first.posteriors_[0].intercept, first.posteriors_[0].coef)
    p = expit(draws @ beta)
    S = np.linalg.inv(draws.T @ ((p * (1 - p))[:, None] * draws) + np.diag([0.0] + [1 / 3] * 6))
    further, signs = np.column_stack([np.ones(20), few[20:]]), 2 * labels[20:] - 1

    def loss(b):
        return np.logaddexp(0, -signs * (further @ b)).sum() + 0.5 * (b - beta) @ np.linalg.solve(S, b - beta)

    found = minimize(loss, beta, method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(np.append(second.intercept_, second.coef_), found, atol=1e-5)
    # And its covariances are those of the curvature there.
    p = expit(further @ found)
    covariance = np.linalg.inv(np.linalg.inv(S) + further.T @ ((p * (1 - p))[:, None] * further))
    variances = np.diag(covariance)[1:]
    ends = second.coef_interval(0.9)
    np.testing.assert_allclose((ends[:-1, 1] - ends[:-1, 0]) / (2 * ndtri(0.95)), np.sqrt(variances), rtol=1e-5)


def test_further_documents_of_several_categories_and_of_one_class():
    labels = np.arange(40) % 3
    first = BayesianLogisticRegression("gaussian", 3.0, posterior="ep").fit(X[:30], labels[:30])
    rows = np.flatnonzero(labels == 2)
    second = first.update_posterior(X[rows], labels[rows])
    assert second.predict_proba(X[rows])[:, 2].mean() > first.predict_proba(X[rows])[:, 2].mean()
    with pytest.raises(ValueError, match=r"y holds .*7.*, which is none of the classes"):
        first.update_posterior(X[:1], [7])
    with pytest.raises(ValueError, match="class_weight is 'balanced'; expected None"):
        first.set_params(class_weight="balanced").update_posterior(X[:1], [1])
    drawn = BayesianLogisticRegression("gaussian", 3.0, posterior="gibbs").fit(X[:30], Y[:30])
    with pytest.raises(TypeError, match="previous is SampledPosterior; expected a GaussianPosterior"):
        drawn.update_posterior(X[30:], Y[30:])
    with pytest.warns(UserWarning, match="one class only"):
        single = BayesianLogisticRegression("gaussian", 3.0, posterior="ep").fit(X, np.column_stack([Y, 0 * Y]))
    with pytest.raises(ValueError, match="category 1 has no posterior to update"):
        single.update_posterior(X, np.column_stack([Y, Y]))


def test_words_and_dense_features_by_evidence():
    model = BayesianLogisticRegression("gaussian", "evidence", dense_features=2, posterior="ep").fit(X, Y)
    best = greatest_evidence(X, Y, Gaussian(), dense_features=2)
    assert model.variance_[0] == pytest.approx(best.variance)
    assert model.dense_variance_[0] == pytest.approx(best.dense_variance)
    given = BayesianLogisticRegression("gaussian", "evidence", dense_features=2, dense_variance=0.5).fit(X, Y)
    assert given.dense_variance_[0] == 0.5
    # A prior with a variance of its own is not scaled: the other block is chosen by cross-validation.
    own = BayesianLogisticRegression(Gaussian(2.0), "evidence", dense_features=2).fit(X, Y)
    assert np.isnan(own.variance_[0])
    assert own.dense_variance_[0] > 0


def test_mixtures_in_model_files(tmp_path):
    model = BayesianLogisticRegression("gaussian", "evidence", posterior="ep").fit(X, Y)
    bayesift.save(model, tmp_path / "m.bayesift")
    np.testing.assert_array_equal(bayesift.load(tmp_path / "m.bayesift").predict_interval(X), model.predict_interval(X))
