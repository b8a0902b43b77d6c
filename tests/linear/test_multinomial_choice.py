"""The choice of the common variance of all classes: by norm, on a grid, by search; each against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases
import multinomial_cases as cases
from bayesift import progress
from bayesift.linear import BayesianMultinomialRegression
from bayesift.linear._fit.problem import design_of
from bayesift.linear._fit.variance import GAUSSIAN_GRID, LAPLACE_GRID, assign_folds
from bayesift.priors import Laplace


def brute_force(X, y, weights, family, grid, folds, runs, seed, **options):
    """Held-out log likelihood of every variance and run by fits on the documents themselves, without shortcuts."""
    random = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
    fold = assign_folds(y, design_of(X).row_hashes, folds, random)
    scores = np.empty((len(grid), runs))
    for place, variance in enumerate(grid):
        for run in range(runs):
            train, test = fold != run, fold == run
            model = cases.tight(family, float(variance), **options).fit(X[train], y[train], weights[train])
            logs = model.predict_log_proba(X[test])
            scores[place, run] = np.sum(weights[test] * logs[np.arange(test.sum()), y[test]])
    return scores


@cases.each_solver
@pytest.mark.parametrize(("folds", "runs"), [(2, 1), (5, 3)])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_grid_equals_brute_force(family, folds, runs, solver, monkeypatch):
    monkeypatch.setattr("bayesift.linear._base.VALIDATION_GAP", 0.0)
    X, y = cases.documents(seed=20, n=80)
    weights = np.random.default_rng(0).uniform(0.2, 2, 80)
    grid = [10.0, 0.01, 1.0, 0.1]
    options = {"solver": solver}
    model = cases.tight(family, "cv", grid=grid, folds=folds, runs=runs, random_state=7, **options).fit(X, y, weights)
    expected = brute_force(X, y, weights, family, np.sort(grid), folds, runs, 7, **options)
    [found] = model.cv_results_
    assert_array_equal(found["variances"], np.sort(grid))
    assert_allclose(found["fold_scores"], expected, rtol=1e-5)
    assert_allclose(found["scores"], expected.sum(axis=1), rtol=1e-5)
    assert model.variance_[0] == found["variance"] == np.sort(grid)[np.argmax(expected.sum(axis=1))]
    final = cases.tight(family, model.variance_[0], **options).fit(X, y, weights)
    assert_allclose(model.coef_, final.coef_, atol=1e-6)


@cases.each_solver
def test_by_norm(solver):
    X, y = cases.documents()
    model = cases.tight("gaussian", "norm", solver=solver).fit(X, y)
    assert model.variance_[0] == pytest.approx(5 / np.mean((X**2).sum(axis=1)))
    assert model.cv_results_ == [None]


def test_the_grids_are_those_of_the_paper():
    X, y = cases.documents(n=60)
    for prior, grid in (("laplace", LAPLACE_GRID), ("gaussian", GAUSSIAN_GRID), ({0: "gaussian"}, LAPLACE_GRID)):
        model = BayesianMultinomialRegression(prior, folds=4).fit(X, y)
        [found] = model.cv_results_
        walked = len(found["variances"])
        assert walked > len(grid) // 2
        assert_allclose(found["variances"], grid[:walked])
        assert found["fold_scores"].shape == (walked, 2)


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_search_is_nearly_as_good_as_a_fine_grid_on_text(family):
    X, Y, *_ = linear_cases.news()
    y = np.argmax(Y, axis=1)
    options = {"folds": 5, "runs": 2}
    free = BayesianMultinomialRegression(family, "auto", **options).fit(X, y)
    fine = BayesianMultinomialRegression(family, "cv", grid=np.geomspace(1, 1e4, 9), **options).fit(X, y)
    chosen = BayesianMultinomialRegression(family, "cv", grid=free.variance_, **options).fit(X, y)
    assert chosen.cv_results_[0]["scores"][0] >= 1.06 * fine.cv_results_[0]["scores"].max()
    assert free.cv_results_[0]["variance"] == free.variance_[0]


def test_one_standard_error_takes_the_strongest_penalty_that_is_nearly_as_good():
    X, Y, *_ = linear_cases.news()
    y = np.argmax(Y, axis=1)
    plain = BayesianMultinomialRegression(folds=5, runs=5).fit(X, y)
    careful = BayesianMultinomialRegression(folds=5, runs=5, one_standard_error=True).fit(X, y)
    scores = plain.cv_results_[0]["fold_scores"]
    best = np.argmax(scores.mean(axis=1))
    limit = scores[best].mean() - np.std(scores[best], ddof=1) / np.sqrt(5)
    assert careful.variance_[0] == plain.cv_results_[0]["variances"][scores.mean(axis=1) >= limit].min()


@pytest.mark.parametrize("variance", ["cv", "auto"])
def test_too_few_documents_of_a_class_fall_back_to_the_norm_and_say_so(variance):
    X, y = cases.documents(n=40)
    y = np.where(np.arange(40) == 7, 9, y)
    model = BayesianMultinomialRegression(variance=variance)
    with pytest.warns(UserWarning, match="too few documents of a class"):
        model.fit(X, y)
    assert model.cv_results_ == [None]
    assert model.variance_[0] == pytest.approx(5 / np.mean((X**2).sum(axis=1)))


def test_documents_of_weight_0_are_absent_from_the_folds():
    X, y = cases.documents(n=90)
    weights = np.tile([1.0, 0.0, 2.0], 30)
    options = {"variance": "cv", "folds": 3, "grid": [0.1, 1.0]}
    weighted = BayesianMultinomialRegression(**options).fit(X, y, weights)
    kept = weights > 0
    removed = BayesianMultinomialRegression(**options).fit(X[kept], y[kept], weights[kept])
    assert_allclose(weighted.cv_results_[0]["fold_scores"], removed.cv_results_[0]["fold_scores"], rtol=1e-3)


def test_priors_with_variances_of_their_own_are_not_searched_but_others_are():
    X, y = cases.documents(n=60)
    model = BayesianMultinomialRegression(Laplace(0.3), "cv").fit(X, y)
    assert np.isnan(model.variance_).all()
    assert model.cv_results_ == [None]
    assert_array_equal(model.coef_, BayesianMultinomialRegression("laplace", 0.3).fit(X, y).coef_)
    mixed = cases.tight({0: Laplace(0.3)}, "cv", grid=[0.01, 5.0], folds=3).fit(X, y)
    priors = [Laplace(0.3), Laplace(mixed.variance_[0]), Laplace(mixed.variance_[0])]
    assert_allclose(mixed.coef_, cases.tight(priors).fit(X, y).coef_, atol=1e-6)


def test_progress_is_told_fit_by_fit():
    X, y = cases.documents(n=60)
    told = []
    with progress.callback(lambda *n: told.append(n)):
        cases.tight(variance="cv", grid=[0.1, 1.0], folds=3).fit(X, y)
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
    for variance in (1.0, "auto"):
        told.clear()
        with progress.callback(lambda *n: told.append(n)):
            cases.tight(variance=variance, folds=3).fit(X, y)
        assert told == [(1, 1)]


@pytest.mark.parametrize("before", [15.0, 1523.0])
@pytest.mark.parametrize("after", [1.0, 1.5e5, 1e7])
def test_a_start_from_a_far_variance_reaches_the_same_optimum(before, after):
    # On separable texts a large variance leaves no document uncertain, and so hardly any curvature.
    X, Y, *_ = linear_cases.news()
    y = np.argmax(Y, axis=1)
    model = BayesianMultinomialRegression("gaussian", before, warm_start=True).fit(X, y)
    again = model.set_params(variance=after).fit(X, y)
    afresh = BayesianMultinomialRegression("gaussian", after).fit(X, y)
    assert again.certificate_.converged.all()
    assert_allclose(again.certificate_.objective, afresh.certificate_.objective, rtol=2e-6)
