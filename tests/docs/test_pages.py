"""The pages hang together: all public names are listed, all pages are reached, each model says when to use it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BUILT = {"_build", "api", "auto_gallery", "gallery"}
PAGES = {path for path in DOCS.rglob("*.md") if not BUILT & set(path.relative_to(DOCS).parts[:-1])}
LISTED = re.findall(
    r"^\.\. currentmodule:: (\S+)$(.*?)^```$", (DOCS / "api.md").read_text(encoding="utf-8"), re.M | re.S
)
FAMILIES = ["linear", "multinomial", "probit", "ard", "generative", "online", "conjugate", "concepts"]


@pytest.mark.parametrize("room", [room for room, _ in LISTED])
def test_the_reference_lists_what_a_room_exports(room):
    listed = {
        name for found, block in LISTED if found == room for name in re.findall(r"^   ([A-Za-z]\w*)$", block, re.M)
    }
    constants = {name for name in import_module(room).__all__ if name.isupper()}
    assert listed == set(import_module(room).__all__) - constants
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in constants)


def test_the_reference_lists_every_room():
    listed = {room.split(".")[1] for room, _ in LISTED}
    source = Path(import_module("bayesift").__file__).parent
    # Commands, experiments and the review page have pages of their own.
    elsewhere = {"cli", "experiments", "review", "workflow"}
    rooms = {path.parent.name for path in source.glob("*/__init__.py") if not path.parent.name.startswith("_")}
    assert rooms - elsewhere == listed


def test_every_page_is_reached_from_the_index():
    reached, ahead = set(), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        for block in re.findall(r"^```{toctree}$(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            found = [(page.parent / f"{entry}.md").resolve() for entry in entries]
            ahead += [path for path in found if path.exists() and path not in reached]
    assert {path.relative_to(DOCS).as_posix() for path in PAGES - reached} == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_says_when_to_use_it(family):
    assert "\n## When to use it\n" in (DOCS / f"{family}.md").read_text(encoding="utf-8")


def test_pages_need_nothing_from_the_network():
    for page in PAGES | set((DOCS / "_static").rglob("*.css")):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"(src=|url\(|@import )[\"']?https?:|!\[[^]]*\]\(https?:", text), page
