"""Words drawn one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._special import log_rising
from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._class_prior import shares
from bayesift.generative._counting import add_rows, add_weights
from bayesift.generative._groups import Layout, Members
from bayesift.generative._likelihood import Estimate, Likelihood, event_information, moved
from bayesift.generative._linear_scores import dot, log_table, split_missing
from bayesift.generative._rising import rising_scores
from bayesift.generative._tokens import document_lengths, draw_bursts, draw_words


class Words(Likelihood):
    """Words drawn one after the other, x | c ~ Mu(N, θ_c) (3.78), without the number of their orders."""

    def __init__(
        self, n_features: int, layout: Layout, estimate: Estimate, alpha: FloatArray, n_jobs: int | None
    ) -> None:
        super().__init__(n_features, layout, estimate)
        self.alpha, self.n_jobs = alpha, n_jobs
        self.words = np.zeros((n_features, layout.n_sums))
        # Of the documents of each sum: how many, and how many words they have.
        self.sizes = np.zeros((2, layout.n_sums))
        self._tables: dict[str, Any] = {}

    def add(self, X: sp.csr_matrix, members: Members, weights: FloatArray) -> None:
        lengths = np.asarray(X.sum(axis=1)).ravel()
        incomplete = np.isnan(lengths)
        if incomplete.any():
            X, _ = split_missing(X)
            lengths, weights = np.where(incomplete, 0.0, lengths), np.where(incomplete, 0.0, weights)
        add_rows(X.indptr, X.indices, X.data, members.start, members.sums, weights, self.words)
        for total, amounts in zip(self.sizes, (weights, weights * lengths), strict=True):
            add_weights(members.start, members.sums, amounts, total)
        self._tables.clear()

    def extend(self, places: Int64Array, layout: Layout) -> None:
        self.layout = layout
        self.words = moved(self.words, places, layout.n_sums)
        self.sizes = moved(self.sizes, places, layout.n_sums)
        self._tables.clear()

    def counts(self) -> FloatArray:
        """Occurrences of each word, features × groups."""
        if self.layout.kind == "classes":
            return self.words
        if "counts" not in self._tables:
            self._tables["counts"] = self.layout.groups(self.words)
        return self._tables["counts"]

    def probabilities(self) -> FloatArray:
        """Return the probability that the next word is a given one, features × groups."""
        counts = self.counts().T
        if self.estimate == "mle":
            return shares(counts).T
        pseudo = self.alpha - (self.estimate == "map")
        return shares(np.maximum(counts + pseudo, 0.0)).T

    def log_likelihood(self, X: sp.csr_matrix) -> FloatArray:
        values, missing = split_missing(X)
        lengths = np.asarray(values.sum(axis=1))
        return (self._integrated if self.estimate == "posterior" else self._plugged_in)(values, missing, lengths)

    def _integrated(self, X: sp.csr_matrix, missing: sp.csr_matrix | None, lengths: FloatArray) -> FloatArray:
        """Average over θ: counts have a Dirichlet-multinomial distribution, and so have those that are not missing."""
        counts = self.counts()
        totals = self.layout.groups(self.sizes[1]) + self.alpha.sum()
        scores = rising_scores(X, counts, self.alpha, (float(self.alpha.min()), float(totals.max())), self.n_jobs)
        if missing is not None:
            totals = totals - missing @ (counts + self.alpha[:, np.newaxis])
            return scores - log_rising(totals, lengths)
        distinct, place = np.unique(lengths, return_inverse=True)
        return scores - log_rising(totals, distinct[:, np.newaxis])[place.ravel()]

    def _plugged_in(self, X: sp.csr_matrix, missing: sp.csr_matrix | None, lengths: FloatArray) -> FloatArray:
        if "theta" not in self._tables:
            theta = np.ascontiguousarray(self.probabilities())
            self._tables.update(theta=theta, logs=log_table(theta))
        logs, never = self._tables["logs"]
        scores = dot(X, logs, self.n_jobs)
        if missing is not None:
            # The words that are not missing have the probabilities θ/(1 − those of the others).
            with np.errstate(divide="ignore", invalid="ignore"):
                rest = np.log(np.maximum(1.0 - missing @ self._tables["theta"], 0.0))
                scores -= np.where(lengths > 0, lengths * rest, 0.0)
        if never is None:
            return scores
        return np.where(X @ never > 0, -np.inf, scores)

    def log_evidence(self) -> FloatArray:
        counts = self.counts()
        rising = np.zeros(self.layout.n_groups)
        for group, column in enumerate(counts.T):
            seen = np.flatnonzero(column)
            rising[group] = log_rising(self.alpha[seen], column[seen]).sum()
        return rising - log_rising(self.alpha.sum(), self.layout.groups(self.sizes[1]))

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        return event_information(self.layout.by_task(self.probabilities()), shares).T

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> sp.csr_matrix:
        documents, words = self.layout.groups(self.sizes)[:, group]
        lengths = document_lengths(length, n, words / max(documents, 1e-300))
        if self.estimate == "posterior":
            return draw_bursts(self.counts()[:, group] + self.alpha, lengths, rng)
        return draw_words(self.probabilities()[:, group], lengths, rng)
