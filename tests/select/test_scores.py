"""Every score against a contingency table counted by hand, and against scipy, numpy and scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from bayesift.select import (
    binormal_separation,
    chi_square,
    likelihood_ratio,
    mutual_information,
    pearson,
    yules_q,
)

TWO_CLASS = [binormal_separation, chi_square, likelihood_ratio, pearson, yules_q]
ALL = [*TWO_CLASS, mutual_information]


@st.composite
def problems(draw: st.DrawFn, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 6))
    weights = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, -1.5, 0.25])
    X = draw(hnp.arrays(np.float64, (n, d), elements=weights))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, n_classes - 1)))
    return X, y


def cells(column: np.ndarray, y: np.ndarray) -> tuple[int, int, int, int]:
    a = b = c = d = 0
    for weight, label in zip(column, y, strict=True):
        if label:
            a, b = (a + 1, b) if weight else (a, b + 1)
        else:
            c, d = (c + 1, d) if weight else (c, d + 1)
    return a, b, c, d


def brute_chi_square(a: int, b: int, c: int, d: int) -> float:
    return (a + b + c + d) * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))


def brute_binormal_separation(a: int, b: int, c: int, d: int) -> float:
    rates = (min(max(rate, 0.0005), 0.9995) for rate in (a / (a + b), c / (c + d)))
    inside, outside = (NormalDist().inv_cdf(rate) for rate in rates)
    return abs(inside - outside)


def brute_yules_q(a: int, b: int, c: int, d: int) -> float:
    return (a * d - b * c) / (a * d + b * c)


def brute_likelihood_ratio(a: int, b: int, c: int, d: int) -> float:
    def log_likelihood(k: int, n: int, p: float) -> float:
        return (k * math.log(p) if k else 0) + ((n - k) * math.log(1 - p) if n > k else 0)

    p1, p2, p = a / (a + b), c / (c + d), (a + c) / (a + b + c + d)
    separate = log_likelihood(a, a + b, p1) + log_likelihood(c, c + d, p2)
    return 2 * (separate - log_likelihood(a, a + b, p) - log_likelihood(c, c + d, p))


BRUTE = [
    (binormal_separation, brute_binormal_separation),
    (chi_square, brute_chi_square),
    (likelihood_ratio, brute_likelihood_ratio),
    (yules_q, brute_yules_q),
]


@pytest.mark.parametrize(("score", "brute"), BRUTE)
@given(problem=problems())
def test_two_class_scores_equal_the_table_counted_by_hand(
    score: Callable, brute: Callable, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = problem
    expected = []
    for column in X.T:
        a, b, c, d = cells(column, y)
        constant = 0 in (a + b, c + d, a + c, b + d)
        expected.append(0.0 if constant else brute(a, b, c, d))
    assert_allclose(score(csr_array(X), y), expected, rtol=1e-9, atol=1e-9)


@given(problem=problems(n_classes=4))
def test_mutual_information_equals_the_double_sum_and_scikit_learn(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = problem
    n = len(y)
    found = mutual_information(csr_array(X), y)
    for value, column in zip(found, X.T, strict=True):
        double_sum = 0.0  # (3.75)
        for x in (True, False):
            for label in set(y.tolist()):
                joint = sum((w != 0) == x and t == label for w, t in zip(column, y, strict=True)) / n
                if joint:
                    double_sum += joint * math.log(joint / (np.mean((column != 0) == x) * np.mean(y == label)))
        assert_allclose(value, double_sum, atol=1e-12)
        assert_allclose(value, mutual_info_score(column != 0, y), atol=1e-12)


@given(problem=problems(n_classes=5))
def test_mutual_information_equals_the_closed_form_for_binary_features(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = problem
    theta = (X != 0).mean(axis=0)
    expected = np.zeros(X.shape[1])
    for label in np.unique(y):  # (3.76)
        share, rate = np.mean(y == label), (X[y == label] != 0).mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            expected += share * np.where(rate > 0, rate * np.log(rate / theta), 0)
            expected += share * np.where(rate < 1, (1 - rate) * np.log((1 - rate) / (1 - theta)), 0)
    assert_allclose(mutual_information(X, y), expected, atol=1e-12)


def random_problem(seed: int = 0, n: int = 300, d: int = 40, categories: int = 3) -> tuple[csr_array, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, d)) * (rng.random((n, d)) < rng.uniform(0.02, 0.6, d))
    Y = (X[:, :categories] + rng.normal(size=(n, categories)) > 0.7).astype(int)
    return csr_array(X), Y


@pytest.mark.parametrize(("score", "lambda_"), [(chi_square, "pearson"), (likelihood_ratio, "log-likelihood")])
def test_statistics_equal_scipys(score: Callable, lambda_: str) -> None:
    X, Y = random_problem()
    for row, y in zip(score(X, Y), Y.T, strict=True):
        tables = [np.reshape(cells(column, y), (2, 2)) for column in X.toarray().T]
        expected = [chi2_contingency(table, correction=False, lambda_=lambda_).statistic for table in tables]
        assert_allclose(row, expected, rtol=1e-10, atol=1e-12)


def test_mutual_information_of_a_category_is_the_likelihood_ratio_over_2n() -> None:
    X, Y = random_problem()
    assert_allclose(mutual_information(X, Y), likelihood_ratio(X, Y) / (2 * X.shape[0]), rtol=1e-12)
    assert_allclose(mutual_information(X, Y)[0], mutual_information(X, Y[:, 0]), rtol=1e-12)


@given(problem=problems())
def test_pearson_equals_numpys_correlation(problem: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = problem
    found = pearson(csr_array(X), y)
    for value, column in zip(found, X.T, strict=True):
        if np.ptp(column) == 0 or np.ptp(y) == 0:
            assert value == 0
        else:
            assert_allclose(value, abs(np.corrcoef(column, y)[0, 1]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 1.7e308])
def test_pearson_does_not_depend_on_the_scale_of_a_column(scale: float) -> None:
    column = np.array([0.0, 0.25, 1.0, 0.5, 0.0, 1.0])
    y = [0, 0, 1, 1, 0, 1]
    assert_allclose(pearson((column * scale)[:, None], y), pearson(column[:, None], y), rtol=1e-3)


def test_pearson_keeps_its_digits_on_a_full_column_far_from_zero() -> None:
    rng = np.random.default_rng(1)
    noise, y = rng.integers(0, 2**10, 200) / 2**10, rng.integers(0, 2, 200)
    # 2**40 plus multiples of 2**-10 is exact, so the shifted column has the same correlation.
    assert_allclose(pearson((noise + 2.0**40)[:, None], y), pearson(noise[:, None], y), rtol=1e-6)


@pytest.mark.parametrize("value", [0.1, -1 / 3, 1e16 / 7, 1e-320, 1.7e308])
def test_a_constant_column_has_no_correlation_in_spite_of_rounding(value: float) -> None:
    y = np.arange(37) % 2
    assert_array_equal(pearson(np.full((37, 2), value), y), [0, 0])


@pytest.mark.parametrize("score", ALL)
def test_an_indicator_gives_the_rows_of_its_columns(score: Callable) -> None:
    X, Y = random_problem()
    together = score(X, Y)
    assert together.shape == (Y.shape[1], X.shape[1])
    assert_array_equal(together, score(X, csr_array(Y)))
    assert_array_equal(together, score(X, Y.astype(bool)))
    for row, y in zip(together, Y.T, strict=True):
        assert_allclose(row, score(X, y), rtol=1e-12)


@pytest.mark.parametrize("score", ALL)
@given(problem=problems())
@settings(max_examples=30)
def test_scores_are_finite_and_do_not_depend_on_the_order_of_documents(
    score: Callable, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = problem
    scores = score(X, y)
    assert np.all(np.isfinite(scores))
    assert score is yules_q or np.all(scores >= 0)
    assert_allclose(score(X[::-1], y[::-1]), scores, atol=1e-12)
    assert_allclose(np.abs(score(X, 1 - y)), np.abs(scores), atol=1e-9)


@pytest.mark.parametrize("score", ALL)
def test_one_class_and_constant_columns_score_zero(score: Callable) -> None:
    X = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 3.0], [2.0, 0.0, 3.0], [0.0, 0.0, 3.0]])
    assert_array_equal(score(X, ["same"] * 4), [0, 0, 0])
    assert_array_equal(score(X, [[0, 1]] * 4), np.zeros((2, 3)))
    assert_array_equal(score(X, [0, 1, 1, 0])[1:], [0, 0])


@pytest.mark.parametrize("score", ALL)
def test_equal_columns_get_equal_scores_to_the_last_bit(score: Callable) -> None:
    X, Y = random_problem(n=101)
    doubled = csr_array(np.hstack([X.toarray(), X.toarray()]))
    scores = score(doubled, Y)
    assert_array_equal(scores[:, : X.shape[1]], scores[:, X.shape[1] :])


def test_rates_within_the_clipping_distance_of_zero_count_as_zero() -> None:
    y = np.repeat([1, 0], [100, 9900])
    column = np.zeros(10_000)
    column[:50] = 1
    once = column.copy()
    once[-1] = 1  # rate 1/9900 outside the category, less than 0.0005
    scores = binormal_separation(np.column_stack([column, once]), y)
    assert_allclose(scores, [NormalDist().inv_cdf(0.9995)] * 2)
