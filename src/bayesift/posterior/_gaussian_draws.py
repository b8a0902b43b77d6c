"""Draws of coefficients given Gaussian pseudo-observations of the scores: the step that Gibbs samplers repeat.

With coordinates φ (see ``_bases``), prior precision D and the factors exp(t_i f_i − ½ w_i f_i²) of the documents, the
distribution is N(Q⁻¹g, Q⁻¹), Q = D + HᵀWH, g = Hᵀ(t − Wo). Three ways to draw from it, all exact: in the space of the
coordinates, in the space of the documents, and by conjugate gradients where both are large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesift._kernel import kernel
from bayesift._typing import FloatArray
from bayesift.posterior._draws import sweep_latent_scores
from bayesift.posterior._problem import TOO_WIDE

#: Conjugate gradients stop when the residual is this share of the right-hand side: an error of about 1e-4 standard
#: deviations in a coordinate.
_CG_TOL = 1e-4
#: So many columns are solved for exactly by the preconditioner.
MOST_IN_BLOCK = 1000


#: Where a latent score has less precision given the others, it is lost to rounding, and they do not move by themselves.
LEAST_PRECISION = 1e-8


class Sampler(Protocol):
    """Draws coordinates and the scores of the documents."""

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return a draw of φ given t and w, and the scores o + Hφ."""
        ...


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

    def _around(self, mean: FloatArray, root: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        phi = mean + dtrsv(root, rng.standard_normal(mean.size), lower=1, trans=1)
        return phi, self._offset + self._H @ phi

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return a draw of φ and of the scores."""
        root = self._factor(w)
        mean = np.asarray(dpotrs(root, self._H.T @ (t - w * self._offset), lower=1)[0])
        return self._around(mean, root, rng)


class UnitSampler(CoordinateSampler):
    """Draws where all w are 1, as for the probit link: one decomposition serves the whole chain.

    Latent scores t that are drawn given φ, and φ given them, move in small steps where the prior is wide. So t moves
    on by its own before φ is drawn: with φ integrated out its density is exp(−½ eᵀMe), e = t − o, M = I − HQ⁻¹Hᵀ,
    with the signs of the labels. Each entry is drawn given the others (Holmes & Held 2006) if there are at most
    ``most_swept``; then, where the priors have mode 0, all are multiplied by a common factor drawn given their ratios
    (Liu & Wu 1999).
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

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
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
        return self._around(mean, self._known, rng)


class DocumentSampler:
    """Draws by a Cholesky decomposition of I + W^½KW^½, K = ZZᵀ, n × n.

    Coordinates without a proper prior are drawn first, the others integrated out. Then a draw θ from the prior is
    corrected by what its scores with noise lack of the pseudo-observations (Matheron's rule).
    """

    def __init__(self, H: FloatArray, offset: FloatArray, n_flat: int):
        rank = H.shape[1] - n_flat
        self._Z, self._B = np.ascontiguousarray(H[:, :rank]), H[:, rank:]
        self._K, self._offset = self._Z @ self._Z.T, offset

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return a draw of φ and of the scores."""
        theta = rng.standard_normal((self._Z.shape[1],))
        gamma, known, u = draw_by_documents(self._K, self._B, self._offset, self._Z @ theta, t, w, rng)
        theta = theta + self._Z.T @ u
        return np.append(theta, gamma), known + self._Z @ theta


def draw_by_documents(
    K: FloatArray,
    B: FloatArray,
    offset: FloatArray,
    prior_scores: FloatArray,
    t: FloatArray,
    w: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a draw of the flat coordinates γ, the scores o + Bγ, and u: a draw of the others is θ + Zᵀu.

    ``prior_scores`` are Zθ of a draw θ from the prior.
    """
    root_w = np.sqrt(w)
    matrix = np.asfortranarray(K * root_w * root_w[:, None])
    matrix.flat[:: matrix.shape[0] + 1] += 1.0
    root = cholesky_root(matrix)
    target = t / root_w - root_w * offset
    gamma = np.empty(0)
    if B.shape[1]:
        scaled = B * root_w[:, None]
        solved = np.asarray(dpotrs(root, scaled, lower=1)[0])
        G = cholesky_root(np.asfortranarray(scaled.T @ solved))
        mean = np.asarray(dpotrs(G, solved.T @ target, lower=1)[0])
        gamma = mean[: B.shape[1]] + dtrsv(G, rng.standard_normal(B.shape[1]), lower=1, trans=1)
    known = offset + B @ gamma
    lacking = t / root_w - root_w * (known + prior_scores) - rng.standard_normal(w.size)
    return gamma, known, root_w * np.asarray(dpotrs(root, lacking, lower=1)[0])


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
) -> None:
    """Fill out = (D + HᵀWH) v, with weights of their own for each of four columns: one pass over H serves all."""
    for j in range(out.shape[0]):
        for column in range(4):
            out[j, column] = precision[j] * v[j, column]
    for i in range(w.shape[0]):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(indptr[i], indptr[i + 1]):
            x, j = data[k], indices[k]
            a += x * v[j, 0]
            b += x * v[j, 1]
            c += x * v[j, 2]
            d += x * v[j, 3]
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


def _rows(H: Any) -> tuple[Any, Any, FloatArray]:
    """Return compressed rows with unsigned indices, of which a kernel need not ask whether they count from the end."""
    return H.indptr.view(f"u{H.indptr.itemsize}"), H.indices.view(f"u{H.indices.itemsize}"), H.data


class Preconditioner:
    """An approximate inverse of D + HᵀWH: exact among the columns with the greatest entries, else by the diagonal.

    Frequent words stand together in many documents, and conjugate gradients need most of their steps for them.
    """

    def __init__(self, H: Any, w: FloatArray, precision: FloatArray, n_block: int):
        weighted = H.multiply(np.sqrt(w)[:, None]).tocsc()
        diagonal = precision + np.asarray(weighted.multiply(weighted).sum(axis=0)).ravel()
        self._diagonal = diagonal[:, None]
        self._block = np.argsort(-diagonal, kind="stable")[: min(n_block, diagonal.size)]
        if self._block.size:
            part = weighted[:, self._block]
            Q = np.asfortranarray((part.T @ part).toarray())
            Q.flat[:: Q.shape[0] + 1] += precision[self._block]
            self._root = cholesky_root(Q)

    def solve(self, residual: FloatArray) -> FloatArray:
        """Return the approximate solution for several right-hand sides, as columns."""
        result = residual / self._diagonal
        if self._block.size:
            result[self._block] = dpotrs(self._root, np.asfortranarray(residual[self._block]), lower=1)[0]
        return np.asarray(result)


def conjugate_gradients(
    H: Any, w: FloatArray, precision: FloatArray, b: FloatArray, known: Preconditioner, tol: float
) -> tuple[FloatArray, int]:
    """Solve (D + HᵀWH) x = b for four columns with weights of their own; return x and the number of steps."""
    rows = _rows(H)
    x, product = np.zeros_like(b), np.empty_like(b)
    residual = b.copy()
    direction = known.solve(residual)
    old = np.einsum("ij,ij->j", residual, direction)
    limit = tol * tol * old
    steps = 0
    while np.any(old > limit) and steps < 10 * b.shape[0]:
        steps += 1
        _normal_products(*rows, w, precision, direction, product)
        curved = np.einsum("ij,ij->j", direction, product)
        alpha = np.divide(old, curved, out=np.zeros_like(old), where=curved > 0.0)
        x += alpha * direction
        residual -= alpha * product
        towards = known.solve(residual)
        new = np.einsum("ij,ij->j", residual, towards)
        direction *= np.divide(new, old, out=np.zeros_like(old), where=old > 0.0)
        direction += towards
        old = new
    return x, steps


class GradientSampler:
    """Draws by solving Qφ = g + HᵀW^½ε + D^½ε′ with conjugate gradients, for several chains at once.

    The preconditioner only changes how many steps are needed. It is made anew as long as ``learn`` is called.
    """

    def __init__(self, H: Any, offset: FloatArray, precision: FloatArray, n_block: int = MOST_IN_BLOCK):
        self._H, self._offset, self._precision, self._n_block = H, offset, precision, n_block
        self._known: Preconditioner | None = None

    def learn(self, w: FloatArray) -> None:
        """Make the preconditioner for weights like these, whose columns are the chains."""
        self._known = Preconditioner(self._H, w.mean(axis=1), self._precision, self._n_block)

    def draw_all(
        self, t: FloatArray, w: FloatArray, rngs: Sequence[np.random.Generator]
    ) -> tuple[FloatArray, FloatArray]:
        """Return a draw of φ and of the scores for each chain, as columns of t and w."""
        if self._known is None:
            self.learn(w)
        n_chains, shape = len(rngs), (len(self._offset), 4)
        phi, scores = np.empty((self._precision.size, n_chains)), np.empty((shape[0], n_chains))
        for begin in range(0, n_chains, 4):
            group = list(rngs[begin : begin + 4])
            chains = slice(begin, begin + len(group))
            # Columns without a chain are solved for 0.
            weights, noisy, noise = np.ones(shape), np.zeros(shape), np.zeros((self._precision.size, 4))
            weights[:, : len(group)] = w[:, chains]
            for column, rng in enumerate(group):
                own = weights[:, column]
                noisy[:, column] = (
                    t[:, begin + column] - own * self._offset + np.sqrt(own) * rng.standard_normal(own.size)
                )
                noise[:, column] = np.sqrt(self._precision) * rng.standard_normal(self._precision.size)
            b = np.asarray(self._H.T @ noisy) + noise
            assert self._known is not None
            x, _ = conjugate_gradients(self._H, weights, self._precision, b, self._known, _CG_TOL)
            found = np.empty(shape)
            _times(*_rows(self._H), x, found)
            phi[:, chains] = x[:, : len(group)]
            scores[:, chains] = self._offset[:, None] + found[:, : len(group)]
        return phi, scores

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return a draw of φ and of the scores for one chain."""
        phi, scores = self.draw_all(t[:, None], w[:, None], [rng])
        return phi[:, 0], scores[:, 0]
