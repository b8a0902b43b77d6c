"""Draws of coefficients given Gaussian pseudo-observations of the scores: the step that Gibbs samplers repeat.

With coordinates φ (see ``_bases``), prior precision D and the factors exp(t_i f_i − ½ w_i f_i²) of the documents, the
distribution is N(Q⁻¹g, Q⁻¹), Q = D + HᵀWH, g = Hᵀ(t − Wo). Three ways to draw from it, all exact: in the space of the
coordinates, in the space of the documents, and by conjugate gradients where both are large.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int32Array
from bayesift.posterior._draws import sweep_latent_scores
from bayesift.posterior._problem import TOO_WIDE

#: Conjugate gradients stop when the residual is this share of the right-hand side. Of k coordinates that is an error of
#: 1e-5 √k standard deviations in all of them together.
_CG_TOL = 1e-5


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
def _times(indptr: Int32Array, indices: Int32Array, data: FloatArray, v: FloatArray, out: FloatArray) -> None:
    for i in range(out.shape[0]):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * v[indices[k]]
        out[i] = total


@kernel(error_model="numpy")
def _normal_product(
    indptr: Int32Array,
    indices: Int32Array,
    data: FloatArray,
    w: FloatArray,
    precision: FloatArray,
    v: FloatArray,
    out: FloatArray,
) -> None:
    """Fill out = (D + HᵀWH) v."""
    for j in range(out.shape[0]):
        out[j] = precision[j] * v[j]
    for i in range(w.shape[0]):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * v[indices[k]]
        total *= w[i]
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += total * data[k]


@kernel(error_model="numpy")
def conjugate_gradients(
    indptr: Int32Array,
    indices: Int32Array,
    data: FloatArray,
    w: FloatArray,
    precision: FloatArray,
    b: FloatArray,
    x: FloatArray,
    tol: float,
) -> int:
    """Solve (D + HᵀWH) x = b from the guess in x, preconditioned by the diagonal; return the number of steps."""
    size = b.shape[0]
    diagonal = precision.copy()
    for i in range(w.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            diagonal[indices[k]] += w[i] * data[k] * data[k]
    product = np.empty(size)
    _normal_product(indptr, indices, data, w, precision, x, product)
    residual = b - product
    direction = residual / diagonal
    old = float(np.sum(residual * direction))
    limit = tol * tol * np.sum(b * b / diagonal)
    steps = 0
    while old > limit and steps < 10 * size:
        steps += 1
        _normal_product(indptr, indices, data, w, precision, direction, product)
        alpha = old / np.sum(direction * product)
        new = 0.0
        for j in range(size):
            x[j] += alpha * direction[j]
            residual[j] -= alpha * product[j]
            new += residual[j] * residual[j] / diagonal[j]
        ratio = new / old
        for j in range(size):
            direction[j] = residual[j] / diagonal[j] + ratio * direction[j]
        old = new
    return steps


class GradientSampler:
    """Draws by solving Qφ = g + HᵀW^½ε + D^½ε′ with conjugate gradients, from the last draw on."""

    def __init__(self, H: Any, offset: FloatArray, precision: FloatArray):
        self._H, self._offset, self._precision = H, offset, precision
        self._rows = (H.indptr, H.indices, H.data)
        self._last = np.zeros(precision.size)

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return a draw of φ and of the scores."""
        noisy = t - w * self._offset + np.sqrt(w) * rng.standard_normal(w.size)
        b = self._H.T @ noisy + np.sqrt(self._precision) * rng.standard_normal(self._precision.size)
        conjugate_gradients(*self._rows, w, self._precision, b, self._last, _CG_TOL)
        scores = np.empty(w.size)
        _times(*self._rows, self._last, scores)
        return self._last.copy(), self._offset + scores
