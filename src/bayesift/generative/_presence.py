"""Features that are there or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._special import log_beta_ratio
from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._class_prior import shares
from bayesift.generative._counting import add_rows, add_weights
from bayesift.generative._groups import Layout, Members
from bayesift.generative._likelihood import Estimate, Likelihood, event_information, moved
from bayesift.generative._linear_scores import dot, log_table, split_missing, with_values


class Presence(Likelihood):
    """Presence of every feature with a probability of its own, x_j | c ~ Ber(θ_jc) (3.77)."""

    def __init__(
        self,
        n_features: int,
        layout: Layout,
        estimate: Estimate,
        a: FloatArray,
        b: FloatArray,
        binarize: float | None,
        n_jobs: int | None,
    ) -> None:
        super().__init__(n_features, layout, estimate)
        self.a, self.b, self.binarize, self.n_jobs = a, b, binarize, n_jobs
        self.present = np.zeros((n_features, layout.n_sums))
        self.documents = np.zeros(layout.n_sums)
        self.missing: FloatArray | None = None
        self._tables: dict[str, Any] = {}

    def add(self, X: sp.csr_matrix, members: Members, weights: FloatArray) -> None:
        present, missing = self._marks(X)
        add_weights(members.start, members.sums, weights, self.documents)
        add_rows(X.indptr, X.indices, present.data, members.start, members.sums, weights, self.present)
        if missing is not None:
            if self.missing is None:
                self.missing = np.zeros_like(self.present)
            add_rows(X.indptr, X.indices, missing.data, members.start, members.sums, weights, self.missing)
        self._tables.clear()

    def extend(self, places: Int64Array, layout: Layout) -> None:
        self.layout = layout
        self.present = moved(self.present, places, layout.n_sums)
        self.documents = moved(self.documents, places, layout.n_sums)
        if self.missing is not None:
            self.missing = moved(self.missing, places, layout.n_sums)
        self._tables.clear()

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Documents with and without each feature, features × groups; those where it is missing are neither."""
        present = self.layout.groups(self.present)
        seen = self.layout.groups(self.documents if self.missing is None else self.documents - self.missing)
        return present, np.maximum(seen - present, 0.0)

    def probabilities(self) -> FloatArray:
        """Return p(absent) and p(present), features × groups × 2."""
        present, absent = self.counts()
        both = np.stack([absent, present], axis=-1)
        prior = np.stack([self.b, self.a], axis=-1)[:, np.newaxis, :]
        if self.estimate == "mle":
            return shares(both)
        return shares(both + prior) if self.estimate == "posterior" else shares(np.maximum(both + prior - 1.0, 0.0))

    def log_likelihood(self, X: sp.csr_matrix) -> FloatArray:
        if not self._tables:
            both = self.probabilities()
            absent, present = log_table(both[..., 0]), log_table(both[..., 1])
            self._tables.update(ratio=present.logs - absent.logs, absent=absent.logs, base=absent.logs.sum(axis=0))
            if absent.never is not None or present.never is not None:
                zero = np.zeros_like(absent.logs)
                lost = zero if absent.never is None else absent.never
                self._tables.update(never=(zero if present.never is None else present.never) - lost, lost=lost)
        present, missing = self._marks(X)
        tables = self._tables
        scores = dot(present, tables["ratio"], self.n_jobs) + tables["base"]  # (3.108)
        if missing is not None:
            scores -= missing @ tables["absent"]
        if "never" in tables:
            # How many features are there though they never are, or absent though they always are there.
            wrong = present @ tables["never"] + tables["lost"].sum(axis=0)
            if missing is not None:
                wrong -= missing @ tables["lost"]
            scores = np.where(wrong > 0.5, -np.inf, scores)
        return scores

    def log_evidence(self) -> FloatArray:
        present, absent = self.counts()
        return log_beta_ratio(self.a[:, np.newaxis], self.b[:, np.newaxis], present, absent).sum(axis=0)

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        return event_information(self.layout.by_task(self.probabilities()[..., 1]), shares).T

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> sp.csr_matrix:
        theta = self.probabilities()[:, group, 1]
        rows = [np.flatnonzero(rng.random(theta.size) < theta) for _ in range(n)]
        start = np.concatenate([[0], np.cumsum([row.size for row in rows])])
        columns = np.concatenate([*rows, np.empty(0, dtype=np.int64)])
        return sp.csr_matrix((np.ones(columns.size), columns, start), shape=(n, theta.size))

    def _marks(self, X: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix | None]:
        """Return what is there, and what is missing."""
        values, missing = split_missing(X)
        threshold = 0.0 if self.binarize is None else self.binarize
        return with_values(values, (values.data > threshold).astype(np.float64)), missing
