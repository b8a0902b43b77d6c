"""The walks drawn in the documentation are those that the package takes, and short."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
TOOL = runpy.run_path(str(TOP / "tools" / "walk.py"))
#: Lines of the functions of its own rooms that run in a walk, and of a whole module in it.
MOST_LINES, LONGEST_MODULE = 1_400, 500
PICTURE = (TOP / "docs" / "design" / "walks.svg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", TOOL["WALKS"])
def test_a_walk_is_short_and_drawn_as_it_is(name):
    walk, modules = TOOL["WALKS"][name], TOOL["followed"](name)
    own = TOOL["own_modules"](modules, walk.rooms)
    assert sum(modules[module] for module in own) <= MOST_LINES
    sources = [TOP.joinpath("src", *module.split(".")).with_suffix(".py") for module in own]
    assert max(len(source.read_text(encoding="utf-8").splitlines()) for source in sources) <= LONGEST_MODULE
    # Full boxes, with white letters, are the modules of the walk's own rooms.
    shown = [f"bayesift.{module}" for module in re.findall(r'fill="#ffffff">([\w.]+)<', PICTURE)]
    assert set(TOOL["own_modules"](shown, walk.rooms)) == set(own)
