"""Newsroom: the embedded corpus of short news items written for this project."""

from __future__ import annotations

import json
from importlib.resources import files

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._split import Split


def build(shelf: Shelf) -> Collection:
    """Read the items and the topic descriptions from inside the package."""
    folder = files("bayesift.datasets") / "newsroom"
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").split("\n")
    items = [json.loads(line) for line in lines if line]
    descriptions = json.loads((folder / "topics.json").read_text(encoding="utf-8"))

    def part(split: str) -> Split:
        chosen = [item for item in items if item["split"] == split]
        return Split(
            labels=[tuple(sorted(item["topics"])) for item in chosen],
            ids=[item["id"] for item in chosen],
            texts=[item["text"] for item in chosen],
        )

    return Collection(
        name=shelf.holding.name,
        train=part("train"),
        test=part("test"),
        categories=tuple(sorted(descriptions)),
        descriptions=descriptions,
    )


ENTRY = Entry(
    name="newsroom",
    title="Newsroom, the embedded corpus",
    summary=(
        "Short original English news items in overlapping topics, several topics to an item where that "
        "is natural, with a fixed split and a paragraph of description per topic. It comes with the "
        "package."
    ),
    citation="The Bayesift developers",
    terms="BSD-3-Clause, like the package",
    homepage="inside the package",
    build=build,
    needs=(),
)
