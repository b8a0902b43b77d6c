"""The display of predictions: averaged beside plugged in."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose
from scipy.stats import binom, expon

from bayesift.conjugate import BetaBinomial, DirichletMultinomial, GammaExponential, GammaPoisson, Mixture, NormalGamma
from bayesift.plots import PredictiveDisplay


@pytest.mark.usefixtures("without_matplotlib")
def test_figure_7_without_matplotlib():
    shown = PredictiveDisplay.from_model(BetaBinomial(5, 19), 10)
    assert_allclose(shown.values, np.arange(len(shown.values)))
    assert_allclose(shown.plugged_in, binom.pmf(shown.values, 10, 4 / 22))
    assert_allclose(shown.averaged, BetaBinomial(5, 19).predictive(10).pmf(shown.values))
    assert shown.averaged[-1] > shown.plugged_in[-1]  # longer tails
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


def test_counts_are_pairs_of_bars():
    figure, axes = pyplot.subplots(1, 2)
    shown = PredictiveDisplay.from_model(BetaBinomial(5, 19), 10, estimate="mean").plot(axes[1])
    assert shown.ax_ is axes[1]
    assert shown.figure_ is figure
    heights = [[bar.get_height() for bar in bars] for bars in axes[1].containers]
    assert_allclose(heights, [shown.averaged, shown.plugged_in])
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == ["posterior predictive", "plug-in (mean)"]
    figure.canvas.draw()


def test_numbers_are_curves():
    shown = PredictiveDisplay.from_model(GammaExponential(4, 18)).plot()
    assert shown.values[0] == 0
    assert_allclose(shown.plugged_in, expon.pdf(shown.values, scale=6))
    for line, part in zip(shown.ax_.lines, (shown.averaged, shown.plugged_in), strict=True):
        assert_allclose(line.get_ydata(), part)
    shown.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        (GammaPoisson(9, 4), (2.0,)),
        (DirichletMultinomial([2, 5, 3]), ()),
        (NormalGamma(-3, 1, 2, 1), ()),
        (Mixture([BetaBinomial(2, 9), BetaBinomial(9, 2)]), (6,)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nearly_all_of_it_is_in_sight(model, arguments):
    shown = PredictiveDisplay.from_model(model, *arguments).plot()
    step = 1.0 if shown.discrete else shown.values[1] - shown.values[0]
    assert shown.averaged.sum() * step > 0.95
    shown.figure_.canvas.draw()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PredictiveDisplay.from_model("x"), TypeError, "model is 'x'"),
        (lambda: PredictiveDisplay.from_model(BetaBinomial([1, 2], 1)), ValueError, "batch"),
        (
            lambda: PredictiveDisplay.from_model(BetaBinomial(2, 2), estimate="median"),
            ValueError,
            "estimate is 'median'",
        ),
        (lambda: PredictiveDisplay.from_model(BetaBinomial(1, 1)), ValueError, "'mode', which the model does not have"),
        (lambda: PredictiveDisplay.from_model(DirichletMultinomial([2, 2]), 3), ValueError, "one of vectors"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
