"""The estimator over one column or a matrix of scores."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score

from bayesift.decide import T11U, Threshold, best_threshold


def matrix() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    Y = (rng.random((120, 4)) < [0.5, 0.2, 0.05, 0.0]).astype(int)
    return 1 / (1 + np.exp(-rng.normal(size=(120, 4)) - 2 * Y + 1)), Y


@pytest.mark.parametrize("policy", ["min_error", "max_f1", "t11u", "t13u", "balanced_error", T11U, {"tp": 3, "fp": -1}])
@pytest.mark.parametrize("options", [{}, {"cut": "accepted", "ties": "median"}])
def test_each_category_gets_the_threshold_of_its_column(policy: object, options: dict) -> None:
    scores, Y = matrix()
    weight = np.arange(120) % 3
    rule = Threshold(policy, **options).fit(scores, Y, sample_weight=weight)
    expected = [
        best_threshold(s, y, policy=policy, sample_weight=weight, **options) for s, y in zip(scores.T, Y.T, strict=True)
    ]
    assert_array_equal(rule.thresholds_, expected)
    assert_array_equal(rule.predict(scores), scores >= np.array(expected))
    for labels in (csr_array(Y), Y.astype(bool)):
        assert_array_equal(Threshold(policy, **options).fit(scores, labels, weight).thresholds_, expected)


def test_one_column_of_scores() -> None:
    scores, Y = matrix()
    rule = Threshold("max_f1").fit(scores[:, 1], Y[:, 1])
    assert rule.thresholds_.shape == (1,)
    decisions = rule.predict(scores[:, 1])
    assert decisions.shape == (120,)
    reached = f1_score(Y[:, 1], decisions)
    assert reached == max(f1_score(Y[:, 1], scores[:, 1] >= t) for t in scores[:, 1])
    assert reached > f1_score(Y[:, 1], Threshold().fit(scores[:, 1]).predict(scores[:, 1]))


def test_half_is_a_probability_of_one_half_or_a_score_of_zero() -> None:
    assert_array_equal(Threshold().fit([0.3, 0.9]).predict([0.5, np.nextafter(0.5, 0)]), [1, 0])
    linear = Threshold(scale="log_odds").fit([[-3.0, 2.0]])
    assert_array_equal(linear.thresholds_, [0, 0])
    assert_array_equal(linear.predict([[0.0, -0.1], [7.0, 0.1]]), [[1, 0], [1, 1]])


def test_half_refuses_what_cannot_be_probabilities() -> None:
    with pytest.raises(ValueError, match="scores range from -3 to 2; expected probabilities, or scale='log_odds'"):
        Threshold().fit([-3.0, 2.0])
    with pytest.raises(ValueError, match="expected probabilities"):
        Threshold().fit([0.3, 0.9]).predict([1.5])
    assert Threshold("min_error").fit([-3.0, 2.0], [0, 1]).thresholds_ == [-0.5]


def test_the_scikit_learn_contract() -> None:
    rule = Threshold(policy={"tp": 1, "fp": -2}, ties="median")
    assert clone(rule).get_params() == rule.get_params()
    with pytest.raises(NotFittedError):
        rule.predict([0.5])
    scores, Y = matrix()
    kept = scores.copy(), Y.copy()
    rule.fit(scores, Y)
    assert_array_equal(scores, kept[0])
    assert_array_equal(Y, kept[1])


@pytest.mark.parametrize(
    ("options", "scores", "y", "message"),
    [
        ({"policy": "best"}, [0.1], [1], "policy is 'best'; expected one of"),
        ({"policy": None}, [0.1], [1], "policy is None"),
        ({"cut": "middle"}, [0.1], [1], "cut is 'middle'"),
        ({"ties": "any"}, [0.1], [1], "ties is 'any'"),
        ({"scale": "percent"}, [0.1], [1], "scale is 'percent'; expected one of"),
        ({}, [], None, "0 sample"),
        ({}, [np.nan], None, "scores contains NaN"),
        ({"policy": "max_f1"}, [0.1, 0.2], None, r"y has shape \(\); expected \(2,\)"),
        ({"policy": "max_f1"}, [[0.1, 0.2]], [1], r"y has shape \(1,\); expected \(1, 2\)"),
    ],
)
def test_bad_input_is_named(options: dict, scores: list, y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Threshold(**options).fit(scores, y)


def test_another_number_of_categories_is_refused() -> None:
    with pytest.raises(ValueError, match="scores have 3 categories; expected 2"):
        Threshold().fit([[0.1, 0.2]]).predict([[0.1, 0.2, 0.3]])


def test_a_cautious_threshold_stays_at_one_half_where_scores_tell_nothing() -> None:
    random = np.random.default_rng(0)
    useful = np.concatenate([random.normal(-1.0, 0.5, 40), random.normal(-3.0, 0.5, 360)])
    scores = np.column_stack([useful, np.full(400, -4.0), random.normal(-4.0, 0.1, 400), useful])
    labels = np.zeros((400, 4), dtype=int)
    labels[:40, 0] = 1
    labels[::4, 1] = 1
    labels[::100, 2] = 1
    labels[::100, 3] = 1
    bold = Threshold("max_f1", scale="log_odds").fit(scores, labels)
    cautious = Threshold("max_f1", scale="log_odds", cautious=True).fit(scores, labels)
    # The same score for all documents: the greatest F1 accepts them all.
    assert bold.predict(scores)[:, 1].all()
    assert (bold.thresholds_[1:] < 0.0).all()
    assert_array_equal(cautious.thresholds_, [bold.thresholds_[0], 0.0, 0.0, 0.0])
    # A document of weight 3 is as good as three.
    weights = random.integers(0, 4, 400)
    weighted = Threshold("max_f1", scale="log_odds", cautious=True).fit(scores, labels, weights)
    copies = Threshold("max_f1", scale="log_odds", cautious=True).fit(
        scores.repeat(weights, 0), labels.repeat(weights, 0)
    )
    assert_array_equal(weighted.thresholds_, copies.thresholds_)


def test_the_greatest_f1_of_the_rest_is_that_of_the_other_label() -> None:
    random = np.random.default_rng(1)
    labels = (random.random(300) < 0.85).astype(int)
    scores = 2.0 * labels + random.normal(1.0, 1.0, 300)
    for cautious in (False, True):
        options = {"scale": "log_odds", "cautious": cautious}
        of_rest = Threshold("max_f1_of_rest", **options).fit(scores, labels)
        mirrored = Threshold("max_f1", ties="lowest", **options).fit(-scores, 1 - labels)
        assert_allclose(of_rest.thresholds_, -mirrored.thresholds_)
    useless = Threshold("max_f1_of_rest", scale="log_odds", cautious=True).fit(np.full(300, 1.0), labels)
    assert useless.thresholds_ == 0.0


def test_most_documents_may_be_accepted_where_most_are_of_the_category() -> None:
    scores = np.linspace(-2.0, 1.0, 100)
    labels = (scores > -1.5).astype(int)
    found = Threshold("max_f1", scale="log_odds", cautious=True).fit(scores, labels)
    assert found.predict(scores).tolist() == labels.tolist()


def test_cautious_thresholds_of_rare_categories_are_the_best_for_all_of_them_together() -> None:
    random = np.random.default_rng(2)
    labels = np.zeros((500, 6), dtype=int)
    for column, n_documents in enumerate((60, 5, 3, 2, 6, 0)):
        labels[random.choice(500, n_documents, replace=False), column] = 1
    scores = 2.5 * labels + random.normal(-3.0, 1.0, labels.shape)
    for policy in ("max_f1", "t11u"):
        own = Threshold(policy, scale="log_odds").fit(scores, labels).thresholds_
        found = Threshold(policy, scale="log_odds", cautious=True).fit(scores, labels).thresholds_
        # Six documents are many enough, and where there is nothing to find nothing is accepted.
        assert_array_equal(found[[0, 4, 5]], own[[0, 4, 5]])
        best = best_threshold(scores[:, 1:4].ravel(), labels[:, 1:4].ravel(), policy=policy)
        assert_array_equal(found[1:4], best)
        assert len(set(own[1:4])) > 1
    weights = random.integers(0, 3, 500)
    weighted = Threshold("max_f1", scale="log_odds", cautious=True).fit(scores, labels, weights)
    copies = Threshold("max_f1", scale="log_odds", cautious=True).fit(
        scores.repeat(weights, 0), labels.repeat(weights, 0)
    )
    assert_array_equal(weighted.thresholds_, copies.thresholds_)
    mirrored = Threshold("max_f1_of_rest", ties="lowest", scale="log_odds", cautious=True).fit(-scores, 1 - labels)
    found = Threshold("max_f1", scale="log_odds", cautious=True).fit(scores, labels).thresholds_
    assert_allclose(mirrored.thresholds_, -found)


def test_a_threshold_that_tells_nothing_is_not_shared() -> None:
    scores = np.random.default_rng(3).normal(-3.0, 1.0, (200, 3))
    labels = np.zeros((200, 3), dtype=int)
    # Of the first category both documents are at the top, of the others they are anywhere, with greater scores.
    scores[:, 0] -= 10.0
    for column, places in enumerate(([0, 1], [90, 150], [120, 199])):
        labels[np.argsort(-scores[:, column])[places], column] = 1
    own = Threshold("max_f1", scale="log_odds").fit(scores, labels).thresholds_
    found = Threshold("max_f1", scale="log_odds", cautious=True).fit(scores, labels).thresholds_
    accepted = scores >= best_threshold(scores.ravel(), labels.ravel(), policy="max_f1")
    assert f1_score(labels.ravel(), accepted.ravel()) < 0.2
    assert_array_equal(found, [own[0], 0.0, 0.0])


@pytest.mark.parametrize(
    ("n", "positives", "cut", "is_tuned"),
    [
        # Half of the documents are not most of them.
        (10, [2, 3, 4], "midpoint", True),
        # Six of ten are, the one at the threshold included.
        (10, [3, 4, 5], "accepted", False),
        # An F1 of 0.2 is enough: the first document of nine, the others at the end.
        (100, [0, *range(92, 100)], "midpoint", True),
        (110, [0, *range(101, 110)], "midpoint", False),
    ],
)
def test_where_a_cautious_threshold_begins_to_be_one_half(n, positives, cut, is_tuned) -> None:
    scores, labels = -1.0 - np.arange(n), np.zeros(n, dtype=int)
    labels[positives] = 1
    options = {"cut": cut, "scale": "log_odds"}
    tuned = Threshold("max_f1", **options).fit(scores, labels).thresholds_
    cautious = Threshold("max_f1", cautious=True, **options).fit(scores, labels).thresholds_
    assert tuned[0] < 0.0
    assert cautious[0] == (tuned[0] if is_tuned else 0.0)
