"""The steps of EM against other solvers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from ard_cases import golden, random_tags
from bayesift.ard import tagging_log_evidence_bound, tagging_log_likelihood
from bayesift.ard.tagging._bound import FULL_LIMIT, Quadrature, best_alpha, integrals, log_bound, margins_of
from bayesift.ard.tagging._learning import best_bound, joint_alpha, posterior_mode
from bayesift.ard.tagging._tags import Tagging

LIMIT = float(np.log(9.0))


def tagging_of(X, t):
    return Tagging(sp.csr_matrix(X), 2.0 * t - 1, np.ones(len(t)))


def test_golden_mode():
    X, t = golden()
    w = posterior_mode(tagging_of(X, t), np.ones(8), np.zeros(8), LIMIT, 1000)
    expected = [0.851700, 0.854730, 0.270246, 0.1, 0.365574, 0.380317, 0.427915, 0.469242]
    assert_allclose(expit(w), expected, atol=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_mode_is_that_of_a_general_solver_in_q(seed):
    X, t = random_tags(seed, n=40, d=5)
    alpha = np.random.default_rng(seed).uniform(0, 4, 5)

    def objective(q):
        return -tagging_log_likelihood(X, t, q).sum() - alpha @ np.log(q * (1 - q))

    found = minimize(objective, np.full(5, 0.5), method="SLSQP", bounds=[(0.1, 0.9)] * 5, options={"ftol": 1e-14})
    w = posterior_mode(tagging_of(X, t), alpha, np.zeros(5), LIMIT, 1000)
    assert objective(np.clip(expit(w), 0.1, 0.9)) <= found.fun + 1e-8
    assert_allclose(expit(w), found.x, atol=1e-4)


def test_at_the_best_bound_every_ratio_is_one():
    """K_ij = 1 for all η that are inside: the stationary points of the bound."""
    X, t = random_tags(1, n=12, d=3)
    tagging, rule = tagging_of(X, t), Quadrature.of(FULL_LIMIT, 200)
    alpha = np.full(3, 2.0)
    start = np.zeros(tagging.groups.objects.size)
    u = best_bound(tagging, alpha, start, rule, LIMIT, 500)
    margins = margins_of(tagging, u)
    groups = tagging.groups
    means = integrals(tagging, tagging.sizes(margins, u), alpha, rule, means=True).means
    inside = np.abs(u) < LIMIT - 1e-6
    assert inside.sum() > 5
    ratios = np.exp(groups.spread(groups.slopes) * u + groups.spread(means))
    assert_allclose(ratios[inside], 1.0, atol=1e-4)
    assert log_bound(tagging, u, alpha, rule) > log_bound(tagging, start, alpha, rule)


def test_the_m_step_is_that_of_scipy_for_each_tag():
    X, t = golden()
    tagging, rule = tagging_of(X, t), Quadrature.of(LIMIT, 200)
    w = posterior_mode(tagging, np.ones(8), np.zeros(8), LIMIT, 1000)
    u = w[tagging.groups.tags]
    sizes = tagging.sizes(margins_of(tagging, u), u)
    alpha, values = best_alpha(tagging, sizes, np.ones(8), 1000.0, rule, np.arange(8))
    eta = expit(w)

    def bound(j, a):
        changed = alpha.copy()
        changed[j] = a
        return tagging_log_evidence_bound(X, t, changed, eta, domain="trunc")

    for j in range(8):
        found = minimize_scalar(lambda a, j=j: -bound(j, a), bounds=(0, 1000), method="bounded")
        assert bound(j, alpha[j]) >= -found.fun - 1e-8
    joint = joint_alpha(tagging, sizes, np.ones(8), 1000.0, rule, 500)
    assert integrals(tagging, sizes, joint, rule).values.sum() <= values.sum() + 1e-8
    assert_allclose(joint[[2, 4]], alpha[[2, 4]], rtol=1e-3)


def test_only_the_tags_asked_for_move():
    X, t = golden()
    tagging, rule = tagging_of(X, t), Quadrature.of(LIMIT, 200)
    u = np.zeros(tagging.groups.objects.size)
    alpha, values = best_alpha(tagging, tagging.sizes(np.zeros(60), u), np.ones(8), 1000.0, rule, np.array([3]))
    assert (alpha == 1).tolist() == [j != 3 for j in range(8)]
    assert np.flatnonzero(values).tolist() == [3]
