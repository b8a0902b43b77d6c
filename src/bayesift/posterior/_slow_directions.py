"""Moves along the directions in which Gibbs sampling with Pólya–Gamma variables is slow.

Where many similar documents lie far on the right side, their labels say little about how far, but their latent
variables hold the scores fast: each has the information ω̄ = tanh(f/2)/2f about its score, of which the label has only
p(1 − p). The directions with the most of what lies between, Hᵀ(ω̄ − p(1 − p))H in units of the prior, are learned
once, and coefficients move along all of them at a time by Hamiltonian dynamics, with the latent variables integrated
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse.linalg import svds
from scipy.special import expit, log_expit

from bayesift._typing import BoolArray, FloatArray
from bayesift.posterior._gaussian_draws import cholesky_root

#: So many directions are learned, to this precision.
MOST_DIRECTIONS, _TOL = 32, 1e-2
#: Labels count as if they had at least this share of the information of their latent variables.
_LEAST_SHARE = 0.01
#: Steps of the dynamics, and their least and greatest length in standard deviations: about a quarter of a turn.
_STEPS, _SHORTEST, _LONGEST = 4, 0.3, 0.5


class SlowDirections:
    """Moves coordinates φ and the scores of documents, of several chains at once.

    Parameters
    ----------
    H : csr_matrix of shape (n_documents, n_columns)
    y : array of shape (n_documents,)
        Labels, −1 and 1.
    precision : array of shape (n_columns,)
        Prior precisions of φ; a column with 0 is a direction of its own.
    """

    def __init__(self, H: Any, y: FloatArray, precision: FloatArray, most: int = MOST_DIRECTIONS):
        self._H, self._y, self._precision, self._most = H, y[:, None], precision, most
        self._U: FloatArray | None = None

    def learn(self, scores: FloatArray) -> None:
        """Choose the directions, the first time, and their lengths for scores like these, whose columns are chains."""
        half = 0.5 * scores
        curvature = (expit(scores) * expit(-scores)).mean(axis=1)
        held = (0.25 * np.divide(np.tanh(half), half, out=np.ones_like(half), where=half != 0.0)).mean(axis=1)
        if self._U is None:
            self._U = self._directions(np.sqrt(np.maximum(held - curvature, 0.0)))
        # Where all scores are far out a direction without a proper prior has no curvature, but some length.
        curvature += _LEAST_SHARE * held
        G = np.asarray(self._H @ self._U)
        C = self._U.T @ (self._precision[:, None] * self._U) + G.T @ (curvature[:, None] * G)
        root = np.tril(cholesky_root(np.asfortranarray(C)))
        # Single precision, as rows: half of the bytes, and the scores are made anew with every draw.
        self._U = solve_triangular(root, self._U.T, lower=True).T
        self._along = np.ascontiguousarray(self._U.T, dtype=np.float32)
        self._G = np.ascontiguousarray((self._H @ self._along.T).T, dtype=np.float32)
        self._prior = self._along @ (self._precision[:, None] * self._along.T)

    def _directions(self, root: FloatArray) -> FloatArray:
        """Return the directions as columns, those without a proper prior last."""
        proper, flat = np.flatnonzero(self._precision > 0.0), np.flatnonzero(self._precision == 0.0)
        deviation = 1.0 / np.sqrt(self._precision[proper])
        B = self._H[:, proper].multiply(root[:, None]).multiply(deviation[None, :]).tocsr()
        size = min(B.shape)
        n = min(self._most, size - 1)
        U = np.zeros((self._precision.size, max(n, 0) + flat.size))
        if n > 0 and B.count_nonzero():
            U[proper, :n] = svds(B, n, v0=np.ones(size), tol=_TOL, return_singular_vectors="vh")[2].T
            U[proper, :n] *= deviation[:, None]
        U[flat, np.arange(max(n, 0), U.shape[1])] = 1.0
        return U[:, U.any(axis=0)]

    def _slope(self, z: FloatArray, scores: FloatArray, linear: FloatArray) -> FloatArray:
        """Return the slope of the negative log density along each direction."""
        return self._G @ (-self._y * expit(-self._y * scores)).astype(np.float32) + linear + self._prior @ z

    def _energy(self, z: FloatArray, v: FloatArray, scores: FloatArray, linear: FloatArray) -> FloatArray:
        """Return the negative log density with that of the velocities."""
        form = linear + 0.5 * (self._prior @ z)
        return np.asarray(-log_expit(self._y * scores).sum(axis=0) + (form * z + 0.5 * v * v).sum(axis=0))

    def move(self, phi: FloatArray, scores: FloatArray, rngs: Sequence[np.random.Generator]) -> BoolArray:
        """Move φ and the scores in place, with a generator for each chain, a column; return which chains moved."""
        if self._U is None or not self._U.shape[1]:
            return np.zeros(len(rngs), bool)
        linear = (self._along @ (self._precision[:, None] * phi).astype(np.float32)).astype(np.float64)
        v = np.column_stack([rng.standard_normal(self._U.shape[1]) for rng in rngs])
        length = np.array([rng.uniform(_SHORTEST, _LONGEST) for rng in rngs])
        level = np.array([rng.standard_exponential() for rng in rngs])
        z, f = np.zeros_like(v), scores.copy()
        level += self._energy(z, v, f, linear)
        v -= 0.5 * length * self._slope(z, f, linear)
        for step in range(_STEPS):
            z += length * v
            f = scores + self._G.T @ z.astype(np.float32)
            v -= (0.5 if step == _STEPS - 1 else 1.0) * length * self._slope(z, f, linear)
        moved = np.asarray(self._energy(z, v, f, linear) <= level)
        phi += np.where(moved, self._along.T @ z.astype(np.float32), 0.0)
        scores[:] = np.where(moved, f, scores)
        return moved
