"""The display of prior, likelihood and posterior: numbers without drawing, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose

from bayesift.conjugate import BetaBinomial, DirichletMultinomial, GammaPoisson, Mixture, NormalGamma, ParetoUniform
from bayesift.plots import PosteriorDisplay


@pytest.mark.usefixtures("without_matplotlib")
def test_figure_6_without_matplotlib():
    shown = PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17)
    assert_allclose(shown.prior, BetaBinomial(2, 2).pdf(shown.theta))
    assert_allclose(shown.posterior, BetaBinomial(5, 19).pdf(shown.theta))
    assert_allclose(shown.likelihood, BetaBinomial(4, 18).pdf(shown.theta), rtol=1e-4)
    assert shown.interval == BetaBinomial(5, 19).interval(0.95)
    with pytest.raises(ImportError, match="plot"):
        shown.plot()


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (BetaBinomial(0.5, 0.5), ([0, 1, 1],)),
        (GammaPoisson(0.5, 1), ([3, 0, 4],)),
        (ParetoUniform(2, 1.5), ([1.0, 4.0],)),
        (ParetoUniform(0, 0), ([100],)),
        (Mixture([BetaBinomial(20, 20), BetaBinomial(30, 10)]), (20, 10)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_lines_are_the_densities(model, data):
    shown = PosteriorDisplay.from_model(model, *data, kind="hdi")
    assert np.isfinite(shown.posterior).all()
    assert_allclose(shown.posterior, model.update(*data).pdf(shown.theta))
    assert shown.plot() is shown
    for line, name in zip(shown.lines_, ("prior", "likelihood", "posterior"), strict=True):
        assert line.get_label() == name
        assert_allclose(line.get_ydata(), getattr(shown, name))
    shown.figure_.canvas.draw()
    # Nearly all of the posterior is in sight.
    assert shown.posterior.sum() * (shown.theta[1] - shown.theta[0]) > 0.85


def test_it_draws_where_it_is_told_to_with_or_without_interval():
    figure, axes = pyplot.subplots(1, 2)
    shown = PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17, level=None).plot(axes[1], linewidth=5)
    assert shown.ax_ is axes[1]
    assert shown.figure_ is figure
    assert not axes[0].lines
    assert not axes[1].collections
    assert shown.lines_[2].get_linewidth() == 5
    shaded = PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17, level=0.5).plot(axes[0])
    ends = shaded.ax_.collections[0].get_paths()[0].get_extents()
    assert_allclose([ends.x0, ends.x1], BetaBinomial(5, 19).interval(0.5), atol=0.003)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (0.5, TypeError, "model is 0.5; expected a conjugate model"),
        (BetaBinomial([1, 2], 1), ValueError, r"model is a batch of shape \(2,\); expected a single model"),
        (DirichletMultinomial([1, 1]), ValueError, "expected one whose parameter is a single number"),
        (NormalGamma(0, 1, 1, 1), ValueError, "expected one whose parameter is a single number"),
    ],
)
def test_bad_input(model, error, message):
    with pytest.raises(error, match=message):
        PosteriorDisplay.from_model(model, [1, 1])
