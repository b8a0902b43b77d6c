"""The M-step of the probit model: a Gaussian regression of the expected latent scores on the documents.

With Ω the expected inverse variances and S the weights of the documents, β = (Ω + XᵀSX)⁻¹XᵀSv (13). Written with
U = Ω^−½ it is β = U(I + UXᵀSXU)⁻¹UXᵀSv, which stays well-posed as coefficients, and U with them, go to zero. The same
β is U²XᵀS½(I + S½XU²XᵀS½)⁻¹S½v, a system as large as the number of documents; the smaller of the two is solved.
Coefficients without penalty (Ω = 0) have no U: their place in the first system is scaled by 1 and has no I, and in the
second they are found by generalised least squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from bayesift._typing import AnyArray, BoolArray, FloatArray

#: No dense system above this size is built: its matrix alone would take more than three gigabytes.
_LARGEST = 20_000
#: A squared pivot that is this share of its place on the diagonal is rounding.
_ROUNDING = 1e-13


class Regression:
    """Solve M-steps for some columns of X, which may become fewer; what does not change between steps is kept.

    Parameters
    ----------
    X : csc_matrix of shape (n_documents, n_columns)
        The columns.
    s : float array of shape (n_documents,)
        Weights of the documents, greater than 0.
    penalised : bool array of shape (n_columns,)
        Which coefficients have a prior.

    Attributes
    ----------
    penalised : bool array
        The same for the columns that are left.
    """

    def __init__(self, X: sp.csc_matrix, s: FloatArray, penalised: BoolArray) -> None:
        if min(X.shape) > _LARGEST:
            raise ValueError(
                f"solver='em' would build a matrix of {min(X.shape)} rows and columns; use 'newton' or 'block-em'"
            )
        self.penalised = penalised
        self._X, self._s = X, s
        self._left = np.arange(X.shape[1])
        self._all_products: FloatArray | None
        self._products: FloatArray | None
        self._scale: FloatArray | None
        self._factor: Any
        self.release()

    def release(self) -> None:
        """Forget the matrices; the next step makes them again."""
        self._all_products = self._products = self._scale = self._factor = None

    def drop(self, gone: BoolArray) -> None:
        """Leave out some of the columns that are left."""
        self._left, self.penalised = self._left[~gone], self.penalised[~gone]
        self._products = self._scale = None
        if 2 * self._left.size < self._X.shape[1]:
            self._X = self._X[:, self._left]
            if self._all_products is not None:
                self._all_products = self._all_products[np.ix_(self._left, self._left)]
            self._left = np.arange(self._left.size)

    def scores(self, beta: FloatArray) -> FloatArray:
        """Xβ."""
        spread = np.zeros(self._X.shape[1])
        spread[self._left] = beta
        return self._X @ spread

    def solve(self, scale: FloatArray, sv: FloatArray) -> FloatArray:
        """Return β for U = ``scale`` (1 where nothing is penalised) and the weighted latent scores Sv."""
        by_columns = scale.size <= self._s.size
        if self._scale is None or not np.array_equal(scale, self._scale):
            self._scale = scale.copy()
            self._factor = _factor(self._column_system(scale) if by_columns else self._document_system(scale))
        if by_columns:
            return scale * _solve(self._factor, scale * (self._X.T @ sv)[self._left])
        return self._by_documents(scale, sv)

    def _column_system(self, scale: FloatArray) -> FloatArray:
        """I + UXᵀSXU."""
        if self._all_products is None:
            self._all_products = np.asarray((self._X.T @ self._X.multiply(self._s[:, None]).tocsc()).toarray())
        if self._products is None:
            whole = self._left.size == self._X.shape[1]
            self._products = self._all_products if whole else self._all_products[np.ix_(self._left, self._left)]
        matrix = self._products * scale
        matrix *= scale[:, None]
        matrix[np.diag_indices_from(matrix)] += self.penalised
        return matrix

    def _document_system(self, scale: FloatArray) -> FloatArray:
        """I + S½XU²XᵀS½."""
        scaled = self._X[:, self._left].multiply(np.sqrt(self._s)[:, None]).multiply(scale * self.penalised).tocsr()
        matrix = np.asarray((scaled @ scaled.T).toarray())
        matrix[np.diag_indices_from(matrix)] += 1.0
        return matrix

    def _by_documents(self, scale: FloatArray, sv: FloatArray) -> FloatArray:
        root = np.sqrt(self._s)
        target = sv / root
        beta = np.zeros(scale.size)
        free = ~self.penalised
        if free.any():
            open_columns = self._X[:, self._left[free]].toarray() * root[:, None]
            weighed = _solve(self._factor, open_columns)
            beta[free] = lstsq(open_columns.T @ weighed, weighed.T @ target)[0]
            target = target - open_columns @ beta[free]
        found = (self._X.T @ (root * _solve(self._factor, target)))[self._left]
        beta[~free] = (scale**2 * found)[~free]
        return beta


def _factor(matrix: FloatArray) -> Any:
    """Factorise a symmetric matrix, which is overwritten; one that is singular is given back as it was.

    Only open columns that repeat each other make it singular.
    """
    diagonal = matrix.diagonal().copy()
    try:
        # The transpose of a symmetric matrix is itself, in the order that LAPACK reads without a copy.
        factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        if np.all(factor[0].diagonal() ** 2 > _ROUNDING * diagonal):
            return factor
    except LinAlgError:
        pass
    # The factor has replaced one triangle and the diagonal.
    lower = np.tril(matrix, -1)
    return lower + lower.T + np.diag(diagonal)


def _solve(factor: Any, right: AnyArray) -> AnyArray:
    if isinstance(factor, tuple):
        return cho_solve(factor, right, check_finite=False)
    return lstsq(factor, right, check_finite=False)[0]
