"""Naive Bayes learns sums, so that it learns the same from shards as from their matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift import shards
from bayesift.generative import BernoulliNB, MultinomialNB
from bayesift.shards import ShardWriter

RANDOM = np.random.default_rng(1)
X = sp.csr_matrix(RANDOM.poisson(0.3, size=(90, 12)).astype(np.float64))
FLAT = np.repeat(["a", "b", "c"], 30)
SETS = RANDOM.integers(0, 2, size=(90, 3))
WEIGHTS = RANDOM.integers(1, 4, size=90).astype(np.float64)


@pytest.fixture
def opened(tmp_path: Path) -> shards.Shards:
    with ShardWriter(tmp_path / "a", 12, rows=25) as writer:
        writer.add_empty_shard()
        writer.add(X)
    return shards.open(tmp_path / "a")


@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB])
@pytest.mark.parametrize("y", [FLAT, SETS, sp.csr_matrix(SETS)], ids=["labels", "sets", "sparse"])
def test_it_learns_the_same_as_from_the_matrix(opened: shards.Shards, model, y) -> None:
    expected, found = model().fit(X, y, WEIGHTS), model().fit(opened, y, WEIGHTS)
    assert found.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-10)
    # As after any fit, new classes may come.
    if y is FLAT:
        found.partial_fit(X[:2], ["d", "a"])
        assert found.classes_.tolist() == ["a", "b", "c", "d"]


def test_labels_must_fit_the_rows(opened: shards.Shards) -> None:
    with pytest.raises(ValueError, match="90 rows and y 3 labels"):
        MultinomialNB().fit(opened, [0, 1, 0])
