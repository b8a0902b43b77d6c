"""What a parser makes of a collection, and its compact form on the disk."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesift._files import atomic_path

LabelSet = tuple[str, ...]

_BROKEN = (OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Table:
    """All documents of a collection, before options choose among them.

    Parameters
    ----------
    ids, groups : list of str
        Identifier of each document, and the part of the collection it belongs to (a split, a university).
    labels : list of tuple of str
        Label set of each document, sorted.
    texts : list of str, optional
        Text of each document, where the collection has texts.
    notes : dict, optional
        Whatever else belongs to the collection, as strings: descriptions of the categories, for one.
    """

    ids: list[str]
    groups: list[str]
    labels: list[LabelSet]
    texts: list[str] | None = None
    notes: dict[str, str] = field(default_factory=dict)


def cached_table(path: Path, parse: Callable[[], Table]) -> Table:
    """Read the table kept at ``path``; where there is none, or a broken one, parse and keep the result.

    A cache that cannot be written (a full disk, a read-only folder) costs time at the next call and
    nothing else.
    """
    try:
        return load_table(path)
    except _BROKEN:
        table = parse()
    with suppress(OSError):
        save_table(table, path)
    return table


def save_table(table: Table, path: Path) -> None:
    """Write a table as an ``.npz`` file of plain arrays.

    The texts are not compressed: unpacking them would take most of the time of a load.
    """
    sets, set_codes = _codes(table.labels)
    groups, group_codes = _codes(table.groups)
    head = {"label_sets": sets, "groups": groups, "notes": table.notes, "has_texts": table.texts is not None}
    arrays: dict[str, Any] = {
        "head": np.frombuffer(json.dumps(head).encode(), np.uint8),
        "set_codes": set_codes,
        "group_codes": group_codes,
        **_packed("id", table.ids),
        **_packed("text", table.texts or []),
    }
    with atomic_path(path) as temporary:
        np.savez(temporary, **arrays)


def load_table(path: Path) -> Table:
    """Read what :func:`save_table` wrote."""
    # numpy leaves a file open that it opened itself and cannot read.
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        head = json.loads(arrays["head"].tobytes())
        sets = [tuple(labels) for labels in head["label_sets"]]
        groups = head["groups"]
        table = Table(
            ids=_unpacked("id", arrays),
            groups=[groups[code] for code in arrays["group_codes"]],
            labels=[sets[code] for code in arrays["set_codes"]],
            texts=_unpacked("text", arrays) if head["has_texts"] else None,
            notes=head["notes"],
        )
    lengths = {len(table.ids), len(table.groups), len(table.labels)}
    if table.texts is not None:
        lengths.add(len(table.texts))
    if len(lengths) != 1:
        raise ValueError(f"{path} holds columns of different lengths: {sorted(lengths)}")
    return table


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
