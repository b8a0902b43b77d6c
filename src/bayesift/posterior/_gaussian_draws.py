"""Draws of coefficients given Gaussian pseudo-observations of the scores: the step that Gibbs samplers repeat.

With coordinates φ (see ``_bases``), prior precision D and the factors exp(t_i f_i − ½ w_i f_i²) of the documents, the
distribution is N(μ, Q⁻¹), Q = D + HᵀWH, Qμ = g = Hᵀ(t − Wo). Three ways to draw from it, all exact: in the space of the
coordinates, in the space of the documents, and by conjugate gradients where both are large.

A chain need not forget where it was: μ + ρ(φ − μ) + √(1 − ρ²)e with e ~ N(0, Q⁻¹) has the same distribution if φ has
it (Adler 1981). With ρ < 0 it lies on the other side of the mean, which makes up for how slowly the latent variables
move: where draws would have the autocorrelation γ they have γ + ρ(1 − γ).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesift._kernel import kernel
from bayesift._typing import FloatArray
from bayesift.posterior._draws import sweep_latent_scores
from bayesift.posterior._problem import TOO_WIDE

#: ρ of over-relaxation. Nearer to −1 means mix faster still, but distances from the mean more slowly.
RELAXATION = -0.5
#: Conjugate gradients stop when the residual is this share of the right-hand side, in the norm of the preconditioner.
_CG_TOL = 3e-4
#: So many columns are solved for exactly by the preconditioner.
MOST_IN_BLOCK = 1000


#: Where a latent score has less precision given the others, it is lost to rounding, and they do not move by themselves.
LEAST_PRECISION = 1e-8


#: Coordinates φ, and the scores o + Hφ of the documents.
State = tuple[FloatArray, FloatArray]


class Sampler(Protocol):
    """Draws coordinates and the scores of the documents."""

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None = None) -> State:
        """Return a draw of φ given t and w, and the scores o + Hφ; relaxed where there is a last one."""
        ...


class Relaxation(NamedTuple):
    """The draw is ρφ + x, with x ~ N((1 − ρ)μ, (1 − ρ²)Q⁻¹); ρ = 0 where there is no last φ."""

    rho: float
    share: float
    scale: float

    @classmethod
    def after(cls, last: Any) -> Self:
        rho = 0.0 if last is None else RELAXATION
        return cls(rho, 1.0 - rho, math.sqrt(1.0 - rho * rho))

    def moved(self, x: FloatArray, last: State | None) -> FloatArray:
        """Return ρφ + x."""
        return x if last is None else self.rho * last[0] + x


def cholesky_root(matrix: FloatArray) -> FloatArray:
    """Return the lower Cholesky factor of a matrix, which may be overwritten; the upper triangle is anything."""
    root, info = dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
    if info:
        raise ValueError(TOO_WIDE)
    return np.asarray(root)


class CoordinateSampler:
    """Draws by a Cholesky decomposition of Q."""

    def __init__(self, H: FloatArray, offset: FloatArray, precision: FloatArray):
        self._H, self._offset, self._precision = H, offset, precision

    def _factor(self, w: FloatArray) -> FloatArray:
        scaled = self._H * np.sqrt(w)[:, None]
        Q = np.asfortranarray(scaled.T @ scaled)
        Q.flat[:: Q.shape[0] + 1] += self._precision
        return cholesky_root(Q)

    def _around(self, mean: FloatArray, root: FloatArray, rng: np.random.Generator, last: State | None) -> State:
        relaxed = Relaxation.after(last)
        noise = np.asarray(dtrsv(root, rng.standard_normal(mean.size), lower=1, trans=1))
        phi = relaxed.moved(relaxed.share * mean + relaxed.scale * noise, last)
        return phi, self._offset + self._H @ phi

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None = None) -> State:
        """Return a draw of φ and of the scores."""
        root = self._factor(w)
        mean = np.asarray(dpotrs(root, self._H.T @ (t - w * self._offset), lower=1)[0])
        return self._around(mean, root, rng, last)


class UnitSampler(CoordinateSampler):
    """Draws where all w are 1, as for the probit link: one decomposition serves the whole chain.

    Latent scores t that are drawn given φ, and φ given them, move in small steps where the prior is wide. So t moves
    on by its own before φ is drawn: with φ integrated out its density is exp(−½ eᵀMe), e = t − o, M = I − HQ⁻¹Hᵀ,
    with the signs of the labels. Each entry is drawn given the others (Holmes & Held 2006) if there are at most
    ``most_swept``; then, where the priors have mode 0, all are multiplied by a common factor drawn given their ratios
    (Liu & Wu 1999). The last φ is then no draw given t, and nothing is relaxed.
    """

    def __init__(self, H: FloatArray, offset: FloatArray, precision: FloatArray, y: FloatArray, most_swept: int):
        super().__init__(H, offset, precision)
        self._known = self._factor(np.ones(offset.size))
        self._may_scale = not offset.any()
        self._y = y
        self._M: FloatArray | None = None
        if y.size <= most_swept:
            solved = dpotrs(self._known, np.asfortranarray(H.T), lower=1)[0]
            M = np.identity(y.size) - H @ solved
            if np.diag(M).min() > LEAST_PRECISION:
                self._M = M

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None = None) -> State:
        """Return a draw of φ and of the scores; t is moved on."""
        e = t - self._offset
        if self._M is not None:
            sweep_latent_scores(self._M, self._offset, self._y, rng, e, self._M @ e)
        g = self._H.T @ e
        mean = np.asarray(dpotrs(self._known, g, lower=1)[0])
        square = float(e @ e)
        form = square - float(g @ mean)
        if self._may_scale and form > LEAST_PRECISION * square:
            mean *= math.sqrt(rng.standard_gamma(0.5 * e.size) * 2.0 / form)
        return self._around(mean, self._known, rng, None)


class DocumentSampler:
    """Draws by a Cholesky decomposition of I + W^½KW^½, K = ZZᵀ, n × n.

    Coordinates without a proper prior are drawn first, the others integrated out. Then a draw θ from the prior is
    corrected by what its scores with noise lack of the pseudo-observations (Matheron's rule).
    """

    def __init__(self, H: FloatArray, offset: FloatArray, n_flat: int):
        rank = H.shape[1] - n_flat
        self._Z, self._B = np.ascontiguousarray(H[:, :rank]), H[:, rank:]
        self._K, self._offset = self._Z @ self._Z.T, offset

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None = None) -> State:
        """Return a draw of φ and of the scores."""
        relaxed = Relaxation.after(last)
        theta = relaxed.scale * rng.standard_normal((self._Z.shape[1],))
        found = draw_by_documents(
            self._K, self._B, self._Z @ theta, relaxed.share * (t - w * self._offset), w, relaxed.scale, rng
        )
        theta += self._Z.T @ found.u
        phi = relaxed.moved(np.append(theta, found.gamma), last)
        rank = theta.size
        return phi, self._offset + self._Z @ phi[:rank] + self._B @ phi[rank:]


class DrawByDocuments(NamedTuple):
    """A draw of the flat coordinates γ, and u: a draw of the others is θ + Zᵀu."""

    gamma: FloatArray
    u: FloatArray


def draw_by_documents(
    K: FloatArray,
    B: FloatArray,
    prior_scores: FloatArray,
    e: FloatArray,
    w: FloatArray,
    scale: float,
    rng: np.random.Generator,
) -> DrawByDocuments:
    """Draw from N(Q⁻¹Hᵀe, scale² Q⁻¹), H = [Z, B], K = ZZᵀ.

    ``prior_scores`` are Zθ of a draw θ from the prior, times the scale.
    """
    root_w = np.sqrt(w)
    matrix = np.asfortranarray(K * root_w * root_w[:, None])
    matrix.flat[:: matrix.shape[0] + 1] += 1.0
    root = cholesky_root(matrix)
    target = e / root_w
    gamma = np.empty(0)
    if B.shape[1]:
        scaled = B * root_w[:, None]
        solved = np.asarray(dpotrs(root, scaled, lower=1)[0])
        G = cholesky_root(np.asfortranarray(scaled.T @ solved))
        mean = np.asarray(dpotrs(G, solved.T @ target, lower=1)[0])
        gamma = mean[: B.shape[1]] + scale * dtrsv(G, rng.standard_normal(B.shape[1]), lower=1, trans=1)
    lacking = target - root_w * (B @ gamma + prior_scores) - scale * rng.standard_normal(w.size)
    return DrawByDocuments(gamma, root_w * np.asarray(dpotrs(root, lacking, lower=1)[0]))


@kernel(error_model="numpy")
def _times(indptr: Any, indices: Any, data: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """Fill out = Hv for four columns at a time."""
    for i in range(out.shape[0]):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            x, j = data[k], indices[k]
            a += x * v[j, 0]
            b += x * v[j, 1]
            c += x * v[j, 2]
            d += x * v[j, 3]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, b, c, d


@kernel(error_model="numpy")
def _normal_products(
    indptr: Any,
    indices: Any,
    data: FloatArray,
    w: FloatArray,
    precision: FloatArray,
    v: FloatArray,
    out: FloatArray,
    forms: FloatArray,
) -> None:
    """Fill out = Qv and forms = vᵀQv, Q = D + HᵀWH with weights of their own for each of four columns.

    One pass over H serves all.
    """
    forms[:] = 0.0
    for j in range(out.shape[0]):
        for column in range(4):
            out[j, column] = precision[j] * v[j, column]
            forms[column] += out[j, column] * v[j, column]
    for i in range(w.shape[0]):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            x, j = data[k], indices[k]
            a += x * v[j, 0]
            b += x * v[j, 1]
            c += x * v[j, 2]
            d += x * v[j, 3]
        forms[0] += w[i, 0] * a * a
        forms[1] += w[i, 1] * b * b
        forms[2] += w[i, 2] * c * c
        forms[3] += w[i, 3] * d * d
        a *= w[i, 0]
        b *= w[i, 1]
        c *= w[i, 2]
        d *= w[i, 3]
        for k in range(indptr[i], indptr[i + 1]):
            x, j = data[k], indices[k]
            out[j, 0] += x * a
            out[j, 1] += x * b
            out[j, 2] += x * c
            out[j, 3] += x * d


@kernel(error_model="numpy")
def _advance(
    alpha: FloatArray,
    direction: FloatArray,
    product: FloatArray,
    diagonal: FloatArray,
    x: FloatArray,
    residual: FloatArray,
    towards: FloatArray,
) -> None:
    """Take a step of conjugate gradients, and divide what is left by the diagonal."""
    for j in range(x.shape[0]):
        for column in range(4):
            x[j, column] += alpha[column] * direction[j, column]
            residual[j, column] -= alpha[column] * product[j, column]
            towards[j, column] = residual[j, column] / diagonal[j]


@kernel(error_model="numpy")
def _turn(residual: FloatArray, towards: FloatArray, old: FloatArray, new: FloatArray, direction: FloatArray) -> None:
    """Fill new = residualᵀ towards, and direction = towards + new/old direction."""
    new[:] = 0.0
    for j in range(direction.shape[0]):
        for column in range(4):
            new[column] += residual[j, column] * towards[j, column]
    beta = np.zeros(4)
    for column in range(4):
        if old[column] > 0.0:
            beta[column] = new[column] / old[column]
    for j in range(direction.shape[0]):
        for column in range(4):
            direction[j, column] = towards[j, column] + beta[column] * direction[j, column]


def _rows(H: Any) -> tuple[Any, Any, FloatArray]:
    """Return compressed rows with unsigned indices, of which a kernel need not ask whether they count from the end."""
    return H.indptr.view(f"u{H.indptr.itemsize}"), H.indices.view(f"u{H.indices.itemsize}"), H.data


class Preconditioner:
    """An approximate inverse of D + HᵀWH: exact among the first columns, by the diagonal for the others.

    The first columns should be those with the greatest entries. Frequent words stand together in many documents, and
    conjugate gradients need most of their steps for them.
    """

    def __init__(self, H: Any, w: FloatArray, precision: FloatArray, n_block: int):
        # Made at every draw in small problems, where a sparse matrix takes longer to make than to multiply.
        scaled = np.repeat(np.sqrt(w), np.diff(H.indptr)) * H.data
        self.diagonal = precision + np.bincount(H.indices, scaled * scaled, precision.size)
        self._n_block = min(n_block, self.diagonal.size)
        if self._n_block:
            part = H.multiply(np.sqrt(w)[:, None]).tocsc()[:, : self._n_block]
            Q = np.asfortranarray((part.T @ part).toarray())
            Q.flat[:: Q.shape[0] + 1] += precision[: self._n_block]
            self._root = cholesky_root(Q)

    def correct(self, residual: FloatArray, towards: FloatArray) -> None:
        """Replace residual / diagonal by the exact solution among the first columns."""
        if self._n_block:
            part = np.asfortranarray(residual[: self._n_block])
            towards[: self._n_block] = dpotrs(self._root, part, lower=1, overwrite_b=1)[0]


def conjugate_gradients(
    H: Any, w: FloatArray, precision: FloatArray, b: FloatArray, known: Preconditioner, tol: float
) -> tuple[FloatArray, int]:
    """Solve (D + HᵀWH) x = b for four columns with weights of their own; return x and the number of steps."""
    rows, (old, new, forms) = _rows(H), np.empty((3, 4))
    x, direction, product, towards = (np.zeros_like(b) for _ in range(4))
    residual = b.copy()
    _advance(np.zeros(4), direction, product, known.diagonal, x, residual, towards)
    known.correct(residual, towards)
    _turn(residual, towards, np.zeros(4), old, direction)
    limit = tol * tol * old
    steps = 0
    while np.any(old > limit) and steps < 10 * b.shape[0]:
        steps += 1
        _normal_products(*rows, w, precision, direction, product, forms)
        alpha = np.divide(old, forms, out=np.zeros_like(old), where=forms > 0.0)
        _advance(alpha, direction, product, known.diagonal, x, residual, towards)
        known.correct(residual, towards)
        _turn(residual, towards, old, new, direction)
        old[:] = new
    return x, steps


class GradientSampler:
    """Draws by solving Qφ = g + HᵀW^½ε + D^½ε′ with conjugate gradients, for several chains at once.

    The preconditioner only changes how many steps are needed. It is made anew as long as ``learn`` is called.
    """

    def __init__(self, H: Any, offset: FloatArray, precision: FloatArray, n_block: int = MOST_IN_BLOCK):
        self._H, self._offset, self._precision, self._n_block = H, offset, precision, n_block
        self._order = np.arange(precision.size)
        if n_block:
            # Frequent words first: they are solved for together, and lie together in memory.
            squares = np.asarray(H.multiply(H).sum(axis=0)).ravel()
            self._order = np.argsort(-squares, kind="stable")
            self._H, self._precision = H[:, self._order], precision[self._order]
        self._known: Preconditioner | None = None

    def learn(self, w: FloatArray) -> None:
        """Make the preconditioner for weights like these, whose columns are the chains."""
        self._known = Preconditioner(self._H, w.mean(axis=1), self._precision, self._n_block)

    def draw_all(
        self, t: FloatArray, w: FloatArray, rngs: Sequence[np.random.Generator], last: State | None = None
    ) -> State:
        """Return a draw of φ and of the scores for each chain, as columns of t and w."""
        if self._known is None:
            self.learn(w)
        assert self._known is not None
        relaxed = Relaxation.after(last)
        n_chains, shape = len(rngs), (len(self._offset), 4)
        phi, scores = np.empty((self._precision.size, n_chains)), np.empty((shape[0], n_chains))
        for begin in range(0, n_chains, 4):
            group = list(rngs[begin : begin + 4])
            chains = slice(begin, begin + len(group))
            # Columns without a chain are solved for 0.
            weights, noisy, noise = np.ones(shape), np.zeros(shape), np.zeros((self._precision.size, 4))
            weights[:, : len(group)] = w[:, chains]
            for column, rng in enumerate(group):
                own, chain = weights[:, column], begin + column
                noisy[:, column] = relaxed.share * (t[:, chain] - own * self._offset)
                noisy[:, column] += relaxed.scale * np.sqrt(own) * rng.standard_normal(own.size)
                noise[:, column] = relaxed.scale * np.sqrt(self._precision) * rng.standard_normal(self._precision.size)
            b = np.asarray(self._H.T @ noisy) + noise
            x, _ = conjugate_gradients(self._H, weights, self._precision, b, self._known, _CG_TOL)
            found = np.empty(shape)
            _times(*_rows(self._H), x, found)
            phi[self._order, chains] = x[:, : len(group)]
            scores[:, chains] = found[:, : len(group)]
        if last is not None:
            phi += relaxed.rho * last[0]
            scores += relaxed.rho * (last[1] - self._offset[:, None])
        scores += self._offset[:, None]
        return phi, scores

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None = None) -> State:
        """Return a draw of φ and of the scores for one chain."""
        before = None if last is None else (last[0][:, None], last[1][:, None])
        phi, scores = self.draw_all(t[:, None], w[:, None], [rng], before)
        return phi[:, 0], scores[:, 0]
