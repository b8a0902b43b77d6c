"""Generative models learn sums, so that they learn the same from shards as from their matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift import shards
from bayesift.generative import BernoulliNB, DirichletCompoundMultinomial, MultinomialNB
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


@pytest.mark.parametrize("y", [FLAT, SETS, sp.csr_matrix(SETS)], ids=["labels", "sets", "sparse"])
@pytest.mark.parametrize("options", [{}, {"prior": "laplace"}, {"solver": "edcm"}], ids=["map", "laplace", "edcm"])
def test_counts_of_counts_are_all_that_bursts_need(opened: shards.Shards, y, options) -> None:
    expected = DirichletCompoundMultinomial(**options).fit(X, y, WEIGHTS)
    found = DirichletCompoundMultinomial(**options).fit(opened, y, WEIGHTS)
    assert found.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_allclose(found.class_count_, expected.class_count_)
    np.testing.assert_allclose(found.alpha_, expected.alpha_, rtol=1e-9)
    np.testing.assert_allclose(found.certificate_.objective, expected.certificate_.objective, rtol=1e-10)


def test_values_that_are_no_counts_and_classes_without_words(tmp_path: Path) -> None:
    # Fractions take the other way through the histogram; the class "c" has no word.
    amounts = sp.csr_matrix(RANDOM.exponential(size=(60, 5)) * (RANDOM.random((60, 5)) < 0.4))
    y = np.repeat(["a", "b", "c"], 20)
    amounts = sp.vstack([amounts[:40], sp.csr_matrix((20, 5))], format="csr")
    shards.write_matrix(amounts, tmp_path / "a", rows=7)
    opened = shards.open(tmp_path / "a")
    expected = DirichletCompoundMultinomial().fit(amounts, y)
    np.testing.assert_allclose(DirichletCompoundMultinomial().fit(opened, y).alpha_, expected.alpha_, rtol=1e-9)
    shards.write_matrix(sp.csr_matrix((4, 5)), tmp_path / "b")
    with pytest.raises(ValueError, match="has no word"):
        DirichletCompoundMultinomial().fit(shards.open(tmp_path / "b"), [0, 0, 1, 1])
    shards.write_matrix(-amounts, tmp_path / "c")
    with pytest.raises(ValueError, match="Negative values"):
        DirichletCompoundMultinomial().fit(shards.open(tmp_path / "c"), y)
