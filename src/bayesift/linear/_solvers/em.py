"""Probit regression by EM, and by ECM over blocks of coefficients (Eyheramendy et al. 2003).

Behind every document is a latent score z_i ~ N(η_i, 1) whose sign is the label; behind every coefficient a variance
τ_j. The E-step takes the means v_i of the z_i and ω_j of the 1/τ_j, the M-step regresses v on the documents: all
coefficients at once, or one block of them after the other, each after an E-step of its own (Meng & Rubin 1993). All
coefficients are departures δ from the modes of their priors; the constant's column of ones is the last.

A coefficient at 0 stays there: its variance is 0. So one whose share of every score is less than ``NEGLIGIBLE``, and
shrinks, is set to 0 and left out. Under a Laplace prior that can be premature: when nothing else moves any more, those
whose slope exceeds their rate are brought back.

The M-step is a Gaussian regression of the expected latent scores on the documents. With Ω the expected inverse
variances and S the weights of the documents, β = (Ω + XᵀSX)⁻¹XᵀSv (13). Written with U = Ω^−½ it is
β = U(I + UXᵀSXU)⁻¹UXᵀSv, which stays well-posed as coefficients, and U with them, go to zero. The same β is
U²XᵀS½(I + S½XU²XᵀS½)⁻¹S½v, a system as large as the number of documents; the smaller of the two is solved. Coefficients
without penalty (Ω = 0) have no U: their place in the first system is scaled by 1 and has no I, and in the second they
are found by generalised least squares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lstsq
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.linalg import lsqr

from bayesift._sparse import Compressed
from bayesift._typing import AnyArray, BoolArray, FloatArray, Int64Array
from bayesift.linear._losses import probit_terms
from bayesift.priors import FIXED, FLAT, GAUSSIAN, JEFFREYS, LAPLACE, PriorArrays

#: No dense system above this size is built: its matrix alone would take more than three gigabytes.
_LARGEST = 20_000
#: A squared pivot that is this share of its place on the diagonal is rounding.
_ROUNDING = 1e-13

#: A coefficient whose share of every score is less than this, and falls, is set to zero.
NEGLIGIBLE = 1e-6
#: A slope that exceeds its rate by at most this share, or by the share at which EM stops, is not brought back.
_EXCESS = 1e-7
#: EM that stops at a larger change is stopped early on purpose: its slopes do not tell yet what should come back.
_EARLY = 1e-3
#: Numbers in the matrices of all blocks up to which they are kept from one round to the next.
_KEPT = 10_000_000
#: Accuracy of the ridge start of blocks, for which no matrix is built.
_START_TOLERANCE = 1e-6


class Factor(NamedTuple):
    """The lower triangle L of a matrix LLᵀ; what is above it has no meaning."""

    lower: FloatArray


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
        self._X, self._XT, self._s = X, X.T, s
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
            self._XT = self._X.T
            if self._all_products is not None:
                self._all_products = self._all_products[np.ix_(self._left, self._left)]
            self._left = np.arange(self._left.size)

    def scores(self, beta: FloatArray) -> FloatArray:
        """Xβ."""
        if beta.size == self._X.shape[1]:
            return self._X @ beta
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
            return scale * _solve(self._factor, scale * (self._XT @ sv)[self._left])
        return self._by_documents(scale, sv)

    def _column_system(self, scale: FloatArray) -> FloatArray:
        """I + UXᵀSXU."""
        if self._all_products is None:
            self._all_products = np.asarray((self._XT @ self._X.multiply(self._s[:, None]).tocsc()).toarray())
        if self._products is None:
            whole = self._left.size == self._X.shape[1]
            self._products = self._all_products if whole else self._all_products[np.ix_(self._left, self._left)]
        matrix = self._products * scale
        matrix *= scale[:, None]
        matrix.flat[:: len(matrix) + 1] += self.penalised
        return matrix

    def _document_system(self, scale: FloatArray) -> FloatArray:
        """I + S½XU²XᵀS½."""
        scaled = self._X[:, self._left].multiply(np.sqrt(self._s)[:, None]).multiply(scale * self.penalised).tocsr()
        matrix = np.asarray((scaled @ scaled.T).toarray())
        matrix.flat[:: len(matrix) + 1] += 1.0
        return matrix

    def _by_documents(self, scale: FloatArray, sv: FloatArray) -> FloatArray:
        root = np.sqrt(self._s)
        target = sv / root
        beta = np.zeros(scale.size)
        free = ~self.penalised
        if free.any():
            open_columns = self._X[:, self._left[free]].toarray() * root[:, None]
            weighted = _solve(self._factor, open_columns)
            beta[free] = lstsq(open_columns.T @ weighted, weighted.T @ target)[0]
            target = target - open_columns @ beta[free]
        found = (self._XT @ (root * _solve(self._factor, target)))[self._left]
        beta[~free] = (scale**2 * found)[~free]
        return beta


def _factor(matrix: FloatArray) -> Any:
    """Factorise a symmetric matrix, which is overwritten; one that is singular is given back as it was.

    Only open columns that repeat each other make it singular.
    """
    if not matrix.size:
        return Factor(matrix)
    diagonal = matrix.diagonal().copy()
    # LAPACK itself, since most systems are small, and scipy's functions look at them for longer than it works. The
    # transpose of a symmetric matrix is itself, in the order that LAPACK reads without a copy.
    factor, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if not failed and np.all(factor.diagonal() ** 2 > _ROUNDING * diagonal):
        return Factor(factor)
    # The factor has replaced one triangle and the diagonal.
    lower = np.tril(matrix, -1)
    return lower + lower.T + np.diag(diagonal)


def _solve(factor: Any, right: AnyArray) -> AnyArray:
    if not right.size:
        return right
    if isinstance(factor, Factor):
        return np.asarray(dpotrs(factor.lower, right, lower=1)[0])
    return lstsq(factor, right, check_finite=False)[0]


class Latent(NamedTuple):
    """One category as EM sees it: documents with a weight, the constant among the columns, the priors of all.

    ``smallest`` is for each coefficient the departure that moves some score by ``NEGLIGIBLE``; infinite where no
    document holds the term.
    """

    X: sp.csc_matrix
    y: FloatArray
    s: FloatArray
    offset: FloatArray
    prior: PriorArrays
    smallest: FloatArray

    @property
    def movable(self) -> BoolArray:
        """Coefficients that are not fixed and whose term some document holds."""
        return (self.prior.kind != FIXED) & np.isfinite(self.smallest)

    def slopes(self, eta: FloatArray) -> FloatArray:
        """E-step: S(v − η) for the scores η without the offset.

        v_i = η_i + y_i φ(η_i)/Φ(y_i η_i) (10), with the sign of y_i also where y_i = −1.
        """
        r = self.y * (eta + self.offset)
        u = np.empty_like(r)
        probit_terms(r, self.s, u, np.empty_like(r))
        return self.y * u


class Scale:
    """U = ω^−½ of some coefficients: σ for a Gaussian prior, √(|δ|/rate) for Laplace, |δ| for Jeffreys (14).

    It is 1 without a penalty.
    """

    def __init__(self, prior: PriorArrays, chosen: Int64Array) -> None:
        kind, weight = prior.kind[chosen], prior.weight[chosen]
        self._fixed = np.ones(chosen.size)
        gaussian = (kind == GAUSSIAN) & (weight > 0.0)
        self._fixed[gaussian] = weight[gaussian] ** -0.5
        self._laplace, self._jeffreys = np.flatnonzero(kind == LAPLACE), np.flatnonzero(kind == JEFFREYS)
        rate = weight[self._laplace]
        self._rate = np.where(rate > 0.0, rate, 1.0)

    def at(self, delta: FloatArray) -> FloatArray:
        """Return U where the same coefficients depart from their modes by δ."""
        found = self._fixed.copy()
        if self._laplace.size:
            found[self._laplace] = np.sqrt(np.abs(delta[self._laplace]) / self._rate)
        if self._jeffreys.size:
            found[self._jeffreys] = np.abs(delta[self._jeffreys])
        return found


def latent_of(columns: Compressed, y: FloatArray, s: FloatArray, offset: FloatArray, prior: PriorArrays) -> Latent:
    """Add the constant's column and leave out documents without weight."""
    starts, rows, values = columns
    n, d = y.size, starts.size - 1
    X = sp.csc_matrix((values, rows.astype(np.int64), starts.astype(np.int64)), shape=(n, d))
    counted = s > 0
    X = sp.csc_matrix(sp.hstack([X, np.ones((n, 1))], format="csr")[counted])
    largest = abs(X).max(axis=0).toarray().ravel()
    smallest = np.divide(NEGLIGIBLE, largest, out=np.full(d + 1, np.inf), where=largest > 0)
    return Latent(X, y[counted], s[counted], offset[counted], prior, smallest)


def ridge_start(latent: Latent, ridge: float, by_blocks: bool, factors: FloatArray | None = None) -> FloatArray:
    """Return (XᵀSX + ridge I)⁻¹XᵀS(y − offset), the start of the paper for ridge = 1.

    ``factors`` multiply the weights of the documents, for other starts. By blocks no matrix is built.
    """
    movable = np.flatnonzero(latent.movable)
    X, s = latent.X[:, movable], latent.s if factors is None else latent.s * factors
    target = latent.y - latent.offset
    delta = np.zeros(latent.smallest.size)
    if by_blocks:
        root = np.sqrt(s)
        options = {"damp": np.sqrt(ridge), "atol": _START_TOLERANCE, "btol": _START_TOLERANCE}
        delta[movable] = lsqr(X.multiply(root[:, None]).tocsr(), root * target, **options)[0]
    else:
        everything = Regression(X, s, np.ones(movable.size, dtype=bool))
        delta[movable] = everything.solve(np.full(movable.size, ridge**-0.5), s * target)
    return delta


class Block:
    """Some coefficients that are updated together; those that are set to zero leave it.

    ``alone`` says that there is no other block.
    """

    def __init__(self, latent: Latent, chosen: Int64Array, alone: bool, keep: bool) -> None:
        self._latent, self._alone, self._keep = latent, alone, keep
        self._set_chosen(chosen)
        self._regression = Regression(latent.X[:, chosen], latent.s, latent.prior.kind[chosen] != FLAT)

    def _set_chosen(self, chosen: Int64Array) -> None:
        prior = self._latent.prior
        self._chosen, self._scale = chosen, Scale(prior, chosen)
        self._can_vanish = np.isin(prior.kind[chosen], (LAPLACE, JEFFREYS))
        self._smallest = self._latent.smallest[chosen]

    def update(self, delta: FloatArray, eta: FloatArray) -> None:
        """E-step, M-step (13) for these coefficients and pruning; ``delta`` and the scores ``eta`` are overwritten."""
        latent, chosen, regression = self._latent, self._chosen, self._regression
        if not chosen.size:
            return
        old = delta[chosen]
        own = eta if self._alone else regression.scores(old)
        new = regression.solve(self._scale.at(old), latent.slopes(eta) + latent.s * own)
        size = np.abs(new)
        gone = self._can_vanish & (size < self._smallest) & (size <= np.abs(old))
        new[gone] = 0.0
        delta[chosen] = new
        eta += regression.scores(new) - own
        if gone.any():
            regression.drop(gone)
            self._set_chosen(chosen[~gone])
        if not self._keep:
            regression.release()


def expectation_maximisation(
    latent: Latent, delta: FloatArray, block_size: int | None, epsilon: float, max_iter: int
) -> tuple[int, bool]:
    """Run EM (``block_size`` None) or ECM from δ, which is overwritten; return the rounds and whether they converged.

    Converged is when the coefficients change by at most the share ε of their Euclidean norm in a round.
    """
    blocks, eta = _blocks(latent, delta, block_size), latent.X @ delta
    for rounds in range(1, max_iter + 1):
        before = delta.copy()
        for block in blocks:
            block.update(delta, eta)
        if np.linalg.norm(delta - before) <= epsilon * np.linalg.norm(delta):
            if epsilon > _EARLY or not _bring_back(latent, delta, max(epsilon, _EXCESS)):
                return rounds, True
            blocks, eta = _blocks(latent, delta, block_size), latent.X @ delta
    return max_iter, False


def _blocks(latent: Latent, delta: FloatArray, block_size: int | None) -> list[Block]:
    """Divide the coefficients that can move; the constant has a block of its own, and comes first."""
    stuck = np.isin(latent.prior.kind, (LAPLACE, JEFFREYS)) & (delta == 0.0)
    moving = np.flatnonzero(latent.movable & ~stuck)
    if block_size is None:
        return [Block(latent, moving, alone=True, keep=True)]
    constant = delta.size - 1
    features, own = moving[moving != constant], moving[moving == constant]
    keep = features.size * block_size <= _KEPT
    parts = [own, *np.array_split(features, max(1, -(-features.size // block_size)))]
    return [Block(latent, part, False, keep) for part in parts]


def _bring_back(latent: Latent, delta: FloatArray, excess: float) -> bool:
    """Move coefficients that should not be zero from it; tell whether there were any.

    Each of the k would improve the objective by its own step, and so, by convexity, do all of them by a k-th of it.
    """
    c = latent.X.T @ latent.slopes(latent.X @ delta)
    rate = latent.prior.weight
    push = np.abs(c) - rate
    back = np.flatnonzero((latent.prior.kind == LAPLACE) & latent.movable & (delta == 0.0) & (push > excess * rate))
    if back.size:
        columns = latent.X[:, back]
        curvature = np.asarray(columns.multiply(columns).T @ latent.s).ravel()
        delta[back] = np.sign(c[back]) * push[back] / (curvature * back.size)
    return back.size > 0


def jeffreys_objective(latent: Latent, delta: FloatArray) -> tuple[float, float]:
    """Return the negative log posterior where some prior is Jeffreys, and the largest slope of it that is not zero.

    The density 1/|δ| has no bound at 0. A coefficient that was set to zero counts as one of the size at which this
    happens, so that the objectives of different starts can be compared.
    """
    kind, weight, size = latent.prior.kind, latent.prior.weight, np.abs(delta)
    r = latent.y * (latent.X @ delta + latent.offset)
    u = np.empty_like(r)
    loss = float(probit_terms(r, latent.s, u, np.empty_like(r)))
    kinds = [kind == GAUSSIAN, kind == LAPLACE, kind == JEFFREYS]
    logarithm = np.log(np.maximum(size, np.where(latent.movable, latent.smallest, 1.0)))
    penalty = np.select(kinds, [0.5 * weight * size**2, weight * size, logarithm], 0.0)
    own = np.select(kinds, [weight * delta, weight * np.sign(delta), 1.0 / np.where(delta == 0.0, 1.0, delta)], 0.0)
    moved = latent.movable & (delta != 0.0)
    residual = np.abs(latent.X.T @ (latent.y * u) - own)[moved]
    return loss + float(penalty.sum()), float(residual.max(initial=0.0))
