"""The choice of the prior variance: folds, norm, grid, search without a grid, fallback."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from bayesift.linear._fit import variance as search
from bayesift.linear._fit.problem import design_of, norm_variance
from bayesift.linear._fit.variance import (
    GAUSSIAN_GRID,
    LAPLACE_GRID,
    LabelledDocuments,
    WarmStarts,
    assign_folds,
    choose_from_grid,
    choose_without_grid,
)
from bayesift.priors import Gaussian, Laplace


@settings(deadline=None)
@given(
    positives=st.integers(0, 40),
    negatives=st.integers(0, 40),
    n_folds=st.integers(2, 12),
    seed=st.integers(0, 1000),
)
def test_folds_are_even_in_size_and_in_both_classes(positives, negatives, n_folds, seed):
    random = np.random.default_rng(seed)
    y = random.permutation(np.repeat([1.0, -1.0], [positives, negatives]))
    fold = assign_folds(y, np.arange(float(y.size)), n_folds, random)
    for chosen in (y > 0, y < 0, np.ones(y.size, dtype=bool)):
        counts = np.bincount(fold[chosen], minlength=n_folds)
        assert counts.size == n_folds
        assert counts.max() - counts.min() <= 1
    rarer = y == (1.0 if positives < negatives else -1.0)
    # The first folds are the ones that are left out: they get the rarer class first.
    assert np.all(np.diff(np.bincount(fold[rarer], minlength=n_folds)) <= 0)


def test_folds_know_neither_copies_nor_the_order_of_documents():
    X, y = cases.documents(seed=8, n=60)
    plain = assign_folds(y, design_of(X).row_hashes, 5, np.random.default_rng(3))
    order = np.random.default_rng(1).permutation(np.append(np.arange(60), np.arange(20)))
    copied = assign_folds(y[order], design_of(sp.csc_matrix(X[order])).row_hashes, 5, np.random.default_rng(3))
    assert_array_equal(copied, plain[order])


@settings(deadline=None)
@given(n=st.integers(4, 60), n_texts=st.integers(2, 20), n_folds=st.integers(2, 6), seed=st.integers(0, 1000))
def test_copies_are_in_one_fold_whatever_their_labels(n, n_texts, n_folds, seed):
    random = np.random.default_rng(seed)
    text, y = random.integers(n_texts, size=n), random.integers(3, size=n)
    fold = assign_folds(y, text / 7.0, n_folds, random)
    assert all(len(set(fold[text == one])) == 1 for one in set(text))
    sizes = np.bincount(fold[np.unique(text, return_index=True)[1]], minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1


@settings(deadline=None)
@given(seed=st.integers(0, 1000), learned=st.sampled_from([1, 20, 60, 1000]), of_a_class=st.sampled_from([1, 10, 40]))
def test_a_search_learns_from_a_part_of_many_texts_and_keeps_copies_together(seed, learned, of_a_class):
    random = np.random.default_rng(seed)
    X, _ = cases.documents(seed=seed, n=80)
    text = random.permutation(np.append(np.arange(80), random.integers(80, size=40)))
    documents = LabelledDocuments(design_of(X[text]), np.arange(120) % 3, np.tile([1.0, 0.0, 2.0, 1.0], 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_LEARNT", learned)
        patch.setattr(search, "_LEARNT_OF_A_CLASS", of_a_class)
        fold = documents.search_folds(4, seed)
        share = max(learned / np.unique(text[documents.weights > 0]).size, of_a_class / documents.fewest())
    assert all(len(set(fold[(text == one) & (documents.weights > 0)])) <= 1 for one in set(text))
    left = fold >= 0
    assert_array_equal(fold[left], documents.folds(4, seed)[left])
    if share >= 1:
        assert left.all()
    else:
        assert np.unique(text[left]).size == pytest.approx(80 * share, abs=5 * np.sqrt(80 * share * (1 - share)) + 1)


@pytest.mark.parametrize("kind", [BayesianLogisticRegression, BayesianMultinomialRegression])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_what_a_search_does_not_learn_from_it_is_judged_by(family, kind, monkeypatch):
    monkeypatch.setattr("bayesift.linear._base.VALIDATION_GAP", 0.0)
    monkeypatch.setattr(search, "_LEARNT", 60)
    monkeypatch.setattr(search, "_LEARNT_OF_A_CLASS", 1)
    X, y = cases.documents(seed=20, n=160)
    weights = np.random.default_rng(0).uniform(0.2, 2, 160)
    grid, options = [0.01, 0.1, 1.0], {"n_jobs": 1, **cases.tightly()}
    model = kind(family, "cv", grid=grid, folds=4, random_state=7, **options).fit(X, y, weights)
    seed = np.random.RandomState(7).randint(2**31 - 1)
    fold = LabelledDocuments(design_of(X), y, weights).search_folds(4, seed)
    assert 30 < np.count_nonzero(fold < 0) < 130
    [found] = model.cv_results_
    for place, run in np.ndindex(found["fold_scores"].shape):
        train = (fold >= 0) & (fold != run)
        part = kind(family, grid[place], **options).fit(X[train], y[train], weights[train])
        log_odds = part.decision_function(X[~train])
        expected = -np.sum(weights[~train] * np.logaddexp(0, -y[~train] * log_odds))
        assert found["fold_scores"][place, run] == pytest.approx(expected, rel=1e-6)
    # The fit itself is to all documents.
    whole = kind(family, model.variance_[0], **options).fit(X, y, weights)
    assert_allclose(model.coef_, whole.coef_, atol=1e-6)


def test_a_text_counts_in_held_out_scores_for_three_documents_of_its_class_at_most():
    X, _ = cases.documents(seed=3, n=20)
    text = np.append(np.arange(20), np.repeat([0, 1], [30, 10]))
    labels = np.where(text % 2 == 0, 1.0, -1.0)
    # Of the first text's copies some have the other label.
    labels[20:24] = -1.0
    weights = np.where(labels > 0, 5.0, 1.0)
    design = design_of(X[text])
    judging = LabelledDocuments(design, labels, weights).judging_weights()
    means = {label: weights[labels == label].sum() / np.unique(text[labels == label]).size for label in (1.0, -1.0)}
    for one in range(20):
        own = text == one
        limit = np.array([3.0 * means[label] for label in labels[own]])
        factor = np.minimum(1.0, limit / weights[own].sum())
        assert_allclose(judging[own], weights[own] * factor)
    assert_array_equal(judging[(text > 1)], weights[text > 1])
    # As many documents of weight 1 are the same as one of a greater weight.
    first = [np.flatnonzero((text == one) & (labels == label))[0] for one, label in set(zip(text, labels, strict=True))]
    totals = [weights[(text == text[i]) & (labels == labels[i])].sum() for i in first]
    merged = LabelledDocuments(design.subset(np.array(first)), labels[first], np.array(totals)).judging_weights()
    expected = [judging[(text == text[i]) & (labels == labels[i])].sum() for i in first]
    assert_allclose(merged, expected)


@cases.each_solver
def test_copies_alone_are_too_few_documents_for_a_search(solver):
    X, y = cases.documents(seed=8, n=60)
    few = np.append(np.flatnonzero(y < 0), np.repeat(np.flatnonzero(y > 0)[0], 20))
    model = BayesianLogisticRegression(folds=4, solver=solver)
    with pytest.warns(UserWarning, match="too few documents of a class"):
        model.fit(X[few], y[few])
    assert model.cv_results_ == [None]


@settings(deadline=None)
@given(sample=cases.any_documents(), seed=st.integers(0, 1000), sparse=st.booleans())
def test_the_norm_based_variance_is_the_formula(sample, seed, sparse):
    X, y = sample
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], len(y))
    weights[:2] = 1.0
    mean_square = np.average((X**2).sum(axis=1), weights=weights)
    expected = (X.shape[1] + 1) / mean_square if mean_square else 1.0
    assert norm_variance(design_of(sp.csr_matrix(X) if sparse else X), weights) == pytest.approx(expected)
    model = BayesianLogisticRegression(variance="norm", solver="clg").fit(X, y, weights)
    assert model.variance_[0] == pytest.approx(expected)
    assert model.cv_results_ == [None]


def brute_force(X, y, weights, family, grid, folds, runs, seed, **options):
    """Held-out log likelihood of every variance and run by fits on the documents themselves, without shortcuts."""
    random = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
    fold = assign_folds(y, design_of(X).row_hashes, folds, random)
    scores = np.empty((len(grid), runs))
    for place, variance in enumerate(grid):
        for run in range(runs):
            train, test = fold != run, fold == run
            model = cases.tight(family, float(variance), **options).fit(X[train], y[train], weights[train])
            log_odds = model.decision_function(X[test])
            scores[place, run] = -np.sum(weights[test] * np.logaddexp(0, -y[test] * log_odds))
    return scores


@cases.each_solver
@pytest.mark.parametrize(("folds", "runs"), [(2, 1), (5, 3), (4, 4)])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_grid_equals_brute_force(family, folds, runs, solver, monkeypatch):
    monkeypatch.setattr("bayesift.linear._base.VALIDATION_GAP", 0.0)
    X, y = cases.documents(seed=20, n=80)
    weights = np.random.default_rng(0).uniform(0.2, 2, 80)
    grid = [10.0, 0.01, 1.0, 0.1]
    options = {"solver": solver, "intercept_variance": 2.0}
    model = cases.tight(family, "cv", grid=grid, folds=folds, runs=runs, random_state=7, **options).fit(X, y, weights)
    expected = brute_force(X, y, weights, family, np.sort(grid), folds, runs, 7, **options)
    [found] = model.cv_results_
    assert_array_equal(found["variances"], np.sort(grid))
    assert_allclose(found["fold_scores"], expected, rtol=1e-6)
    assert_allclose(found["scores"], expected.sum(axis=1), rtol=1e-6)
    assert model.variance_[0] == found["variance"] == np.sort(grid)[np.argmax(expected.sum(axis=1))]
    final = cases.tight(family, model.variance_[0], **options).fit(X, y, weights)
    assert_allclose(model.coef_, final.coef_, atol=1e-7)


@cases.each_solver
def test_one_standard_error_takes_the_strongest_penalty_that_is_nearly_as_good(solver):
    X, Y, *_ = cases.news()
    options = {"solver": solver, "folds": 5, "runs": 5, **cases.stopping(solver, None, 1e-4), "n_jobs": 1}
    plain = BayesianLogisticRegression(**options).fit(X, Y[:, :3])
    careful = BayesianLogisticRegression(**options, one_standard_error=True).fit(X, Y[:, :3])
    for k in range(3):
        scores = plain.cv_results_[k]["fold_scores"]
        mean = scores.mean(axis=1)
        best = np.argmax(mean)
        error = np.std(scores[best], ddof=1) / np.sqrt(5)
        within = plain.cv_results_[k]["variances"][mean >= mean[best] - error]
        assert careful.variance_[k] == within.min()
        assert_array_equal(careful.cv_results_[k]["scores"], plain.cv_results_[k]["scores"])
    assert np.all(careful.variance_ <= plain.variance_)
    assert np.any(careful.variance_ < plain.variance_)


@cases.each_solver
def test_the_grids_are_those_of_the_paper(solver):
    assert_allclose(np.sqrt(2 / np.array(LAPLACE_GRID)), 10.0 ** np.arange(2.5, -2.1, -0.5))
    assert_allclose(GAUSSIAN_GRID, 10.0 ** np.arange(-4, 5))
    X, y = cases.documents(n=40)
    for prior, grid in (("laplace", LAPLACE_GRID), (Gaussian(mode=0.1), GAUSSIAN_GRID)):
        model = BayesianLogisticRegression(prior, solver=solver, folds=4).fit(X, y)
        [found] = model.cv_results_
        walked = len(found["variances"])
        assert walked > len(grid) // 2
        assert_allclose(found["variances"], grid[:walked])
        assert found["fold_scores"].shape == (walked, 2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_walk_along_the_grid_ends_where_the_score_has_clearly_fallen(family, seed, monkeypatch):
    monkeypatch.setattr("bayesift.linear._base.VALIDATION_GAP", 0.0)
    X, y = cases.documents(seed=seed, n=200, d=80)
    # A fifth of the labels is wrong: weak penalties learn them by heart.
    y = np.where(np.random.default_rng(seed).random(y.size) < 0.2, -y, y)
    options = {"folds": 5, "runs": 3, "random_state": 0}
    [found] = BayesianLogisticRegression(family, **options).fit(X, y).cv_results_
    grid = np.array(LAPLACE_GRID if family == "laplace" else GAUSSIAN_GRID)
    # A grid of one variance cannot end early.
    alone = [BayesianLogisticRegression(family, grid=[variance], **options).fit(X, y) for variance in grid]
    full = np.array([model.cv_results_[0]["scores"][0] for model in alone])
    assert found["variance"] == pytest.approx(grid[np.argmax(full)])
    walked = len(found["variances"])
    assert walked < grid.size
    assert_allclose(found["scores"], full[:walked], rtol=1e-4)
    assert full[walked - 1] < 1.05 * full[: walked - 1].max()


def noisy_texts(seed, n=1500, d=600):
    """Short documents of two classes, a quarter of them copies, some of which have the other label."""
    random = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1.0, d + 1.0)
    y = np.where(random.random(n) < 0.4, 1.0, -1.0)
    tilt = np.exp(np.outer([-0.7, 0.7], random.normal(size=d))) * frequency
    words = [random.choice(d, random.integers(3, 12), p=own / own.sum()) for own in tilt[(y > 0).astype(int)]]
    rows = np.repeat(np.arange(n), [len(found) for found in words])
    X = sp.csr_matrix((np.ones(rows.size), (rows, np.concatenate(words))), (n, d))
    X = normalize(sp.vstack([X, X[: n // 3]], format="csr"))
    return X, np.concatenate([y, np.where(random.random(n // 3) < 0.1, -1.0, 1.0) * y[: n // 3]])


@pytest.mark.parametrize("model", [BayesianLogisticRegression, BayesianMultinomialRegression])
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_a_search_by_rough_fits_chooses_as_one_by_exact_fits(family, model, monkeypatch):
    X, y = noisy_texts(3)
    [rough] = model(family, n_jobs=1).fit(X, y).cv_results_
    monkeypatch.setattr("bayesift.linear._base.VALIDATION_GAP", 0.0)
    [exact] = model(family, n_jobs=1).fit(X, y).cv_results_
    assert rough["variance"] == exact["variance"]
    assert_array_equal(rough["variances"], exact["variances"])
    assert_allclose(rough["scores"], exact["scores"], rtol=5e-3)


@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_search_without_a_grid_spares_the_weakest_penalties(family):
    X, y = noisy_texts(4)
    free = BayesianLogisticRegression(family, "auto", n_jobs=1).fit(X, y)
    grid = BayesianLogisticRegression(family, "cv", n_jobs=1).fit(X, y)
    # Documents have length 1: the norm-based value is the number of terms, and fits there take longest.
    assert free.cv_results_[0]["variances"].max() < 0.5 * X.shape[1]
    assert free.cv_results_[0]["scores"].max() > grid.cv_results_[0]["scores"].max() * 1.01


def test_fits_of_a_search_that_do_not_converge_are_counted():
    X, y = cases.documents(n=60)
    model = BayesianLogisticRegression(grid=[1e6], folds=3, max_iter=2, solver="clg", tol=1e-12)
    with pytest.warns(ConvergenceWarning) as told:
        model.fit(X, y)
    assert "2 fits of the search for a variance did not converge within max_iter=2" in str(told[-1].message)


class Known:
    """A stand-in for a validation whose held-out scores are a known function of ln(variance)."""

    def __init__(self, function, deviation=(-1.0, 1.0)):
        self.function = function
        self.deviation = np.array(deviation)
        self.asked = []
        self.best, self.n_unconverged = None, 0

    def score(self, variance):
        self.asked.append(variance)
        return self.function(np.log(variance)) + self.deviation


@settings(deadline=None)
@given(top=st.floats(-8, 8), width=st.floats(0.01, 3.0))
def test_between_two_points_of_a_grid_the_middle_is_tried_unless_one_is_clearly_worse(top, width):
    grid = np.array(GAUSSIAN_GRID)
    known = Known(lambda x: -100.0 - width * (x - top) ** 2)
    curve = choose_from_grid(known, grid, False, between=True)
    points = np.log(curve.variances)
    assert np.all(np.diff(points) > 0)
    assert np.log(curve.variance) == points[np.argmin(np.abs(points - top))]
    coarse = np.log(grid)
    first, second = sorted(np.argsort(np.abs(coarse - top))[:2])
    apart = width * abs((coarse[first] - top) ** 2 - (coarse[second] - top) ** 2)
    lowest = 100.0 + width * np.abs(coarse - top).min() ** 2
    middle = 0.5 * (coarse[first] + coarse[second])
    assert np.isclose(points, middle).any() == (apart <= 0.05 * lowest)
    assert np.all(np.isin(choose_from_grid(known, grid, False).variances, grid))


def test_a_grid_that_was_given_is_kept_to_and_few_documents_cannot_tell_more():
    X, y = noisy_texts(4)
    [own] = BayesianLogisticRegression(n_jobs=1).fit(X, y).cv_results_
    [given] = BayesianLogisticRegression(n_jobs=1, grid=LAPLACE_GRID).fit(X, y).cv_results_
    [more] = np.setdiff1d(own["variances"], given["variances"])
    assert np.all(np.isin(given["variances"], np.array(LAPLACE_GRID)))
    [alone] = BayesianLogisticRegression(n_jobs=1, grid=[more]).fit(X, y).cv_results_
    assert own["scores"][own["variances"] == more] == pytest.approx(alone["scores"][0], rel=2e-3)
    few = X[:900]
    [small] = BayesianLogisticRegression(n_jobs=1).fit(few, y[:900]).cv_results_
    assert np.all(np.isin(small["variances"], np.array(LAPLACE_GRID)))


def test_a_trail_repeats_its_last_step_but_never_turns_or_overshoots():
    trail = WarmStarts()
    assert trail.guess(1.0) is None
    first, second = np.array([0.0, 1.0, -1.0, 1.0]), np.array([1.0, 1.5, -2.0, 0.25])
    trail.add(1.0, first)
    assert_array_equal(trail.guess(10.0), first)
    trail.add(10.0, second)
    # The last coefficient would change its sign, and starts at zero.
    assert_allclose(trail.guess(100.0), [2.0, 2.0, -3.0, 0.0])
    assert_allclose(trail.guess(10.0**1.5), [1.5, 1.75, -2.5, 0.0])
    for variance in (10.0, 5.0, 1000.0, np.inf):
        assert_array_equal(trail.guess(variance), second)
    for variance in (0.1, 1.0, 2.0):
        assert_array_equal(trail.guess(variance), first)


@settings(deadline=None)
@given(
    top=st.floats(-15, 15),
    start=st.floats(-6, 6),
    width=st.floats(0.5, 20),
    level=st.floats(-500, -10),
)
def test_the_search_finds_the_top_of_a_parabola(top, start, width, level):
    known = Known(lambda x: level - width * (x - top) ** 2)
    curve = choose_without_grid(known, np.exp(start))
    assert np.log(curve.variance) == pytest.approx(top, abs=1e-4)
    assert np.all(np.diff(curve.variances) > 0)
    assert sorted(known.asked) == pytest.approx(curve.variances.tolist())
    # Bracketing by factors of 100, then the parabola is exact, then neighbours within a factor of 10.
    steps = abs(top - start) / np.log(100)
    assert len(known.asked) <= steps + 7
    ratios = np.array(known.asked[1:]) / np.exp(start)
    assert np.allclose(np.round(np.log(ratios[:1]) / np.log(100)), np.log(ratios[:1]) / np.log(100))


@settings(deadline=None)
@given(top=st.floats(-10, 10), start=st.floats(-5, 5), slope=st.floats(0.05, 0.6))
def test_the_search_ends_within_a_step_of_the_top_of_a_lopsided_curve(top, start, slope):
    # Rises slowly and falls fast, as held-out likelihoods do.
    def function(x):
        return -100 - 3 * (np.exp(slope * (x - top)) - slope * (x - top) - 1) / slope**2

    curve = choose_without_grid(Known(function), np.exp(start))
    assert abs(np.log(curve.variance) - top) < np.log(10)
    # Near its top the curve is flat to rounding, and its computed values may lie a little above it.
    assert np.all(curve.fold_scores.mean(axis=1) <= -100 + 1e-10)


@pytest.mark.parametrize("direction", [-1.0, 1.0])
def test_the_search_ends_where_a_curve_has_no_top(direction):
    known = Known(lambda x: -100 + 1e-3 * direction * x)
    curve = choose_without_grid(known, 1.0)
    assert np.isfinite(curve.variance)
    assert curve.variance == (max if direction > 0 else min)(known.asked)
    assert len(known.asked) <= 40


@settings(deadline=None)
@given(top=st.floats(-5, 5), start=st.floats(-3, 3), seed=st.integers(0, 1000))
def test_what_runs_differ_by_does_not_matter_to_the_search(top, start, seed):
    class Noisy(Known):
        def score(self, variance):
            by = np.random.default_rng([seed, len(self.asked)]).exponential() ** 4
            return super().score(variance) + by * np.array([-1.0, 1.0])

    def lopsided(x):
        return -100 - 20 * (np.exp(0.5 * (x - top)) - 0.5 * (x - top) - 1)

    with_noise = choose_without_grid(Noisy(lopsided, deviation=(0.0, 0.0)), np.exp(start))
    assert with_noise.variance == pytest.approx(choose_without_grid(Known(lopsided), np.exp(start)).variance)
    assert np.log(with_noise.variance) == pytest.approx(top, abs=0.7)


def test_a_flat_curve_and_a_single_run_do_not_confuse_the_search():
    assert np.isfinite(choose_without_grid(Known(lambda x: -50.0), 2.0).variance)
    one_run = Known(lambda x: -50 - (x - 1) ** 2, deviation=(0.0,))
    assert np.log(choose_without_grid(one_run, 1.0).variance) == pytest.approx(1.0)


@pytest.mark.slow
@cases.each_solver
@pytest.mark.parametrize("family", ["laplace", "gaussian"])
def test_the_search_is_as_good_as_a_fine_grid_on_text(family, solver):
    X, Y, *_ = cases.news()
    Y = Y[:, [1, 6]]
    options = {"solver": solver, "folds": 5, "runs": 5, **cases.stopping(solver, None, 1e-5), "n_jobs": 1}
    free = BayesianLogisticRegression(family, "auto", **options).fit(X, Y)
    fine = BayesianLogisticRegression(family, "cv", grid=np.geomspace(1, 1e4, 13), **options).fit(X, Y)
    chosen = [
        BayesianLogisticRegression(family, "cv", grid=[float(v)], **options).fit(X, Y[:, k]).cv_results_[0]["scores"][0]
        for k, v in enumerate(free.variance_)
    ]
    best = [results["scores"].max() for results in fine.cv_results_]
    # Scores are negative. The search takes the maximiser of its parabola, not the best point, so that some is lost.
    assert np.all(np.array(chosen) >= 1.06 * np.array(best))
    assert all(results["variance"] == v for results, v in zip(free.cv_results_, free.variance_, strict=True))


@cases.each_solver
@pytest.mark.parametrize("variance", ["cv", "auto"])
def test_too_few_documents_of_a_class_fall_back_to_the_norm_and_say_so(variance, solver):
    X, _ = cases.documents(n=40)
    labels = np.where(np.arange(40) < 1, "wheat", "sea")
    model = BayesianLogisticRegression(variance=variance, solver=solver)
    with pytest.warns(UserWarning, match="category wheat: too few documents"):
        model.fit(X, labels)
    assert model.cv_results_ == [None]
    assert model.variance_[0] == pytest.approx(6 / np.mean((X**2).sum(axis=1)))


@cases.each_solver
def test_only_the_poor_categories_fall_back(solver):
    X, y = cases.documents(n=40)
    Y = np.zeros((40, 8), dtype=int)
    Y[:, 0] = y > 0
    Y[3, 1:] = 1
    with pytest.warns(UserWarning, match=r"category 1, 2, 3, 4, 5 and 2 more: too few"):
        model = BayesianLogisticRegression(solver=solver, folds=4).fit(X, Y)
    assert [results is None for results in model.cv_results_] == [False] + [True] * 7


@cases.each_solver
def test_two_documents_are_enough_for_two_runs(solver):
    X, _ = cases.documents(n=40)
    y = np.arange(40) < 2
    model = BayesianLogisticRegression(solver=solver).fit(X, y)
    assert np.isfinite(model.cv_results_[0]["fold_scores"]).all()
    with pytest.warns(UserWarning, match="category True: too few"):
        BayesianLogisticRegression(solver=solver, runs=3).fit(X, y)


@cases.each_solver
def test_documents_of_weight_0_are_absent_from_the_folds(solver):
    X, y = cases.documents(n=60)
    weights = np.tile([1.0, 0.0, 2.0], 20)
    options = {"solver": solver, "variance": "cv", "folds": 3, "grid": [0.1, 1.0], "n_jobs": 1}
    weighted = BayesianLogisticRegression(**options).fit(X, y, weights)
    kept = weights > 0
    removed = BayesianLogisticRegression(**options).fit(X[kept], y[kept], weights[kept])
    assert_allclose(weighted.cv_results_[0]["fold_scores"], removed.cv_results_[0]["fold_scores"], rtol=1e-3)


@cases.each_solver
def test_a_prior_with_a_variance_of_its_own_is_not_searched(solver):
    X, y = cases.documents(n=40)
    model = BayesianLogisticRegression(Laplace(0.3), "cv", solver=solver).fit(X, y)
    assert np.isnan(model.variance_).all()
    assert model.cv_results_ == [None]
    fixed = BayesianLogisticRegression("laplace", 0.3, solver=solver).fit(X, y)
    assert_array_equal(model.coef_, fixed.coef_)


@cases.each_solver
def test_relative_variances_stay_in_proportion_in_a_search(solver, monkeypatch):
    monkeypatch.setattr("bayesift.linear._base.VALIDATION_GAP", 0.0)
    X, y = cases.documents(n=60)
    factor = np.array([2.0, 1.0, 1.0, 0.5, 1.0])
    grid, prior = [0.1, 1.0, 10.0], Laplace(relative=factor**2)
    relative = cases.tight(prior, "cv", grid=grid, folds=3, solver=solver).fit(X, y)
    expected = brute_force(X, y, np.ones(60), prior, grid, 3, 2, 0, solver=solver)
    assert_allclose(relative.cv_results_[0]["fold_scores"], expected, rtol=1e-6)
    scaled = cases.tight("laplace", relative.variance_[0], solver=solver).fit(X * factor, y)
    assert_allclose(relative.coef_, scaled.coef_ * factor, atol=1e-6)
