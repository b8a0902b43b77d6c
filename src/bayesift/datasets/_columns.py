"""Which column of a user's file is which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from bayesift.datasets._origin import Origin

USUAL = {
    "text": ("text", "texts", "body", "content", "document", "message", "sentence", "review"),
    "labels": ("label", "labels", "category", "categories", "class", "classes", "topic", "topics", "target"),
    "id": ("id",),
}


def resolve(
    path: Path,
    format: str,
    columns: Sequence[str],
    *,
    text: str | None,
    labels: str | Literal[False] | None,
    id: str | None,
) -> Origin:
    """Settle which columns hold text, labels and identifiers.

    A column that is not named is guessed only if exactly one has a usual name, or, for the text, if it is
    the only column left.

    Parameters
    ----------
    path, format
        The file, for messages and for the result.
    columns : sequence of str
        The columns that exist.
    text, labels, id : str, optional
        The names given by the caller; ``labels=False`` says that there are none.

    Returns
    -------
    Origin
        The columns settled on, and which of them were guessed.
    """
    twice = sorted({name for name in columns if list(columns).count(name) > 1})
    if twice:
        raise ValueError(f"{path} has more than one column named {', '.join(twice)}")
    for argument, name in (("text", text), ("labels", labels or None), ("id", id)):
        if name is not None and name not in columns:
            found = f"its columns are {_list(columns)}{_delimiter_hint(columns)}"
            raise ValueError(f"{argument}: {path} has no column {name!r}; {found}")
    if text is not None and text == labels:
        raise ValueError(f"text and labels must be different columns of {path}, found {text!r} for both")
    found_labels = labels if labels is not None else _guess(path, "labels", columns, taken=(text, id))
    found_id = id if id is not None else _guess(path, "id", columns, taken=(text, found_labels))
    found_text = text if text is not None else _guess(path, "text", columns, taken=(found_labels, found_id))
    guessed = [
        argument
        for argument, given, found in (
            ("text", text, found_text),
            ("labels", labels, found_labels),
            ("id", id, found_id),
        )
        if given is None and found is not None
    ]
    return Origin(path, format, found_text, found_labels or None, found_id, tuple(guessed))


def _guess(path: Path, argument: str, columns: Sequence[str], *, taken: Sequence[object]) -> str | None:
    free = [name for name in columns if name not in taken]
    usual = [name for name in free if name.lower() in USUAL[argument]]
    if len(usual) == 1:
        return usual[0]
    if argument == "id":
        return None
    hint = _delimiter_hint(columns)
    if argument == "text" and len(free) == 1 and not hint:
        return free[0]
    problem = f"{_list(usual)} could each be it" if usual else "no column has a usual name"
    if argument == "labels" and not usual:
        hint += "; labels=False reads texts alone"
    raise ValueError(f"{argument} must name a column of {path}: {problem}; its columns are {_list(columns)}{hint}")


def _delimiter_hint(columns: Sequence[str]) -> str:
    """Ask about the delimiter where the header is a single name that looks like several."""
    marks = [mark for mark in (";", "\t", "|", ",") if len(columns) == 1 and mark in columns[0]]
    return f" (are the fields parted by {marks[0]!r}? give delimiter={marks[0]!r})" if marks else ""


def _list(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
