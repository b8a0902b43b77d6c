"""Effective sample size and R-hat of chains whose properties are known."""

from __future__ import annotations

import numpy as np
import pytest

from bayesift.posterior import effective_sample_size, gibbs_sampling, split_r_hat
from bayesift.priors import Gaussian
from posterior_cases import few_texts


def chains(correlation, shape=(4, 2000, 3), seed=0):
    """Draw autoregressive chains of order one."""
    rng = np.random.default_rng(seed)
    noise = np.sqrt(1 - correlation**2) * rng.normal(size=shape)
    found = np.empty(shape)
    found[:, 0] = rng.normal(size=(shape[0], *shape[2:]))
    for t in range(1, shape[1]):
        found[:, t] = correlation * found[:, t - 1] + noise[:, t]
    return found


@pytest.mark.parametrize("correlation", [-0.3, 0.0, 0.5, 0.9])
def test_effective_size_of_autoregressive_chains(correlation):
    expected = 8000 * (1 - correlation) / (1 + correlation)
    np.testing.assert_allclose(effective_sample_size(chains(correlation)), expected, rtol=0.3)


def test_chains_that_agree_have_r_hat_one():
    assert np.all(split_r_hat(chains(0.0)) < 1.005)


def test_r_hat_sees_shifts_trends_and_other_widths():
    draws = chains(0.0)
    shifted, wider, moving = draws.copy(), draws.copy(), draws.copy()
    shifted[0] += 1.0
    wider[0] *= 3.0
    moving += np.linspace(0, 3, 2000)[None, :, None]
    for bad in (shifted, wider, moving):
        assert np.all(split_r_hat(bad) > 1.05)
    assert np.all(effective_sample_size(shifted) < 200)


def test_both_depend_on_ranks_only():
    draws = chains(0.5)
    np.testing.assert_allclose(effective_sample_size(np.exp(draws)), effective_sample_size(draws))


def test_one_quantity_may_be_given_alone():
    draws = chains(0.5)
    assert effective_sample_size(draws[:, :, 0]) == pytest.approx(effective_sample_size(draws)[0])
    assert split_r_hat(draws[:, :, 0]) == pytest.approx(split_r_hat(draws)[0])


def test_draws_that_never_change():
    assert split_r_hat(np.ones((2, 10))) == 1.0
    assert np.isnan(effective_sample_size(np.ones((2, 10))))


@pytest.mark.parametrize("shape", [(10,), (4, 3), (2, 10, 2, 2)])
def test_wrong_shapes_are_refused(shape):
    for measure in (split_r_hat, effective_sample_size):
        with pytest.raises(ValueError, match=r"draws has shape .*; expected \(n_chains, n_draws\)"):
            measure(np.zeros(shape))


def test_arviz_reads_the_draws_and_agrees():
    arviz = pytest.importorskip("arviz", reason="ArviZ is not installed; draws were read by version 0.23.4")
    X, y, _ = few_texts(n=20, d=40)
    found = gibbs_sampling(X, y, Gaussian(3.0), n_draws=100, warmup=50)
    data = arviz.from_dict(posterior={"coordinates": found.draws})
    assert data.posterior["coordinates"].shape == found.draws.shape
    np.testing.assert_allclose(arviz.rhat(data)["coordinates"], split_r_hat(found.draws), rtol=1e-3)
    np.testing.assert_allclose(arviz.ess(data)["coordinates"], effective_sample_size(found.draws), rtol=0.05)
