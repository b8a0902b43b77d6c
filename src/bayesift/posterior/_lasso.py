"""Gibbs steps under Laplace priors: Gaussian ones whose variances are drawn as well (Park & Casella 2008).

A Laplace prior of rate λ is a Gaussian one whose variance τ has an exponential distribution of rate λ²/2. Given the
coefficient δ = β − mode, 1/τ has an inverse Gaussian distribution of mean λ/abs(δ) and shape λ².
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotri

from bayesift._kernel import kernel
from bayesift._typing import FloatArray, Int32Array
from bayesift.posterior._bases import CoefficientBasis
from bayesift.posterior._draws import inverse_gaussian, sweep_latent_scores
from bayesift.posterior._gaussian_draws import (
    LEAST_PRECISION,
    Relaxation,
    State,
    cholesky_root,
    draw_by_documents,
)
from bayesift.posterior._gradient_draws import GradientSampler
from bayesift.posterior._problem import Problem

#: Coefficients closer to their modes, in units of 1/λ, count as so close: the mean of 1/τ stays finite.
_CLOSEST = 1e-150
#: With more documents the inverse that sweeps need costs more than they bring.
_MOST_SWEPT = 500


@kernel(error_model="numpy")
def _weighted_products(
    indptr: Int32Array, indices: Int32Array, data: FloatArray, variance: FloatArray, K: FloatArray
) -> None:
    """Fill K = X diag(variance) Xᵀ, by columns of X; only the pairs of documents that share a word cost time."""
    K[:] = 0.0
    for j in range(variance.shape[0]):
        for k in range(indptr[j], indptr[j + 1]):
            value = variance[j] * data[k]
            i = indices[k]
            for m in range(indptr[j], k + 1):
                K[i, indices[m]] += value * data[m]
    for i in range(K.shape[0]):
        for m in range(i):
            K[m, i] = K[i, m]


class LassoSampler:
    """Draws the coefficients given their variances, and the variances given them.

    The coordinates are the coefficients themselves, less their modes.
    """

    def __init__(self, problem: Problem, basis: CoefficientBasis, rows: Any, by_documents: bool):
        columns, n_flat = basis.columns, problem.beliefs.flat.size
        self._offset, self._rows = problem.offset, rows
        self._laplace = problem.beliefs.laplace[columns]
        self._variance = problem.beliefs.variance[columns].copy()
        self._rate = np.sqrt(2.0 / self._variance[self._laplace])
        self._n_flat, self._size = n_flat, columns.size
        self._by_documents = by_documents
        self._y = problem.y
        self._sweeps = problem.link == "probit" and problem.n_documents <= _MOST_SWEPT
        if by_documents:
            X = rows[:, : self._size].tocsc()
            X.sort_indices()
            self._X, self._XT, self._B = X, X.T, rows[:, self._size :].toarray()
            self._K = np.empty((problem.n_documents, problem.n_documents))

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None = None) -> State:
        """Return a draw of the coefficients and of the scores; the variances move on."""
        if self._by_documents:
            delta, scores = self._draw_by_documents(t, w, rng, None if self._sweeps else last)
        else:
            delta, scores = self._draw_by_gradients(t, w, rng, last)
        size = np.abs(delta[: self._size][self._laplace])
        inverse = np.empty_like(size)
        mean = self._rate / np.maximum(size, _CLOSEST / self._rate)
        inverse_gaussian(mean, self._rate**2, rng, inverse)
        self._variance[self._laplace] = 1.0 / inverse
        return delta, scores

    def _draw_by_documents(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None) -> State:
        X, relaxed = self._X, Relaxation.after(last)
        _weighted_products(X.indptr, X.indices, X.data, self._variance, self._K)
        e = t - self._offset
        if self._sweeps:
            e = self._swept(e, rng)
            t = self._offset + e
        prior = relaxed.scale * np.sqrt(self._variance) * rng.standard_normal(self._size)
        pull = relaxed.share * (t - w * self._offset)
        found = draw_by_documents(self._K, self._B, X @ prior, pull, w, relaxed.scale, rng)
        delta = relaxed.moved(np.append(prior + self._variance * (self._XT @ found.u), found.gamma), last)
        return delta, self._offset + np.asarray(self._rows @ delta)

    def _swept(self, e: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Move latent scores of the probit link on, with the coefficients integrated out."""
        precision = np.asarray(dpotri(cholesky_root(self._K + np.identity(e.size)), lower=1)[0])
        M = np.tril(precision) + np.tril(precision, -1).T
        if self._n_flat:
            known = M @ self._B
            M -= known @ np.linalg.solve(self._B.T @ known, known.T)
        if np.diag(M).min() > LEAST_PRECISION:
            sweep_latent_scores(M, self._offset, self._y, rng, e, M @ e)
        return e

    def _draw_by_gradients(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None) -> State:
        scale = np.append(np.sqrt(self._variance), np.ones(self._n_flat))
        precision = np.append(np.ones(self._size), np.zeros(self._n_flat))
        whitened = self._rows.copy()
        whitened.data *= scale[whitened.indices]
        # Variances are others at every draw: a block would not pay.
        sampler = GradientSampler(whitened, self._offset, precision, n_block=0)
        phi, scores = sampler.draw(t, w, rng, None if last is None else (last[0] / scale, last[1]))
        return scale * phi, scores
