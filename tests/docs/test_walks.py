"""The walks drawn in the documentation are those that the package takes, and short."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
TOOL = runpy.run_path(str(TOP / "tools" / "walk.py"))
PICTURE = (TOP / "docs" / "design" / "walks.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TOOL["WALKS"])
def test_a_walk_is_short_and_drawn_as_it_is(name):
    walk, modules = TOOL["WALKS"][name], TOOL["followed"](name)
    own = TOOL["own_modules"](modules, walk.rooms)
    assert len(own) <= 14
    # Full boxes, with white letters, are the modules of the walk's own rooms.
    shown = [f"bayesift.{module}" for module in re.findall(r'fill="#ffffff">([\w.]+)<', PICTURE)]
    assert set(TOOL["own_modules"](shown, walk.rooms)) == set(own)
