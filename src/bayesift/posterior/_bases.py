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
from bayesift.posterior._problem import TOO_WIDE, Beliefs, Problem

#: Documents count as linear combinations of others if at most this share of their prior variance remains.
_NOTHING_NEW = 1e-12
#: Documents whose lengths differ by more than this factor are measured in different units.
_UNIT = 2.0**10
#: Scores may be lost to rounding by this much, with so many draws of the coefficients.
_NOTICED, _TRIED = 0.1, 8


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
        lower, order = _decomposed(K, np.diag(K))
        rank = lower.shape[1]
        basis = cls(problem.beliefs, scaled[order[:rank]], np.ascontiguousarray(lower[:rank]))
        H = np.empty((K.shape[0], rank + problem.beliefs.flat.size))
        H[order, :rank] = lower
        H[:, rank:] = problem.A[:, problem.beliefs.flat].toarray()
        basis._refuse_lost(problem.A, H)
        return basis, H

    def _check_state(self, state: State) -> None:
        n_columns = state.instance("beliefs", Beliefs).mode.size
        rank = state.array("root", (None, None)).shape[0]
        state.require(sp.issparse(state.matrix("rows", (rank, n_columns))), "documents")
        state.array("root", (rank, rank))

    def _refuse_lost(self, A: sp.csr_matrix, H: FloatArray) -> None:
        """Refuse labelled documents whose coordinates do not give their scores: what is left of some was rounded away.

        That shows with any coefficients, such as a few draws from the prior.
        """
        deviation = np.sqrt(self.beliefs.finite_variance)
        draws = np.random.default_rng(0).standard_normal((deviation.size, _TRIED))
        inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0.0)
        phi = solve_triangular(self.root, self.rows @ (inverse[:, None] * draws), lower=True, check_finite=False)
        lost = np.abs(A @ (deviation[:, None] * draws) - H[:, : self.root.shape[0]] @ phi)
        if not np.all(lost <= _NOTICED):
            raise ValueError(TOO_WIDE)

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


def _decomposed(K: FloatArray, variances: FloatArray) -> tuple[FloatArray, Int64Array]:
    """Decompose K = LLᵀ with pivots; return the columns of L that there are, by rows in the order that is returned too.

    ``variances`` are those of which a share is left. Units are powers of two, with which nothing is rounded, and the
    same for documents of similar length, which stay in their order.
    """
    lengths = np.sqrt(variances)
    longest = max(float(lengths.max(initial=0.0)), np.finfo(float).tiny)
    # A document of length 0 has nothing in any unit.
    shares = np.where(lengths > 0.0, lengths / longest, 1.0)
    units = _UNIT ** np.round(np.log(shares) / np.log(_UNIT))
    L, pivots, rank, _ = dpstrf(K / units / units[:, None], tol=_NOTHING_NEW * longest**2, lower=1)
    order = pivots - 1
    return np.tril(L)[:, :rank] * units[order][:, None], order


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
    lower, order = _decomposed(K - known @ known.T, np.diag(K))
    added = lower.shape[1]
    root = np.zeros((rank + added, rank + added))
    root[:rank, :rank], root[rank:, :rank], root[rank:, rank:] = basis.root, known[order[:added]], lower[:added]
    more = np.empty((A.shape[0], added))
    more[order] = lower
    rows = sp.csr_matrix(sp.vstack([basis.rows, scaled[order[:added]]], format="csr"))
    found, H = DocumentBasis(basis.beliefs, rows, root), np.hstack([known, more, H[:, rank:]])
    found._refuse_lost(A, H)
    return found, H
