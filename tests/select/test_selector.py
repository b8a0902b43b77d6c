"""The selector: scikit-learn's contract, ranking, several categories, pipelines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, chi2, f_classif, r_regression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesift.select import TermSelector, chi_square, mutual_information, pearson, yules_q

NAMES = ["binormal_separation", "chi_square", "likelihood_ratio", "mutual_information", "pearson", "yules_q"]


@parametrize_with_checks(
    [TermSelector(), TermSelector(threshold=-1.0, k=2), *(TermSelector(score_func=name, k=1) for name in NAMES)]
)
def test_scikit_learns_estimator_checks(estimator: TermSelector, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def problem() -> tuple[csr_array, np.ndarray]:
    rng = np.random.default_rng(3)
    Y = (rng.random((240, 3)) < 0.3).astype(int)
    X = (rng.random((240, 30)) < 0.2).astype(float)
    for category in range(3):  # columns 10·category … +3 speak for it
        X[:, 10 * category : 10 * category + 4] += 2 * Y[:, [category]] * (rng.random((240, 4)) < 0.6)
    return csr_array(X), Y


@pytest.mark.parametrize("name", NAMES)
def test_the_best_k_by_each_score(name: str) -> None:
    X, Y = problem()
    selector = TermSelector(score_func=name, k=4).fit(X, Y[:, 1])
    assert_array_equal(selector.get_support(indices=True), [10, 11, 12, 13])
    assert_array_equal(selector.transform(X).toarray(), X[:, 10:14].toarray())


@given(
    scores=st.lists(st.integers(-4, 4), min_size=1, max_size=12),
    k=st.none() | st.integers(1, 14),
    threshold=st.none() | st.integers(-1, 4),
)
def test_ranking_by_size_then_column_order_strictly_above_the_threshold(
    scores: list[int], k: int | None, threshold: int | None
) -> None:
    selector = TermSelector(score_func=lambda X, y: scores, k=k, threshold=threshold)
    selector.fit(np.zeros((2, len(scores))), [0, 1])
    ranked = sorted(range(len(scores)), key=lambda j: (-abs(scores[j]), j))
    kept = [j for j in ranked if threshold is None or abs(scores[j]) > threshold][:k]
    assert_array_equal(selector.get_support(indices=True), sorted(kept))
    assert_array_equal(selector.scores_, np.abs(scores))


def test_no_limit_keeps_every_column_and_a_hopeless_threshold_none() -> None:
    X, Y = problem()
    assert TermSelector().fit(X, Y).get_support().all()
    strict = TermSelector(threshold=1e9).fit(X, Y)
    assert not strict.get_support().any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert strict.transform(X).shape == (240, 0)


def test_several_categories_combine_by_the_greatest_score_or_the_mean() -> None:
    X, Y = problem()
    rows = yules_q(X, Y)
    assert_array_equal(TermSelector(score_func="yules_q").fit(X, Y).scores_, np.abs(rows).max(axis=0))
    mean = TermSelector(score_func="yules_q", combine="mean").fit(X, csr_array(Y))
    assert_allclose(mean.scores_, np.abs(rows).mean(axis=0))


@pytest.mark.parametrize("score", ["chi_square", chi_square])
def test_more_than_two_classes_are_each_taken_against_the_rest(score: object) -> None:
    X, Y = problem()
    labels = np.array(["none", "first", "second"])[np.minimum(Y[:, 0] + 2 * Y[:, 1], 2)]
    against_rest = [chi_square(X, labels == label) for label in np.unique(labels)]
    assert_allclose(TermSelector(score_func=score).fit(X, labels).scores_, np.max(against_rest, axis=0))
    joint = TermSelector(score_func="mutual_information").fit(X, labels)
    assert_allclose(joint.scores_, mutual_information(X, labels))


def test_callables_of_ones_own_see_the_labels_as_given() -> None:
    X, Y = problem()
    labels = Y @ [1, 2, 4]
    selector = TermSelector(score_func=lambda X, y: f_classif(X, y)[0], k=5).fit(X, labels)
    assert_allclose(selector.scores_, f_classif(X, labels)[0])
    assert_allclose(TermSelector(score_func=lambda X, y: [[-1] * 30, [2] * 30]).fit(X, labels).scores_, [2] * 30)
    signed = TermSelector(score_func=r_regression).fit(X.toarray(), Y[:, 0])
    assert_allclose(signed.scores_, pearson(X, Y[:, 0]), atol=1e-12)


@pytest.mark.parametrize("score", [chi2, f_classif])
def test_of_scores_with_p_values_the_scores_are_taken(score: Callable) -> None:
    X, Y = problem()
    scores, p_values = score(X, Y[:, 0])
    assert (p_values > scores).any()  # so that the greater of the two would be wrong
    selector = TermSelector(score_func=score, k=4).fit(X, Y[:, 0])
    assert_allclose(selector.scores_, scores)
    assert_array_equal(selector.get_support(), SelectKBest(score, k=4).fit(X, Y[:, 0]).get_support())


MISSING = [np.nan, None, float("nan"), pd.NA, pd.NaT]


@pytest.mark.parametrize("score", NAMES)
@pytest.mark.parametrize("missing", MISSING, ids=["nan of numpy", "None", "nan", "NA", "NaT"])
@pytest.mark.parametrize("kind", [list, tuple, pd.Series, lambda labels: np.array(labels, dtype=object)])
def test_a_missing_label_is_no_class(score: str, missing: object, kind: Callable) -> None:
    labels = kind(["a", missing, "c", "a"])
    with pytest.raises(ValueError, match=r"y holds missing labels \(None or NaN\), first in row 1 counted from 0"):
        TermSelector(score).fit([[1, 0], [2, 1], [0, 1], [0, 0]], labels)


def test_a_class_may_be_called_nan() -> None:
    X = [[1, 0], [2, 1], [0, 1], [0, 0]]
    labels = ["nan", "nan", "None", "None"]
    assert_array_equal(TermSelector("chi_square").fit(X, labels).scores_, [4, 0])


def test_each_category_gets_its_own_terms_in_a_pipeline_under_one_vs_rest() -> None:
    X, Y = problem()
    model = OneVsRestClassifier(make_pipeline(TermSelector(score_func="likelihood_ratio", k=4), LogisticRegression()))
    model.fit(X, Y)
    kept = [pipeline[0].get_support(indices=True) for pipeline in model.estimators_]
    assert_array_equal(kept, [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])
    assert model.predict(X).shape == Y.shape


def test_parameters_are_searched_cloned_and_shown() -> None:
    X, Y = problem()
    pipeline = make_pipeline(TermSelector(k=3), LogisticRegression())
    grid = {"termselector__score_func": ["pearson", "yules_q"], "termselector__k": [1, 4]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, Y[:, 2])
    assert search.best_params_["termselector__k"] == 4
    selector = clone(TermSelector("pearson", threshold=0.5)).set_params(score_func="yules_q")
    assert repr(selector) == "TermSelector(score_func='yules_q', threshold=0.5)"
    selector.score_func = "chi_square"
    assert selector.get_params()["score_func"] == "chi_square"


def test_names_go_through() -> None:
    X, Y = problem()
    frame = pd.DataFrame(X.toarray(), columns=[f"term{j}" for j in range(30)])
    selector = TermSelector(k=2, score_func="chi_square").set_output(transform="pandas").fit(frame, Y[:, 0])
    names = [f"term{j}" for j in selector.get_support(indices=True)]
    assert list(selector.get_feature_names_out()) == names
    assert list(selector.transform(frame).columns) == names


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"score_func": "entropy"}, "score_func is 'entropy'; expected one of"),
        ({"score_func": 3}, "score_func is 3"),
        ({"score_func": ["pearson"]}, "score_func is"),
        ({"k": 0}, "k is 0; expected a whole number of at least 1"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": True}, "k is True"),
        ({"threshold": "high"}, "threshold is 'high'; expected a number"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"combine": "median"}, "combine is 'median'; expected one of"),
        ({"score_func": lambda X, y: [1.0]}, r"score_func returned an array of shape \(1,\); expected \(30,\)"),
        ({"score_func": lambda X, y: 1.0}, "score_func returned an array of shape"),
        (
            {"score_func": lambda X, y: (y, y, y)},
            r"score_func returned a tuple of 3; expected an array or \(scores, p-values\)",
        ),
        ({"score_func": lambda X, y: np.empty((0, 30))}, "score_func returned an array of shape"),
        ({"score_func": lambda X, y: [0.0] * 7 + [np.nan] * 23}, "score_func returned NaN for column 7"),
    ],
)
def test_bad_parameters_are_named(parameters: dict, message: str) -> None:
    X, Y = problem()
    with pytest.raises(ValueError, match=message):
        TermSelector(**parameters).fit(X, Y[:, 0])


def test_continuous_targets_are_refused() -> None:
    X, _ = problem()
    with pytest.raises(ValueError, match="class labels are expected"):
        TermSelector().fit(X, np.linspace(0, 1, 240))
