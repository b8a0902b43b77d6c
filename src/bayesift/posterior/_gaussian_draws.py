"""Draws of coefficients given Gaussian pseudo-observations of the scores: the step that Gibbs samplers repeat.

With coordinates φ (see ``_bases``), prior precision D and the factors exp(t_i f_i − ½ w_i f_i²) of the documents, the
distribution is N(μ, Q⁻¹), Q = D + HᵀWH, Qμ = g = Hᵀ(t − Wo). Three ways to draw from it, all exact: in the space of the
coordinates, in the space of the documents, and, where both are large, by conjugate gradients (``_gradient_draws``).

A chain need not forget where it was: μ + ρ(φ − μ) + √(1 − ρ²)e with e ~ N(0, Q⁻¹) has the same distribution if φ has
it (Adler 1981). With ρ < 0 it lies on the other side of the mean, which makes up for how slowly the latent variables
move: where draws would have the autocorrelation γ they have γ + ρ(1 − γ).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dpotrs

from bayesift._typing import FloatArray
from bayesift.posterior._draws import sweep_latent_scores
from bayesift.posterior._problem import TOO_WIDE

#: ρ of over-relaxation. Nearer to −1 means mix faster still, but distances from the mean more slowly.
RELAXATION = -0.5
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
    def after(cls, last: Any, rho: float = RELAXATION) -> Self:
        """Return the relaxation by ρ, if there is a last draw."""
        rho = 0.0 if last is None else rho
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
