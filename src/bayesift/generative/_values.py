"""Features that take one of several values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import rel_entr

from bayesift._special import log_rising
from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._class_prior import shares
from bayesift.generative._counting import add_categories
from bayesift.generative._groups import Layout, Members
from bayesift.generative._likelihood import Estimate, Likelihood, moved


class Values(Likelihood):
    """One of K_j values for every feature, x_j | c ~ Cat(θ_jc)."""

    def __init__(
        self, n_features: int, layout: Layout, estimate: Estimate, alpha: FloatArray, at_least: Int64Array
    ) -> None:
        super().__init__(n_features, layout, estimate)
        self.alpha = alpha
        # Documents with each value of a feature, values × sums.
        self.counts = [np.zeros((k, layout.n_sums)) for k in at_least]
        self._logs: list[FloatArray] = []

    def add(self, X: FloatArray, members: Members, weights: FloatArray) -> None:
        for j, codes in enumerate(_codes(X)):
            more = codes.max(initial=-1) + 1 - len(self.counts[j])
            if more > 0:
                self.counts[j] = np.vstack([self.counts[j], np.zeros((more, self.layout.n_sums))])
            add_categories(codes, members.start, members.sums, weights, self.counts[j])
        self._logs.clear()

    def extend(self, places: Int64Array, layout: Layout) -> None:
        self.layout = layout
        self.counts = [moved(counts, places, layout.n_sums) for counts in self.counts]
        self._logs.clear()

    def probabilities(self, j: int) -> FloatArray:
        """Return the probability of each value of a feature, and of one not seen yet: (values + 1) × groups.

        A value nobody has seen is as probable as one that others have seen.
        """
        counts = self.layout.groups(self.counts[j]).T
        pseudo = {"posterior": self.alpha[j], "map": self.alpha[j] - 1.0, "mle": 0.0}[self.estimate]
        weights = np.maximum(counts + pseudo, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        new = np.where(total > 0, max(pseudo, 0.0) / np.where(total > 0, total, 1.0), 1.0)
        return np.hstack([shares(weights), new]).T

    def log_likelihood(self, X: FloatArray) -> FloatArray:
        if not self._logs:
            with np.errstate(divide="ignore"):
                for j in range(self.n_features):
                    # A last row of zeros stands for missing values.
                    self._logs.append(np.vstack([np.log(self.probabilities(j)), np.zeros(self.layout.n_groups)]))
        scores = np.zeros((len(X), self.layout.n_groups))
        for logs, codes in zip(self._logs, _codes(X), strict=True):
            scores += logs[np.where(codes < 0, len(logs) - 1, np.minimum(codes, len(logs) - 2))]
        return scores

    def log_evidence(self) -> FloatArray:
        total = np.zeros(self.layout.n_groups)
        for alpha, sums in zip(self.alpha, self.counts, strict=True):
            counts = self.layout.groups(sums)
            total += log_rising(alpha, counts).sum(axis=0) - log_rising(alpha * max(len(counts), 1), counts.sum(axis=0))
        return total

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        result = np.zeros((self.layout.tasks[0], self.n_features))
        for j in range(self.n_features):
            theta = self.layout.by_task(self.probabilities(j)[:-1])
            overall = (theta * shares).sum(axis=-1, keepdims=True)
            result[:, j] = (shares * rel_entr(theta, overall)).sum(axis=(0, -1))  # (3.75)
        return result

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> FloatArray:
        columns = [
            rng.choice(len(self.counts[j]), size=n, p=self.probabilities(j)[:-1, group]) for j in range(self.n_features)
        ]
        return np.stack(columns, axis=1).astype(np.float64)


def _codes(X: FloatArray) -> list[Int64Array]:
    """Return the values of each column as numbers, −1 where they are missing."""
    return [np.where(np.isnan(column), -1, column).astype(np.int64) for column in np.asarray(X).T]
