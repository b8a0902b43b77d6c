"""Learning in batches, weights, missing values, several categories: each against the plain way to do the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.generative import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB
from generative_cases import MODELS, documents

every_model = pytest.mark.parametrize(("kind", "make"), MODELS.values(), ids=MODELS)


@every_model
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_learning_in_batches_gives_the_same_bits(kind, make, data):
    X, y = documents(kind, seed=data.draw(st.integers(0, 99)))
    cuts = sorted(data.draw(st.lists(st.integers(1, 39), max_size=4, unique=True)))
    weights = np.random.default_rng(1).gamma(1.0, 1.0, 40) if data.draw(st.booleans()) else np.ones(40)
    labels = np.array(["b", "c", "a"])[y]
    whole, parts = make().fit(X, labels, weights), make()
    for rows in np.split(np.arange(40), cuts):
        parts.partial_fit(X[rows], labels[rows], sample_weight=weights[rows])
    assert parts.classes_.tolist() == whole.classes_.tolist()
    assert_array_equal(parts.predict_joint_log_proba(X), whole.predict_joint_log_proba(X))
    assert parts.log_evidence_ == whole.log_evidence_
    assert_array_equal(parts.mutual_information_, whole.mutual_information_)


@every_model
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_documents_does_not_matter(kind, make, seed):
    X, y = documents(kind)
    order = np.random.default_rng(seed).permutation(40)
    one, other = make().fit(X, y), make().fit(X[order], y[order])
    assert_allclose(one.predict_log_proba(X), other.predict_log_proba(X), atol=1e-10)
    assert_allclose(one.log_evidence_, other.log_evidence_, rtol=1e-12)


@every_model
def test_a_weight_of_two_is_two_documents_and_none_is_no_document(kind, make):
    X, y = documents(kind)
    weights = np.random.default_rng(2).integers(0, 3, 40)
    one, other = make().fit(X, y, weights), make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_allclose(one.predict_log_proba(X), other.predict_log_proba(X), atol=1e-10)
    assert_allclose(one.log_evidence_, other.log_evidence_, rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        *(MODELS[name] for name in ("bernoulli, beta", "multinomial", "multinomial, alpha by word", "gaussian, prior")),
        ("values", lambda: CategoricalNB(0.7, min_categories=4)),
    ],
)
def test_the_evidence_is_the_product_of_predictions(kind, make):
    X, y = documents(kind, n=12)
    model = make().partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    total = model.log_evidence_
    for i in range(1, 12):
        total += model.predict_joint_log_proba(X[i : i + 1])[0, y[i]]
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_allclose(model.log_evidence_, total, rtol=1e-11)


@pytest.mark.parametrize("estimate", ["posterior", "map"])
@pytest.mark.parametrize(
    ("kind", "make"), [("binary", BernoulliNB), ("values", CategoricalNB), ("numbers", GaussianNB)]
)
def test_a_missing_feature_is_left_out_exactly(kind, make, estimate):
    X, y = documents(kind)
    model = make(estimate=estimate).fit(X, y)
    without = make(estimate=estimate).fit(X[:, 1:], y)
    hidden = X.copy()
    hidden[:, 0] = np.nan
    assert_allclose(model.predict_joint_log_proba(hidden), without.predict_joint_log_proba(X[:, 1:]), atol=1e-12)
    masked = np.ma.masked_array(X, mask=np.isnan(hidden))
    assert_array_equal(model.predict_proba(masked), model.predict_proba(hidden))
    # Learning without some values: each feature from the documents that have it.
    gaps = X.copy()
    gaps[:9, 0] = np.nan
    learned = make(estimate=estimate).fit(gaps, y)
    first = make(estimate=estimate).fit(X[9:, :1], y[9:])
    seen = np.full_like(X, np.nan)
    seen[:, 0] = X[:, 0]
    difference = learned.predict_joint_log_proba(seen) - learned.class_log_prior_
    assert_allclose(difference, first.predict_joint_log_proba(X[:, :1]) - first.class_log_prior_, atol=1e-12)


@pytest.mark.parametrize("estimate", ["posterior", "map"])
def test_a_missing_binary_feature_is_the_sum_over_its_values(estimate):
    X, y = documents("binary")
    model = BernoulliNB(estimate=estimate).fit(X, y)
    given_zero, given_one, hidden = X.copy(), X.copy(), X.copy()
    given_zero[:, 2], given_one[:, 2], hidden[:, 2] = 0, 1, np.nan
    both = np.logaddexp(*(model.predict_joint_log_proba(rows) for rows in (given_zero, given_one)))
    assert_allclose(model.predict_joint_log_proba(sp.csr_matrix(hidden)), both, atol=1e-12)


@pytest.mark.parametrize(("estimate", "alpha"), [("posterior", 0.7), ("map", 1.7), ("mle", 1.0)])
def test_a_missing_count_leaves_the_shares_of_the_other_words(estimate, alpha):
    X, y = documents("counts", n=60)
    model = MultinomialNB(alpha, estimate=estimate).fit(X, y)
    hidden = X.copy()
    hidden[:, [1, 3]] = np.nan
    without = MultinomialNB(alpha, estimate=estimate).fit(X[:, [0, 2, 4]], y)
    assert_allclose(model.predict_joint_log_proba(hidden), without.predict_joint_log_proba(X[:, [0, 2, 4]]), atol=1e-10)
    # Learning leaves the words of such a document out, and keeps its class.
    gaps = X.copy()
    gaps[:7, 0] = np.nan
    learned = MultinomialNB(alpha, estimate=estimate).fit(gaps, y)
    complete = MultinomialNB(alpha, estimate=estimate).fit(X[7:], y[7:])
    assert_array_equal(learned.feature_log_prob_, complete.feature_log_prob_)
    assert_array_equal(learned.class_count_, np.bincount(y))


@every_model
def test_an_indicator_matrix_is_one_model_for_each_category(kind, make):
    X, y = documents(kind, n_classes=2)
    other = (X[:, 0] > np.median(X[:, 0])).astype(int)
    indicator = np.column_stack([y, other, np.ones(40, dtype=int)])
    weights = np.random.default_rng(3).integers(1, 4, 40)
    together = make().fit(X, indicator, weights)
    by_sparse = make().partial_fit(X[:15], sp.csc_matrix(indicator[:15]), sample_weight=weights[:15])
    by_sparse.partial_fit(X[15:], sp.csr_array(indicator[15:]), sample_weight=weights[15:])
    assert_array_equal(together.predict_log_proba(X), by_sparse.predict_log_proba(X))
    for k in range(3):
        alone = make().partial_fit(X, indicator[:, k], classes=[0, 1], sample_weight=weights)
        assert_allclose(together.predict_log_proba(X)[:, k], alone.predict_log_proba(X)[:, 1], atol=1e-9)
        assert_allclose(together.decision_function(X)[:, k], alone.decision_function(X), atol=1e-9)
        assert_array_equal(together.predict(X)[:, k], alone.predict(X))
        assert_allclose(together.log_evidence_[k], alone.log_evidence_, rtol=1e-11)
        assert_allclose(together.mutual_information_[k], alone.mutual_information_, atol=1e-11)


def test_categories_are_asked_for_by_their_odds_far_into_the_tails():
    model = MultinomialNB().fit([[9, 0], [0, 9]], [[1], [0]] @ np.ones((1, 2), dtype=int))
    odds = model.decision_function([[5000, 0]])
    assert odds[0, 0] > 60
    assert_allclose(model.predict_log_proba([[0, 5000]]), model.decision_function([[0, 5000]]))
    assert model.predict([[5000, 0], [0, 5000]]).tolist() == [[1, 1], [0, 0]]


def test_new_classes_come_as_they_come_unless_they_were_announced():
    X, y = documents("counts")
    first = np.flatnonzero(y == 2)
    rest = np.flatnonzero(y != 2)
    model = MultinomialNB().partial_fit(X[first], y[first]).partial_fit(X[rest], y[rest])
    whole = MultinomialNB().fit(np.vstack([X[first], X[rest]]), np.concatenate([y[first], y[rest]]))
    assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    announced = MultinomialNB().partial_fit(X[first], y[first], classes=[1, 2])
    assert announced.predict_proba(X).shape == (40, 2)
    with pytest.raises(ValueError, match=r"y has the label 0; expected one of the classes announced .*\[1, 2\]"):
        announced.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"classes is .*; expected the classes of the first call"):
        announced.partial_fit(X[first], y[first], classes=[2, 3])


@pytest.mark.parametrize("estimate", ["posterior", "map"])
@pytest.mark.parametrize(("kind", "make"), [pair for pair in MODELS.values() if pair[1] is not MODELS["mixed"][1]])
def test_a_class_without_documents_has_what_the_prior_gives_it(kind, make, estimate):
    X, y = documents(kind, n_classes=2)
    model = make(estimate=estimate).partial_fit(X, y, classes=[0, 1, 9])
    probability = model.predict_proba(X)[:, 2]
    assert np.all(np.isfinite(probability))
    if estimate == "map":
        assert_array_equal(probability, 0)
    else:
        assert np.all(probability > 0)
    assert model.class_count_.tolist() == [*np.bincount(y), 0]


def test_mixed_adds_up_what_its_parts_say():
    X, y = documents("values")
    model = MODELS["mixed"][1]().fit(X, y)
    parts = [
        BernoulliNB().fit(X[:, :1], y).predict_joint_log_proba(X[:, :1]),
        MultinomialNB().fit(X[:, [1, 4]], y).predict_joint_log_proba(X[:, [1, 4]]),
        CategoricalNB().fit(X[:, [2]], y).predict_joint_log_proba(X[:, [2]]),
        GaussianNB().fit(X[:, 3:4], y).predict_joint_log_proba(X[:, 3:4]),
    ]
    assert_allclose(model.predict_joint_log_proba(X), np.sum(parts, axis=0) - 3 * model.class_log_prior_, atol=1e-12)
    sparse = sp.csr_matrix(X)
    assert_array_equal(MODELS["mixed"][1]().fit(sparse, y).predict_proba(sparse), model.predict_proba(X))
    assert {name: own.tolist() for name, own in model.columns_.items()} == {
        "words": [0],
        "counts": [1, 4],
        "values": [2],
        "numbers": [3],
    }


def test_mixed_takes_the_names_of_a_frame():
    pandas = pytest.importorskip("pandas")
    X, y = documents("values", d=3)
    frame = pandas.DataFrame(X, columns=["word", "value", "length"])
    parts = [("a", BernoulliNB(), ["word"]), ("b", CategoricalNB(), "value"), ("c", GaussianNB(), ["length"])]
    numbers = [
        ("a", BernoulliNB(), [0]),
        ("b", CategoricalNB(), np.array([False, True, False])),
        ("c", GaussianNB(), 2),
    ]
    model = MixedNB(parts).fit(frame, y)
    assert_array_equal(model.predict_proba(frame), MixedNB(numbers).fit(X, y).predict_proba(X))
    with pytest.raises(ValueError, match=r"part 'a' names the column 'words'; expected one of \['word'"):
        MixedNB([("a", BernoulliNB(), ["words"])]).fit(frame, y)
