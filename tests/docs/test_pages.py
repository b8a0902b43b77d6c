"""The pages hang together: all public names are listed, all pages are reached, each model says when to use it."""

from __future__ import annotations

import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BUILT = {"_build", "api", "auto_gallery", "gallery"}
PAGES = {path for path in DOCS.rglob("*.md") if not BUILT & set(path.relative_to(DOCS).parts[:-1])}
ROOMS = runpy.run_path(str(DOCS / "rooms.py"))
FAMILIES = ["linear", "multinomial", "probit", "posterior", "ard", "generative", "online", "conjugate", "concepts"]


def test_the_reference_has_every_room():
    source = Path(import_module("bayesift").__file__).parent
    # Commands and web servers have pages of their own.
    elsewhere = {"cli", "review", "serving"}
    rooms = {path.parent.name for path in source.glob("*/__init__.py") if not path.parent.name.startswith("_")}
    assert rooms - elsewhere == set(ROOMS["ROOMS"])
    listed = re.findall(r"^api/(\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.M)
    assert listed == list(ROOMS["ROOMS"])


def test_the_page_of_a_room_lists_all_that_it_exports(tmp_path):
    ROOMS["write_pages"](tmp_path)
    for room in ROOMS["ROOMS"]:
        text = (tmp_path / f"{room}.rst").read_text(encoding="utf-8")
        named = set(re.findall(r"^   (\w+)$", text, re.M)) | set(re.findall(r"``(\w+)``", text))
        assert named == set(import_module(f"bayesift.{room}").__all__)


def test_every_page_is_reached_from_the_index():
    reached, ahead = set(), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        for block in re.findall(r"^```{toctree}$(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            lines = [line for line in block.splitlines() if line and not line.startswith(":")]
            entries = [re.sub(r".*<(.*)>$", r"\1", line) for line in lines]
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


@pytest.mark.parametrize("page", sorted((DOCS / "papers").glob("[!i]*.md")), ids=lambda page: page.stem)
def test_what_the_pages_of_the_papers_name_exists(page):
    found = re.findall(r"`((?:src|tests|reproduction)/[\w/.]+)(?:::(\w+))?`", page.read_text(encoding="utf-8"))
    assert len(found) >= 10
    for path, name in found:
        source = DOCS.parent / path
        assert source.exists(), path
        if name:
            assert re.search(rf"^ *(def|class) {name}\b", source.read_text(encoding="utf-8"), re.M), f"{path}::{name}"
