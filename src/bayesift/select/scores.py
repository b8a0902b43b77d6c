"""Scores of terms against categories.

For a category and a term the documents fall into four cells: a = in the category with the term, b = in the
category without it, c = outside with it, d = neither, n = a + b + c + d. All scores except :func:`pearson`
use only these counts, which come from one sparse product for all categories and terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import kl_div, ndtri

from bayesift._labels import Indicator, category_indicator, class_indicator
from bayesift._sparse import canonical_rows
from bayesift._typing import FloatArray

_Cells = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

# Forman (2003): rates nearer to 0 or 1 than this count as if they were this near.
_LEAST_RATE = 0.0005


def chi_square(X: Any, y: Any) -> FloatArray:
    """Return Pearson's chi-square statistic of independence between term and category.

    χ² = n(ad − bc)² / ((a+b)(c+d)(a+c)(b+d))  (22).

    Parameters
    ----------
    X : {sparse matrix, array, data frame} of shape (n_documents, n_terms)
        Term weights; a term is present if its weight is not zero.
    y : array of shape (n_documents,) or {array, sparse matrix} of shape (n_documents, n_categories)
        Labels of two values, of which the greater marks the category, or a 0/1 indicator.

    Returns
    -------
    scores : array of shape (n_terms,), or (n_categories, n_terms) for an indicator
        At least 0; 0 for a constant term or category.

    Examples
    --------
    >>> from bayesift.select import chi_square
    >>> chi_square([[1, 0], [2, 1], [0, 1], [0, 0]], ["yes", "yes", "no", "no"])
    array([4., 0.])
    """
    return _score(X, y, _chi_square)


def binormal_separation(X: Any, y: Any) -> FloatArray:
    """Return the bi-normal separation of the term's rates inside and outside the category.

    BNS = abs(Φ⁻¹(a/(a+b)) − Φ⁻¹(c/(c+d)))  (23), with rates clipped to [0.0005, 0.9995]: from 0 to 6.58, and 0
    for a constant term or category. ``X``, ``y`` and the shape of the result are those of :func:`chi_square`.

    Examples
    --------
    >>> from bayesift.select import binormal_separation
    >>> binormal_separation([[1, 0], [2, 1], [0, 1], [0, 0]], [1, 1, 0, 0]).round(3)
    array([6.581, 0.   ])
    """
    return _score(X, y, _binormal_separation)


def yules_q(X: Any, y: Any) -> FloatArray:
    """Return Yule's coefficient of association between term and category, with its sign.

    Q = (ad − bc) / (ad + bc): 1 if the term never occurs outside the category or is never missing inside it,
    down to −1 if it is evidence against the category; 0 for a constant term or category. :class:`TermSelector` ranks
    by the absolute value. ``X``, ``y`` and the shape of the result are those of :func:`chi_square`.

    Examples
    --------
    >>> from bayesift.select import yules_q
    >>> yules_q([[1, 0], [2, 1], [0, 1], [0, 1]], [1, 1, 0, 0])
    array([ 1., -1.])
    """
    return _score(X, y, _yules_q)


def likelihood_ratio(X: Any, y: Any) -> FloatArray:
    """Return Dunning's −2 ln λ for two binomials: evidence that the term's rates inside and outside differ.

    −2 ln λ = 2[ℓ(a, a+b, p₁) + ℓ(c, c+d, p₂) − ℓ(a, a+b, p) − ℓ(c, c+d, p)], p₁ = a/(a+b), p₂ = c/(c+d),
    p = (a+c)/n, ℓ(k, m, p) = k ln p + (m−k) ln(1−p). If the rates are equal, it follows χ² with one degree
    of freedom, whose 0.05 % point is 12.13. It is 0 for a constant term or category. ``X``, ``y`` and the shape of the
    result are those of :func:`chi_square`.

    Examples
    --------
    >>> from bayesift.select import likelihood_ratio
    >>> likelihood_ratio([[1, 0], [2, 1], [0, 1], [0, 0]], [1, 1, 0, 0]).round(3)
    array([5.545, 0.   ])
    """
    return _score(X, y, _likelihood_ratio)


def mutual_information(X: Any, y: Any) -> FloatArray:
    """Return the mutual information, in nats, between presence of the term and the class.

    I = Σ_x Σ_y p(x, y) ln[p(x, y) / (p(x) p(y))]  (3.75). Labels may have any number of classes; for two it
    is :func:`likelihood_ratio` / 2n. Divide by ln 2 for bits. It is 0 for a constant term or class. ``X``, ``y``
    and the shape of the result are those of :func:`chi_square`, except for the number of classes; the columns of an
    indicator are scored one by one.

    Examples
    --------
    >>> from bayesift.select import mutual_information
    >>> mutual_information([[1, 0], [2, 1], [0, 1], [0, 0]], ["a", "a", "b", "c"]).round(3)
    array([0.693, 0.347])
    """
    matrix = canonical_rows(X)
    n_rows = matrix.shape[0]
    targets = class_indicator(y, n_rows)
    with_term, without_term, *outside = _cells(matrix, targets)
    if targets.flat:
        totals = with_term.sum(axis=0), without_term.sum(axis=0)
        return _divergence(with_term, without_term, *totals).sum(axis=0) / n_rows
    return _likelihood_ratio(with_term, without_term, *outside) / (2 * n_rows)


def pearson(X: Any, y: Any) -> FloatArray:
    """Return the absolute product-moment correlation between the term's weight and the category.

    abs(r), r = Σ(x_i − x̄)(y_i − ȳ) / √(Σ(x_i − x̄)² Σ(y_i − ȳ)²)  (24): the only score that uses the
    weights. From 0 to 1, and 0 for a constant term or category. ``X``, ``y`` and the shape of the result are those of
    :func:`chi_square`.

    Examples
    --------
    >>> from bayesift.select import pearson
    >>> pearson([[1, 0], [2, 1], [0, 1], [0, 0]], [1, 1, 0, 0]).round(3)
    array([0.905, 0.   ])
    """
    matrix = canonical_rows(X)
    targets = category_indicator(y, matrix.shape[0])
    return _shaped(_correlation(matrix, targets.matrix), targets)


def _score(X: Any, y: Any, formula: Callable[..., FloatArray]) -> FloatArray:
    matrix = canonical_rows(X)
    targets = category_indicator(y, matrix.shape[0])
    return _shaped(formula(*_cells(matrix, targets)), targets)


def _shaped(scores: FloatArray, targets: Indicator) -> FloatArray:
    return scores[0] if targets.flat else scores


def _cells(matrix: csr_array, targets: Indicator) -> _Cells:
    """Return a, b, c, d, each of shape (n_categories, n_terms)."""
    n_rows = matrix.shape[0]
    presence = _with_data(matrix, np.ones(matrix.nnz))
    a = (targets.matrix.T @ presence).toarray()
    in_category = targets.matrix.sum(axis=0)[:, None]
    with_term = presence.sum(axis=0)[None, :]
    return a, in_category - a, with_term - a, n_rows - in_category - with_term + a


def _with_data(matrix: csr_array, data: FloatArray) -> csr_array:
    """Return a matrix of the same pattern that holds other values."""
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, giving 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)


def _chi_square(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    n = a + b + c + d
    return _ratio(n * (a * d - b * c) ** 2, (a + b) * (c + d) * (a + c) * (b + d))  # (22)


def _binormal_separation(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    inside = np.clip(_ratio(a, a + b), _LEAST_RATE, 1 - _LEAST_RATE)
    outside = np.clip(_ratio(c, c + d), _LEAST_RATE, 1 - _LEAST_RATE)
    constant_class = (a + b == 0) | (c + d == 0)
    return np.where(constant_class, 0.0, np.abs(ndtri(inside) - ndtri(outside)))  # (23)


def _yules_q(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    return _ratio(a * d - b * c, a * d + b * c)


def _likelihood_ratio(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    totals = a + c, b + d
    return 2 * (_divergence(a, b, *totals) + _divergence(c, d, *totals))


def _divergence(k: FloatArray, rest: FloatArray, with_term: FloatArray, without_term: FloatArray) -> FloatArray:
    """Return one class's part of n times the mutual information, Σ observed ln(observed/expected).

    k and rest are the class's documents with and without the term, the other two those of all documents.
    kl_div is x ln(x/e) − x + e ≥ 0, whose linear terms cancel over the class; rounding can leave −1e−16.
    """
    size, n = k + rest, with_term + without_term
    return np.maximum(kl_div(k, size * with_term / n) + kl_div(rest, size * without_term / n), 0.0)


def _correlation(matrix: csr_array, indicator: csr_array) -> FloatArray:
    """Return |r| for every category and column from sums over the stored entries alone.

    Columns are scaled to a greatest absolute value of 1 (against overflow; it also makes a constant column's sums
    exact, so that its r is 0) and shifted by their mean m before squaring (against cancellation); implicit zeros add
    −m each. Rounding of m itself is taken out by the corrected two-pass formulas Σ(x−m)² − (Σ(x−m))²/n and
    Σ(x−m)y − ȳΣ(x−m).
    """
    n_rows, n_columns = matrix.shape
    columns = matrix.indices
    stored = np.bincount(columns, minlength=n_columns)
    greatest = abs(matrix).max(axis=0).toarray().ravel()
    scale = np.where(greatest > 0, greatest, 1.0)
    scaled = matrix.data / scale[columns]
    mean = np.bincount(columns, scaled, n_columns) / n_rows
    shifted = scaled - mean[columns]
    residue = np.bincount(columns, shifted, n_columns) - (n_rows - stored) * mean
    squares = np.bincount(columns, shifted**2, n_columns) + (n_rows - stored) * mean**2 - residue**2 / n_rows

    size = indicator.sum(axis=0)[:, None]
    weights = (indicator.T @ _with_data(matrix, shifted)).toarray()
    present = (indicator.T @ _with_data(matrix, np.ones(matrix.nnz))).toarray()
    covariance = weights - (size - present) * mean - size / n_rows * residue
    spread = squares * (size * (n_rows - size) / n_rows)
    r = _ratio(np.abs(covariance), np.sqrt(np.maximum(spread, 0.0)))
    return np.minimum(r, 1.0)
