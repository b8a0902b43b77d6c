"""The relevance tagging machine as its users meet it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from ard_cases import golden, random_tags, telling_tags
from bayesift.ard import RelevanceTaggingMachine, tagging_log_evidence_bound
from bayesift.ard.tagging._learning import State, posterior_mode
from bayesift.ard.tagging._tags import Tagging

CONVERGED = {"max_iter": 300, "inner_iter": 1000}


def test_golden_map_em_over_all_q():
    machine = RelevanceTaggingMachine(domain="full", **CONVERGED).fit(*golden())
    assert_allclose(machine.alpha_, [0, 0, 0.026135, 0, 5.757026, *[np.inf] * 3], rtol=1e-3, atol=1e-9)
    assert machine.log_evidence_bound_ == pytest.approx(-30.551669, abs=1e-4)
    assert machine.relevant_.tolist() == [True] * 5 + [False] * 3


def test_golden_map_em_over_the_allowed_q():
    machine = RelevanceTaggingMachine(**CONVERGED).fit(*golden())
    assert_allclose(machine.alpha_[[2, 4]], [0.027911, 5.761015], rtol=1e-3)
    assert machine.log_evidence_bound_ == pytest.approx(-32.609637, abs=1e-4)


def test_golden_em():
    machine = RelevanceTaggingMachine("em", "full", max_iter=100).fit(*golden())
    assert_allclose(machine.alpha_, [0, 0.061066, 0.651171, 0, *[np.inf] * 4], rtol=1e-3, atol=1e-9)
    assert machine.log_evidence_bound_ == pytest.approx(-29.692557, abs=2e-6)


@pytest.mark.parametrize("options", [{"solver": "em"}, {"monotone": True}, {"solver": "em", "m_step": "joint"}])
@pytest.mark.parametrize("domain", ["trunc", "full"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_bound_never_falls(options, domain, seed):
    machine = RelevanceTaggingMachine(domain=domain, **options).fit(*telling_tags(seed))
    assert np.diff(machine.log_evidence_bound_path_).min() > -1e-8
    assert machine.n_relevant_path_.size == machine.log_evidence_bound_path_.size == machine.n_iter_


def test_the_reported_bound_is_that_of_the_formula():
    X, t = telling_tags(0)
    machine = RelevanceTaggingMachine(max_iter=1, inner_iter=500).fit(X, t)
    alpha = np.where(machine.relevant_, machine.alpha_, 1000.0)
    # The first E-step is the mode at α = 1.
    w = posterior_mode(
        Tagging(sp.csr_matrix(X), 2.0 * t - 1, np.ones(len(t))), np.ones(10), np.zeros(10), np.log(9), 500
    )
    expected = tagging_log_evidence_bound(X, t, alpha, 1 / (1 + np.exp(-w)), domain="trunc")
    assert machine.log_evidence_bound_path_[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "options", [{}, {"solver": "em"}, {"m_step": "joint", "inner_iter": 2}, {"prune_at_once": True}]
)
def test_the_certificate_tells_what_is_left_in_alpha(options):
    X, t = telling_tags(0)
    machine = RelevanceTaggingMachine(**options).fit(X, t)
    found = machine.certificate_
    assert found.objective.tolist() == [-machine.log_evidence_bound_]
    assert np.isinf(found.gap[0])
    assert found.passes.tolist() == [machine.n_iter_]
    assert found.seconds[0] > 0
    # The joint M-step is stopped after few iterations; tags that are held at the end may come to want less.
    assert (found.kkt_residual[0] > 1e-3) == ("m_step" in options)


def test_the_residual_is_the_slope_of_the_bound():
    X, t = golden()
    machine = RelevanceTaggingMachine(m_step="joint", max_iter=1, inner_iter=2, removal_alpha=1000.0).fit(X, t)
    w = posterior_mode(Tagging(sp.csr_matrix(X), 2.0 * t - 1, np.ones(60)), np.ones(8), np.zeros(8), np.log(9), 2)

    def bound(alpha):
        return tagging_log_evidence_bound(X, t, alpha, 1 / (1 + np.exp(-w)), domain="trunc")

    alpha, step = machine.alpha_, 1e-4
    at_end = alpha == 0
    assert 0 < at_end.sum() < 8 > alpha.max()
    assert all(bound(alpha + step * unit) < bound(alpha) for unit in np.eye(8)[at_end])
    units = np.eye(8)[~at_end]
    slopes = [(bound(alpha + step * unit) - bound(alpha - step * unit)) / (2 * step) for unit in units]
    expected = np.max(np.abs((1 + alpha[~at_end]) * slopes))
    assert machine.certificate_.kkt_residual[0] == pytest.approx(expected, rel=1e-4)


def test_weights_of_words_are_the_coefficients():
    machine = RelevanceTaggingMachine().fit(*telling_tags(1))
    assert machine.target_type_ == "binary"
    assert_array_equal(machine.word_weights(), machine.coef_)
    assert sp.issparse(machine.sparsify().word_weights())


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["map-em", "em"]))
def test_swapping_the_classes_turns_q_over(seed, solver):
    X, t = random_tags(seed, n=30, d=6)
    here = RelevanceTaggingMachine(solver, max_iter=4).fit(X, t)
    there = RelevanceTaggingMachine(solver, max_iter=4).fit(X, 1 - t)
    assert_allclose(here.q_, 1 - there.q_, atol=1e-5)
    assert_array_equal(here.relevant_, there.relevant_)
    assert_allclose(here.log_evidence_bound_path_, there.log_evidence_bound_path_, rtol=1e-7)


@pytest.mark.parametrize("prune_at_once", [False, True])
@pytest.mark.parametrize("solver", ["map-em", "em"])
def test_it_finds_the_tags_that_tell(solver, prune_at_once):
    X, t = telling_tags(4, n=300)
    machine = RelevanceTaggingMachine(solver, prune_at_once=prune_at_once).fit(X, t)
    assert machine.relevant_[:2].all()
    assert machine.relevant_[2:].sum() <= 2
    assert machine.q_[0] > 0.8
    assert machine.q_[1] < 0.2
    assert machine.n_relevant_path_[-1] == machine.relevant_.sum()


def test_removed_tags_are_one_half_exactly_and_do_not_count():
    X, t = telling_tags(1)
    machine = RelevanceTaggingMachine().fit(X, t)
    removed = ~machine.relevant_
    assert removed.any()
    assert np.all(machine.q_[removed] == 0.5)
    assert np.all(machine.alpha_[removed] == np.inf)
    assert np.all(machine.weights_[removed] == 0)
    scores = machine.decision_function(X)
    other = X.copy()
    other[:, removed] = 7.5
    assert_array_equal(machine.decision_function(other), scores)
    assert_allclose(scores, X @ np.log(machine.q_ / (1 - machine.q_)), atol=1e-12)


def test_probabilities_are_those_of_the_model():
    X, t = telling_tags(2)
    machine = RelevanceTaggingMachine().fit(X, t)
    up = np.prod(np.where(X > 0, machine.q_, 1.0), axis=1)
    down = np.prod(np.where(X > 0, 1 - machine.q_, 1.0), axis=1)
    assert_allclose(machine.predict_proba(X), np.column_stack([down, up]) / (up + down)[:, None], atol=1e-12)
    # Odds that are even are a yes.
    assert_array_equal(machine.predict(X), (up > (1 - 1e-12) * down).astype(int))
    assert machine.predict(np.zeros((1, X.shape[1]))) == [1]


def test_edges_of_the_data():
    X, t = telling_tags(3)
    X[:, 5], X[:, 6], X[10:14] = 0, 1, 0
    machine = RelevanceTaggingMachine().fit(X, t)
    assert machine.q_[5] == 0.5
    assert not machine.relevant_[5]
    assert_allclose(machine.predict_proba(X[10:14]), 0.5)
    # objects without any tag change nothing but the bound, each by ln ½
    filled = np.delete(np.arange(len(t)), np.arange(10, 14))
    fewer = RelevanceTaggingMachine().fit(X[filled], t[filled])
    assert_allclose(machine.q_, fewer.q_, atol=1e-6)
    assert_allclose(machine.log_evidence_bound_path_, fewer.log_evidence_bound_path_ + 4 * np.log(0.5), rtol=1e-6)


def test_no_tag_at_all():
    machine = RelevanceTaggingMachine().fit(np.zeros((4, 3)), [0, 1, 0, 1])
    assert not machine.relevant_.any()
    assert_allclose(machine.log_evidence_bound_path_, 4 * np.log(0.5))
    assert_allclose(machine.predict_proba(np.ones((2, 3))), 0.5)


@pytest.mark.parametrize("solver", ["map-em", "em"])
def test_every_tag_may_go_at_once(solver):
    machine = RelevanceTaggingMachine(solver, prune_at_once=True).fit(np.eye(3), [0, 1, 1])
    assert_array_equal(machine.q_, [0.5, 0.5, 0.5])
    assert machine.n_relevant_path_.tolist() == [0]


def test_pruning_keeps_the_parameters_of_the_entries_that_stay():
    X, t = random_tags(11, n=20, d=5)
    tagging = Tagging(sp.csr_matrix(X), 2.0 * t - 1, np.ones(20))
    groups = tagging.groups
    state = State(tagging, np.arange(5), np.ones(5), np.zeros(5), groups.objects + 0.01 * groups.tags)
    state.prune(np.array([True, False, True, True, False]))
    groups = state.tagging.groups
    assert_allclose(state.u, groups.objects + 0.01 * state.tags[groups.tags])
    assert state.tags.tolist() == [0, 2, 3]


def test_a_weight_of_two_is_two_objects():
    X, t = telling_tags(5, n=60)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    weighted = RelevanceTaggingMachine(inner_iter=200).fit(X, t, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    copied = RelevanceTaggingMachine(inner_iter=200).fit(X[rows], t[rows])
    assert_allclose(weighted.q_, copied.q_, atol=1e-4)
    assert_allclose(weighted.log_evidence_bound_path_, copied.log_evidence_bound_path_, rtol=1e-4)


@pytest.mark.parametrize(
    "form", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, pd.DataFrame, np.asfortranarray]
)
def test_any_form_of_the_matrix(form):
    X, t = telling_tags(6)
    expected = RelevanceTaggingMachine().fit(X, t)
    X_form = form(X)
    machine = RelevanceTaggingMachine().fit(X_form, t)
    assert_array_equal(machine.q_, expected.q_)
    assert_array_equal(machine.decision_function(X_form), expected.decision_function(X))


def test_stored_zeros_and_repeated_entries_are_what_they_mean():
    X = sp.csr_matrix(([1.0, 0.0, 1.0], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    machine = RelevanceTaggingMachine().fit(X, [1, 0])
    assert_array_equal(machine.q_, RelevanceTaggingMachine().fit(X.toarray(), [1, 0]).q_)
    assert X.nnz == 3
    twice = sp.coo_matrix(([1.0, 1.0], ([0, 0], [0, 0])), shape=(2, 1)).tocsr()
    twice.data[:] = 0.5
    with pytest.raises(ValueError, match=r"has the value 0\.5"):
        RelevanceTaggingMachine().fit(twice, [1, 0])


def test_names_selection_and_sparse_weights():
    X, t = telling_tags(7, n=300)
    frame = pd.DataFrame(X, columns=[f"tag{j}" for j in range(10)])
    machine = RelevanceTaggingMachine().fit(frame, np.where(t > 0, "good", "bad"))
    assert machine.classes_.tolist() == ["bad", "good"]
    kept = machine.get_feature_names_out().tolist()
    assert kept[:2] == ["tag0", "tag1"]
    assert machine.transform(frame).shape == (300, len(kept))
    before = machine.predict_proba(frame)
    assert sp.issparse(machine.sparsify().coef_)
    assert machine.coef_.nnz == len(kept)
    assert_array_equal(machine.predict_proba(frame), before)
    assert machine.weights_.shape == (10,)
    pipeline = make_pipeline(RelevanceTaggingMachine(), BernoulliNB()).fit(frame, t)
    assert pipeline[-1].n_features_in_ == len(kept)


def test_one_against_the_rest_and_many_labels():
    X, t = telling_tags(8, n=200)
    three = t + X[:, 2].astype(int)
    wrapped = OneVsRestClassifier(RelevanceTaggingMachine()).fit(X, three)
    assert wrapped.predict_proba(X).shape == (200, 3)
    labels = np.column_stack([t, X[:, 3]]).astype(int)
    assert OneVsRestClassifier(RelevanceTaggingMachine()).fit(X, labels).predict(X).shape == (200, 2)


def test_counts_are_tags_with_binarize():
    X, t = telling_tags(9)
    counts = X * np.random.default_rng(0).integers(1, 5, X.shape)
    machine = RelevanceTaggingMachine(binarize=0.0).fit(counts, t)
    assert_array_equal(machine.q_, RelevanceTaggingMachine().fit(X, t).q_)
    assert_array_equal(machine.predict(counts), machine.predict(X))


X2 = [[0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({}, [[0, 2], [1, 0], [1, 1]], [0, 1, 1], r"zeros and ones only, but has the value 2 .* pass binarize=0\.0"),
        ({}, [[0, -1], [1, 0], [1, 1]], [0, 1, 1], "has the value -1"),
        ({}, X2, [1, 1, 1], "one class only: 1"),
        ({}, X2, ["a", "b", "c"], "y has 3 labels; wrap it in sklearn.multiclass.OneVsRestClassifier"),
        ({}, X2, [[0, 1], [1, 0], [1, 1]], "y has several columns"),
        ({}, X2, [0, 1], "inconsistent numbers of samples"),
        ({}, [[0, np.nan], [1, 0], [1, 1]], [0, 1, 1], "NaN"),
        ({"binarize": -1.0}, sp.csr_matrix(X2), [0, 1, 1], "would turn the zeros"),
        ({"solver": "EM"}, X2, [0, 1, 1], "solver"),
        ({"q_min": 0.5}, X2, [0, 1, 1], "q_min"),
        ({"removal_alpha": 2000.0}, X2, [0, 1, 1], "removal_alpha=2000.0 must not exceed max_alpha=1000.0"),
        ({"initial_alpha": 2.0, "max_alpha": 1.0, "removal_alpha": 1.0}, X2, [0, 1, 1], "initial_alpha=2.0"),
    ],
)
def test_bad_input(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        RelevanceTaggingMachine(**options).fit(X, y)


def test_bad_input_when_predicting():
    machine = RelevanceTaggingMachine(max_alpha=1000.0).fit(*telling_tags(0))
    wrong = np.zeros((1, 10))
    wrong[0, 0] = 3
    with pytest.raises(ValueError, match="has the value 3"):
        machine.predict(wrong)
    with pytest.raises(ValueError, match="3 features"):
        machine.predict(np.zeros((1, 3)))


def test_weights_must_leave_two_classes():
    with pytest.raises(ValueError, match="fewer than two classes"):
        RelevanceTaggingMachine().fit(X2, [0, 1, 1], sample_weight=[0, 1, 1])
