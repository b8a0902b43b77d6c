"""Hypothesis spaces against plain sums over sets, their properties, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bayesift.concepts import HypothesisSpace
from bayesift.concepts._bits import BitSets


@st.composite
def spaces(draw):
    n_items = draw(st.integers(1, 19))
    rows = draw(st.lists(st.lists(st.booleans(), min_size=n_items, max_size=n_items), min_size=1, max_size=9))
    matrix = np.array([*rows, [True] * n_items])  # something always fits
    weights = np.array([*draw(st.lists(st.floats(0, 5), min_size=len(rows), max_size=len(rows))), 0.5])
    return matrix, weights


def made(matrix, weights):
    return HypothesisSpace.from_matrix(range(matrix.shape[1]), [f"h{k}" for k in range(len(matrix))], matrix, weights)


@given(spaces(), st.data())
@settings(deadline=None)
def test_posterior_and_predictions_by_plain_sums(case, data):
    matrix, weights = case
    space = made(matrix, weights)
    examples = data.draw(st.lists(st.integers(0, matrix.shape[1] - 1), max_size=5))
    size = matrix.sum(axis=1)
    fits = matrix[:, examples].all(axis=1)
    likelihood = np.where(fits, 1.0 / np.maximum(size, 1.0) ** len(examples), 0.0)
    prior = weights / weights.sum()
    posterior = prior * likelihood / (prior @ likelihood)
    assert_array_equal(space.sizes, size)
    assert_allclose(space.prior, prior)
    assert_allclose(np.exp(space.log_likelihood(examples)), likelihood)
    assert_allclose(space.log_evidence(examples), np.log(prior @ likelihood), atol=1e-12)
    assert_allclose(space.posterior(examples), posterior)
    assert_allclose(space.predictive(examples), posterior @ matrix, atol=1e-12)
    assert_array_equal(space.predictive(examples, "map"), matrix[np.argmax(space.posterior(examples))])
    assert_array_equal(space.predictive(examples, "mle"), matrix[np.argmax(likelihood)])
    assert space.map(examples) == f"h{np.argmax(space.posterior(examples))}"
    assert space.mle(examples) == f"h{np.argmax(likelihood)}"
    assert space.version_space(examples) == tuple(f"h{k}" for k in np.flatnonzero(fits))


@given(spaces(), st.data())
@settings(deadline=None)
def test_halves_equal_the_whole_in_any_order(case, data):
    matrix, weights = case
    space = made(matrix, weights)
    examples = data.draw(st.lists(st.integers(0, matrix.shape[1] - 1), max_size=6))
    cut = data.draw(st.integers(0, len(examples)))
    shuffled = data.draw(st.permutations(examples))
    halves = space.update(examples[:cut]).update(examples[cut:])
    assert_allclose(halves.prior, space.posterior(examples), atol=1e-12)
    assert_allclose(space.posterior(shuffled), space.posterior(examples))
    chain = space.log_evidence(examples[:cut]) + space.update(examples[:cut]).log_evidence(examples[cut:])
    assert_allclose(chain, space.log_evidence(examples), atol=1e-9)


@given(spaces())
@settings(deadline=None, max_examples=40)
def test_examples_belong_and_more_of_them_never_widen_the_version_space(case):
    matrix, weights = case
    space = made(matrix, weights)
    assert_allclose(space.predictive([0]).clip(0, 1)[0], 1)
    assert set(space.version_space([0, 0, matrix.shape[1] - 1])) <= set(space.version_space([0]))


def test_extensions_by_name_dense_and_sparse_are_the_same():
    by_name = HypothesisSpace(list("abcdefghij"), {"x": ["a", "b", "j"], "y": ["c"], "empty": []})
    matrix = np.zeros((3, 10))
    matrix[0, [0, 1, 9]] = matrix[1, 2] = 1
    for rows in (matrix, matrix.tolist(), sparse.csr_array(matrix), sparse.coo_matrix(matrix)):
        space = HypothesisSpace.from_matrix(list("abcdefghij"), ["x", "y", "empty"], rows)
        assert_array_equal(space._bits.bytes, by_name._bits.bytes)
    assert by_name.extension("x") == ("a", "b", "j")
    assert by_name.extension("empty") == ()
    assert_allclose(by_name.posterior([]), 1 / 3)
    assert_allclose(by_name.posterior(["c"]), [0, 1, 0])
    assert repr(by_name) == "HypothesisSpace(3 hypotheses over 10 items)"


def test_weights_by_name_and_ties():
    space = HypothesisSpace([1, 2], {"a": [1], "b": [1], "c": [1, 2]}, {"c": 2, "b": 1, "a": 1})
    assert_allclose(space.prior, [0.25, 0.25, 0.5])
    assert space.map([1]) == space.mle([1]) == "a"
    assert [name for name, _ in space.top([1], 2)] == ["a", "b"]


def test_membership_is_the_extensions_as_rows():
    space = HypothesisSpace([1, 2, 3], {"a": [1], "b": [3, 1]})
    assert_array_equal(space.membership(["b", "a"]), [[True, False, True], [True, False, False]])
    with pytest.raises(KeyError, match="name is 'c'"):
        space.membership(["c"])


def test_mixing_spaces():
    one = HypothesisSpace([1, 2, 3], {"a": [1], "b": [1, 2]}, [0.25, 0.75])
    other = HypothesisSpace([1, 2, 3], {"c": [3]})
    mixed = HypothesisSpace.mix([one, other], [3, 1])
    assert mixed.names == ("a", "b", "c")
    assert_allclose(mixed.prior, [0.1875, 0.5625, 0.25])
    assert mixed.extension("c") == (3,)


def test_a_space_does_not_change():
    space = HypothesisSpace([1, 2], {"a": [1], "b": [1, 2]})
    after = space.update([1])
    mixed = HypothesisSpace.mix([space], [1])
    for array in (space.log_prior, space.sizes, after.log_prior, mixed.log_prior):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert_allclose(space.prior, 0.5)
    assert_allclose(after.prior, [2 / 3, 1 / 3])


def test_a_concept_without_prior_is_never_meant_but_may_be_the_smallest():
    space = HypothesisSpace([1, 2], {"odd one": [1], "both": [1, 2]}, [0, 1])
    assert space.map([1]) == "both"
    assert space.mle([1]) == "odd one"
    assert_allclose(space.predictive([1]), [1, 1])


def test_a_thousand_examples_do_not_underflow():
    space = HypothesisSpace(range(100), {"small": range(90), "large": range(100)})
    assert_allclose(space.posterior([5] * 1000), [1, 0], atol=1e-40)
    assert_allclose(space.log_posterior([5] * 1000)[1], 1000 * np.log(0.9))


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_packed_bits_against_the_plain_matrix(n_sets, n_items, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((n_sets, n_items)) < 0.4
    bits = BitSets.from_rows(matrix)
    weights = rng.random(n_sets) * (rng.random(n_sets) < 0.7)
    items = rng.integers(0, n_items, 2).tolist()
    assert bits.bytes.shape == (-(-n_items // 8), n_sets)
    assert_array_equal(bits.sizes(), matrix.sum(axis=1))
    assert_array_equal(bits.holding(items), matrix[:, items].all(axis=1))
    assert_allclose(bits.weight_of_items(weights), weights @ matrix, atol=1e-12)
    assert_array_equal(bits.members(0), np.flatnonzero(matrix[0]))


def test_many_hypotheses_stay_small():
    rows = np.arange(20_000)[:, np.newaxis] % 1001 <= np.arange(1000)
    space = HypothesisSpace.from_matrix(range(1000), [str(k) for k in range(20_000)], rows)
    assert space._bits.bytes.nbytes == 20_000 * 1000 / 8
    posterior = space.posterior([999, 990])
    assert_allclose(space.predictive([999, 990]), np.minimum(posterior @ rows, 1), atol=1e-9)


def test_weights_near_the_largest_number():
    assert_allclose(HypothesisSpace([1, 2], {"a": [1], "b": [2]}, [1.5e308, 0.5e308]).prior, [0.75, 0.25])


def test_items_that_can_be_read_only_once():
    assert HypothesisSpace(iter("ab"), {"x": ["a"]}).items == ("a", "b")


ITEMS = ["a", "b"]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: HypothesisSpace(["a", "a"], {"x": ["a"]}), ValueError, "items holds 'a' twice"),
        (lambda: HypothesisSpace("ab", {"x": ["a"]}), TypeError, "items is 'ab'; expected a sequence"),
        (lambda: HypothesisSpace(ITEMS, {}), ValueError, "no hypotheses"),
        (
            lambda: HypothesisSpace(ITEMS, {"x": ["c"]}),
            ValueError,
            r"extensions\['x'\] holds 'c', which is none of the 2",
        ),
        (lambda: HypothesisSpace(ITEMS, {"x": "ab"}), TypeError, r"extensions\['x'\] is 'ab'; expected a list"),
        (lambda: HypothesisSpace(ITEMS, {1: ["a"]}), TypeError, "names holds 1; expected strings"),
        (lambda: HypothesisSpace(ITEMS, {"x": ["a"]}, [1, 2]), ValueError, r"prior has shape \(2,\); expected \(1,\)"),
        (lambda: HypothesisSpace(ITEMS, {"x": ["a"]}, [-1]), ValueError, "prior is -1 at 0"),
        (lambda: HypothesisSpace(ITEMS, {"x": ["a"]}, [np.nan]), ValueError, "prior is nan at 0"),
        (lambda: HypothesisSpace(ITEMS, {"x": ["a"]}, [0]), ValueError, "prior has sum 0"),
        (lambda: HypothesisSpace(ITEMS, {"x": ["a"]}, ["y"]), TypeError, "prior is"),
        (lambda: HypothesisSpace(ITEMS, {"x": ["a"]}, {"y": 1}), ValueError, "prior and the names .* differ in 'x'"),
        (
            lambda: HypothesisSpace.from_matrix(ITEMS, ["x"], np.ones((2, 2))),
            ValueError,
            r"matrix has shape \(2, 2\); expected \(1, 2\)",
        ),
        (
            lambda: HypothesisSpace.from_matrix(ITEMS, ["x", "x"], np.ones((2, 2))),
            ValueError,
            "names holds 'x' twice",
        ),
        (lambda: HypothesisSpace.mix([], []), ValueError, "spaces is empty"),
        (
            lambda: HypothesisSpace.mix([HypothesisSpace([1], {"x": [1]}), HypothesisSpace([2], {"y": [2]})], [1, 1]),
            ValueError,
            "spaces have different items",
        ),
        (
            lambda: HypothesisSpace.mix([HypothesisSpace([1], {"x": [1]})], [1, 1]),
            ValueError,
            r"weights has shape \(2,\); expected \(1,\)",
        ),
    ],
)
def test_bad_spaces(make, error, message):
    with pytest.raises(error, match=message):
        make()


SPACE = HypothesisSpace([1, 2, 3], {"low": [1, 2], "high": [2, 3]}, [1, 0])


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: SPACE.posterior([4]), ValueError, "data holds 4, which is none of the 3 items"),
        (lambda: SPACE.posterior(4), TypeError, "data is 4; expected a list of items"),
        (lambda: SPACE.posterior("12"), TypeError, "data is '12'; expected a list of items"),
        (lambda: SPACE.posterior([1, 3]), ValueError, r"data is \[1, 3\]; expected items that some hypothesis"),
        (lambda: SPACE.map([3]), ValueError, "some hypothesis with prior above 0 contains together"),
        (lambda: SPACE.mle([1, 3]), ValueError, "some hypothesis contains together"),
        (lambda: SPACE.predictive([1, 3] * 9, "mle"), ValueError, r"\[1, 3, 1, 3, 1\] and 13 more"),
        (
            lambda: SPACE.predictive([1], "plug-in"),
            ValueError,
            "method is 'plug-in'; expected 'average', 'map' or 'mle'",
        ),
        (lambda: SPACE.extension("middle"), KeyError, "name is 'middle', which is none of the 2 hypotheses"),
    ],
)
def test_bad_questions(use, error, message):
    with pytest.raises(error, match=message):
        use()


def test_nothing_fits():
    assert SPACE.version_space([1, 3]) == ()
    assert SPACE.log_evidence([1, 3]) == -np.inf
