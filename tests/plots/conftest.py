"""What the tests of all displays share."""

from __future__ import annotations

import sys

import matplotlib
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot  # the backend comes first


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture
def without_matplotlib(monkeypatch):
    """Let every import of matplotlib fail."""
    for module in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, module, None)
