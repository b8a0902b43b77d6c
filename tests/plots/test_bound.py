"""The display of lower bounds: numbers without drawing, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose

from ard_cases import golden
from bayesift.ard import tagging_log_likelihood
from bayesift.plots import BoundDisplay


def display(**options):
    X, t = golden()
    return BoundDisplay.from_objects(X[:12], t[:12], np.full(8, 0.6), tag=2, touching=[0.2, 0.7], **options)


@pytest.mark.parametrize("alpha", [None, np.ones(8)])
def test_the_bounds_are_below_and_touch(alpha):
    shown = display(alpha=alpha, n_points=2000)
    assert shown.bounds.shape == (2, 2000)
    assert np.all(shown.bounds <= shown.values * (1 + 1e-9))
    for bound, place in zip(shown.bounds, [0.2, 0.7], strict=True):
        near = np.argmin(np.abs(shown.q - place))
        assert_allclose(bound[near], shown.values[near], rtol=1e-4)


def test_the_values_are_the_likelihood_of_all_objects():
    X, t = golden()
    shown = display()
    point = np.full(8, 0.6)
    point[2] = shown.q[100]
    assert_allclose(shown.values[100], np.exp(tagging_log_likelihood(X[:12], t[:12], point).sum()))
    assert display(alpha=np.ones(8)).values.max() == 1


def test_lines_and_dots_stand_where_the_numbers_are():
    figure, axes = pyplot.subplots(1, 2)
    shown = display()
    assert shown.plot(axes[1], linewidth=3.0) is shown
    assert shown.figure_ is figure
    assert not axes[0].lines
    assert_allclose(shown.lines_[0].get_ydata(), shown.values)
    assert_allclose([line.get_ydata() for line in shown.lines_[1:]], shown.bounds)
    assert [line.get_linewidth() for line in shown.lines_[1:]] == [3.0, 3.0]
    texts = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert texts == ["likelihood", "bound, η = 0.2", "bound, η = 0.7"]


def test_shapes_that_do_not_fit_are_an_error():
    with pytest.raises(ValueError, match=r"expected \(3,\) and \(1, 3\)"):
        BoundDisplay([0.1, 0.2, 0.3], [1, 2, 3], [[1, 2]], [0.2])
