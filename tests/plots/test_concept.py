"""The display of concepts: numbers without drawing, and the three ways to draw them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from bayesift.concepts import HypothesisSpace, number_game
from bayesift.plots import PALETTE, ConceptDisplay

GAME = number_game()
POWERS = [16, 8, 2, 64]


@pytest.mark.usefixtures("without_matplotlib")
def test_the_numbers_are_there_without_matplotlib():
    shown = ConceptDisplay(GAME, POWERS)
    assert_allclose(shown.posterior, GAME.posterior(POWERS))
    assert_allclose(shown.predictive, GAME.predictive(POWERS))
    assert shown.likelihood.max() == 1
    for draw in (shown.plot, shown.plot_predictive, shown.plot_averaging):
        with pytest.raises(ImportError, match="plot"):
            draw()


def test_figures_2_and_3_draw_all_concepts_in_their_order():
    shown = ConceptDisplay(GAME, POWERS).plot()
    assert len(shown.axes_) == 3
    for ax, part in zip(shown.axes_, (shown.prior, shown.likelihood, shown.posterior), strict=True):
        assert_allclose([bar.get_width() for bar in ax.containers[0]], part)
    assert [label.get_text() for label in shown.axes_[0].get_yticklabels()] == list(GAME.names)
    shown.figure_.canvas.draw()


def test_of_many_concepts_the_most_probable_are_drawn():
    _, axes = pyplot.subplots(1, 3)
    shown = ConceptDisplay(number_game(2 / 3), POWERS).plot(axes, most=5)
    widths = [bar.get_width() for bar in axes[2].containers[0]]
    assert_allclose(widths, np.sort(shown.posterior)[::-1][:5])
    assert axes[0].get_yticklabels()[0].get_text() == "powers of 2"


def test_figure_5_bars_with_the_examples_in_another_colour():
    figure, ax = pyplot.subplots()
    shown = ConceptDisplay(GAME, POWERS).plot_predictive(ax)
    bars = ax.containers[0]
    assert shown.figure_ is figure
    assert_allclose([bar.get_height() for bar in bars], shown.predictive)
    assert_allclose([bar.get_x() + bar.get_width() / 2 for bar in bars], GAME.items)
    colours = np.array([to_hex(bar.get_facecolor()) for bar in bars])
    assert_array_equal(np.flatnonzero(colours == PALETTE[1]) + 1, sorted(POWERS))


def test_figure_4_dots_for_the_items_of_every_concept():
    shown = ConceptDisplay(GAME, [16]).plot_averaging(most=3)
    bars, dots, weights = shown.axes_
    assert [label.get_text() for label in dots.get_yticklabels()] == ["powers of 4", "powers of 2", "even"]
    points = dots.collections[0].get_offsets()
    assert_array_equal(points[points[:, 1] == 0][:, 0], [4, 16, 64])
    assert len(points) == 3 + 6 + 50
    assert_allclose([bar.get_width() for bar in weights.containers[0]], np.sort(shown.posterior)[::-1][:3])
    assert len(bars.containers[0]) == 100
    shown.figure_.canvas.draw()


def test_items_that_are_no_numbers_stand_in_their_order():
    space = HypothesisSpace(["cat", "dog", "trout"], {"pets": ["cat", "dog"], "all": ["cat", "dog", "trout"]})
    shown = ConceptDisplay(space, ["dog"]).plot_averaging()
    centres = [bar.get_x() + bar.get_width() / 2 for bar in shown.axes_[0].containers[0]]
    assert_allclose(centres, [0, 1, 2])
    ConceptDisplay(space, ["dog"]).plot_predictive(width=0.5).figure_.canvas.draw()


def test_bad_input():
    with pytest.raises(TypeError, match="space is 3; expected a HypothesisSpace"):
        ConceptDisplay(3, [16])
    with pytest.raises(ValueError, match="data holds 101"):
        ConceptDisplay(GAME, [101])
