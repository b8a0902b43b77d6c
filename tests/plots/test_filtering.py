"""The display of a filter over time."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from bayesift.decide import T13U
from bayesift.evaluate import recall, t11u, t13u
from bayesift.filtering import Entry, FilterRecord
from bayesift.plots import PALETTE, FilteringDisplay

RNG = np.random.default_rng(0)
TRUTH, DELIVERED = RNG.random((30, 2)) < 0.4, RNG.random((30, 2)) < 0.5


@pytest.mark.usefixtures("without_matplotlib")
@pytest.mark.parametrize("topics", [0, slice(None)])
def test_the_figures_of_every_beginning_of_the_stream(topics):
    truth, delivered = TRUTH[:, topics], DELIVERED[:, topics]
    shown = FilteringDisplay.from_decisions(truth, delivered)
    for k in range(1, 31):
        assert shown.documents[k - 1] == k
        assert_allclose(shown.utility[k - 1], t11u(truth[:k].ravel(), delivered[:k].ravel()))
        assert_allclose(shown.best[k - 1], 2 * truth[:k].sum())
        assert_allclose(shown.recall[k - 1], recall(truth[:k].ravel(), delivered[:k].ravel(), empty=np.nan))
    other = FilteringDisplay.from_decisions(truth, delivered, utility=T13U)
    assert other.utility[-1] == t13u(truth.ravel(), delivered.ravel())
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_the_record_of_a_filter():
    record = FilterRecord(("wheat", "oil"))
    for place, column in np.argwhere(DELIVERED):
        record.add(Entry(int(place), "", ("wheat", "oil")[column], "relevant", 0.8, 0.1, 1, 12))
    shown = FilteringDisplay.from_record(record, TRUTH, utility=T13U, name="filter")
    expected = FilteringDisplay.from_decisions(TRUTH, DELIVERED, utility=T13U)
    assert_allclose(shown.recall, expected.recall)
    assert_allclose(shown.utility, expected.utility)
    assert shown.name == "filter"
    with pytest.raises(ValueError, match="truth has 1 topics; expected 2"):
        FilteringDisplay.from_record(record, TRUTH[:, 0])
    with pytest.raises(ValueError, match=r"record has a document at place \d+; truth has 2 documents"):
        FilteringDisplay.from_record(record, TRUTH[:2])


def test_two_filters_in_one_picture():
    shown = FilteringDisplay.from_decisions(TRUTH, DELIVERED, name="one").plot()
    again = FilteringDisplay.from_decisions(TRUTH, ~DELIVERED, name="two").plot(shown.axes_)
    above, below = shown.axes_
    assert again.ax_ is above
    assert [to_hex(line.get_color()) for line in above.lines] == list(PALETTE[:2])
    assert [line.get_label() for line in below.lines] == ["perfect decisions", "one", "two"]
    assert_allclose(below.lines[2].get_ydata(), again.utility)
    assert [text.get_text() for text in below.get_legend().get_texts()] == ["perfect decisions", "one", "two"]
    shown.figure_.canvas.draw()


def test_numbers_from_elsewhere():
    shown = FilteringDisplay([10, 20], [0.5, 0.7], [3, 8]).plot()
    assert list(shown.plot_data()) == ["documents", "recall", "utility"]
    assert shown.axes_[1].get_legend() is None


def test_bad_input():
    with pytest.raises(ValueError, match=r"utility has shape \(1,\); expected \(2,\), the shape of documents"):
        FilteringDisplay([1, 2], [0, 1], [3])
    with pytest.raises(ValueError, match="delivered has shape"):
        FilteringDisplay.from_decisions([1, 0], [1])
