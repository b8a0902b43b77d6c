"""Where the posterior differs from the prior: the span of the labelled documents.

A document a (with its constant) has the score f = o + hᵀφ + r. The coordinates φ are independent N(0, 1) a priori
except those of coefficients without a proper prior, which come last; r is independent of φ, has mean 0 and no label
speaks about it: its variance is that of words that stand in no labelled document, and of what is not in the span of
the labelled ones. For labelled documents r = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from bayesift._state import State, are_columns
from bayesift._typing import FloatArray, Int64Array
from bayesift.posterior._problem import Beliefs, Problem

#: Documents count as linear combinations of others if at most this share of the greatest prior variance remains.
_NOTHING_NEW = 1e-12


class Projection(NamedTuple):
    """Documents in the coordinates of a basis: the known part of their scores, h, and the variance of the rest.

    ``laplace`` has the part of that variance that each word with a Laplace prior adds, if there are such.
    """

    offset: FloatArray
    H: Any
    rest: FloatArray
    laplace: sp.csr_matrix | None = None

    @property
    def dense(self) -> FloatArray:
        """The coordinates as an array."""
        return self.H.toarray() if sp.issparse(self.H) else self.H


@dataclass(frozen=True, eq=False)
class DocumentBasis:
    """Coordinates by labelled documents: with K = AVAᵀ = LLᵀ, a document has h = L⁻¹AVa.

    Documents that are linear combinations of others are left out, by a Cholesky decomposition with pivots.

    Parameters
    ----------
    beliefs : Beliefs
    rows : csr_matrix of shape (rank, n_features + 1)
        AV of the pivots.
    root : array of shape (rank, rank)
        Their lower triangular L.
    """

    beliefs: Beliefs
    rows: sp.csr_matrix
    root: FloatArray

    @classmethod
    def of(cls, problem: Problem) -> tuple[DocumentBasis, FloatArray]:
        """Return the basis, and the coordinates H of the labelled documents."""
        variance = problem.beliefs.finite_variance
        scaled = sp.csr_matrix(problem.A.multiply(variance[None, :]))
        scaled.eliminate_zeros()
        K = np.asarray((scaled @ problem.A.T).toarray())
        n = K.shape[0]
        least = _NOTHING_NEW * max(float(np.diag(K).max(initial=0.0)), np.finfo(float).tiny)
        L, pivots, rank, _ = dpstrf(K, tol=least, lower=1)
        order = pivots - 1
        lower = np.tril(L)[:, :rank]
        basis = cls(problem.beliefs, scaled[order[:rank]], np.ascontiguousarray(lower[:rank]))
        H = np.empty((n, rank + problem.beliefs.flat.size))
        H[order, :rank] = lower
        H[:, rank:] = problem.A[:, problem.beliefs.flat].toarray()
        return basis, H

    def _check_state(self, state: State) -> None:
        n_columns = state.instance("beliefs", Beliefs).mode.size
        rank = state.array("root", (None, None)).shape[0]
        state.require(sp.issparse(state.matrix("rows", (rank, n_columns))), "documents")
        state.array("root", (rank, rank))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.root.shape[0] + self.beliefs.flat.size

    @property
    def seen(self) -> Int64Array:
        """Columns of the words that occur in labelled documents, and of the intercept."""
        return np.union1d(self.rows.indices, self.beliefs.flat).astype(np.int64)

    def project(self, A: sp.csr_matrix) -> Projection:
        """Return documents, with their constants, in these coordinates."""
        k = np.asarray((self.rows @ A.T).toarray())
        h = solve_triangular(self.root, k, lower=True, overwrite_b=True, check_finite=False).T
        total = np.asarray(A.multiply(A) @ self.beliefs.finite_variance)
        rest = total - np.einsum("ij,ij->i", h, h)
        # For a document in the span, the remainder is rounding error.
        rest[rest < _NOTHING_NEW * total] = 0.0
        H = np.hstack([h, A[:, self.beliefs.flat].toarray()])
        return Projection(np.asarray(A @ self.beliefs.centre), H, rest)

    def coefficients(self, phi: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw the coefficients of the columns seen, given draws of φ as rows."""
        rank, flat, seen = self.root.shape[0], self.beliefs.flat, self.seen
        deviation = np.sqrt(self.beliefs.finite_variance[seen])
        with np.errstate(divide="ignore"):
            inverse = np.where(deviation > 0.0, 1.0 / deviation, 0.0)
        # Columns of P = V^½AᵀL^−T are orthonormal: the directions of the coordinates.
        scaled = self.rows[:, seen].multiply(inverse[None, :]).toarray()
        P = solve_triangular(self.root, scaled, lower=True, overwrite_b=True, check_finite=False)
        noise = rng.standard_normal((phi.shape[0], seen.size))
        noise += (phi[:, :rank] - noise @ P.T) @ P
        draws = self.beliefs.centre[seen] + deviation * noise
        draws[:, np.searchsorted(seen, flat)] = phi[:, rank:]
        return draws


@dataclass(frozen=True, eq=False)
class CoefficientBasis:
    """Coordinates by coefficients: h_j = scale_j a_j for the columns seen, those without a proper prior last.

    Parameters
    ----------
    beliefs : Beliefs
    columns : int array
        Columns seen with a proper prior.
    scale : float array
        √v_j, with which coordinates are N(0, 1) a priori; or ones, for coordinates that are coefficients themselves.
    """

    beliefs: Beliefs
    columns: Int64Array
    scale: FloatArray

    @classmethod
    def of(cls, problem: Problem, whitened: bool = True) -> tuple[CoefficientBasis, sp.csr_matrix]:
        """Return the basis, and the coordinates H of the labelled documents."""
        columns = np.setdiff1d(problem.seen, problem.beliefs.flat)
        scale = np.sqrt(problem.beliefs.variance[columns]) if whitened else np.ones(columns.size)
        basis = cls(problem.beliefs, columns, scale)
        return basis, basis._coordinates(problem.A)

    def _check_state(self, state: State) -> None:
        n_columns = state.instance("beliefs", Beliefs).mode.size
        columns = state.value("columns")
        state.require(are_columns(columns, n_columns), "columns")
        state.array("scale", (columns.size,))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.columns.size + self.beliefs.flat.size

    @property
    def seen(self) -> Int64Array:
        """Columns of the words that occur in labelled documents, and of the intercept."""
        return np.union1d(self.columns, self.beliefs.flat).astype(np.int64)

    def _coordinates(self, A: sp.csr_matrix) -> sp.csr_matrix:
        chosen = np.append(self.columns, self.beliefs.flat)
        scale = np.append(self.scale, np.ones(self.beliefs.flat.size))
        return sp.csr_matrix(A[:, chosen].multiply(scale[None, :]))

    @property
    def unseen_variance(self) -> FloatArray:
        """Prior variances of the other columns, 0 for those seen."""
        variance = self.beliefs.finite_variance.copy()
        variance[self.columns] = 0.0
        return variance

    def project(self, A: sp.csr_matrix) -> Projection:
        """Return documents, with their constants, in these coordinates."""
        squares, unseen = A.multiply(A), self.unseen_variance
        laplace = None
        if np.any(self.beliefs.laplace):
            laplace = sp.csr_matrix(squares.multiply(np.where(self.beliefs.laplace, unseen, 0.0)[None, :]))
            laplace.eliminate_zeros()
        offset, rest = np.asarray(A @ self.beliefs.centre), np.asarray(squares @ unseen)
        return Projection(offset, self._coordinates(A), rest, laplace)

    def coefficients(self, phi: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the coefficients of the columns seen, given draws of φ as rows."""
        seen, rank = self.seen, self.columns.size
        draws = np.empty((phi.shape[0], seen.size))
        moved = phi[:, :rank] * self.scale + self.beliefs.centre[self.columns]
        draws[:, np.searchsorted(seen, self.columns)] = moved
        draws[:, np.searchsorted(seen, self.beliefs.flat)] = phi[:, rank:]
        return draws


Basis = DocumentBasis | CoefficientBasis


def basis_of(problem: Problem) -> tuple[Basis, FloatArray]:
    """Return the smaller of the two bases, and the labelled documents in it."""
    if problem.n_documents < problem.seen.size:
        return DocumentBasis.of(problem)
    basis, H = CoefficientBasis.of(problem)
    return basis, H.toarray()


def extended(basis: Basis, A: sp.csr_matrix) -> tuple[Basis, FloatArray]:
    """Return a basis extended by what further documents add, and these documents in it.

    The coordinates that there were stay the same; new ones stand between them and those without a proper prior.
    """
    if isinstance(basis, CoefficientBasis):
        variance = basis.beliefs.finite_variance
        new = np.setdiff1d(np.unique(A.indices[A.data != 0]), basis.seen)
        new = new[variance[new] > 0]
        scale = np.append(basis.scale, np.sqrt(variance[new]))
        wider = CoefficientBasis(basis.beliefs, np.append(basis.columns, new).astype(np.int64), scale)
        return wider, wider.project(A).dense
    variance, rank = basis.beliefs.finite_variance, basis.root.shape[0]
    scaled = sp.csr_matrix(A.multiply(variance[None, :]))
    scaled.eliminate_zeros()
    H = basis.project(A).dense
    K = np.asarray((scaled @ A.T).toarray())
    known = H[:, :rank]
    least = _NOTHING_NEW * max(float(np.diag(K).max(initial=0.0)), np.finfo(float).tiny)
    L, pivots, added, _ = dpstrf(K - known @ known.T, tol=least, lower=1)
    order = pivots - 1
    lower = np.tril(L)[:, :added]
    root = np.zeros((rank + added, rank + added))
    root[:rank, :rank], root[rank:, :rank], root[rank:, rank:] = basis.root, known[order[:added]], lower[:added]
    more = np.empty((A.shape[0], added))
    more[order] = lower
    rows = sp.csr_matrix(sp.vstack([basis.rows, scaled[order[:added]]], format="csr"))
    return DocumentBasis(basis.beliefs, rows, root), np.hstack([known, more, H[:, rank:]])
