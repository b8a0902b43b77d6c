"""What may come in as X and y, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import bsr_array, coo_array, csc_array, csc_matrix, csr_array, csr_matrix, lil_array

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

DENSE = np.array([[1.0, 0, 2, 0], [0, 1, 1, 0], [3, 0, 0, 1], [0, 0, 2, 0], [1, 1, 0, 4], [0, 2, 5, 0]])
Y = np.array([1, 0, 1, 0, 1, 0])


def wide_indices(X: np.ndarray) -> csr_array:
    matrix = csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def sparse_frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame.sparse.from_spmatrix(csr_matrix(X))


@pytest.mark.parametrize("score", ALL)
@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.uint8),
        np.ndarray.tolist,
        csr_array,
        csc_array,
        csr_matrix,
        csc_matrix,
        coo_array,
        bsr_array,
        lil_array,
        wide_indices,
        pd.DataFrame,
        sparse_frame,
        lambda X: pl.DataFrame(X, schema=["a", "b", "c", "d"]),
    ],
)
def test_any_kind_of_matrix_gives_the_same_scores(score: Callable, convert: Callable) -> None:
    assert_array_equal(score(convert(DENSE), Y), score(DENSE, Y))


@pytest.mark.parametrize("score", ALL)
def test_explicit_zeros_and_duplicate_entries_count_once(score: Callable) -> None:
    data = np.array([1.0, 0.0, 2.0, 0.5, 0.5, 3.0, -3.0, 4.0])
    rows = np.array([0, 0, 1, 2, 2, 3, 3, 3])
    columns = np.array([0, 1, 1, 0, 0, 1, 1, 0])
    order = np.array([1, 0, 2, 4, 3, 5, 7, 6])  # within a row in no order
    indptr = np.searchsorted(rows, np.arange(5))
    matrix = csr_array((data[order], columns[order], indptr), shape=(4, 2))
    before = matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()
    plain = np.array([[1.0, 0], [0, 2], [1, 0], [4, 0]])
    labels = [1, 0, 0, 1]
    assert_array_equal(matrix.toarray(), plain)
    assert_array_equal(score(matrix, labels), score(plain, labels))
    assert_array_equal(score(csc_array((data, rows, [0, 8, 8]), shape=(4, 2)), labels)[1], 0)
    for kept, now in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        assert_array_equal(kept, now)


def test_duplicates_are_summed_before_a_narrow_type_overflows() -> None:
    entries = np.array([128, 128, 1], dtype=np.uint8)
    matrix = csr_array((entries, [0, 0, 0], [0, 2, 2, 3]), shape=(3, 1))
    assert_allclose(chi_square(matrix, [1, 0, 1]), [3])


@pytest.mark.parametrize(
    "labels",
    [
        ["wheat" if t else "other" for t in Y],
        [bool(t) for t in Y],
        Y * 2.5 - 7,
        Y * 2 - 1,
        pd.Series(Y).map({0: "a", 1: "b"}).astype("category"),
        pd.Series(Y, dtype="Int64"),
        pl.Series(Y),
        np.array([("no", "yes")[t] for t in Y], dtype=object),
    ],
)
def test_the_greater_of_two_labels_of_any_type_is_the_category(labels: object) -> None:
    assert_array_equal(yules_q(DENSE, labels), yules_q(DENSE, Y))


@pytest.mark.parametrize("score", ALL)
def test_labels_may_be_a_frame_or_a_sparse_matrix_of_indicators(score: Callable) -> None:
    indicator = np.column_stack([Y, 1 - Y, np.zeros(6), [1, 1, 0, 0, 0, 0]])
    expected = score(DENSE, indicator)
    assert expected.shape == (4, 4)
    for given in (pd.DataFrame(indicator), csc_array(indicator), coo_array(indicator.astype(np.int8))):
        assert_array_equal(score(DENSE, given), expected)
    with_zeros = csr_array(np.ones((6, 4)))
    with_zeros.data[:] = indicator.ravel()
    assert_array_equal(score(DENSE, with_zeros), expected)
    assert score(DENSE, Y[:, None]).shape == (1, 4)


@pytest.mark.parametrize("score", ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_refused(score: Callable, bad: float) -> None:
    X = DENSE.copy()
    X[2, 0] = bad
    for matrix in (X, csr_array(X), csc_array(X)):
        with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
            score(matrix, Y)


@pytest.mark.parametrize("score", ALL)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Y[:-1], "y has 5 rows, X has 6"),
        (np.zeros((5, 2)), "y has 5 rows, X has 6"),
        ([0, 1, np.nan, 0, 1, 0], "missing labels"),
        ([0, 1, np.inf, 0, 1, 0], "infinite label"),
        (np.array(["a", None, "b", "a", "b", "a"], dtype=object), "missing labels"),
        (["a", np.nan, "b", "a", "b", "a"], "missing labels .* first in row 1"),
        (["a", "b", None, "a", "b", "a"], "missing labels .* first in row 2"),
        (pd.Series(["a", "b", "b", "a", None, "a"], dtype="string"), "missing labels .* first in row 4"),
        (pl.Series(["a", "b", "b", "a", None, "a"]), "missing labels .* first in row 4"),
        (np.array(["a", 1, "a", 1, "a", 1], dtype=object), "cannot be ordered"),
        (pd.Series([0, 1, None, 0, 1, 0], dtype="Int64"), "missing labels"),
        ([["a"], ["a", "b"], ["b"], [], ["a"], ["b"]], "ragged"),
        ([np.arange(n) for n in (1, 2, 1, 2, 1, 2)], "ragged"),
        ([["a", "b"]] * 6, "expected a 0/1 indicator"),
        (np.array([["a", None]] * 6, dtype=object), "expected a 0/1 indicator"),
        ([[0, 2]] * 6, "only 0 and 1; found 2"),
        ([[0, -1]] * 6, "only 0 and 1; found -1"),
        ([[0, np.nan]] * 6, "only 0 and 1; found nan"),
        (np.zeros((6, 1, 1)), "3 dimensions"),
    ],
)
def test_bad_labels_are_named(score: Callable, labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(DENSE, labels)


@pytest.mark.parametrize("score", TWO_CLASS)
def test_three_classes_need_mutual_information_or_an_indicator(score: Callable) -> None:
    with pytest.raises(ValueError, match=r"y has 3 classes \('a', 'b', 'c'\)"):
        score(DENSE, list("abcabc"))
    with pytest.raises(ValueError, match=r"y has 6 classes \(0, 1, 2, 3, …\)"):
        score(DENSE, range(6))


def test_real_numbers_are_no_classes() -> None:
    with pytest.raises(ValueError, match="real numbers"):
        mutual_information(DENSE, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert mutual_information(DENSE, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]).shape == (4,)


@pytest.mark.parametrize("score", ALL)
def test_matrices_without_rows_or_columns_are_refused(score: Callable) -> None:
    with pytest.raises(ValueError, match="0 sample"):
        score(np.empty((0, 3)), [])
    with pytest.raises(ValueError, match="0 feature"):
        score(csr_array((6, 0)), Y)
