"""The display of a regularisation path: numbers without drawing, and what is drawn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose, assert_array_equal

import linear_cases as cases
from bayesift.linear import regularization_path
from bayesift.plots import RegularizationPathDisplay
from bayesift.priors import Laplace

X, Y = cases.documents(seed=2, n=60)
NAMES = ["oil", "wheat", "sea", "gold", "corn"]


def display(names=None, **options):
    return RegularizationPathDisplay.from_data(X, Y, feature_names=names, solver="clg", **{"n_steps": 6, **options})


@pytest.mark.usefixtures("without_matplotlib")
def test_the_numbers_are_there_without_matplotlib():
    shown = display(NAMES)
    assert shown.path.coef.shape == (6, 5)
    expected = regularization_path(X, Y, n_steps=6, solver="clg")
    assert_array_equal(shown.path.coef.toarray(), expected.coef.toarray())
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_the_lines_are_the_coefficients_by_size():
    shown = display().plot()
    coef = shown.path.coef.toarray()
    order = np.argsort(-np.abs(coef).max(axis=0))
    assert len(shown.lines_) == 5
    for line, column in zip(shown.lines_, order, strict=True):
        assert_allclose(line.get_xdata(), shown.path.variances)
        assert_allclose(line.get_ydata(), coef[:, column])
    assert shown.ax_.get_xscale() == "log"
    assert shown.ax_.get_xlabel() == "prior variance"
    assert shown.figure_ is shown.ax_.figure
    shown.figure_.canvas.draw()
    assert not shown.ax_.texts


def test_it_draws_the_largest_where_it_is_told_to_with_the_options_of_lines():
    figure, axes = pyplot.subplots(1, 2)
    shown = display(NAMES)
    assert shown.plot(axes[1], largest=2, linewidth=3.0) is shown
    assert shown.ax_ is axes[1]
    assert shown.figure_ is figure
    assert not axes[0].lines
    assert [line.get_linewidth() for line in shown.lines_] == [3.0, 3.0]
    size = np.abs(shown.path.coef.toarray()).max(axis=0)
    expected = {NAMES[column] for column in np.argsort(-size)[:2]}
    assert {text.get_text() for text in shown.ax_.texts} == expected


def test_names_stand_beside_their_lines_in_their_colours_without_overlap():
    shown = display(NAMES).plot()
    shown.figure_.canvas.draw()
    colours = {to_rgba(line.get_color()) for line in shown.lines_}
    texts = sorted(shown.ax_.texts, key=lambda text: text.xy[1])
    assert [text.get_text() for text in texts] == [NAMES[j] for j in np.argsort(shown.path.coef.toarray()[-1])]
    assert {to_rgba(text.get_color()) for text in texts} == colours
    boxes = [text.get_window_extent() for text in texts]
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))


def test_the_names_of_a_frame_are_used_unless_others_are_given():
    path = regularization_path(pd.DataFrame(X, columns=NAMES), Y, n_steps=3, solver="clg")
    assert list(RegularizationPathDisplay(path).feature_names) == NAMES
    assert list(RegularizationPathDisplay(path, list("abcde")).feature_names) == list("abcde")


@pytest.mark.parametrize("names", [NAMES[:4], [*NAMES, "more"], []])
def test_a_wrong_number_of_names_is_an_error(names):
    message = f"feature_names has {len(names)} names; expected 5, one for each"
    with pytest.raises(ValueError, match=message):
        display(names)
    with pytest.raises(ValueError, match=message):
        RegularizationPathDisplay(display().path, names)


def test_names_reach_the_prior_of_the_path():
    shown = display(NAMES, prior=Laplace(mode={"sea": 2.0}))
    assert_allclose(shown.path.coef.toarray()[0], [0, 0, 2, 0, 0])
    assert list(shown.feature_names) == NAMES


def test_a_path_without_any_coefficient_draws_an_empty_picture():
    path = regularization_path(np.zeros((4, 2)), [0, 1, 0, 1], n_steps=3, solver="clg")
    shown = RegularizationPathDisplay(path, ["oil", "sea"]).plot()
    shown.figure_.canvas.draw()
    assert shown.lines_ == []
