"""Documents drawn from the models have the moments of the models."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bayesift.conjugate import DirichletMultinomial
from bayesift.generative import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from bayesift.generative._sampling import _urn_words, document_lengths, draw_bursts
from generative_cases import MODELS, documents

N = 4000


@pytest.mark.parametrize(("kind", "make"), MODELS.values(), ids=MODELS)
def test_the_same_seed_gives_the_same_documents_with_their_classes(kind, make):
    X, y = documents(kind)
    model = make().fit(X, np.array(["a", "b", "c"])[y])
    (first, classes), (second, again) = (model.sample(30, random_state=4) for _ in range(2))
    if sp.issparse(first):
        first, second = first.toarray(), second.toarray()
    assert first.shape == (30, 5)
    assert_array_equal(first, second)
    assert_array_equal(classes, again)
    assert set(classes) <= {"a", "b", "c"}
    one, labels = model.sample(7, label="b", random_state=np.random.default_rng(1))
    assert one.shape == (7, 5)
    assert labels.tolist() == ["b"] * 7


def test_shares_of_classes_and_documents_stay_together():
    X = np.array([[4.0, 0.0], [0.0, 4.0], [0.0, 4.0], [0.0, 4.0]])
    model = MultinomialNB(estimate="mle").fit(X, [7, 9, 9, 9])
    drawn, y = model.sample(N, random_state=0)
    assert_array_equal(drawn.toarray()[:, 0], 4 * (y == 7))
    assert abs((y == 7).mean() - 0.25) < 0.03


def test_bernoulli_and_categorical_probabilities():
    X, y = documents("binary")
    model = BernoulliNB().fit(X, y)
    theta = np.exp(model.feature_log_prob_[1])
    assert_allclose(model.sample(N, label=1, random_state=0)[0].toarray().mean(axis=0), theta, atol=0.04)
    X, y = documents("values")
    values = CategoricalNB().fit(X, y)
    drawn = values.sample(N, label=1, random_state=0)[0]
    for j, logs in enumerate(values.feature_log_prob_):
        share = np.bincount(drawn[:, j].astype(int), minlength=logs.shape[1]) / N
        assert_allclose(share, np.exp(logs[1]), atol=0.04)


def test_numbers_have_the_distribution_they_are_predicted_with():
    X, y = documents("numbers")
    model = GaussianNB().fit(X, y)
    drawn = model.sample(N, label=2, random_state=0)[0]
    law = model._likelihood.laws()[2]
    for j in range(5):
        own = stats.t(law.freedom[j], law.centre[j], law.scale[j])
        assert stats.kstest(drawn[:, j], own.cdf).pvalue > 1e-3


def test_polyas_urn_draws_from_the_dirichlet_multinomial_distribution():
    alpha = np.array([0.2, 1.0, 3.0])
    drawn = draw_bursts(alpha, np.full(20000, 3), np.random.default_rng(0)).toarray()
    law = DirichletMultinomial(alpha).predictive(3)
    every, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = law.pmf(every)
    assert_allclose(expected.sum(), 1.0)
    assert stats.chisquare(counts, 20000 * expected).pvalue > 1e-3


def test_lengths():
    X, y = documents("counts")
    for estimate in ("posterior", "mle"):
        model = MultinomialNB(estimate=estimate).fit(X, y)
        drawn, _ = model.sample(3, label=1, length=[0, 5, 2], random_state=0)
        assert_array_equal(drawn.toarray().sum(axis=1), [0, 5, 2])
        usual = model.sample(1, label=1, random_state=0)[0].sum()
        assert usual == np.rint(X[y == 1].sum(axis=1).mean())


def test_a_category_can_be_drawn_after_an_indicator_matrix():
    X = np.array([[3.0, 0.0], [0.0, 3.0], [2.0, 0.0]])
    model = MultinomialNB(estimate="mle").fit(X, [[1, 0], [0, 1], [1, 0]])
    drawn, y = model.sample(4, label=1, length=6, random_state=0)
    assert_array_equal(drawn.toarray(), [[0, 6]] * 4)
    assert y.tolist() == [1] * 4


@pytest.mark.parametrize("alpha", [[np.nan, 1.0], [-3.0, 1.0], [2.0, -1.0], [np.inf, 1.0], [0.0, 0.0], []])
def test_weights_that_nothing_can_be_drawn_by_are_refused(alpha):
    with pytest.raises(ValueError, match="the weights of the words are negative, infinite or all 0"):
        draw_bursts(np.array(alpha), np.array([50, 50]), np.random.default_rng(0))


def test_rounding_never_draws_a_ball_that_is_not_there():
    """Beside a filling this large, u − A is rounded to up to t, one ball too many."""
    words = np.full(2000, -1, dtype=np.int64)
    _urn_words(np.array([1e19, 2e19]), np.array([2000]), np.full(2000, np.nextafter(1.0, 0.0)), words)
    assert set(words) <= {0, 1}


@pytest.mark.parametrize("mean", [np.nan, -1.0, 1e12, np.inf])
def test_a_mean_length_that_is_none_is_refused(mean):
    with pytest.raises(ValueError, match="length is None, and the documents of the class have"):
        document_lengths(None, 3, mean)
