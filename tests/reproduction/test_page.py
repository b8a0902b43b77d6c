"""The page of the full run: it is what the command makes of its JSON, and has every experiment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from reproduction.catalogue import every_experiment, write_page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_made_from_the_numbers_beside_it(tmp_path):
    shutil.copytree(DOCS / "images" / "reproduction", tmp_path / "run")
    shutil.copyfile(DOCS / "reproduction.json", tmp_path / "run" / "results.json")
    write_page(tmp_path / "run", tmp_path / "docs" / "reproduction.md")
    assert (tmp_path / "docs" / "reproduction.md").read_text(encoding="utf-8") == (DOCS / "reproduction.md").read_text(
        encoding="utf-8"
    )
    drawn, kept = (
        {path.name for path in (folder / "images" / "reproduction").iterdir()} for folder in (tmp_path / "docs", DOCS)
    )
    assert drawn == kept


def test_the_page_is_of_a_full_run():
    results = json.loads((DOCS / "reproduction.json").read_text(encoding="utf-8"))
    assert [result["name"] for result in results] == list(every_experiment())
    assert not any(result["quick"] for result in results)
