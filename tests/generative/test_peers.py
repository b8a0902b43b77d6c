"""Equal to scikit-learn where the definitions coincide."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as peers
from numpy.testing import assert_allclose

from bayesift.generative import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from generative_cases import documents

WEIGHTS = np.random.default_rng(5).gamma(1.0, 1.0, 40)

PAIRS = [
    ("binary", BernoulliNB(0.4, class_prior=None), peers.BernoulliNB(alpha=0.4)),
    ("binary", BernoulliNB(1.4, estimate="map"), peers.BernoulliNB(alpha=0.4)),
    ("counts", BernoulliNB(0.4, binarize=1.0, class_prior=None), peers.BernoulliNB(alpha=0.4, binarize=1.0)),
    ("binary", BernoulliNB(class_prior="uniform"), peers.BernoulliNB(fit_prior=False)),
    ("counts", MultinomialNB(1.4, estimate="map"), peers.MultinomialNB(alpha=0.4)),
    ("values", CategoricalNB(0.4, class_prior=None), peers.CategoricalNB(alpha=0.4)),
    ("values", CategoricalNB(class_prior=None, min_categories=6), peers.CategoricalNB(min_categories=6)),
    ("numbers", GaussianNB(estimate="mle"), peers.GaussianNB(var_smoothing=0)),
]


@pytest.mark.parametrize(("kind", "ours", "theirs"), PAIRS, ids=repr)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_probabilities_agree(kind, ours, theirs, weights):
    X, y = documents(kind)
    labels = np.array(["c", "a", "b"])[y]
    new, _ = documents(kind, seed=1)
    if kind == "values":
        new = np.minimum(new, X.max(axis=0))
    ours.fit(X, labels, sample_weight=weights)
    theirs.fit(X, labels, sample_weight=weights)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert_allclose(ours.predict_log_proba(new), theirs.predict_log_proba(new), atol=1e-10)
    assert_allclose(ours.predict_joint_log_proba(new), theirs.predict_joint_log_proba(new), atol=1e-10)
    assert ours.predict(new).tolist() == theirs.predict(new).tolist()


def test_the_parameters_have_their_names():
    X, y = documents("counts")
    ours, theirs = MultinomialNB(1.4, estimate="map").fit(X, y), peers.MultinomialNB(alpha=0.4).fit(X, y)
    for name in ("class_count_", "feature_count_", "class_log_prior_", "feature_log_prob_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12)
    X, y = documents("numbers")
    ours, theirs = GaussianNB(estimate="mle").fit(X, y), peers.GaussianNB(var_smoothing=0).fit(X, y)
    for name in ("theta_", "var_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12)


def test_many_documents_on_several_threads():
    rng = np.random.default_rng(1)
    X = sp.random(4000, 300, density=0.2, random_state=rng, data_rvs=lambda n: rng.integers(1, 9, n)).tocsr()
    y = rng.integers(0, 12, 4000)
    ours, theirs = MultinomialNB(1.1, estimate="map").fit(X, y), peers.MultinomialNB(alpha=0.1).fit(X, y)
    assert X.nnz * 12 > 2_000_000
    assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-9)
    for model in (MultinomialNB(0.1), BernoulliNB(0.1)):
        alone = model.set_params(n_jobs=1).fit(X, y).predict_proba(X)
        assert np.array_equal(model.set_params(n_jobs=3).fit(X, y).predict_proba(X), alone)
