"""The intercepts of all classes: few numbers, moved to their optimum beside every step of the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._kernel import kernel
from bayesift._typing import BoolArray, FloatArray
from bayesift.linear._softmax_objective import solve
from bayesift.linear._softmax_search import Sample, State, smooth_search

#: Newton steps at most.
_STEPS = 20
#: Share of the weights below which a curvature is rounding.
_CERTAIN = 1e-13


@kernel
def class_products(s: FloatArray, p: FloatArray) -> FloatArray:
    """Σ_i s_i (diag p_i − p_i p_iᵀ)."""
    n, n_classes = p.shape
    out = np.zeros((n_classes, n_classes))
    for i in range(n):
        for k in range(n_classes):
            t = s[i] * p[i, k]
            for j in range(k + 1):
                out[k, j] -= t * p[i, j]
            out[k, k] += t
    for k in range(n_classes):
        for j in range(k):
            out[j, k] = out[k, j]
    return out


class Intercepts(NamedTuple):
    """Gaussian or flat priors of the intercepts: precisions (0 without a penalty), and which of them may move."""

    precision: FloatArray
    free: BoolArray

    def curvature(self, s: FloatArray, p: FloatArray) -> FloatArray:
        """Return the second derivatives of the objective in the free intercepts; fixed ones have a one on the diagonal.

        Where all are free and none is penalised the matrix gets what it lacks in the direction of equal numbers, in
        which there is nothing to move. Where every document is certain of its class nothing is known about the
        intercepts, and they hardly move.
        """
        out = class_products(s, p)
        size = np.trace(out) + _CERTAIN * s.sum()
        if self.free.all() and not self.precision.any():
            out += size / out.shape[0]
        out[np.diag_indices_from(out)] += self.precision + 1e-14 * size + _CERTAIN * s.sum()
        out[~self.free] = out[:, ~self.free] = 0.0
        out[~self.free, ~self.free] = 1.0
        return out

    def slopes(self, r: FloatArray, at: FloatArray) -> FloatArray:
        """Tell how fast the objective falls as each intercept rises; 0 for fixed ones."""
        return np.where(self.free, r.sum(axis=0) - self.precision * at, 0.0)

    def penalty(self, at: FloatArray) -> float:
        """Return ½ Σ_k precision_k b_k²."""
        return 0.5 * float(np.sum(self.precision * at**2))

    def fit(self, sample: Sample, state: State, loss: float, at: FloatArray, enough: float) -> float:
        """Move the intercepts ``at`` to their optimum, up to ``enough`` of the objective; return the loss there."""
        for _ in range(_STEPS):
            slope = self.slopes(state.r, at)
            shift = solve(self.curvature(sample.s, state.p), slope)
            if not slope @ shift > enough:
                break
            state.move[:] = shift
            linear, quadratic = np.sum(self.precision * at * shift), np.sum(self.precision * shift**2)
            loss, size = smooth_search(sample, state, loss, float(linear), float(quadratic))
            if size == 0.0:
                break
            at += size * shift
        return loss
