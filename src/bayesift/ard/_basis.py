"""Basis functions of a relevance vector machine, sparse or dense, behind one set of products."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

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

    def against(self, v: FloatArray) -> FloatArray:
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


def _dense(block: Any) -> FloatArray:
    return block.toarray() if sp.issparse(block) else block
