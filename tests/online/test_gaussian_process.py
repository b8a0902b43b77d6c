"""The sparse online Gaussian process: equal to the perceptron where it should be, and to slow twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel

from bayesift.online import BayesianPerceptron, OnlineGaussianProcess
from bayesift.online._gaussian_process import REMOVALS, removal_scores, remove

FUNCTIONS = {
    "linear": lambda A, B: A @ B.T + 1.5,
    "polynomial": lambda A, B: polynomial_kernel(A, B, degree=3, gamma=0.3, coef0=1.5),
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.3),
    "cosine": lambda A, B: cosine_similarity(A, B) + 1.5,
}
OPTIONS = {"gamma": 0.3, "coef0": 1.5, "degree": 3, "intercept_variance": 1.5}


def documents(n=60, d=10, seed=0):
    random = np.random.default_rng(seed)
    X = sp.random(n, d, 0.5, format="csr", random_state=random, data_rvs=random.standard_normal)
    y = (X @ random.normal(size=d) + 0.5 * random.normal(size=n) > 0).astype(int)
    return X, y


@pytest.mark.parametrize(("n", "d"), [(200, 40), (700, 300)])
@pytest.mark.parametrize("likelihood", ["probit", "flip"])
def test_linear_kernel_without_removals_is_the_perceptron(n, d, likelihood):
    X, y = documents(n, d)
    perceptron = BayesianPerceptron(likelihood, passes=2).fit(X, y)
    process = OnlineGaussianProcess(likelihood=likelihood, budget=None, passes=2, min_novelty=1e-9).fit(X, y)
    np.testing.assert_allclose(process.predict_proba(X), perceptron.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(process.information_gain(X), perceptron.information_gain(X), atol=1e-6)
    np.testing.assert_allclose(process.log_evidence_, perceptron.log_evidence_, rtol=1e-6)
    assert process.basis_[0].shape[0] == d + 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_without_removals_it_is_the_process_on_all_inputs(name):
    X, y = documents()
    model = OnlineGaussianProcess(name, budget=None, passes=1, min_novelty=1e-9, **OPTIONS).fit(X[:40], y[:40])
    # The function at all documents is one Gaussian vector, of which each document shows one entry.
    K = FUNCTIONS[name](X.toarray(), X.toarray())
    twin = BayesianPerceptron(passes=1, fit_intercept=False, prior_covariance=K + 1e-12 * np.eye(60))
    twin.fit(np.eye(60)[:40], y[:40])
    np.testing.assert_allclose(model.predict_proba(X), twin.predict_proba(np.eye(60)), atol=1e-6)
    assert model.log_evidence_ == pytest.approx(twin.log_evidence_, rel=1e-7)


def random_belief(size=7):
    random = np.random.default_rng(5)
    A, B = random.normal(size=(size, size)), random.normal(size=(size, size))
    L = np.linalg.cholesky(A @ A.T + np.eye(size))
    return L, np.linalg.inv(L), random.normal(size=size), np.ascontiguousarray(B @ B.T + np.eye(size)) / size


@pytest.mark.parametrize("r", [0, 3, 6])
def test_removal_keeps_the_belief_at_the_other_inputs(r):
    L, inverse, mean, C = random_belief()
    kept = np.delete(np.arange(7), r)
    K, at_inputs, spread = L @ L.T, L @ mean, L @ C @ L.T
    remove(r, 7, L, inverse, mean, C)
    L, inverse, mean, C = L[:6, :6], inverse[:6, :6], mean[:6], C[:6, :6]
    np.testing.assert_allclose(L @ L.T, K[np.ix_(kept, kept)], rtol=1e-10)
    np.testing.assert_array_equal(np.triu(L, 1), 0.0)
    np.testing.assert_allclose(L @ inverse, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(L @ mean, at_inputs[kept], rtol=1e-10)
    np.testing.assert_allclose(L @ C @ L.T, spread[np.ix_(kept, kept)], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(C, C.T)


def test_scores_are_what_a_removal_loses():
    L, inverse, mean, C = random_belief()
    by_mean, by_kl, published = (removal_scores(inverse, mean, C, code) for code in REMOVALS.values())
    K = L @ L.T
    alpha, Q = np.linalg.solve(K, L @ mean), np.linalg.inv(K)
    np.testing.assert_allclose(published, np.abs(alpha) / np.diag(Q), rtol=1e-8)
    np.testing.assert_allclose(by_mean, alpha**2 / np.diag(Q), rtol=1e-8)
    for r in range(7):
        turned = [part.copy() for part in (L, inverse, mean, C)]
        remove(r, 7, *turned)
        mu, v = turned[2][6], turned[3][6, 6]
        assert by_mean[r] == pytest.approx(mu**2, rel=1e-9)
        assert by_kl[r] == pytest.approx(0.5 * (mu**2 + v - 1 - np.log(v)), rel=1e-9)


@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_budget_is_kept_and_beliefs_stay_proper(name, removal):
    X, y = documents(300, 20)
    model = OnlineGaussianProcess(name, budget=15, removal=removal, **OPTIONS).fit(X, y)
    [state] = model.states_
    assert state.basis.shape == (15, 20)
    K = FUNCTIONS[name](state.basis.toarray(), state.basis.toarray())
    np.testing.assert_allclose(state.cholesky @ state.cholesky.T, K, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(state.covariance, state.covariance.T)
    assert np.linalg.eigvalsh(state.covariance)[0] > 0
    assert model.score(X, y) > 0.65
    model.set_params(budget=5).partial_fit(X[:1], y[:1])
    assert model.basis_[0].shape[0] == 5


def test_batches_and_one_by_one_are_the_same():
    X, y = documents(100, 20)
    whole = OnlineGaussianProcess("rbf", gamma=1.0, budget=15, passes=1).fit(X, y)
    parts = OnlineGaussianProcess("rbf", gamma=1.0, budget=15)
    for i in range(20):
        parts.partial_fit(X[i], y[i : i + 1], classes=[0, 1])
    parts.partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-10)
    assert parts.log_evidence_ == pytest.approx(whole.log_evidence_)


def test_copies_do_not_enter_the_basis_twice_and_jitter_changes_little():
    X, y = documents(40, 20)
    twice = sp.vstack([X, X]).tocsr()
    plain, shaken = (
        OnlineGaussianProcess("rbf", gamma=1.0, budget=None, jitter=jitter, min_novelty=1e-4).fit(twice, np.tile(y, 2))
        for jitter in (0.0, 1e-8)
    )
    assert plain.basis_[0].shape[0] <= 40
    np.testing.assert_allclose(shaken.predict_proba(X), plain.predict_proba(X), atol=1e-5)


def test_features_added_later_equal_columns_of_zeros():
    X, y = documents(80, 12)
    early = sp.csr_matrix(sp.hstack([X[:40, :9], sp.csr_matrix((40, 3))]))
    late = (
        OnlineGaussianProcess("rbf", budget=20, gamma=1.0)
        .fit(X[:40, :9], y[:40])
        .add_features(3)
        .partial_fit(X[40:], y[40:])
    )
    whole = OnlineGaussianProcess("rbf", budget=20, gamma=1.0).fit(early, y[:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(late.predict_proba(X), whole.predict_proba(X))


def test_many_categories_have_bases_and_columns_of_their_own():
    X, y = documents(80, 12)
    Y = np.column_stack([y, 1 - y, y])
    features = [np.arange(12), np.array([3, 1, 0]), np.array([7, 8])]
    together = OnlineGaussianProcess("rbf", budget=10, features=features, n_jobs=2).fit(X, Y)
    for k, columns in enumerate(features):
        alone = OnlineGaussianProcess("rbf", budget=10).fit(X[:, columns], Y[:, k])
        np.testing.assert_allclose(together.predict_proba(X)[:, k], alone.predict_proba(X[:, columns])[:, 1], rtol=1e-9)


def test_gamma_is_by_default_that_of_scikit_learn_and_stays():
    X, y = documents(80, 12)
    unset, given = OnlineGaussianProcess("rbf", budget=20), OnlineGaussianProcess("rbf", budget=20, gamma=1 / 12)
    np.testing.assert_array_equal(unset.fit(X, y).predict_proba(X), given.fit(X, y).predict_proba(X))
    assert unset.add_features(3).partial_fit(sp.hstack([X, X[:, :3]]), y).states_[0].gamma == 1 / 12


def test_documents_without_words_leave_the_belief_at_one_half():
    X = sp.csr_matrix((3, 4))
    for likelihood in ("probit", "flip"):
        model = OnlineGaussianProcess(fit_intercept=False, likelihood=likelihood).fit(X, [0, 1, 1])
        np.testing.assert_allclose(model.predict_proba(X), 0.5, rtol=1e-14)
        assert model.basis_[0].shape == (0, 4)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "sigmoid"},
        {"budget": 0},
        {"coef0": -1.0},
        {"gamma": 0.0},
        {"intercept_variance": 0.0},
        {"min_novelty": 0.0},
        {"jitter": -1},
    ],
)
def test_bad_parameters_are_refused(options):
    [name] = options
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        OnlineGaussianProcess(**options).fit(*documents())
