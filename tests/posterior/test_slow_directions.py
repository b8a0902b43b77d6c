"""Moves along slow directions leave the posterior as it is, and are worth their name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

import bayesift.posterior.gibbs as module
from bayesift.posterior import gibbs_sampling
from bayesift.posterior._slow_directions import SlowDirections
from bayesift.priors import Gaussian


def families(n_families=3, members=60, seed=0):
    """Return documents of a few families, each with words of its own that all members have, all far from 0."""
    rng = np.random.default_rng(seed)
    common = np.repeat(np.identity(n_families), members, axis=0)
    rest = 0.3 * rng.normal(size=(n_families * members, 5))
    y = np.repeat(np.arange(n_families) % 2, members)
    return sp.csr_matrix(np.hstack([common, rest])), y


def test_moves_alone_have_the_moments_of_the_posterior_along_the_directions():
    rng = np.random.default_rng(0)
    H = sp.csr_matrix(np.column_stack([rng.normal(size=(8, 2)), np.ones(8)]))
    y, precision, start = (
        np.array([1, 1, 1, -1, -1, -1, 1, -1.0]),
        np.array([1.0, 1.0, 0.0]),
        np.array([0.5, -0.5, 0.2]),
    )
    slow = SlowDirections(H, y, precision)
    phi = np.tile(start[:, None], 50)
    scores = np.asarray(H @ phi)
    slow.learn(scores)
    rngs, drawn, moved = rng.spawn(50), [], []
    for _ in range(220):
        moved.append(slow.move(phi, scores, rngs))
        drawn.append(phi.T - start)
    assert 0.7 < np.mean(moved) < 1.0
    np.testing.assert_allclose(scores, H @ phi, atol=1e-4)
    # One direction of the two words and the intercept; nothing moves across them. Along them, by integration:
    across, basis = np.split(np.linalg.svd(slow._along.astype(float))[2].T, [2], axis=1)[::-1]
    np.testing.assert_allclose(np.vstack(drawn) @ across, 0.0, atol=1e-4)
    plane = np.stack(np.meshgrid(*[np.linspace(-8, 8, 201)] * 2, indexing="ij"), -1).reshape(-1, 2)
    points = start + plane @ basis.T
    logs = np.log(expit(y * (points @ H.toarray().T))).sum(axis=1) - 0.5 * points**2 @ precision
    mass = np.exp(logs - logs.max())
    mass /= mass.sum()
    mean = mass @ plane
    covariance = (plane - mean).T @ (mass[:, None] * (plane - mean))
    found = np.vstack(drawn[20:]) @ basis
    assert np.all(np.abs(found.mean(axis=0) - mean) < 4.5 * np.sqrt(np.diag(covariance) / 1500))
    np.testing.assert_allclose(np.cov(found.T), covariance, atol=0.12 * np.diag(covariance).max())


@pytest.mark.filterwarnings("ignore:the chains are too short")
def test_families_of_documents_move(monkeypatch):
    monkeypatch.setattr(module, "MOST_BY_DECOMPOSITION", 1)
    X, y = families()
    found = gibbs_sampling(X, y, Gaussian(30.0), n_draws=300, warmup=50)
    monkeypatch.setattr(SlowDirections, "move", lambda self, phi, scores, rngs: np.zeros(len(rngs), bool))
    without = gibbs_sampling(X, y, Gaussian(30.0), n_draws=300, warmup=50)
    assert np.median(found.diagnostics.effective) > 2 * np.median(without.diagnostics.effective)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 1)])
def test_few_documents_or_words(shape):
    H, y = sp.csr_matrix(np.ones(shape)), np.ones(shape[0])
    slow = SlowDirections(H, y, np.ones(shape[1]))
    rng = np.random.default_rng(0)
    phi, scores = np.zeros((shape[1], 2)), np.zeros((shape[0], 2))
    assert not slow.move(phi, scores, [rng, rng]).any()
    slow.learn(scores)
    slow.move(phi, scores, [rng, rng])
    np.testing.assert_allclose(scores, H @ phi, atol=1e-6)


@pytest.mark.filterwarnings("ignore:the chains are too short")
def test_scores_so_far_out_that_labels_say_nothing(monkeypatch):
    monkeypatch.setattr(module, "MOST_BY_DECOMPOSITION", 1)
    X, y = families(members=8)
    found = gibbs_sampling(X, y, Gaussian(1e8), n_draws=20, warmup=10)
    assert np.isfinite(found.draws).all()
    slow = SlowDirections(X, 2.0 * y - 1.0, np.append(np.ones(X.shape[1] - 1), 0.0))
    slow.learn(np.full((len(y), 2), 1e5))
    assert np.isfinite(slow._along).all()
