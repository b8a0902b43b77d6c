"""The precision matrix ΦᵀBΦ + A of weights: solving with it, its determinant and the diagonal of its inverse."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from bayesift._typing import FloatArray
from bayesift.ard._basis import Basis


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
        self._factor = cholesky(middle, lower=True, overwrite_a=True, check_finite=False)

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
        back = self._basis.against((self._root_b * inner.T).T)
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
