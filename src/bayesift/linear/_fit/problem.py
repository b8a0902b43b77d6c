"""One fit: the documents as the solvers want them, a category, its weights, its priors, a solver."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from bayesift._sparse import Compressed, columns_dot, inner, own_types, squared_norms, transpose, unsigned
from bayesift._threads import map_threads, stop_if_abandoned
from bayesift._typing import FloatArray, Int64Array
from bayesift.linear._losses import LOGISTIC, class_scores, loss_terms
from bayesift.linear._solvers.clg import clg
from bayesift.linear._solvers.duality import Penalties, certificate, linear_scores, penalty_arrays
from bayesift.linear._solvers.em import expectation_maximisation, jeffreys_objective, latent_of, ridge_start
from bayesift.linear._solvers.hessian import hessian_diagonal
from bayesift.linear._solvers.newton import Workspace, newton, workspace
from bayesift.linear._solvers.ridge import ridge
from bayesift.linear._solvers.working_set import largest_steps
from bayesift.priors import FIXED, GAUSSIAN, JEFFREYS, LAPLACE, PriorArrays

SolverName = Literal["newton", "clg"]
ProbitSolverName = Literal["auto", "newton", "em", "block-em"]

#: Default tolerance of each solver, as a share of the objective (duality gap), of the scores (change in a pass), or of
#: the norm of the coefficients (change in a round).
TOLERANCES = {"newton": 1e-6, "clg": 0.0005, "em": 1e-5, "block-em": 1e-5}

#: What a solver reports: objective, dual, KKT residual, rounds, and whether it converged.
Found = tuple[float, float, float, int, bool]

_MOST = np.iinfo(np.uint32).max

#: More dense features than this are treated one by one, and so are those of fewer documents than so many times them.
_LARGEST_BLOCK, _LONG_BLOCK = 1_000, 16

Item = TypeVar("Item")
Result = TypeVar("Result")


class Documents(Protocol):
    """What fits need of the documents, wherever they are: in memory (:class:`Design`) or in shards.

    ``map`` does work on several items, such as categories, side by side; ``inner_jobs`` are threads within.
    """

    @property
    def n_documents(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def row_hashes(self) -> FloatArray: ...
    @property
    def row_numbers(self) -> Int64Array: ...
    @property
    def squared_norms(self) -> FloatArray: ...
    def block_norms(self, n_dense: int) -> FloatArray: ...
    def sums(self, weights: FloatArray) -> FloatArray | None: ...
    def subset(self, rows: Int64Array) -> Design: ...
    def without_empty_columns(self) -> tuple[Documents, Int64Array]: ...
    def scores(self, beta: FloatArray) -> FloatArray: ...
    def hessian_diagonal(self, problem: Problem, beta: FloatArray, own: FloatArray) -> FloatArray: ...
    def solve(self, problem: Problem, options: SolverOptions, start: FloatArray | None) -> Solution: ...
    def class_scores(self, beta: FloatArray) -> FloatArray: ...
    def solve_classes(self, problem: Any, options: SolverOptions, start: FloatArray | None) -> Solution: ...
    def map(
        self, work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None
    ) -> list[Result]: ...  # fmt: skip
    def inner_jobs(self, n_jobs: int | None) -> int | None: ...


@dataclass(frozen=True, eq=False)
class Design:
    """A matrix by columns and by rows in one fixed set of types, so that kernels are compiled once.

    Unsigned numbers spare the kernels a test for negative indices at every entry.

    Parameters
    ----------
    columns, documents : tuples of arrays
        Where each column (document) starts, the documents (columns) of its entries, their values.
    max_step : float array of shape (n_features + 1,)
        Largest step of each coefficient, the intercept's last.
    n_dense : int
        How many of the last columns are dense features, with an entry in every document, be it 0.
    """

    columns: Compressed
    documents: Compressed
    max_step: FloatArray
    n_dense: int = 0
    _own: threading.local = field(default_factory=threading.local, repr=False)

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return self.documents[0].size - 1

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.columns[0].size - 1

    @cached_property
    def block(self) -> FloatArray:
        """The dense features, of shape (n_dense, n_documents), where solvers gain by treating them together."""
        starts, _, values = self.columns
        first = starts[self.n_features - self.n_dense]
        is_full = values.size - first == self.n_dense * self.n_documents
        if not is_full or self.n_dense > _LARGEST_BLOCK or self.n_documents < _LONG_BLOCK * self.n_dense:
            return np.empty((0, self.n_documents))
        return values[first:].reshape(self.n_dense, self.n_documents)

    @cached_property
    def row_hashes(self) -> FloatArray:
        """A hash of each document, the same for copies: its product with random numbers."""
        hashes = np.empty(self.n_documents)
        columns_dot(*self.documents, np.random.default_rng(0).random(self.n_features), hashes)
        return hashes

    @cached_property
    def row_numbers(self) -> Int64Array:
        """Numbers of the documents from 0 on, the same for copies."""
        return np.unique(self.row_hashes, return_inverse=True)[1]

    @cached_property
    def squared_norms(self) -> FloatArray:
        """The squared Euclidean norm of each document."""
        starts, _, values = self.documents
        return squared_norms(starts, values)

    def block_norms(self, n_dense: int) -> FloatArray:
        """Return the squared norms of each document without its last columns, and in these."""
        starts, columns, values = self.documents
        rows = np.repeat(np.arange(self.n_documents), np.diff(starts))
        in_dense = columns >= self.n_features - n_dense
        return np.stack(
            [
                np.bincount(rows[inside], values[inside] ** 2, self.n_documents).astype(np.float64, copy=False)
                for inside in (~in_dense, in_dense)
            ]
        )

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return Xᵀs, the sum of the weights last."""
        result = np.empty(self.n_features + 1)
        columns_dot(*self.columns, weights, result)
        result[-1] = weights.sum()
        return result

    def subset(self, rows: Int64Array) -> Design:
        """Return the design of some of the documents, with all columns."""
        starts, columns, values = self.documents
        sizes = starts[1:][rows] - starts[rows]
        own = np.append(0, np.cumsum(sizes, dtype=np.int64))
        taken = np.arange(own[-1]) + np.repeat(starts[rows] - own[:-1], sizes)
        documents = own.astype(np.uint32), columns[taken], values[taken]
        by_columns = transpose(*documents, self.n_features)
        return Design(by_columns, documents, largest_steps(by_columns[0], by_columns[2]), self.n_dense)

    def without_empty_columns(self) -> tuple[Design, Int64Array]:
        """Return the same documents without columns that have no entry, and the numbers of the others."""
        starts, rows, values = self.columns
        has_entries = np.diff(starts) > 0
        present = np.flatnonzero(has_entries)
        number = np.cumsum(has_entries, dtype=np.uint32) - np.uint32(1)
        columns = np.append(starts[:-1][has_entries], starts[-1]), rows, values
        documents = self.documents[0], number[self.documents[1]], self.documents[2]
        max_step = self.max_step[np.append(present, self.n_features)]
        n_dense = int(np.count_nonzero(present >= self.n_features - self.n_dense))
        return Design(columns, documents, max_step, n_dense), present

    def scores(self, beta: FloatArray) -> FloatArray:
        """Return the linear scores β₀ + x_iᵀβ of all documents."""
        return linear_scores(self.columns, beta, self.n_documents)

    def hessian_diagonal(self, problem: Problem, beta: FloatArray, own: FloatArray) -> FloatArray:
        """Return Σ_i s_i f″(r_i) x_ij² plus what the priors add, the intercept's last."""
        return hessian_diagonal(self.documents, problem.curvature(beta), own)

    def solve(self, problem: Problem, options: SolverOptions, start: FloatArray | None) -> Solution:
        """Find the posterior mode of a problem in these documents."""
        return problem.solve_in_memory(options, start)

    def class_scores(self, beta: FloatArray) -> FloatArray:
        """Return the linear scores of all documents, a column for each class."""
        z = np.empty((self.n_documents, beta.shape[1]))
        class_scores(self.columns, np.ascontiguousarray(beta), np.zeros_like(z), z)
        return z

    def solve_classes(self, problem: Any, options: SolverOptions, start: FloatArray | None) -> Solution:
        """Find the posterior mode of all classes together (a ``SoftmaxProblem``)."""
        found: Solution = problem.solve_in_memory(options, start)
        return found

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> list[Result]:
        """Return ``work(item)`` of every item, in their order, on several threads."""
        return map_threads(work, items, n_jobs)

    def inner_jobs(self, n_jobs: int | None) -> int | None:
        """Return how many threads may be at work within a piece of work: as many as are wanted."""
        return n_jobs

    def workspace(self) -> Workspace:
        """Return the solver's arrays of this thread; they live as long as the design."""
        if not hasattr(self._own, "workspace"):
            self._own.workspace = workspace(self.n_documents, self.n_features)
        return self._own.workspace


def design_of(X: Any, n_dense: int = 0) -> Design:
    """Bring a matrix into both forms; repeated entries are summed and nothing is made dense.

    The form in which X comes is not copied if it can be used as it stands. Of the last ``n_dense`` columns zeros are
    stored as well, if most of their entries are there.
    """
    matrix = X if sp.issparse(X) else sp.csr_matrix(X)
    if matrix.nnz > _MOST:
        raise ValueError(f"X has {matrix.nnz} entries; the solvers take at most {_MOST}")
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is X else matrix
        matrix.sum_duplicates()
    if n_dense:
        matrix = _with_full_block(matrix.tocsr(), n_dense)
    columns, documents = _arrays(matrix.tocsc()), _arrays(matrix.tocsr())
    return Design(columns, documents, largest_steps(columns[0], columns[2]), n_dense)


def _with_full_block(rows: Any, n_dense: int) -> Any:
    """Store every entry of the last columns where most are stored already: documents without a vector have zeros."""
    n_documents, n_features = rows.shape
    stored = int(np.count_nonzero(rows.indices >= n_features - n_dense))
    if stored == n_documents * n_dense or 2 * stored < n_documents * n_dense:
        return rows
    block = rows[:, n_features - n_dense :].toarray()
    starts = np.arange(0, block.size + 1, n_dense)
    full = sp.csr_matrix((block.ravel(), np.tile(np.arange(n_dense), n_documents), starts), shape=block.shape)
    return sp.hstack([rows[:, : n_features - n_dense], full], format="csr")


def _arrays(matrix: Any) -> Compressed:
    return unsigned(matrix.indptr), unsigned(matrix.indices), own_types(matrix.data, np.float64)


def in_memory(documents: Documents) -> Design:
    """Return documents that must be in memory."""
    assert isinstance(documents, Design)
    return documents


def norm_variance(design: Documents, weights: FloatArray) -> float:
    """Return the norm-based variance σ² = D/u (21).

    D is the number of features, the constant among them; u the mean squared Euclidean norm of the documents, without
    the constant. Where all documents are empty no coefficient can matter, and the variance is 1.
    """
    norm = float(inner(weights, design.squared_norms)) / weights.sum()
    return (design.n_features + 1) / norm if norm > 0 else 1.0


class SolverOptions(NamedTuple):
    """Which solver, and when it stops.

    ``tol`` is that of ``TOLERANCES`` if it is None. For fits that need not be exact, Newton stops at a gap of
    ``least_gap`` already, and under Laplace priors when a round gains at most the share ``settled`` of the objective.
    ``max_iter`` is the limit of rounds. ``"auto"`` is EM where a prior is Jeffreys, else Newton. EM starts from a
    regression with the penalty ``ridge``; ``block_size`` is how many coefficients ``"block-em"`` updates at a time.
    """

    solver: SolverName | ProbitSolverName
    tol: float | None
    max_iter: int
    ridge: float = 1.0
    block_size: int = 100
    least_gap: float = 0.0
    settled: float = 0.0

    @property
    def merges_copies(self) -> bool:
        """Whether copies may be merged into one weighted document: not if passes count every document alike."""
        return self.solver in ("newton", "auto")

    def tolerance(self, solver: str) -> float:
        """Return where a solver stops."""
        tol = TOLERANCES[solver] if self.tol is None else self.tol
        return max(tol, self.least_gap) if solver == "newton" else tol


class Solution(NamedTuple):
    """What a solver reached; the intercept is the last coefficient."""

    beta: FloatArray
    objective: float
    dual: float
    kkt_residual: float
    passes: int
    seconds: float
    converged: bool


class Problem(NamedTuple):
    """Everything that defines the objective of one category; the prior's last entry is that of the intercept.

    ``sums`` are Xᵀ·weights, for those who fit several times with the same weights; ``link`` is the code of the loss.
    """

    design: Documents
    y: FloatArray
    weights: FloatArray
    prior: PriorArrays
    sums: FloatArray | None = None
    link: int = LOGISTIC

    @property
    def in_memory(self) -> Design:
        """The documents, for those who work on them as arrays."""
        return in_memory(self.design)

    def offsets(self) -> FloatArray:
        """Score every document by the modes of the priors."""
        if not self.prior.mode.any():
            return np.zeros(self.design.n_documents)
        return scores(self.design, self.prior.mode)

    def solve(self, options: SolverOptions, start: FloatArray | None = None) -> Solution:
        """Find the posterior mode, from the modes of the priors (EM: from a ridge regression) or from ``start``."""
        return self.design.solve(self, options, start)

    def solve_in_memory(self, options: SolverOptions, start: FloatArray | None) -> Solution:
        """Find the posterior mode by one of the solvers for arrays."""
        stop_if_abandoned()
        design = self.in_memory
        begin = time.perf_counter()
        mode = self.prior.mode
        penalties = penalty_arrays(self.prior.kind, self.prior.weight, self.prior.sign)
        delta = np.zeros(mode.size)
        if start is not None:
            # A term that no document holds stays at its mode.
            delta = np.where(design.max_step > 0.0, np.clip(start - mode, *penalties[2:]), 0.0)
        solver = options.solver
        if solver == "auto":
            solver = "em" if np.any(self.prior.kind == JEFFREYS) else "newton"
        limits = (options.tolerance(solver), options.max_iter)
        if solver == "newton":
            found = self._solve_by_newton(delta, penalties, *limits, options.settled)
        elif solver == "clg":
            columns, sample = design.columns, (self.y, self.weights, self.offsets())
            passes, converged = clg(*columns, *sample, delta, *penalties, *limits)
            found = (*certificate(self.link, columns, sample, delta, penalties), passes, converged)
        else:
            block_size = options.block_size if solver == "block-em" else None
            found = self._solve_by_em(delta, penalties, block_size, options.ridge, *limits)
        primal, dual, residual, passes, converged = found
        return Solution(delta + mode, primal, dual, residual, passes, time.perf_counter() - begin, converged)

    def other_start(self, options: SolverOptions, random: np.random.Generator) -> FloatArray:
        """Return another start for EM: a ridge regression in which the documents have random weights of mean 1."""
        latent = latent_of(self.in_memory.columns, self.y, self.weights, self.offsets(), self.prior)
        factors = random.exponential(size=latent.s.size)
        return self.prior.mode + ridge_start(latent, options.ridge, options.solver == "block-em", factors)

    def _solve_by_newton(
        self, delta: FloatArray, penalties: Penalties, tol: float, max_iter: int, settled: float
    ) -> Found:
        """Fit by the fast solvers; ``delta`` is the start and is overwritten."""
        design, sample = self.in_memory, (self.y, self.weights, self.offsets())
        limits = (tol, max_iter, design.workspace())
        if np.any(self.prior.kind == LAPLACE) or np.any(self.prior.sign):
            sums = design.sums(self.weights) if self.sums is None else self.sums
            matrix = (design.columns, design.documents, design.block, sums, design.max_step)
            return newton(self.link, *matrix, sample, delta, penalties, *limits, settled)
        return ridge(self.link, design.documents, design.block, sample, delta, penalties, *limits)

    def _solve_by_em(
        self, delta: FloatArray, penalties: Penalties, block_size: int | None, penalty: float, tol: float, max_iter: int
    ) -> Found:
        """Fit by EM; ``delta`` is the start and is overwritten.

        EM cannot leave a zero, so that there the ridge start with this penalty is used.
        """
        sample = (self.y, self.weights, self.offsets())
        columns = self.in_memory.columns
        latent = latent_of(columns, *sample, self.prior)
        if not np.all(delta[latent.movable]):
            delta[:] = np.where(delta == 0.0, ridge_start(latent, penalty, block_size is not None), delta)
        passes, converged = expectation_maximisation(latent, delta, block_size, tol, max_iter)
        if np.any(self.prior.kind == JEFFREYS):
            primal, residual = jeffreys_objective(latent, delta)
            return primal, -np.inf, residual, passes, converged
        proof = certificate(self.link, columns, sample, delta, penalties)
        return *proof, passes, converged

    def precision(self, beta: FloatArray) -> FloatArray:
        """Return the diagonal of the Hessian of the objective: Σ_i s_i f″(r_i) x_ij² plus the prior's precision.

        A fixed coefficient has an infinite one.
        """
        own = np.select([self.prior.kind == GAUSSIAN, self.prior.kind == FIXED], [self.prior.weight, np.inf], 0.0)
        return self.design.hessian_diagonal(self, beta, own)

    def curvature(self, beta: FloatArray) -> FloatArray:
        """Return the curvature s_i f″(r_i) of every document's loss; s_i p_i (1 − p_i) for the logistic one."""
        r = self.y * scores(self.design, beta)
        u, w = np.empty_like(r), np.empty_like(r)
        loss_terms(self.link, r, self.weights, u, w)
        return w


def scores(design: Documents, beta: FloatArray) -> FloatArray:
    """Return the linear scores β₀ + x_iᵀβ of all documents."""
    return design.scores(beta)


def log_likelihood(y: FloatArray, linear_scores: FloatArray, weights: FloatArray, link: int = LOGISTIC) -> float:
    """Sum the weighted log likelihood Σ_i s_i ln p(y_i), stable for scores of any size."""
    r = y * linear_scores
    return -float(loss_terms(link, r, weights, np.empty_like(r), np.empty_like(r)))
