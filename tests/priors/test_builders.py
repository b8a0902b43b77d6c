"""Priors from descriptions, keywords and earlier models."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from bayesift.priors import GAUSSIAN, Gaussian, Laplace, from_description, from_frequencies, from_keywords, from_model
from bayesift.text import TextVectorizer

TEXTS = ["wheat harvests fell", "gold mines closed", "wheat prices rose", "the price of gold and wheat"]


@pytest.fixture(scope="module")
def stemming() -> TextVectorizer:
    return TextVectorizer(weighting="nnn", stemmer="porter").fit(TEXTS)


def test_a_description_raises_the_variance_of_its_terms(stemming: TextVectorizer) -> None:
    prior = from_description("Harvesting wheat, and tariffs on it.", stemming, relative=9, mode=0.5)
    names = list(stemming.get_feature_names_out())
    arrays = prior.scaled(2.0).resolve(len(names), names)
    meant = np.isin(names, ["harvest", "wheat", "and"])
    assert_allclose(arrays.weight, np.where(meant, np.sqrt(2 / 18), 1.0))
    assert_array_equal(arrays.mode, np.where(meant, 0.5, 0.0))


def test_a_weighted_description_shares_by_weight() -> None:
    vectorizer = CountVectorizer().fit(TEXTS)
    prior = from_description("wheat wheat gold wheat wheat", vectorizer, relative=9, mode=2, weighted=True)
    assert prior == Laplace(mode={"gold": 0.5, "wheat": 2.0}, relative={"gold": 3.0, "wheat": 9.0})
    plain = from_description("wheat wheat gold", vectorizer, family=Gaussian, variance=3)
    assert plain == Gaussian(3, relative={"gold": 10.0, "wheat": 10.0})
    by_idf = from_description("the wheat", TfidfVectorizer().fit(TEXTS), weighted=True)
    assert by_idf.relative["the"] == pytest.approx(10)
    assert 1 < by_idf.relative["wheat"] < 10


def test_a_description_without_known_terms() -> None:
    vectorizer = CountVectorizer().fit(TEXTS)
    with pytest.raises(ValueError, match=r"text 'Zirconium!' has no term that the vectorizer knows"):
        from_description("Zirconium!", vectorizer)
    prior = from_description("Zirconium!", vectorizer, unknown="ignore", variance=1.0)
    assert_array_equal(prior.resolve(2, ["a", "b"]).weight, Laplace(1.0).resolve(2).weight)
    with pytest.raises(TypeError, match="text is list; expected the description as a str"):
        from_description(["wheat"], vectorizer)


def test_hashed_columns_are_named_by_number() -> None:
    vectorizer = HashingVectorizer(n_features=16, norm=None)
    column = vectorizer.transform(["wheat"]).indices[0]
    prior = from_description("wheat", vectorizer, relative=4, variance=0.5)
    assert_allclose(prior.resolve(16).weight, np.where(np.arange(16) == column, 1.0, 2.0))
    # Four columns are few: a signed pair of words may cancel, and then is no term of the text.
    assert from_description("wheat gold", HashingVectorizer(n_features=4), variance=1, unknown="ignore").resolve(4)


def test_terms_lost_to_selection_are_an_error_or_ignored() -> None:
    vectorizer = CountVectorizer().fit(TEXTS)
    with pytest.raises(ValueError, match="relative names 'wheat', which is none of the 1 features"):
        from_description("gold wheat", vectorizer, variance=1).resolve(1, ["gold"])
    kept = from_description("gold wheat", vectorizer, variance=1, unknown="ignore").resolve(1, ["gold"])
    assert_allclose(kept.weight, np.sqrt(2 / 10))


def test_keywords_are_modes() -> None:
    prior = from_keywords({"wheat": +2, "spacecraft": -1}, relative=0.5)
    arrays = prior.scaled(4.0).resolve(3, ["gold", "wheat", "spacecraft"])
    assert_array_equal(arrays.mode, [0, 2, -1])
    assert_allclose(arrays.weight, np.sqrt(2 / np.array([4, 2, 2])))
    assert from_keywords({"wheat": 2}, family=Gaussian, variance=3) == Gaussian(3, mode={"wheat": 2.0})
    with pytest.raises(ValueError, match="mode names 'spacecraft', which is none of the 1 features"):
        from_keywords({"spacecraft": -1}, variance=1).resolve(1, ["wheat"])


def test_keywords_go_through_the_vectorizer(stemming: TextVectorizer) -> None:
    assert from_keywords({"Harvesting": 2, "gold mining": 1}, stemming).mode == {"harvest": 2, "gold": 1, "mine": 1}
    assert from_keywords({"prices": 2, "price": 2}, stemming).mode == {"price": 2}
    with pytest.raises(ValueError, match="keywords give the term 'price' two modes, 2 and 1"):
        from_keywords({"prices": 2, "price": 1}, stemming)
    with pytest.raises(ValueError, match="keywords name 'zinc'"):
        from_keywords({"zinc": 2}, stemming)
    assert from_keywords({"zinc": 2, "wheat": 1}, stemming, unknown="ignore").mode == {"wheat": 1}
    with pytest.raises(TypeError, match="keywords is list; expected a mapping"):
        from_keywords(["wheat"])


def test_yesterdays_posterior_is_todays_prior() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
    yesterday = LogisticRegression().fit(X, y)
    p = yesterday.predict_proba(X)[:, 1]
    precision = 1 + (X**2 * (p * (1 - p))[:, None]).sum(axis=0)
    prior = from_model(yesterday, strength=0.5, precision=precision)
    arrays = prior.resolve(4)
    assert_array_equal(arrays.kind, [GAUSSIAN] * 4)
    assert_array_equal(arrays.mode, yesterday.coef_[0])
    assert_allclose(arrays.weight, 0.5 * precision)
    assert prior.intercept_mode == yesterday.intercept_[0]
    assert prior.intercept_variance is None
    assert_allclose(from_model(yesterday, strength=4).resolve(4).weight, 4)


def test_named_features_may_move_come_and_go() -> None:
    names = np.array(["gold", "mine", "wheat"], dtype=object)
    yesterday = SimpleNamespace(
        coef_=csr_array([[0.0, 1.0, 2.0], [0.0, 0.0, -3.0]]),
        intercept_=np.array([-1.0, -2.0]),
        precision_=np.array([[1.0, 2.0, 4.0, 8.0], [1.0, 1.0, 5.0, 10.0]]),
        feature_names_in_=names,
    )
    prior = from_model(yesterday, category=1, new_variance=7, unknown="ignore")
    arrays = prior.resolve(3, ["wheat", "corn", "gold"])
    assert_array_equal(arrays.mode, [-3, 0, 0])
    assert_allclose(arrays.weight, [5, 1 / 7, 1])
    assert (prior.intercept_mode, prior.intercept_variance) == (-2.0, 0.1)
    with pytest.raises(ValueError, match="'mine', which is none of the 3 features"):
        from_model(yesterday, category=0).resolve(3, ["wheat", "corn", "gold"])
    bare = SimpleNamespace(coef_=[1.0, 2.0])
    assert from_model(bare, feature_names=["a", "b"]).mode == {"a": 1.0, "b": 2.0}
    assert from_model(bare, family=Laplace) == Laplace([1, 1], mode=[1, 2])


def test_a_precision_of_zero_leaves_a_coefficient_free() -> None:
    prior = from_model(SimpleNamespace(coef_=[1.0, 2.0]), precision=[0.0, np.inf])
    assert_array_equal(prior.variance, [np.inf, 0])


@pytest.mark.parametrize(
    ("previous", "options", "message"),
    [
        (object(), {}, "previous is object without coef_"),
        (SimpleNamespace(coef_=np.ones((3, 2))), {}, r"coef_ has 3 rows; say which category \(0 to 2\)"),
        (SimpleNamespace(coef_=np.ones((3, 2))), {"category": 3}, "category is 3; expected a row of coef_, 0 to 2"),
        (SimpleNamespace(coef_=np.ones((3, 2))), {"category": "wheat"}, "category is 'wheat'"),
        (SimpleNamespace(coef_=[1.0, 2.0]), {"strength": 0}, "strength is 0; expected a finite number greater than 0"),
        (SimpleNamespace(coef_=[1.0, 2.0]), {"strength": np.inf}, "strength is inf"),
        (SimpleNamespace(coef_=[1.0, 2.0]), {"strength": "high"}, "strength is 'high'"),
        (SimpleNamespace(coef_=[1.0, 2.0]), {"precision": [1.0]}, "precision has 1 values"),
        (SimpleNamespace(coef_=[1.0, 2.0]), {"precision": [1.0, -1.0]}, "precision has 2 values, the least -1"),
        (SimpleNamespace(coef_=[1.0, np.nan]), {}, "mode is nan at 1"),
        (SimpleNamespace(coef_=[1.0, 2.0]), {"feature_names": ["a"]}, "feature_names has 1 names; expected 2"),
    ],
)
def test_bad_models_are_named(previous: object, options: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        from_model(previous, **options)


def test_variances_by_document_frequencies():
    X = csr_array([[1.0, 2.0, 0.0], [0.5, 0.0, 0.0], [3.0, 0.0, 0.0]])
    prior = from_frequencies(X, power=2.0)
    np.testing.assert_allclose(prior.relative / prior.relative[0], (np.array([3.5, 1.5, 0.5]) / 3.5) ** 2)
    # The mean prior variance of scores is that of equal variances.
    squares = X.multiply(X)
    assert (squares @ prior.relative).sum() == pytest.approx(squares.sum())
    np.testing.assert_allclose(from_frequencies(X.toarray(), power=2.0).relative, prior.relative)
    np.testing.assert_allclose(from_frequencies(X, power=0).relative, 1.0)
    assert prior.is_open
    assert from_frequencies(X, variance=2.0, family=Laplace).resolve(3).weight[0] > 0


@pytest.mark.parametrize(
    ("X", "power", "message"),
    [
        (np.ones((1, 2)), -1, "power is -1"),
        (np.ones((1, 2)), "a", "power is 'a'"),
        (np.empty((0, 2)), 1, "no documents"),
    ],
)
def test_frequencies_that_cannot_be(X, power, message):
    with pytest.raises(ValueError, match=message):
        from_frequencies(X, power=power)
