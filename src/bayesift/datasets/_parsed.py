"""The parsed form of a collection: its compact form on disk, and the choice of documents and labels."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesift._files import atomic_path
from bayesift.datasets._collection import Split

LabelSet = tuple[str, ...]

_BROKEN = (OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Parsed:
    """All documents of a collection, before options choose among them.

    Parameters
    ----------
    ids, groups : list of str
        Identifier of each document, and the part of the collection it belongs to (a split, a university).
    labels : list of tuple of str
        Label set of each document, sorted.
    texts : list of str, optional
        Text of each document, if the collection has texts.
    notes : dict, optional
        Whatever else belongs to the collection, as strings, such as descriptions of the categories.
    """

    ids: list[str]
    groups: list[str]
    labels: list[LabelSet]
    texts: list[str] | None = None
    notes: dict[str, str] = field(default_factory=dict)


def cached_parsed(path: Path, parse: Callable[[], Parsed]) -> Parsed:
    """Read what is cached at ``path``; if there is nothing, or it is broken, parse and cache the result.

    If the cache cannot be written (a full disk, a read-only folder), only the next call takes longer.
    """
    try:
        return load_parsed(path)
    except _BROKEN:
        parsed = parse()
    with suppress(OSError):
        save_parsed(parsed, path)
    return parsed


def save_parsed(parsed: Parsed, path: Path) -> None:
    """Write a parsed collection as an ``.npz`` file of plain arrays.

    The texts are not compressed: unpacking them would take most of the time of a load.
    """
    sets, set_codes = _codes(parsed.labels)
    groups, group_codes = _codes(parsed.groups)
    head = {"label_sets": sets, "groups": groups, "notes": parsed.notes, "has_texts": parsed.texts is not None}
    arrays: dict[str, Any] = {
        "head": np.frombuffer(json.dumps(head).encode(), np.uint8),
        "set_codes": set_codes,
        "group_codes": group_codes,
        **_packed("id", parsed.ids),
        **_packed("text", parsed.texts or []),
    }
    with atomic_path(path) as temporary:
        np.savez(temporary, **arrays)


def load_parsed(path: Path) -> Parsed:
    """Read what :func:`save_parsed` wrote."""
    # numpy leaves a file open that it opened itself and cannot read.
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        head = json.loads(arrays["head"].tobytes())
        sets = [tuple(labels) for labels in head["label_sets"]]
        groups = head["groups"]
        parsed = Parsed(
            ids=_unpacked("id", arrays),
            groups=[groups[code] for code in arrays["group_codes"]],
            labels=[sets[code] for code in arrays["set_codes"]],
            texts=_unpacked("text", arrays) if head["has_texts"] else None,
            notes=head["notes"],
        )
    lengths = {len(parsed.ids), len(parsed.groups), len(parsed.labels)}
    if parsed.texts is not None:
        lengths.add(len(parsed.texts))
    if len(lengths) != 1:
        raise ValueError(f"{path} has columns of different lengths: {sorted(lengths)}")
    return parsed


def _codes(values: Sequence[Any]) -> tuple[list[Any], NDArray[np.int32]]:
    """Number the distinct values in order of appearance."""
    numbers: dict[Any, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int32, len(values))
    return list(numbers), codes


def _packed(name: str, strings: list[str]) -> dict[str, NDArray[Any]]:
    encoded = [string.encode() for string in strings]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
    return {f"{name}_bytes": np.frombuffer(b"".join(encoded), np.uint8), f"{name}_ends": ends}


def _unpacked(name: str, arrays: Any) -> list[str]:
    content = arrays[f"{name}_bytes"].tobytes()
    ends = arrays[f"{name}_ends"].tolist()
    if ends and ends[-1] != len(content):
        raise ValueError(f"the {name} column ends at byte {len(content)}, expected {ends[-1]}")
    return [content[start:end].decode() for start, end in zip([0, *ends], ends, strict=False)]


def rows_of(parsed: Parsed, rows: Iterable[int]) -> Split:
    """Make a split of the given rows, in the given order."""
    chosen = list(rows)
    return Split(
        labels=[parsed.labels[row] for row in chosen],
        ids=[parsed.ids[row] for row in chosen],
        texts=None if parsed.texts is None else [parsed.texts[row] for row in chosen],
    )


def split_of(parsed: Parsed, group: str) -> Split:
    """Make a split of the rows of one group."""
    return rows_of(parsed, (row for row, name in enumerate(parsed.groups) if name == group))


def keep_labels(split: Split, categories: Container[str], *, drop_unlabelled: bool = False) -> Split:
    """Restrict the label sets to some categories; drop, if asked to, documents left with none."""
    narrowed = {labels: tuple(name for name in labels if name in categories) for labels in set(split.labels)}
    labels = [narrowed[each] for each in split.labels]
    rows = [row for row, each in enumerate(labels) if each or not drop_unlabelled]
    return Split(
        labels=[labels[row] for row in rows],
        ids=[split.ids[row] for row in rows],
        texts=[split.texts[row] for row in rows] if split.has_texts else None,
    )
