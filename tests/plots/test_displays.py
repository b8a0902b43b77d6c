"""What all displays have in common: a table, a lazy import, colours that can be told apart."""

from __future__ import annotations

import inspect
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

import bayesift.plots as plots
from bayesift.concepts import number_game
from bayesift.conjugate import BetaBinomial

RNG = np.random.default_rng(0)
TRUTH, SCORES = RNG.random(50) < 0.5, RNG.random(50)

# Each with the columns of its table.
EXAMPLES = {
    "BoundDisplay": (
        lambda: plots.BoundDisplay.from_objects([[1, 1]], [1], [0.7, 0.6], tag=0, touching=[0.3]),
        ["q", "curve", "value"],
    ),
    "BurstinessDisplay": (
        lambda: plots.BurstinessDisplay.from_data(np.array([[4, 0, 1], [0, 5, 0], [3, 0, 0], [0, 1, 4]]), max_count=3),
        ["occurrences", "source", "share"],
    ),
    "ConceptDisplay": (
        lambda: plots.ConceptDisplay(number_game(), [16, 8]),
        ["concept", "prior", "likelihood", "posterior"],
    ),
    "ConfusionDisplay": (
        lambda: plots.ConfusionDisplay.from_predictions(TRUTH, SCORES > 0.5),
        ["true", "decided", "documents", "share"],
    ),
    "CooccurrenceDisplay": (
        lambda: plots.CooccurrenceDisplay.from_labels(RNG.random((9, 2)) < 0.5),
        ["category", "other", "documents", "share"],
    ),
    "FilteringDisplay": (
        lambda: plots.FilteringDisplay.from_decisions(TRUTH, SCORES > 0.5),
        ["documents", "recall", "utility", "best utility"],
    ),
    "LearningCurveDisplay": (
        lambda: plots.LearningCurveDisplay([1, 2], {"a": [0.1, 0.2], "b": [0.3, 0.4]}),
        ["size", "curve", "F1", "standard error"],
    ),
    "ParallelCoordinatesDisplay": (
        lambda: plots.ParallelCoordinatesDisplay([[0.1, 0.2]], ["system"], ["a", "b"], "recall"),
        ["category", "system", "recall"],
    ),
    "PosteriorDisplay": (
        lambda: plots.PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17),
        ["theta", "prior", "likelihood", "posterior"],
    ),
    "PredictiveDisplay": (
        lambda: plots.PredictiveDisplay.from_model(BetaBinomial(5, 19), 10),
        ["value", "averaged", "plugged_in"],
    ),
    "RecallEffortDisplay": (
        lambda: plots.RecallEffortDisplay.from_predictions(TRUTH, SCORES),
        ["effort", "recall"],
    ),
    "RegularizationPathDisplay": (
        lambda: plots.RegularizationPathDisplay.from_data(RNG.random((20, 3)), np.arange(20) % 2, n_steps=4),
        ["variance", "feature", "coefficient"],
    ),
    "ReliabilityDisplay": (
        lambda: plots.ReliabilityDisplay.from_predictions(TRUTH, SCORES),
        ["n_documents", "predicted", "observed", "low", "high"],
    ),
    "ThresholdDisplay": (
        lambda: plots.ThresholdDisplay.from_predictions(TRUTH, SCORES),
        ["threshold", "tp", "fp", "fn", "tn", "precision", "recall", "F1", "utility"],
    ),
    "WeightsDisplay": (lambda: plots.WeightsDisplay([0.3, 0.0, -0.4], ["love", "the", "hate"]), ["feature", "weight"]),
}


def test_no_display_is_forgotten():
    found = {name for name in plots.__all__ if inspect.isclass(getattr(plots, name))} - {"Display"}
    assert found == set(EXAMPLES)
    assert all(issubclass(getattr(plots, name), plots.Display) for name in found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_table_has_columns_of_equal_length_with_or_without_pandas(name):
    make, columns = EXAMPLES[name]
    shown = make()
    table, frame = shown.plot_data(), shown.plot_data(as_frame=True)
    assert list(table) == columns == list(frame.columns)
    assert len({len(column) for column in table.values()}) == 1
    assert len(frame) == len(table[columns[0]]) > 0
    assert all(
        np.array_equal(frame[column].to_numpy(), table[column]) or np.isnan(table[column]).any() for column in columns
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_picture_names_its_axes_and_says_where_it_is(name):
    shown = EXAMPLES[name][0]()
    assert shown.plot() is shown
    assert shown.ax_.figure is shown.figure_
    for ax in getattr(shown, "axes_", [shown.ax_]):
        assert ax.get_xlabel() or ax.get_ylabel() or ax.get_title(loc="left")
    shown.figure_.canvas.draw()


def test_weights_and_paths_give_what_they_draw():
    shown = EXAMPLES["WeightsDisplay"][0]()
    assert shown.plot_data()["feature"].tolist() == ["love", "hate"]
    path = EXAMPLES["RegularizationPathDisplay"][0]()
    frame = path.plot_data(as_frame=True)
    wide = frame.pivot(index="variance", columns="feature", values="coefficient")
    assert_allclose(wide.to_numpy(), path.path.coef.toarray()[:, wide.columns])


def test_the_items_of_a_concept_are_a_table_too():
    shown = EXAMPLES["ConceptDisplay"][0]()
    frame = shown.predictive_data(as_frame=True)
    assert frame.loc[frame["example"], "item"].tolist() == [8, 16]
    assert_allclose(frame["probability"], shown.predictive)


def test_importing_the_displays_imports_no_matplotlib():
    code = "import sys, bayesift.plots; sys.exit(any(name.startswith('matplotlib') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Linear RGB as seen by people without one of the three kinds of cones (Machado, Oliveira & Fernandes 2009).
VISIONS = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def lab(colour, vision):
    """CIE L*a*b* of a colour as it is seen."""
    value = np.array(to_rgb(colour))
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.asarray(VISIONS[vision]) @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_are_told_apart_with_any_vision(vision):
    seen = [lab(colour, vision) for colour in plots.PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15
    # Lines and small print have to stand out from white paper.
    assert max(colour[0] for colour in seen) < 70
