"""Theorem 1: the bound is below the evidence and touches the likelihood; its gradients; golden numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import betaln, logit, logsumexp

from ard_cases import golden, random_tags
from bayesift.ard import tagging_log_evidence_bound, tagging_log_likelihood, tagging_log_likelihood_bound
from bayesift.ard.tagging._bound import FULL_LIMIT, Quadrature, integrals, log_bound, log_bound_and_gradient
from bayesift.ard.tagging._tags import Tagging

Q = np.array([0.8, 0.6, 0.4, 0.2, 0.5, 0.55, 0.45, 0.7])
ALPHA = np.array([0, 0.5, 1, 2, 5, 20, 100, 1000])
ETA = np.array([0.7, 0.6, 0.45, 0.3, 0.5, 0.5, 0.5, 0.6])


def log_evidence(X, t, alpha, low=0.0, high=1.0, n_nodes=48):
    """The evidence itself, on a product grid over up to three tags."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    q, log_weight = low + (high - low) * 0.5 * (1 + nodes), np.log(0.5 * (high - low) * weights)
    grids = np.meshgrid(*[np.arange(n_nodes)] * len(alpha), indexing="ij")
    places = np.stack([grid.ravel() for grid in grids], axis=1)
    points = q[places]
    log_prior = alpha * np.log(points * (1 - points)) - betaln(np.add(alpha, 1), np.add(alpha, 1))
    total = tagging_log_likelihood(X, t, points).sum(axis=1) + (log_prior + log_weight[places]).sum(axis=1)
    return logsumexp(total)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from(["full", "trunc"]), st.booleans())
def test_the_bound_is_below_the_evidence(seed, d, domain, shared):
    random = np.random.default_rng(seed)
    X, t = random_tags(seed, n=8, d=d)
    alpha = random.choice([0.0, 0.3, 1.0, 4.0, 15.0], size=d)
    eta = random.uniform(0.05, 0.95, size=d if shared else (8, d))
    evidence = log_evidence(X, t, alpha, *((0.0, 1.0) if domain == "full" else (0.1, 0.9)))
    assert tagging_log_evidence_bound(X, t, alpha, eta, domain=domain) <= evidence + 1e-9


def test_a_narrower_domain_is_a_lower_bound_too():
    full, trunc = (tagging_log_evidence_bound([[1]], [1], [0.0], [0.8], domain=domain) for domain in ("full", "trunc"))
    assert trunc < full - 0.1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_every_object_has_a_bound_below_its_likelihood_that_touches_at_eta(seed):
    random = np.random.default_rng(seed)
    X, t = random_tags(seed, n=10, d=5)
    eta = random.uniform(0.02, 0.98, size=(10, 5))
    q = random.uniform(0.02, 0.98, size=(30, 5))
    assert np.all(tagging_log_likelihood_bound(X, t, q, eta) <= tagging_log_likelihood(X, t, q) + 1e-12)
    for i in range(10):
        touching = tagging_log_likelihood_bound(X, t, eta[i], eta)[i]
        assert_allclose(touching, tagging_log_likelihood(X, t, eta[i])[i], rtol=1e-12, atol=1e-13)


def test_the_bound_as_printed_would_not_be_one():
    """In print P_i stands where 1 − P_i must: for an improbable object that is no bound."""
    q, eta, m = 0.2, 0.1, 1
    p = eta
    printed = np.log(p) + (1 - p) - p / m * np.exp(-m * (logit(q) - logit(eta)))
    assert printed > np.log(q)
    assert tagging_log_likelihood_bound([[1]], [1], [q], [eta])[0] < np.log(q)


def tagging_of(X, t, weights=None):
    return Tagging(sp.csr_matrix(X), 2.0 * t - 1, np.ones(len(t)) if weights is None else weights)


@pytest.mark.parametrize("limit", [FULL_LIMIT, np.log(9.0)])
def test_gradients_by_finite_differences(limit):
    random = np.random.default_rng(3)
    X, t = random_tags(3, n=15, d=4, density=0.6)
    tagging, rule = tagging_of(X, t, random.uniform(0.5, 2.0, 15)), Quadrature.of(limit, 200)
    u, alpha = random.normal(0, 0.7, tagging.groups.objects.size), random.uniform(0, 8, 4)
    value, gradient = log_bound_and_gradient(tagging, u, alpha, rule)
    assert value == pytest.approx(log_bound(tagging, u, alpha, rule), abs=1e-10)
    step = 1e-5
    for place, unit in enumerate(np.eye(u.size)):
        change = log_bound(tagging, u + step * unit, alpha, rule) - log_bound(tagging, u - step * unit, alpha, rule)
        assert_allclose(gradient[place], change / (2 * step), rtol=1e-5, atol=1e-7)
    margins = tagging.y * np.bincount(tagging.groups.objects, u, 15)
    by_alpha = integrals(tagging, tagging.sizes(margins, u), alpha, rule).by_alpha
    for place, unit in enumerate(np.eye(4)):
        change = log_bound(tagging, u, alpha + step * unit, rule) - log_bound(tagging, u, alpha - step * unit, rule)
        assert_allclose(by_alpha[place], change / (2 * step), rtol=1e-5, atol=1e-7)


def test_golden_numbers():
    X, t = golden()
    assert (X.sum(), t.sum()) == (162, 24)
    assert tagging_log_likelihood(X, t, Q).sum() == pytest.approx(-29.514405, abs=1e-6)
    assert tagging_log_likelihood_bound(X, t, Q, ETA).sum() == pytest.approx(-45.952507, abs=1e-6)
    assert tagging_log_evidence_bound(X, t, ALPHA, ETA) == pytest.approx(-40.845031, abs=1e-6)
    log_prior = ALPHA * np.log(Q * (1 - Q)) - betaln(ALPHA + 1, ALPHA + 1)
    assert log_prior.sum() == pytest.approx(-166.602513, abs=1e-6)


def test_objects_without_tags_and_tags_of_all_and_of_none():
    X, t = random_tags(5, n=9, d=2)
    X[:, 0], X[3:6] = 1, 0
    X[6:, 0] = 1
    bound = tagging_log_evidence_bound(X, t, [1.0, 2.0], [0.6, 0.4])
    kept = np.r_[0:3, 6:9]
    assert bound == pytest.approx(
        tagging_log_evidence_bound(X[kept], t[kept], [1.0, 2.0], [0.6, 0.4]) + 3 * np.log(0.5)
    )
    # a tag of no object integrates to 1
    wider = np.column_stack([X, np.zeros(9)])
    assert tagging_log_evidence_bound(wider, t, [1.0, 2.0, 5.0], [0.6, 0.4, 0.3]) == pytest.approx(bound, abs=1e-10)


def test_equal_objects_share_a_group():
    X, t = np.tile([[1.0, 1.0, 0.0]], (50, 1)), np.tile([0, 1], 25)
    tagging = tagging_of(X, t)
    assert tagging.groups.slopes.tolist() == [-2, 2, -2, 2]
    assert tagging.groups.starts.tolist() == [0, 2, 4, 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[2]], [1], [0.5]), "zeros and ones only"),
        (([[1]], [2], [0.5]), "expected 0 or 1 for each"),
        (([[1]], [1, 0], [0.5]), "for each of the 1 objects"),
        (([[1]], [1], [1.5]), "q must be between 0 and 1"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        tagging_log_likelihood(*arguments)
