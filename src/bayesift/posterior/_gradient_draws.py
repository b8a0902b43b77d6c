"""Draws of coefficients by conjugate gradients, for several chains at once: where documents and words are many.

Words that stand in a single document, in most collections about half of them, need no gradients. Given the score of
the document by its other words, f, theirs add N(·, ·) to it that is known in closed form: with D x + w h (f + hᵀx) = b,
v = hᵀD⁻¹h and g = hᵀD⁻¹b, the score is f + hᵀx = (f + g)/(1 + wv), and the others see the weight w/(1 + wv).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesift._typing import FloatArray
from bayesift.posterior._gaussian_draws import Relaxation, State
from bayesift.posterior._gradients import LANES, System

#: Conjugate gradients stop when the residual is this share of the right-hand side, in the norm of the preconditioner.
_CG_TOL = 3e-4
#: ρ of over-relaxation: with many documents means mix more slowly than distances from them.
RELAXATION = -0.7
#: So many columns are solved for exactly by the preconditioner.
MOST_IN_BLOCK = 500


class OwnWords:
    """The columns that have an entry in a single document and a proper prior: solved for by themselves.

    Parameters
    ----------
    H : csr_matrix of shape (n_documents, n_columns)
    precision : array of shape (n_columns,)
    """

    def __init__(self, H: Any, precision: FloatArray):
        by_columns = H.tocsc()
        by_columns.sum_duplicates()
        single = (np.diff(by_columns.indptr) == 1) & (precision > 0.0)
        self.columns, self.others = np.flatnonzero(single), np.flatnonzero(~single)
        first = by_columns.indptr[:-1][single]
        self._documents, self._entries = by_columns.indices[first], by_columns.data[first][:, None]
        self._precision = precision[single][:, None]
        self._n_documents = H.shape[0]
        self._variance = self._by_document(self._entries**2 / self._precision)

    def _by_document(self, values: FloatArray) -> FloatArray:
        """Return the sums of values of columns over the documents they stand in."""
        sums = [np.bincount(self._documents, column, self._n_documents) for column in values.T]
        return np.column_stack(sums)

    def seen_through(self, w: FloatArray) -> FloatArray:
        """Return the weights that the scores by other words have."""
        return w / (1.0 + w * self._variance)

    def right_hand_side(self, e: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Hᵀe + b of these columns, and g."""
        own = self._entries * e[self._documents] + b[self.columns]
        return own, self._by_document(self._entries / self._precision * own)

    def solve(self, w: FloatArray, own: FloatArray, scores: FloatArray) -> FloatArray:
        """Return x of these columns, given the scores f + hᵀx."""
        return (own - self._entries * (w * scores)[self._documents]) / self._precision


class GradientSampler:
    """Draws by solving Qφ = g + HᵀW^½ε + D^½ε′ with conjugate gradients, for several chains at once.

    The system is prepared anew as often as ``learn`` is called.
    """

    def __init__(self, H: Any, offset: FloatArray, precision: FloatArray, n_block: int = MOST_IN_BLOCK):
        self._offset, self._precision, self._n_block = offset, precision, n_block
        self._own = OwnWords(H, precision)
        # Frequent words first: they are solved for together, and lie together in memory.
        squares = np.bincount(H.indices, H.data**2, precision.size)[self._own.others]
        self._others = self._own.others[np.argsort(-squares, kind="stable")]
        self._H = H[:, self._others]
        self._system: System | None = None

    def learn(self, w: FloatArray) -> None:
        """Prepare for weights like these, whose columns are the chains."""
        known = self._own.seen_through(w).mean(axis=1)
        self._system = System(self._H, known, self._precision[self._others], self._n_block)

    def draw_all(
        self, t: FloatArray, w: FloatArray, rngs: Sequence[np.random.Generator], last: State | None = None
    ) -> State:
        """Return a draw of φ and of the scores for each chain, as columns of t and w."""
        if self._system is None:
            self.learn(w)
        relaxed = Relaxation.after(last, RELAXATION)
        n_chains, n_documents, n_columns = len(rngs), self._offset.size, self._precision.size
        phi, scores = np.empty((n_columns, n_chains)), np.empty((n_documents, n_chains))
        deviation = np.sqrt(self._precision)
        for begin in range(0, n_chains, LANES):
            group = list(rngs[begin : begin + LANES])
            chains = slice(begin, begin + len(group))
            # Columns without a chain are solved for 0.
            weights, noisy = np.ones((n_documents, LANES)), np.zeros((n_documents, LANES))
            noise = np.zeros((n_columns, LANES))
            weights[:, : len(group)] = w[:, chains]
            for column, rng in enumerate(group):
                own, chain = weights[:, column], begin + column
                noisy[:, column] = relaxed.share * (t[:, chain] - own * self._offset)
                noisy[:, column] += relaxed.scale * np.sqrt(own) * rng.standard_normal(own.size)
                noise[:, column] = relaxed.scale * deviation * rng.standard_normal(n_columns)
            x, found = self._solve(weights, noisy, noise)
            phi[:, chains], scores[:, chains] = x[:, : len(group)], found[:, : len(group)]
        if last is not None:
            phi += relaxed.rho * last[0]
            scores += relaxed.rho * (last[1] - self._offset[:, None])
        scores += self._offset[:, None]
        return phi, scores

    def _solve(self, w: FloatArray, e: FloatArray, b: FloatArray) -> State:
        """Solve (D + HᵀWH)x = Hᵀe + b for some columns; return x and Hx."""
        assert self._system is not None
        own, g = self._own.right_hand_side(e, b)
        seen = self._own.seen_through(w)
        x = np.empty_like(b)
        x[self._others], f, _ = self._system.solve(seen, e - seen * g, b[self._others], _CG_TOL)
        # (f + g)/(1 + wv), where seen = w/(1 + wv).
        scores = (f + g) * (seen / w)
        x[self._own.columns] = self._own.solve(w, own, scores)
        return x, scores

    def draw(self, t: FloatArray, w: FloatArray, rng: np.random.Generator, last: State | None = None) -> State:
        """Return a draw of φ and of the scores for one chain."""
        before = None if last is None else (last[0][:, None], last[1][:, None])
        phi, scores = self.draw_all(t[:, None], w[:, None], [rng], before)
        return phi[:, 0], scores[:, 0]
