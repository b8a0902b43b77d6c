"""Turn whatever the caller passes into batches of strings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

#: Characters in a batch: enough to make a call of the scanner worth its cost, few enough for the second-level cache.
BATCH_CHARACTERS = 1 << 19


def check_documents(documents: Any) -> Iterable[Any]:
    """Refuse anything but a collection of documents, before any work is done."""
    if isinstance(documents, str | bytes):
        raise TypeError(
            f"documents must be an iterable of documents, got one {type(documents).__name__}; "
            "put a single document into a list"
        )
    if isinstance(documents, dict) or not isinstance(documents, Iterable):
        raise TypeError(f"documents must be an iterable of strings, got {type(documents).__name__}")
    if hasattr(documents, "columns"):
        raise ValueError(f"documents must be one column of text, got a {type(documents).__name__}; pass the column")
    n_dimensions = getattr(documents, "ndim", 1)
    if n_dimensions != 1:
        raise ValueError(
            f"documents must be one-dimensional, got {n_dimensions} dimensions; pass the column that holds the text"
        )
    return documents


def batches(
    documents: Iterable[Any],
    source: Literal["content", "filename"],
    encoding: str,
    decode_error: str,
) -> Iterator[list[str]]:
    """Yield lists of decoded documents with about ``BATCH_CHARACTERS`` characters each."""
    batch: list[str] = []
    size = 0
    for position, item in enumerate(documents):
        text = item
        if type(item) is not str or source == "filename":
            text = _decoded(item, position, source, encoding, decode_error)
        batch.append(text)
        size += len(text)
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _decoded(item: Any, position: int, source: str, encoding: str, decode_error: str) -> str:
    """Turn an item into a string, or say which item cannot be one."""
    if source == "filename":
        if not isinstance(item, str | os.PathLike):
            raise TypeError(f"document {position} must be a file path, got {type(item).__name__}")
        item = Path(item).read_bytes()
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        try:
            return item.decode(encoding, decode_error)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"document {position} is not {encoding}: {error.reason} at byte {error.start}; "
                "give the right encoding=, or decode_error='replace' or 'ignore'"
            ) from error
    found = f"document {position} must be a string, got {type(item).__name__}"
    if item is None or str(item) in ("nan", "<NA>", "NaT"):
        raise TypeError(f"{found}: it is missing; drop such documents or put '' in their place")
    raise TypeError(found)
