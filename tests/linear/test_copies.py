"""Copies of documents taken as one of greater weight: found exactly, and without a trace in what is learned."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.linear._fit import copies
from bayesift.linear._fit.copies import merge_copies


def with_copies(seed, n=80, n_copies=60):
    """Documents of five features, some of them again, and which one each is."""
    random = np.random.default_rng(seed)
    X, _ = cases.documents(seed=seed, n=n)
    text = random.permutation(np.append(np.arange(n), random.integers(n, size=n_copies)))
    return sp.csr_matrix(X)[text], text, random


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 1000), kind=st.sampled_from(["flat", "indicator", "sparse indicator"]), form=st.booleans())
def test_documents_are_merged_exactly_where_entries_and_labels_agree(seed, kind, form):
    X, text, random = with_copies(seed, n=20, n_copies=40)
    flat = random.choice(["a", "b", "c"], text.size)
    y = flat if kind == "flat" else (flat[:, None] == ["a", "b"]).astype(int)
    y = sp.csc_matrix(y) if kind == "sparse indicator" else y
    weights = random.uniform(0, 2, text.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "_FEWEST", 0)
        patch.setattr(copies, "_SHARE", 1.0)
        merged, labels, totals = merge_copies(X if form else X.tocsc(), y, weights)
    expected: dict[tuple, float] = {}
    rows = y.toarray() if kind == "sparse indicator" else y
    for row, label, weight in zip(X.toarray(), rows, weights, strict=True):
        key = (*row, *np.atleast_1d(label).tolist())
        expected[key] = expected.get(key, 0.0) + weight
    rows = labels.toarray() if kind == "sparse indicator" else labels
    found = {
        (*row, *np.atleast_1d(label).tolist()): total
        for row, label, total in zip(merged.toarray(), rows, totals, strict=True)
    }
    assert found.keys() == expected.keys()
    assert merged.shape[0] == len(expected)
    for key, total in expected.items():
        assert found[key] == pytest.approx(total, rel=1e-12)


def test_the_same_hash_alone_makes_no_copy(monkeypatch):
    X, text, _ = with_copies(3)
    monkeypatch.setattr(copies, "columns_dot", lambda indptr, indices, data, v, out: out.fill(0.5))
    monkeypatch.setattr(copies, "_FEWEST", 0)
    monkeypatch.setattr(copies, "_SHARE", 1.0)
    merged, _, weights = merge_copies(X, np.zeros(text.size), np.ones(text.size))
    # Only those of the first document are recognised; nothing else may be lost.
    assert weights.sum() == text.size
    assert merged.shape[0] == text.size - np.count_nonzero(text == text[0]) + 1


def test_few_documents_few_copies_and_arrays_are_left_as_they_are(monkeypatch):
    X, text, _ = with_copies(4, n_copies=5)
    y, weights = np.zeros(text.size), np.ones(text.size)
    assert merge_copies(X, y, weights)[0] is X
    monkeypatch.setattr(copies, "_FEWEST", 0)
    assert merge_copies(X, y, weights)[0] is X
    dense = np.ones((50, 2))
    assert merge_copies(dense, y[:50], weights[:50])[0] is dense


@pytest.mark.parametrize(
    "model",
    [
        BayesianLogisticRegression("laplace", tol=1e-9, folds=4, class_weight="balanced"),
        BayesianLogisticRegression("gaussian", "auto", tol=1e-9, folds=4, threshold="max_f1", compute_precision=True),
        BayesianMultinomialRegression("gaussian", tol=1e-9, folds=4),
        BayesianMultinomialRegression("laplace", 2.0, tol=1e-9),
        BayesianProbitRegression("gaussian", 2.0, tol=1e-9),
    ],
    ids=["lasso", "ridge", "softmax ridge", "softmax lasso", "probit"],
)
def test_a_fit_is_the_same_with_copies_merged(model, monkeypatch):
    X, text, random = with_copies(6)
    y = random.choice(["a", "b", "c"], 80, p=[0.5, 0.3, 0.2])[text]
    # Some copies have another label.
    y[:10] = random.choice(["a", "b", "c"], 10)
    weights = random.uniform(0.5, 1.5, text.size)
    fitted = []
    for fewest in (10**6, 0):
        monkeypatch.setattr(copies, "_FEWEST", fewest)
        fitted.append(vars(model.fit(X, y, weights)).copy())
    plain, merged = fitted
    name = "class_coef_" if "class_coef_" in plain else "coef_"
    assert_allclose(merged["variance_"], plain["variance_"], rtol=1e-6)
    assert_allclose(merged[name], plain[name], atol=1e-5)
    assert_allclose(merged["certificate_"].objective, plain["certificate_"].objective, rtol=1e-9)
    assert merged["certificate_"].converged.all()
    if "precision_" in plain:
        assert_allclose(merged["precision_"], plain["precision_"], rtol=1e-5)
    if "threshold_" in plain:
        assert_allclose(merged["threshold_"].thresholds_, plain["threshold_"].thresholds_, atol=1e-5)
    assert_array_equal(merged["classes_"], plain["classes_"])
