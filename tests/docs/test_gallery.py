"""Every script of the gallery runs as it stands, and shows every display."""

from __future__ import annotations

import inspect
import runpy
from pathlib import Path

import matplotlib
import pytest

import bayesift.plots as plots

matplotlib.use("Agg")
from matplotlib import pyplot  # the backend comes first

SCRIPTS = sorted((Path(__file__).parents[2] / "docs" / "gallery").glob("*/plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_draws(script):
    try:
        runpy.run_path(str(script), run_name="__main__")
        figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
        assert figures
        for figure in figures:
            figure.canvas.draw()
            assert any(ax.has_data() for ax in figure.axes)
    finally:
        pyplot.close("all")


def test_every_display_has_a_script():
    text = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    displays = {name for name in plots.__all__ if inspect.isclass(getattr(plots, name))} - {"Display"}
    assert {name for name in displays if f"{name}" not in text} == set()
