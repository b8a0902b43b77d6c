"""The display of systems side by side."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose
from sklearn.metrics import f1_score

from bayesift.evaluate import Results
from bayesift.plots import PALETTE, ParallelCoordinatesDisplay

RNG = np.random.default_rng(0)
TRUTH = RNG.random((60, 5)) < 0.4
SYSTEMS = [
    Results(TRUTH, TRUTH ^ (RNG.random((60, 5)) < share), name=name, categories=list("abcde"))
    for name, share in (("one", 0.1), ("two", 0.2), ("three", 0.3))
]


@pytest.mark.usefixtures("without_matplotlib")
def test_measures_of_every_category():
    shown = ParallelCoordinatesDisplay.from_results(*SYSTEMS)
    expected = [f1_score(TRUTH, system.decisions, average=None) for system in SYSTEMS]
    assert_allclose(shown.values, expected)
    errors = ParallelCoordinatesDisplay.from_results(*SYSTEMS, measure="errors")
    assert_allclose(errors.values, [np.sum(system.decisions != TRUTH, axis=0) for system in SYSTEMS])
    accepted = ParallelCoordinatesDisplay.from_results(*SYSTEMS, measure=lambda o: o.tp + o.fp, name="accepted")
    assert accepted.plot_data()["accepted"].sum() == sum(system.decisions.sum() for system in SYSTEMS)
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_a_line_for_each_category_the_most_different_in_colour():
    shown = ParallelCoordinatesDisplay([[0.9, 0.5, 0.2], [0.1, 0.45, 0.7]], ["x", "y"], ["up", "flat", "down"]).plot(
        named=2
    )
    assert_allclose([line.get_ydata() for line in shown.lines_], shown.values.T)
    assert [to_hex(line.get_color()) for line in shown.lines_] == [PALETTE[0], to_hex("0.72"), PALETTE[1]]
    assert {text.get_text() for text in shown.ax_.texts} == {"up", "down"}
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["x", "y"]
    shown.figure_.canvas.draw()


def test_a_line_for_each_system_over_categories_by_their_mean():
    shown = ParallelCoordinatesDisplay.from_results(*SYSTEMS).plot(lines="systems", linewidth=3)
    order = np.argsort(-shown.values.mean(axis=0))
    assert_allclose([line.get_ydata() for line in shown.lines_], shown.values[:, order])
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["abcde"[j] for j in order]
    assert [line.get_linewidth() for line in shown.lines_] == [3] * 3
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == ["one", "two", "three"]
    shown.figure_.canvas.draw()


def test_one_category_and_no_names():
    shown = ParallelCoordinatesDisplay.from_results(Results([1, 0, 1], [1, 1, 1])).plot()
    assert shown.categories == ["0"]
    assert_allclose(shown.values, [[0.8]])


def test_bad_input():
    with pytest.raises(ValueError, match=r"values has shape \(1, 2\); expected \(2, 2\), systems × categories"):
        ParallelCoordinatesDisplay([[1, 2]], ["x", "y"], ["a", "b"])
    with pytest.raises(ValueError, match="results is empty"):
        ParallelCoordinatesDisplay.from_results()
    with pytest.raises(ValueError, match="measure is 'F2'; expected one of"):
        ParallelCoordinatesDisplay.from_results(*SYSTEMS, measure="F2")
    with pytest.raises(TypeError, match="results holds 3; expected Results"):
        ParallelCoordinatesDisplay.from_results(3)
    with pytest.raises(ValueError, match="other has different true labels than one; expected the same documents"):
        ParallelCoordinatesDisplay.from_results(SYSTEMS[0], Results(~TRUTH, TRUTH, name="other"))
    with pytest.raises(ValueError, match="lines is 'both'"):
        ParallelCoordinatesDisplay.from_results(*SYSTEMS).plot(lines="both")


def test_names_of_lines_that_end_together_do_not_overlap():
    shown = ParallelCoordinatesDisplay(
        [[0.1, 0.3, 0.5, 0.9], [0.6, 0.6, 0.61, 0.2]], ["x", "y"], ["one", "two", "three", "four"]
    ).plot()
    shown.figure_.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in shown.ax_.texts), key=lambda box: box.y0)
    assert len(boxes) == 4
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
