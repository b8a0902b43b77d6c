"""Numbers of the book, and probabilities computed from the definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import gammaln, logsumexp

from bayesift._special import log_rising
from bayesift.conjugate import BetaBinomial, DirichletMultinomial, NormalGamma
from bayesift.generative import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, pattern_numbers
from bayesift.text import TextVectorizer
from generative_cases import documents

SPAM = ["million dollar offer", "secret offer today", "secret is secret"]
HAM = ["low price for valued customer", "play secret sports today", "sports is healthy", "low price pizza"]


def test_exercise_3_22_the_spam_filter_by_hand():
    vectorizer = TextVectorizer("bnn")
    X = vectorizer.fit_transform(SPAM + HAM)
    model = BernoulliNB(estimate="mle").fit(X, ["spam"] * 3 + ["ham"] * 4)
    theta = np.exp(model.feature_log_prob_)
    word = vectorizer.vocabulary_
    ham, spam = 0, 1
    assert_allclose(np.exp(model.class_log_prior_[spam]), 3 / 7)
    assert_allclose(theta[spam, word["secret"]], 2 / 3)
    assert_allclose(theta[ham, word["secret"]], 1 / 4)
    assert_allclose(theta[ham, word["sports"]], 1 / 2)
    assert_allclose(theta[spam, word["dollar"]], 1 / 3)


def test_equation_3_73_log_sum_exp_far_below_the_smallest_number():
    # Two classes whose log joint probabilities are about −120·ln 2 times their lengths: none of them is a number.
    X = np.zeros((2, 2))
    model = MultinomialNB(1.0, class_prior="uniform").fit(X, [0, 1])
    document = np.array([[6000.0, 0.0]])
    joint = model.predict_joint_log_proba(document)
    assert np.all(np.exp(joint) == 0) or np.all(joint < -8)
    assert_allclose(model.predict_proba(document), 0.5)
    logs = np.array([-120.0, -121.0])
    assert_allclose(logsumexp(logs), -119.6867383125, rtol=1e-12)
    model.predict_joint_log_proba = lambda X: logs[np.newaxis].copy()
    assert_allclose(model.predict_log_proba(None), [logs - -119.6867383125], atol=1e-9)


def test_exercise_3_19_a_word_in_every_document_is_not_quite_ignored():
    X = np.ones((30, 1))
    y = np.repeat([0, 1], [20, 10])
    smooth = BernoulliNB(class_prior="uniform").fit(X, y)
    assert_allclose(np.exp(smooth.feature_log_prob_[:, 0]), [21 / 22, 11 / 12])  # (3.111)
    assert smooth.predict_proba([[1]])[0, 0] > 0.5
    exact = BernoulliNB(class_prior="uniform", estimate="mle").fit(X, y)
    assert_allclose(exact.predict_proba([[1]]), [[0.5, 0.5]])


def test_the_black_swan_is_safe_unless_asked_for():
    X = np.array([[1, 1], [1, 0], [1, 1], [1, 0]])
    y = [0, 0, 1, 1]
    for model in (BernoulliNB(), MultinomialNB()):
        assert np.all(np.isfinite(model.fit(X, y).predict_log_proba([[0, 0], [0, 9]])))
    ruined = BernoulliNB(estimate="mle").fit(X, [0, 0, 0, 1])
    # The first word always occurs: without it, both classes are impossible, and only the prior is left.
    assert_allclose(ruined.predict_proba([[0, 1]]), [[0.75, 0.25]])
    # The second word never occurs in class 1.
    assert_allclose(ruined.predict_log_proba([[1, 1]]), [[0.0, -np.inf]])
    counts = MultinomialNB(estimate="mle").fit([[1, 0], [0, 1]], [0, 1])
    assert_allclose(counts.predict_proba([[1, 0], [1, 1], [0, 0]]), [[1, 0], [0.5, 0.5], [0.5, 0.5]])


def test_bernoulli_probabilities_sum_to_one_over_all_documents_and_follow_3_66():
    X, y = documents("binary", d=4)
    model = BernoulliNB(BetaBinomial(0.5, 2.0)).fit(X, y)
    every = np.array(list(product([0, 1], repeat=4)))
    joint = model.predict_joint_log_proba(every)
    assert_allclose(np.exp(joint).sum(), 1.0)
    inside = [X[y == c] for c in range(3)]
    theta = np.array([(rows.sum(axis=0) + 0.5) / (len(rows) + 2.5) for rows in inside])
    shares = (np.bincount(y) + 1) / (len(y) + 3)
    expected = np.log(shares) + every @ np.log(theta).T + (1 - every) @ np.log(1 - theta).T
    assert_allclose(joint, expected, atol=1e-12)


def test_multinomial_integrates_over_the_document_as_a_whole():
    X, y = documents("counts")
    alpha = np.array([0.5, 1.5, 2.0, 0.1, 1.0])
    model = MultinomialNB(DirichletMultinomial(alpha), class_prior="uniform").fit(X, y)
    joint = model.predict_joint_log_proba(X)
    for c in range(3):
        posterior = DirichletMultinomial(alpha).update(X[y == c].sum(axis=0))
        assert_allclose(joint[:, c], [posterior.log_evidence(x) - np.log(3) for x in X], rtol=1e-12)
    # Exercise 3.14: two words in a row are no more independent.
    letters = MultinomialNB(np.full(27, 10.0)).fit([[260, 100, 87, *[0] * 23, 1553]], ["text"])
    assert_allclose(np.exp(letters.feature_log_prob_[0, 0]), 270 / 2270)
    pair = np.zeros(27)
    pair[[1, 2]] = 1
    assert_allclose(np.exp(letters.predict_joint_log_proba([pair])), [[(97 / 2270) * (110 / 2271)]])


def test_large_counts_fractions_and_extreme_priors_keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.3, 2e4, (8, 4))).astype(float)
    x = np.array([[70.0, 0, 2.5, 1], [1, 64, 65, 0], [0, 0, 0, 3e5]])
    for alpha in (1e-250, 1e-3, 1.0, 1e6):
        model = MultinomialNB(alpha, class_prior="uniform").fit(X, [0, 1] * 4)
        for c in range(2):
            a = alpha + X[c::2].sum(axis=0)
            expected = log_rising(a, x).sum(axis=1) - log_rising(a.sum(), x.sum(axis=1)) - np.log(2)
            assert_allclose(model.predict_joint_log_proba(x)[:, c], expected, rtol=1e-12)
            assert_allclose(log_rising(a, x), gammaln(a + x) - gammaln(a), rtol=1e-6)


def test_gaussian_predicts_by_student_t():
    X, y = documents("numbers")
    prior = NormalGamma(0.5, 0.3, 1.2, 0.8)
    model = GaussianNB(prior, class_prior="uniform").fit(X, y)
    for c in range(3):
        law = prior.update(X[y == c]).predictive()
        expected = stats.t(law.freedom, law.centre, law.scale).logpdf(X).sum(axis=1) - np.log(3)
        assert_allclose(model.predict_joint_log_proba(X)[:, c], expected, rtol=1e-10)
    plugged = GaussianNB(prior, class_prior="uniform", estimate="map").fit(X, y)
    mu, precision = prior.update(X[y == 1]).mode.T
    expected = stats.norm(mu, precision**-0.5).logpdf(X).sum(axis=1) - np.log(3)
    assert_allclose(plugged.predict_joint_log_proba(X)[:, 1], expected, rtol=1e-10)


def test_the_evidence_is_that_of_the_conjugate_pairs():
    X, y = documents("binary")
    labels = DirichletMultinomial([1.0] * 3).log_evidence(np.bincount(y))
    inside = [X[y == c] for c in range(3)]
    expected = sum(BetaBinomial(0.5, 2.0).log_evidence(rows[:, j]) for rows in inside for j in range(5)) + labels
    assert_allclose(BernoulliNB(BetaBinomial(0.5, 2.0)).fit(X, y).log_evidence_, expected)
    X, y = documents("counts")
    labels = DirichletMultinomial([1.0] * 3).log_evidence(np.bincount(y))
    expected = sum(DirichletMultinomial([0.3] * 5).log_evidence(X[y == c].sum(axis=0)) for c in range(3)) + labels
    assert_allclose(MultinomialNB(0.3).fit(X, y).log_evidence_, expected)
    X, y = documents("numbers")
    labels = DirichletMultinomial([1.0] * 3).log_evidence(np.bincount(y))
    prior = NormalGamma(0.5, 0.3, 1.2, 0.8)
    expected = sum(prior.log_evidence(X[y == c]).sum() for c in range(3)) + labels
    assert_allclose(GaussianNB(prior).fit(X, y).log_evidence_, expected)
    X, y = documents("values")
    labels = DirichletMultinomial([1.0] * 3).log_evidence(np.bincount(y))
    sizes = X.max(axis=0).astype(int) + 1
    expected = labels + sum(
        DirichletMultinomial([0.7] * k).log_evidence(np.bincount(X[y == c, j].astype(int), minlength=k))
        for c in range(3)
        for j, k in enumerate(sizes)
    )
    assert_allclose(CategoricalNB(0.7).fit(X, y).log_evidence_, expected)


def test_equation_3_76_equals_the_double_sum_3_75():
    X, y = documents("binary")
    model = BernoulliNB().fit(X, y)
    theta, shares = np.exp(model.feature_log_prob_), np.exp(model.class_log_prior_)
    joint = np.stack([(1 - theta) * shares[:, None], theta * shares[:, None]])  # value, class, feature
    alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    assert_allclose(model.mutual_information_, (joint * np.log(joint / alone)).sum(axis=(0, 1)), atol=1e-14)
    codes = CategoricalNB(1.0).fit(X, y)
    assert_allclose(codes.mutual_information_, model.mutual_information_, atol=1e-12)
    X, y = documents("counts")
    words = MultinomialNB().fit(X, y)
    theta, shares = np.exp(words.feature_log_prob_), np.exp(words.class_log_prior_)
    overall = shares @ theta
    parts = theta * np.log(theta / overall) + (1 - theta) * np.log((1 - theta) / (1 - overall))
    assert_allclose(words.mutual_information_, shares @ parts, atol=1e-14)


@pytest.mark.parametrize("estimate", ["posterior", "map", "mle"])
def test_mutual_information_of_numbers_by_quadrature(estimate):
    X, y = documents("numbers", n=60, n_classes=2)
    model = GaussianNB(estimate=estimate).fit(X, y)
    laws = model._likelihood.laws()
    grid = np.linspace(-40, 40, 160001)
    shares = np.exp(model.class_log_prior_)
    densities = np.stack([np.exp(law.logpdf(grid[:, None])) for law in laws])
    mixed = np.tensordot(shares, densities, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(densities > 1e-290, densities * np.log(densities / mixed), 0.0).sum(axis=1) * (
            grid[1] - grid[0]
        )
    assert_allclose(model.mutual_information_, shares @ parts, atol=2e-3)


def test_sparse_input_is_never_made_dense(monkeypatch):
    X, y = documents("counts")
    sparse = sp.csr_matrix(X)
    for name in ("toarray", "todense"):
        monkeypatch.setattr(sp.csr_matrix, name, None)
        monkeypatch.setattr(sp.csc_matrix, name, None)
    for model in (BernoulliNB(), MultinomialNB(), MultinomialNB(1.5, estimate="map")):
        assert_allclose(
            model.fit(sparse, y).predict_log_proba(sparse), model.fit(X, y).predict_log_proba(X), rtol=1e-13, atol=1e-13
        )
        assert_allclose(model.fit(sp.coo_array(sparse), y).predict_proba(sp.csc_array(sparse)), model.predict_proba(X))


def test_the_full_model_is_that_of_all_sets_counted_one_by_one():
    """Exercise 3.20: a probability for each of the 2ᴰ sets in each class, by counting."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 3, 60)
    full = CategoricalNB(0.5, min_categories=2**4, class_prior="uniform").fit(pattern_numbers(X), y)
    naive = BernoulliNB(0.5, class_prior="uniform").fit(X, y)
    for x in product((0, 1), repeat=4):
        counts = np.array([np.sum((X[y == c] == x).all(axis=1)) for c in range(3)])
        theta = (counts + 0.5) / (np.bincount(y) + 0.5 * 16)
        assert_allclose(full.predict_proba(pattern_numbers([x]))[0], theta / theta.sum())
        present = np.array([[(np.sum(X[y == c, j] == x[j]) + 0.5) for j in range(4)] for c in range(3)])
        joint = (present / (np.bincount(y)[:, None] + 1.0)).prod(axis=1)
        assert_allclose(naive.predict_proba([x])[0], joint / joint.sum())
    assert naive.n_parameters_ == 3 * 4
    assert full.n_parameters_ == 3 * (2**4 - 1)


def test_numbers_of_sets():
    X = np.array([[0, 0, 0], [2, 0, 0], [0, 0.5, 3], [1, 1, 1]])
    assert pattern_numbers(X).tolist() == [[0], [1], [6], [7]]
    assert pattern_numbers(sp.csr_array(X)).tolist() == [[0], [1], [6], [7]]
    # Entries in no order, one of them twice, in an array that nobody can write to.
    repeated = sp.csr_matrix((np.ones(7), [0, 2, 1, 1, 2, 0, 1], [0, 0, 1, 4, 7]), shape=(4, 3))
    repeated.data.flags.writeable = repeated.indices.flags.writeable = repeated.indptr.flags.writeable = False
    assert pattern_numbers(repeated).tolist() == [[0], [1], [6], [7]]
    assert pattern_numbers(X, binarize=1).tolist() == [[0], [1], [4], [0]]
    unsorted = sp.csr_matrix((np.array([3.0, 1.0, 1.0]), np.array([2, 1, 1]), np.array([0, 3])), shape=(1, 3))
    for array in (unsorted.data, unsorted.indices, unsorted.indptr):
        array.flags.writeable = False
    assert pattern_numbers(unsorted, binarize=1.5).tolist() == [[6]]
    assert unsorted.indices.tolist() == [2, 1, 1]
    for wrong, message in (
        (np.zeros((2, 25)), "X has 25 features; expected 1 to 24"),
        (np.array([[np.nan]]), "X holds NaN; expected no missing values"),
    ):
        with pytest.raises(ValueError, match=message):
            pattern_numbers(wrong)
    with pytest.raises(ValueError, match=r"^binarize is -1"):
        pattern_numbers(X, binarize=-1)
