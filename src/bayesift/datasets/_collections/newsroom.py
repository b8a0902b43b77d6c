"""Newsroom: the embedded corpus of short news items written for this project."""

from __future__ import annotations

import json
from importlib import resources

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._info import DatasetFiles


def build(files: DatasetFiles) -> Collection:
    """Read the items and the topic descriptions from inside the package."""
    folder = resources.files("bayesift.datasets") / "newsroom"
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
        name=files.info.name,
        train=part("train"),
        test=part("test"),
        categories=tuple(sorted(descriptions)),
        descriptions=descriptions,
    )
