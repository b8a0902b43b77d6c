"""The display of repeated words: its numbers by brute force, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib import pyplot
from numpy.testing import assert_allclose
from scipy import stats

from bayesift.generative import DirichletCompoundMultinomial
from bayesift.plots import BurstinessDisplay


def documents(n=40, d=6):
    rng = np.random.default_rng(0)
    return np.array([rng.multinomial(rng.integers(5, 30), rng.dirichlet(np.full(d, 0.2))) for _ in range(n)])


def by_hand(X, laws, chosen, n):
    """Sum the probabilities of k occurrences over all documents and words, one by one."""
    shares = np.zeros(n + 1)
    for length in X.sum(axis=1):
        for j in chosen:
            shares += laws(j, length).pmf(np.arange(n + 1))
    return shares[1:] / (len(X) * len(chosen) - shares[0])


@pytest.mark.parametrize("words", [None, [1, 4]])
def test_the_numbers_by_brute_force(words):
    X = documents()
    shown = BurstinessDisplay.from_data(sp.csr_matrix(X), words=words, max_count=6)
    chosen = range(6) if words is None else words
    values = X[:, list(chosen)]
    assert_allclose(shown.data, [(values == k).sum() / (values > 0).sum() for k in range(1, 7)])
    theta = X.sum(axis=0) / X.sum()
    expected = by_hand(X, lambda j, n: stats.binom(n, theta[j]), chosen, 6)
    assert_allclose(shown.models["multinomial"], expected, rtol=1e-9)
    alpha = DirichletCompoundMultinomial(estimate="mle").fit(X, np.zeros(40)).alpha_[0]
    expected = by_hand(X, lambda j, n: stats.betabinom(n, alpha[j], alpha.sum() - alpha[j]), chosen, 6)
    assert_allclose(shown.models["DCM"], expected, rtol=1e-8)


def test_bursts_are_seen_by_one_model_only():
    shown = BurstinessDisplay.from_data(documents(400), max_count=5)
    error = {name: np.abs(np.log(shares / shown.data)).mean() for name, shares in shown.models.items()}
    assert error["DCM"] < 0.3 * error["multinomial"]


def test_many_lengths_are_taken_together():
    rng = np.random.default_rng(1)
    X = np.array([rng.multinomial(n, rng.dirichlet(np.full(5, 0.5))) for n in range(10, 210)])
    shown = BurstinessDisplay.from_data(X, max_count=3)
    theta = X.sum(axis=0) / X.sum()
    expected = by_hand(X, lambda j, n: stats.binom(n, theta[j]), range(5), 3)
    assert_allclose(shown.models["multinomial"], expected, rtol=0.02)


def test_it_draws_data_and_models_where_it_is_told_to():
    shown = BurstinessDisplay.from_data(documents(), max_count=4)
    figure, axes = pyplot.subplots(1, 2)
    assert shown.plot(axes[1], linewidth=3.0) is shown
    assert shown.figure_ is figure
    assert not axes[0].lines
    assert [line.get_label() for line in shown.lines_] == ["data", "multinomial", "DCM"]
    assert [line.get_linewidth() for line in shown.lines_] == [3.0] * 3
    assert_allclose(shown.lines_[2].get_ydata(), shown.models["DCM"])
    assert axes[1].get_yscale() == "log"
    shown.plot().figure_.canvas.draw()


@pytest.mark.usefixtures("without_matplotlib")
def test_the_numbers_are_there_without_matplotlib():
    shown = BurstinessDisplay.from_data(documents(), max_count=4)
    assert shown.counts.tolist() == [1, 2, 3, 4]
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_bad_input():
    X = np.array([[1, 0], [2, 0]])
    with pytest.raises(ValueError, match="none of words occurs in X"):
        BurstinessDisplay.from_data(X, words=[1])
    with pytest.raises(ValueError, match="max_count is 0; expected a whole number of at least 1"):
        BurstinessDisplay.from_data(X, max_count=0)
    with pytest.raises(ValueError, match="Negative values"):
        BurstinessDisplay.from_data(-X)
