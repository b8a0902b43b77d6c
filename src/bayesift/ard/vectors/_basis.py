"""Basis functions Φ of a relevance vector machine, sparse or dense, and the precision ΦᵀBΦ + A of their weights."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular

from bayesift._typing import BoolArray, FloatArray, Int64Array

#: Columns that are made dense at a time where a triangular solve asks for it.
_BLOCK = 256


class Basis:
    """A matrix Φ with a row for every object and a column for every basis function.

    Parameters
    ----------
    matrix : csc_matrix or array of shape (n_objects, n_functions)
    """

    def __init__(self, matrix: Any) -> None:
        self.matrix: Any = sp.csc_matrix(matrix) if sp.issparse(matrix) else np.asarray(matrix, dtype=np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and functions."""
        return self.matrix.shape

    def columns(self, which: Int64Array | BoolArray) -> Basis:
        """Return some of the functions, by number or by a mask."""
        return Basis(self.matrix[:, which])

    def times(self, w: FloatArray) -> FloatArray:
        """Return Φ w."""
        return np.asarray(self.matrix @ w)

    def transposed_times(self, v: FloatArray) -> FloatArray:
        """Return Φᵀ v."""
        return np.asarray(self.matrix.T @ v)

    def gram(self, b: FloatArray, other: Basis | None = None) -> FloatArray:
        """Return Φᵀ diag(b) Φ, or Φᵀ diag(b) Ψ with another basis Ψ, as a dense matrix."""
        right = (self if other is None else other).matrix
        return _dense(self._scaled(b).T @ right)

    def squares(self, b: FloatArray) -> FloatArray:
        """Return the diagonal of Φᵀ diag(b) Φ."""
        return np.asarray(self._squared.T @ b)

    def spread(self, covariance: FloatArray) -> FloatArray:
        """Return φᵀ Σ φ for every object."""
        product = self.matrix @ covariance
        if sp.issparse(self.matrix):
            return np.asarray(self.matrix.multiply(product).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", product, self.matrix)

    def objects_gram(self, scale: FloatArray) -> FloatArray:
        """Return Φ diag(scale) Φᵀ as a dense matrix."""
        if not sp.issparse(self.matrix):
            return (self.matrix * scale) @ self.matrix.T
        return _dense(self.matrix @ sp.diags(scale) @ self.matrix.T)

    def blocks(self) -> list[tuple[slice, FloatArray]]:
        """Return the columns as dense blocks, with their places."""
        places = [slice(start, start + _BLOCK) for start in range(0, self.shape[1], _BLOCK)]
        return [(place, _dense(self.matrix[:, place])) for place in places]

    @cached_property
    def _squared(self) -> Any:
        return self.matrix.multiply(self.matrix).tocsc() if sp.issparse(self.matrix) else self.matrix**2

    def _scaled(self, b: FloatArray) -> Any:
        """Return diag(b) Φ."""
        if not sp.issparse(self.matrix):
            return b[:, None] * self.matrix
        scaled = self.matrix.copy()
        scaled.data *= b[scaled.indices]
        return scaled


class Curvature:
    """H = ΦᵀBΦ + A with positive A, factored among the functions or among the objects, whichever are fewer.

    With V = A^−½ Φᵀ B^½, H = A^½ (I + V Vᵀ) A^½, whose middle has no eigenvalue below 1 however far apart the entries
    of A are; among the objects, (I + V Vᵀ)⁻¹ = I − V (I + Vᵀ V)⁻¹ Vᵀ.

    Parameters
    ----------
    basis : Basis of n objects and k functions
    b : float array of shape (n,)
        Diagonal of B, not negative.
    alpha : float array of shape (k,)
        Diagonal of A, positive.
    """

    def __init__(self, basis: Basis, b: FloatArray, alpha: FloatArray) -> None:
        n_objects, n_functions = basis.shape
        self._basis, self._root_b, self._scale = basis, np.sqrt(b), 1.0 / np.sqrt(alpha)
        self._among_objects = n_functions > n_objects
        if self._among_objects:
            middle = self._root_b[:, None] * basis.objects_gram(self._scale**2) * self._root_b
        else:
            middle = self._scale[:, None] * basis.gram(b) * self._scale
        middle[np.diag_indices_from(middle)] += 1.0
        try:
            self._factor = cholesky(middle, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            self._factor = self._orthogonal_factor()

    def _orthogonal_factor(self) -> FloatArray:
        """Return the factor where entries of V are so large that the identity is lost beside their squares."""
        v = self._root_b[:, None] * _dense(self._basis.matrix) * self._scale
        v = v.T if self._among_objects else v
        [triangle] = qr(np.vstack([v, np.eye(v.shape[1])]), mode="r", check_finite=False)
        triangle = triangle[: v.shape[1]]
        return np.asarray((triangle * np.sign(np.diag(triangle))[:, None]).T)

    @property
    def log_determinant(self) -> float:
        """Return ln det(I + V Vᵀ) = ln det H − ln det A."""
        return 2.0 * float(np.log(np.diag(self._factor)).sum())

    def solve(self, v: FloatArray) -> FloatArray:
        """Return H⁻¹ v, for one or for several columns v."""
        scaled = (self._scale * v.T).T
        if not self._among_objects:
            return (self._scale * self._half_solve(self._half_solve(scaled), transposed=True).T).T
        inner = self._half_solve(self._half_solve(self._to_objects(scaled)), transposed=True)
        back = self._basis.transposed_times((self._root_b * inner.T).T)
        return (self._scale * (scaled.T - self._scale * back.T)).T

    def inverse_diagonal(self) -> FloatArray:
        """Return the diagonal of H⁻¹."""
        if not self._among_objects:
            return np.sum(self._half_solve(np.diag(self._scale)) ** 2, axis=0)
        taken = np.empty(self._scale.size)
        for place, block in self._basis.blocks():
            taken[place] = np.sum(self._half_solve(self._root_b[:, None] * block) ** 2, axis=0)
        return self._scale**2 * (1.0 - self._scale**2 * taken)

    def inverse(self) -> FloatArray:
        """Return H⁻¹."""
        return self.solve(np.eye(self._scale.size))

    def quadratic(self, columns: FloatArray) -> FloatArray:
        """Return cᵀ H⁻¹ c for every column c."""
        scaled = self._scale[:, None] * columns
        if not self._among_objects:
            return np.sum(self._half_solve(scaled) ** 2, axis=0)
        return np.sum(scaled**2, axis=0) - np.sum(self._half_solve(self._to_objects(scaled)) ** 2, axis=0)

    def _to_objects(self, scaled: FloatArray) -> FloatArray:
        """Return Vᵀ v."""
        return (self._root_b * self._basis.times((self._scale * scaled.T).T).T).T

    def _half_solve(self, v: FloatArray, *, transposed: bool = False) -> FloatArray:
        return solve_triangular(self._factor, v, lower=True, trans=int(transposed), check_finite=False)


def _dense(block: Any) -> FloatArray:
    return block.toarray() if sp.issparse(block) else block
