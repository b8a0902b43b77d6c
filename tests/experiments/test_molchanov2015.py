"""The experiments give tables of the promised form, and the data are those of the paper."""

import numpy as np
import pytest

from bayesift.experiments.molchanov2015 import (
    draw_bounds,
    draw_words,
    figure1,
    figure2,
    sentences,
    synthetic,
    table1,
    table2,
    words,
)


def test_synthetic_tags():
    for noise in ("random", "thinned", "noisy"):
        X, y = synthetic(0, noise)
        assert X.shape == (500, 50)
        assert set(np.unique(X)) == {0.0, 1.0}
        assert 0.2 < y.mean() < 0.8
        assert X[:, :25].mean() == pytest.approx(0.2, abs=0.02)
    genuine, thinned = np.hsplit(synthetic(1, "thinned")[0], 2)
    assert np.all(thinned <= genuine)
    assert thinned.sum() / genuine.sum() == pytest.approx(0.3, abs=0.05)
    genuine, noisy = np.hsplit(synthetic(1, "noisy")[0], 2)
    assert np.mean(genuine != noisy) == pytest.approx(0.2 * 2 * 0.2 * 0.8, abs=0.01)


def test_table1():
    rows = table1(2, ("random", "thinned"), ("RTM-MAP-EM", "RVM", "L1 logistic"))
    assert [(row.noise, row.method) for row in rows[:2]] == [("random", "RTM-MAP-EM"), ("random", "RVM")]
    assert (rows[0].published_irrelevant, rows[3].published_genuine) == (99.64, 2.50)
    assert all(row.irrelevant > 70 and row.genuine < 20 and np.isfinite(row.irrelevant_error) for row in rows)


def test_figures_without_data(tmp_path):
    for display in (*figure1(), figure2()):
        assert np.all(display.bounds <= display.values + 1e-9)
    draw_bounds(tmp_path / "bounds.png")
    assert (tmp_path / "bounds.png").stat().st_size > 5000


@pytest.mark.collection("si650")
def test_sentences_are_those_of_the_paper():
    data = sentences()
    assert data.X.shape == (1411, 1869)
    assert data.X.sum() / 1411 == pytest.approx(10.79, abs=0.01)
    assert data.y.sum() == 772
    assert [part.shape[0] for part in data.split(0)] == [1000, 1000, 411, 411]


@pytest.mark.collection("si650")
def test_table2_and_the_words(tmp_path):
    data = sentences()
    tagging, vectors = table2(data, 2, ("RTM-MAP-EM", "RVM, 20 rounds"))
    assert (tagging.published_accuracy, vectors.published_kept) == (0.9659, 230)
    assert tagging.accuracy > 0.92
    assert 40 < tagging.kept < 110
    assert 150 < vectors.kept < 280
    shown = words(data)
    assert list(shown) == ["RTM-MAP-EM", "L1 logistic", "RVM, 20 rounds"]
    strongest = shown["RTM-MAP-EM"].top(20)
    assert {"love", "awesom", "suck", "hate"} <= set(data.names[strongest])
    draw_words(shown, tmp_path / "words.png")
    assert (tmp_path / "words.png").stat().st_size > 5000
