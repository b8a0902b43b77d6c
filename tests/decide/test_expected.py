"""Expected F against all possible truths tried one by one, against the dynamic programmes, and by its properties."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.decide import exact_expected_f1, expected_f1, expected_f_curve
from bayesift.decide._expectations import f_curve, nodes_and_weights, shares

probability = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 1e-12, 1 - 1e-12])


def truths(n: int) -> np.ndarray:
    return np.array(list(product([0, 1], repeat=n)))


def by_brute_force(p: np.ndarray, accepted: np.ndarray, beta: float) -> float:
    """Expected F_β of accepting these documents, over all 2ⁿ truths."""
    y = truths(len(p))
    chance = np.where(y, p, 1 - p).prod(axis=1)
    whole = accepted.sum() + beta**2 * y.sum(axis=1)
    hits = (1 + beta**2) * (y @ accepted)
    return float(chance @ np.divide(hits, whole, out=np.ones(len(y)), where=whole > 0))


def poisson_binomial(p: np.ndarray) -> np.ndarray:
    law = np.ones(1)
    for chance in p:
        law = np.convolve(law, [1 - chance, chance])
    return law


def by_two_laws(p: np.ndarray, beta: float) -> np.ndarray:
    """Chai's sum over the positives among the accepted and among the rest, for falling p."""
    curve = [np.prod(1 - p)]
    for m in range(1, len(p) + 1):
        first, second = poisson_binomial(p[:m]), poisson_binomial(p[m:])
        hits, missed = np.arange(m + 1)[:, None], np.arange(len(p) - m + 1)
        values = (1 + beta**2) * hits / (m + beta**2 * (hits + missed))
        curve.append(first @ values @ second)
    return np.array(curve)


def by_ye(p: np.ndarray) -> np.ndarray:
    """The O(n²) programme of Ye et al. for β = 1, for falling p."""
    n = len(p)
    inverse = 1 / np.arange(1, 2 * n + 2)  # E[1/(a + positives among the rest)], the rest being empty
    curve = np.empty(n + 1)
    laws = [np.ones(1)]
    for chance in p:
        laws.append(np.convolve(laws[-1], [1 - chance, chance]))
    for m in range(n, 0, -1):
        hits = np.arange(m + 1)
        curve[m] = 2 * (hits * laws[m] * inverse[m + hits - 1]).sum()
        inverse = p[m - 1] * inverse[1:] + (1 - p[m - 1]) * inverse[:-1]
    curve[0] = laws[n][0]
    return curve


@settings(deadline=None, max_examples=40)
@given(p=st.lists(probability, min_size=1, max_size=8), beta=st.sampled_from([0.1, 0.5, 1.0, 1.7, 2.0, 9.0]))
def test_the_curve_by_brute_force(p: list[float], beta: float) -> None:
    ranked = np.sort(p)[::-1]
    tried = [by_brute_force(ranked, np.arange(len(p)) < m, beta) for m in range(len(p) + 1)]
    assert_allclose(expected_f_curve(p, beta=beta), tried, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_twelve_documents_by_brute_force(beta: float) -> None:
    p = np.random.default_rng(12).random(12) ** 2
    ranked = np.sort(p)[::-1]
    tried = np.array([by_brute_force(ranked, np.arange(12) < m, beta) for m in range(13)])
    found = exact_expected_f1(p, beta=beta)
    assert found.n_accepted == tried.argmax()
    assert found.value == pytest.approx(tried.max(), rel=1e-13)


@settings(deadline=None, max_examples=15)
@given(p=st.lists(probability, min_size=1, max_size=6), beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_no_set_beats_the_most_probable(p: list[float], beta: float) -> None:
    values = [by_brute_force(np.array(p), accepted, beta) for accepted in truths(len(p))]
    assert exact_expected_f1(p, beta=beta).value == pytest.approx(max(values), rel=1e-11)


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.5])
def test_the_curve_by_two_poisson_binomial_laws(beta: float) -> None:
    p = np.sort(np.random.default_rng(3).beta(0.2, 1.5, 60))[::-1]
    assert_allclose(expected_f_curve(p, beta=beta), by_two_laws(p, beta), rtol=1e-12)


@pytest.mark.parametrize("shape", [(0.1, 3.0), (1.0, 1.0), (3.0, 0.1)])
def test_the_curve_by_the_quadratic_programme(shape: tuple[float, float]) -> None:
    p = np.sort(np.random.default_rng(4).beta(*shape, 700))[::-1]
    assert_allclose(expected_f_curve(p), by_ye(p), rtol=1e-11, atol=1e-290)


def test_kernels_beside_numpy() -> None:
    p = np.array([0.9, 0.6, 0.6, 0.01, 0.0])
    nodes, weights = nodes_and_weights(2.0, 10.0)
    z = np.exp(-nodes)[:, None]
    factors = 1 - p + p * z
    found = np.cumsum(p * z / factors, axis=1) * factors.prod(axis=1, keepdims=True)
    twin = 2 * weights @ (np.exp(-np.outer(nodes, np.arange(1, 6))) * found)
    assert_allclose(f_curve(p, 1.0, nodes, weights), [np.prod(1 - p), *twin], rtol=1e-13)
    y = truths(5)
    chance = np.where(y, p, 1 - p).prod(axis=1)
    assert_allclose(shares(p, *nodes_and_weights(1.0, 5.0)), chance @ (y / np.maximum(y.sum(1), 1)[:, None]))


def test_one_over_a_to_rounding() -> None:
    nodes, weights = nodes_and_weights(1.0, 1e8)
    a = np.geomspace(1.0, 1e8, 400)
    assert_allclose(np.exp(-np.outer(a, nodes)) @ weights, 1 / a, rtol=1e-15)


@given(p=st.lists(probability, min_size=1, max_size=30), beta=st.floats(0.1, 10))
def test_the_ratio_is_the_formula(p: list[float], beta: float) -> None:
    ranked, squared = sorted(p, reverse=True), beta**2
    values = [np.prod(1 - np.array(p))]
    values += [(1 + squared) * sum(ranked[:m]) / (m + squared * sum(p)) for m in range(1, len(p) + 1)]
    assert_allclose(expected_f_curve(p, beta=beta, exact=False), values, rtol=1e-12)
    found = expected_f1(p, beta=beta)
    assert found.value == pytest.approx(max(values), rel=1e-11)
    assert values[found.n_accepted] == pytest.approx(max(values), rel=1e-11)


@given(p=st.lists(probability, min_size=1, max_size=30))
def test_what_holds_for_both(p: list[float]) -> None:
    for choose in (expected_f1, exact_expected_f1):
        n_accepted, value = choose(p)
        assert 0 <= n_accepted <= len(p)
        assert -1e-12 <= value <= 1 + 1e-12
        assert choose(p[::-1]) == (n_accepted, value)
    # 2k/(n + k) is concave in the number of positives k: of accepting all, the ratio promises too much.
    assert expected_f_curve(p)[-1] <= expected_f_curve(p, exact=False)[-1] * (1 + 1e-11)


def test_certain_documents() -> None:
    for choose in (expected_f1, exact_expected_f1):
        assert choose([1, 0, 1, 0]) == (2, pytest.approx(1.0))
        assert choose([0.0, 0.0]) == (0, 1.0)
        assert choose([1.0]) == (1, pytest.approx(1.0))


def test_one_likely_document_of_a_rare_category() -> None:
    # Accepting is right with probability 0.45, rejecting with 0.55; the ratio of expectations sees 2·0.45/1.45.
    assert exact_expected_f1([0.45]) == (0, pytest.approx(0.55))
    assert expected_f1([0.45]) == (1, pytest.approx(0.9 / 1.45))


def test_ratio_and_expectation_meet_for_common_categories() -> None:
    gaps = []
    for copies in (1, 10, 100, 1000):
        p = np.repeat([0.8, 0.3, 0.1, 0.05], copies)
        gaps.append(abs(expected_f1(p).value - exact_expected_f1(p).value))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0.01
    assert gaps[-1] < 1e-4


def test_time_grows_with_the_number_of_documents() -> None:
    n = 300_000  # a table of n² would not fit into memory
    found = exact_expected_f1(np.random.default_rng(1).random(n) ** 4)
    assert found.value == pytest.approx(expected_f1(np.random.default_rng(1).random(n) ** 4).value, abs=1e-5)


def test_input_is_not_altered() -> None:
    p = np.array([0.2, 0.9, 0.5])
    exact_expected_f1(p)
    expected_f1(p)
    assert_array_equal(p, [0.2, 0.9, 0.5])


@pytest.mark.parametrize(
    ("p", "beta", "message"),
    [
        ([], 1.0, "0 sample"),
        (0.5, 1.0, "p is 0.5; expected an array"),
        ([[0.1, 0.2]], 1.0, r"p has shape \(1, 2\); expected one probability per document"),
        ([0.1, 1.2], 1.0, "p has values from 0.1 to 1.2; expected probabilities"),
        ([-0.1, 1.0], 1.0, "p has values from -0.1 to 1"),
        ([0.1, np.nan], 1.0, "p contains NaN"),
        ([0.1], 0.0, "beta is 0.0; expected a number greater than 0"),
        ([0.1], -1, "beta is -1"),
        ([0.1], np.inf, "beta is inf"),
        ([0.1], 1e200, r"beta is 1e\+200; expected a number greater than 0 and at most 1e\+100"),
        ([0.1], np.nan, "beta is nan"),
        ([0.1], "1", "beta is '1'"),
        ([0.1], True, "beta is True"),
    ],
)
def test_bad_input_is_named(p: object, beta: object, message: str) -> None:
    for choose in (expected_f1, exact_expected_f1):
        with pytest.raises(ValueError, match=message):
            choose(p, beta=beta)
