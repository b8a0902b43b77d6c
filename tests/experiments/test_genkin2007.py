"""The experiments run on a small part of the real collection and give tables of the promised form."""

import numpy as np
import pytest

from bayesift.experiments._genkin2007_descriptions import both_f1, large_categories
from bayesift.experiments._genkin2007_paths import MARKED, PREDICTORS, eight_predictors, path
from bayesift.experiments._measures import f1_percent
from bayesift.experiments._reuters import OWN_DESCRIPTIONS, modapte
from bayesift.experiments.catalogue import every_experiment, run


@pytest.mark.parametrize("item", ["figure1", "figure2"])
def test_paths_have_the_shape_of_the_figures(item):
    result = run(every_experiment()[f"genkin2007/{item}"])
    assert result.verdict == "agrees"
    assert len(result.claims) == 3
    drawing = result.figures[0].draw()
    assert len(drawing.axes[0].get_lines()) >= len(PREDICTORS)


def test_the_marked_mode_satisfies_the_conditions_of_the_lasso():
    X, y = eight_predictors()
    fits = path("laplace")
    place = int(np.flatnonzero(fits.variances == MARKED["laplace"])[0])
    beta = fits.coef[place].toarray().ravel()
    slope = X.T @ (1 / (1 + np.exp(-(X @ beta + fits.intercept[place]))) - y)
    rate = np.sqrt(2 / MARKED["laplace"])
    assert np.all(np.abs(slope[beta == 0]) <= rate + 1e-3)
    assert slope[beta != 0] == pytest.approx(-rate * np.sign(beta[beta != 0]), abs=1e-2)


@pytest.mark.collection("reuters21578", "smart")
def test_every_category_has_a_description():
    data = modapte()
    assert all(data.description(name) for name in data.collection.categories)
    assert not set(OWN_DESCRIPTIONS) & set(data.collection.descriptions)


@pytest.mark.collection("reuters21578", "smart")
def test_descriptions_help_when_examples_are_few():
    data = modapte()
    assert len(large_categories(data, 100)) == 16
    names = ("coffee", "sugar", "ship", "trade")
    found = np.mean([both_f1(data, {"category": name, "positives": 2, "repeat": 0}) for name in names], axis=0)
    assert found[1] > found[0] + 10


def test_f1_counts_one_where_there_is_nothing_to_find():
    truth = np.array([[1, 0], [0, 0], [1, 0]])
    macro, micro = f1_percent(truth, np.array([[1, 0], [1, 0], [0, 0]]))
    assert macro == pytest.approx(75.0)
    assert micro == pytest.approx(50.0)
