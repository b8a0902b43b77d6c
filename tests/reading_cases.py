"""Texts of files, for tests of reading."""

from __future__ import annotations

from bayesift.datasets import open_texts


def texts_of(path, *arguments, **options):
    """Return all texts of a file, and what was recognised."""
    with open_texts(path, *arguments, **options) as stream:
        texts = [text for block in stream.blocks for text in block.texts]
    return texts, stream.notes
