"""Kernels against plain numpy, the rules, the record, and refused input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from bayesift.evaluate import t9p, t9u
from bayesift.filtering import AdaptiveFilter, Entry, FilterRecord, FilterRules, query_threshold
from bayesift.filtering._kernels import log_ratio, relevance_and_information, significant_terms, uniform
from bayesift.online import expected_information
from bayesift.select import likelihood_ratio
from bayesift.text import TextVectorizer
from filtering_cases import entropy, ratio


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 2000), st.integers(0, 2000))
def test_the_likelihood_ratio_is_dunnings(a, b, c, d):
    assert log_ratio(float(a), float(a + b), float(c), float(c + d)) == pytest.approx(
        ratio(a, a + b, c, c + d), rel=1e-8, abs=1e-8
    )


@pytest.mark.parametrize("n_inside", [0, 1, 2, 40])
@pytest.mark.parametrize("cut", [0.01, 3.0, 12.13])
def test_significant_terms_are_those_of_the_scores(n_inside, cut):
    random = np.random.default_rng(5)
    X = (random.random((400, 300)) < random.random(300) ** 2).astype(float)
    y = np.arange(400) < n_inside
    X[:n_inside, :40] = 1
    inside, outside = X[y].sum(axis=0).astype(np.int32), X[~y].sum(axis=0).astype(np.int32)
    taken = np.arange(300) % 7 == 0
    found, scores = significant_terms(inside, outside, n_inside, 400 - n_inside, cut, taken)
    expected = likelihood_ratio(X, y[:, None].astype(int))[0]
    np.testing.assert_array_equal(found, np.flatnonzero((expected > cut) & ~taken))
    np.testing.assert_allclose(scores, expected[found], rtol=1e-10)


@given(st.floats(-40, 40), st.floats(0, 50), st.floats(0, 0.49))
def test_relevance_and_information_is_that_of_the_online_room(field, variance, kappa):
    p, bits = relevance_and_information(field, variance, kappa)
    assert bits == expected_information(np.array([field]), np.array([variance]), 0.0, kappa)[0]
    if variance > 0:
        assert bits == pytest.approx(max(entropy(p) - entropy(kappa), 0.0), abs=1e-9)


def test_random_numbers_are_uniform_and_belong_to_key_and_place():
    draws = np.array([[uniform(np.uint64(key), place) for place in range(3000)] for key in (0, 1, 2**63)])
    assert all(kstest(row, "uniform").pvalue > 0.01 for row in draws)
    assert np.abs(np.corrcoef(draws) - np.eye(3)).max() < 0.06
    assert abs(np.corrcoef(draws[0, 1:], draws[0, :-1])[0, 1]) < 0.06
    assert uniform(np.uint64(1), 7) == draws[1, 7]


@given(st.floats(0.1, 500), st.floats(0, 20))
def test_the_threshold_rises(target, steepness):
    theta = query_threshold(np.arange(1000), target, steepness=steepness)
    assert np.all(np.diff(theta) >= 0)
    assert theta[0] >= 0.001
    assert theta[-1] <= 1.0


def test_rules():
    rules = FilterRules(target=50, stream_size=1000)
    assert rules.threshold(50) == pytest.approx(0.5005)
    assert rules.chance(10) == 0
    random = rules._replace(query="random")
    assert random.threshold(0) == np.inf
    assert random.chance(10) == pytest.approx(0.04)
    assert random.chance(51) == 0
    assert rules._replace(query=None).threshold(0) == np.inf


def test_random_queries_come_at_the_rate_of_the_rule():
    train, labels = ["wheat up", "goal scored"] * 5, [("grain",), ()] * 5
    stream = ["goal scored again"] * 2000
    filter = AdaptiveFilter(query="random", target=40, stream_size=2000).fit(train, labels, {"grain": "wheat"})
    record = filter.run(stream, lambda decision: None)
    # dN/dt = (40 − N)/2000 gives 40 (1 − 1/e) = 25.3 queries, with a standard deviation below 5.
    assert 12 < len(record) < 39
    other = AdaptiveFilter(query="random", target=40, stream_size=2000, random_state=1)
    other.fit(train, labels, {"grain": "wheat"}).run(stream, lambda decision: None)
    assert [e.place for e in record] != [e.place for e in other.record_]


def test_the_record_counts_for_the_measures():
    record = FilterRecord(("a", "b"))
    for place, (topic, answer) in enumerate([("a", True), ("a", False), ("b", None), ("a", True)]):
        record.add(Entry(place, "x", topic, "query", 0.1, 0.2, 1, 3))
        record.judge(place, topic, answer, 3)
    record.add(Entry(9, "x", "a", "relevant", 0.7, 0.2, 1, 3))
    outcomes = record.outcomes({"a": 5, "b": 1})
    assert [list(part) for part in outcomes] == [[2, 0], [2, 1], [3, 1], [0, 0]]
    assert t9u(outcomes).tolist() == [2.0, -1.0]
    assert t9p(outcomes).tolist() == [0.04, 0.0]
    assert repr(record) == "FilterRecord(2 topics, 5 retrieved, 4 judged)"
    with pytest.raises(ValueError, match="less than the 2 found relevant"):
        record.outcomes({"a": 1, "b": 0})
    with pytest.raises(ValueError, match="expected one of 'a', 'b'"):
        record.of("c")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"topics": []}, ValueError, "topics is empty"),
        ({"topics": "grain"}, TypeError, "expected a mapping from names to statements"),
        ({"topics": ["grain", "grain"]}, ValueError, "'grain' more than once"),
        ({"topics": {"grain": 3}}, TypeError, "expected names and statements as strings"),
        ({"documents": "wheat"}, TypeError, "documents is one string"),
        ({"documents": []}, ValueError, "labels has 4 rows; expected 0"),
        ({"documents": [], "labels": []}, ValueError, "documents is empty"),
        ({"documents": ["wheat", None, "a", "b"]}, TypeError, "document 1 is NoneType"),
        ({"labels": [(), ()]}, ValueError, "labels has 2 rows; expected 4"),
        ({"labels": ["grain", "", "", ""]}, TypeError, "for each document the topics"),
        ({"labels": np.eye(4)}, ValueError, "expected a row for each document and 1 columns"),
        ({"labels": 2 * np.ones((4, 1))}, ValueError, "expected zeros and ones"),
        ({"vectorizer": TextVectorizer(min_df=2)}, ValueError, "vectorizer has min_df=2; expected 1"),
        ({"vectorizer": TextVectorizer(n_features=8)}, ValueError, "vectorizer has n_features=8"),
        ({"query": "random"}, ValueError, "stream_size is None"),
        ({"query": "oracle"}, ValueError, "'query' parameter"),
        ({"kappa": 0.5}, ValueError, "'kappa' parameter"),
        ({"target": 0}, ValueError, "'target' parameter"),
        ({"min_information": 0.5, "max_information": 0.4}, ValueError, "expected at most max_information=0.4"),
    ],
)
def test_refused(change, error, message):
    arguments = {"documents": ["wheat", "goal", "wheat", "match"], "labels": [("grain",), (), ("grain",), ()]}
    arguments |= {"topics": {"grain": "wheat"}}
    options = {name: value for name, value in change.items() if name not in arguments}
    arguments |= {name: value for name, value in change.items() if name in arguments}
    with pytest.raises(error, match=message):
        AdaptiveFilter(**options).fit(**arguments)


def test_refused_while_streaming():
    filter = AdaptiveFilter(query=None).fit(["wheat", "goal"] * 8, [("grain",), ()] * 8, ["grain"])
    with pytest.raises(TypeError, match="documents is one string"):
        list(filter.stream("wheat"))
    with pytest.raises(TypeError, match="document 0 of the stream is 3; expected a text"):
        list(filter.stream([3]))
    with pytest.raises(ValueError, match="was not retrieved for topic 'grain'"):
        filter.judge(0, "grain", True)
    decision = next(filter.stream(["wheat"]))
    with pytest.raises(ValueError, match="relevant is 'yes'; expected True, False or None"):
        decision.judge("yes")
    decision.judge(True)
    with pytest.raises(ValueError, match="was already judged for topic 'grain'"):
        decision.judge(False)
    with pytest.raises(ValueError, match="pass state= to fit"):
        filter.snapshot()


def test_two_loops_at_once_are_refused():
    filter = AdaptiveFilter(query=None).fit(["wheat", "goal"] * 8, [("grain",), ()] * 8, ["grain"])
    loop = filter.stream(["wheat", "wheat"])
    next(loop)
    with pytest.raises(ValueError, match="being read by another loop"):
        filter.decide("wheat")
    loop.close()
    assert len(filter.decide("wheat")) == 1


def test_labels_may_be_a_matrix():
    train, sets = ["wheat up", "goal scored", "wheat goal", "rain"] * 5, [("g",), ("s",), ("s", "g"), ()] * 5
    matrix = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 5)
    one, other = (AdaptiveFilter().fit(train, labels, ["g", "s"]) for labels in (sets, matrix))
    arrays = {k: v.tobytes() for k, v in one.arrays().items()}
    assert arrays == {k: v.tobytes() for k, v in other.arrays().items()}
    # Zeros may be stored; who gave the matrix finds it as it was.
    stored = sp.csc_matrix(np.ones((20, 2)))
    stored.data[:] = matrix.ravel(order="F")
    for array in (stored.data, stored.indices, stored.indptr):
        array.flags.writeable = False
    sparse = AdaptiveFilter().fit(train, stored, ["g", "s"])
    assert arrays == {k: v.tobytes() for k, v in sparse.arrays().items()}
    assert stored.nnz == 40
