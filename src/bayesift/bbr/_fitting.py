"""What a fit needs beforehand: how to choose its prior variance, and its columns and their units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from bayesift._typing import FloatArray, Int64Array

#: A standardised matrix has no zeros; one with more numbers than this is refused.
LARGEST_DENSE = 250_000_000


@dataclass(frozen=True)
class VarianceChoice:
    """How the common prior variance is found.

    Parameters
    ----------
    values : tuple of float
        Empty: use the norm of the documents; one value: use it; several: choose the best by cross-validation.
    search : bool
        Search without a grid instead.
    folds, runs : int
    one_standard_error : bool
    """

    values: tuple[float, ...] = ()
    search: bool = False
    folds: int = 10
    runs: int = 10
    one_standard_error: bool = False

    @property
    def by_norm(self) -> bool:
        """Whether the norm of the documents gives the variance."""
        return not (self.values or self.search)

    def known(self, mean_square_norm: float | None, n_features: int) -> float | None:
        """Return the variance if no search is needed; the programs count the constant as a feature."""
        if mean_square_norm is not None:
            return (n_features + 1) / mean_square_norm
        return self.values[0] if len(self.values) == 1 else None

    def searching(self) -> dict[str, Any]:
        """Return the parameters of an estimator that searches."""
        return {
            "variance": "auto" if self.search else "cv",
            "grid": self.values or None,
            "folds": self.folds,
            "runs": self.runs,
            "one_standard_error": self.one_standard_error,
        }


@dataclass(frozen=True, eq=False)
class Design:
    """The matrix of a fit, and how to convert coefficients back to raw units.

    Parameters
    ----------
    X : csr_matrix, or an array if columns are standardised
    mean, scale : arrays of shape (n_features,)
        What was subtracted from every column, and what it was then divided by.
    """

    X: Any
    mean: FloatArray
    scale: FloatArray

    @property
    def standardized(self) -> bool:
        """Whether columns were standardised."""
        return not sp.issparse(self.X)

    def mean_square_norm(self) -> float:
        """Return the mean squared norm of the documents, which counts as 1 if columns are standardised."""
        if self.standardized:
            return 1.0
        return float(self.X.power(2).sum()) / self.X.shape[0]

    def with_constant(self) -> Any:
        """Return the matrix with a last column of ones."""
        ones = np.ones((self.X.shape[0], 1))
        return np.hstack([self.X, ones]) if self.standardized else sp.hstack([self.X, ones], format="csr")

    def raw(self, beta: FloatArray, intercept: Any) -> tuple[FloatArray, Any]:
        """Convert coefficients (of one class, or a row for each) and constants back to raw units."""
        coef = beta / self.scale
        return coef, intercept - coef @ self.mean


def design_of(X: sp.csr_matrix, *, cosine: bool, standardize: bool) -> Design:
    """Scale documents to length 1 and standardise columns, if asked."""
    if cosine:
        X = normalize(X)
    n_documents, n_features = X.shape
    if not standardize:
        return Design(X, np.zeros(n_features), np.ones(n_features))
    if n_documents * n_features > LARGEST_DENSE:
        raise ValueError(
            f"-s needs a matrix without zeros of {n_documents} by {n_features} numbers; expected at most "
            f"{LARGEST_DENSE:,} of them, so leave -s out or train on fewer features"
        )
    dense = X.toarray()
    mean = dense.mean(axis=0)
    deviation = dense.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    return Design((dense - mean) / scale, mean, scale)


def compacted(X: sp.csr_matrix) -> tuple[Int64Array, sp.csr_matrix]:
    """Return the columns that have entries, and the matrix of only these.

    Ids may be hashes of words, so nothing should be as long as the largest id unless that many columns have entries.
    """
    if X.shape[1] <= 8 * X.nnz:
        columns = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        place_of = np.empty(X.shape[1], dtype=np.int64)
        place_of[columns] = np.arange(columns.size)
        places = place_of[X.indices]
    else:
        columns, places = np.unique(X.indices, return_inverse=True)
    matrix = sp.csr_matrix((X.data, places.astype(np.int32), X.indptr), shape=(X.shape[0], columns.size))
    return columns.astype(np.int64), matrix
