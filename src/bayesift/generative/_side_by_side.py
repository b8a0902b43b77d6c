"""Different likelihoods for different columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._groups import Layout, Members
from bayesift.generative._likelihood import Likelihood
from bayesift.generative.naive_bayes import NaiveBayes

Part = tuple[str, NaiveBayes, Any]


class SideBySide(Likelihood):
    """Different likelihoods for different columns."""

    def __init__(self, n_features: int, layout: Layout, models: list[NaiveBayes], columns: list[Int64Array]) -> None:
        super().__init__(n_features, layout, "posterior")
        self.models, self.columns = models, columns
        self.parts = [model._new_likelihood(len(own), layout) for model, own in zip(models, columns, strict=True)]

    def blocks(self, X: Any, *, learning: bool) -> list[Any]:
        """Return the columns of each part in the form it works on."""
        by_column = sp.csc_matrix(X) if sp.issparse(X) else X
        found = []
        for model, own in zip(self.models, self.columns, strict=True):
            block = by_column[:, own]
            if model._takes_sparse:
                block = sp.csr_matrix(block)
            elif sp.issparse(block):
                block = block.toarray()
            model._check_values(block, learning=learning)
            found.append(block)
        return found

    def add(self, X: Any, members: Members, weights: FloatArray) -> None:
        for part, block in zip(self.parts, self.blocks(X, learning=True), strict=True):
            part.add(block, members, weights)

    def extend(self, places: Int64Array, layout: Layout) -> None:
        self.layout = layout
        for part in self.parts:
            part.extend(places, layout)

    def log_likelihood(self, X: Any) -> FloatArray:
        blocks = self.blocks(X, learning=False)
        scores = [part.log_likelihood(block) for part, block in zip(self.parts, blocks, strict=True)]
        return np.sum(scores, axis=0)

    def log_evidence(self) -> FloatArray:
        return np.sum([part.log_evidence() for part in self.parts], axis=0)

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        result = np.zeros((self.layout.tasks[0], self.n_features))
        for part, own in zip(self.parts, self.columns, strict=True):
            result[:, own] = part.mutual_information(shares)
        return result

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> FloatArray:
        result = np.zeros((n, self.n_features))
        for part, own in zip(self.parts, self.columns, strict=True):
            block = part.draw(group, n, length, rng)
            result[:, own] = block.toarray() if sp.issparse(block) else block
        return result
