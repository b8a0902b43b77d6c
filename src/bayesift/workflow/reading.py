"""Reading texts and labels for the workflow, with a note of what was guessed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesift.datasets import Split, read
from bayesift.text._documents import check_encoding
from bayesift.workflow._columns import column_names, columns_by_content


def read_texts(
    path: str | os.PathLike[str],
    text: str | None = None,
    labels: str | None = None,
    *,
    prefer: tuple[str | None, str | None] = (None, None),
    label_separator: str | None = None,
    encoding: str = "utf-8",
    quotes: bool = True,
    delimiter: str | None = None,
    format: Any = None,
) -> Split:
    """Read labelled texts from any file that :func:`bayesift.datasets.read` knows, and guess columns by their content.

    Parameters
    ----------
    path : path
        The file or folder.
    text, labels : str, optional
        Names of the columns. Without them those with a usual name are taken, else those that look like it.
    prefer : pair of str
        Names of both columns to take where the file has them, as from a model that was trained on such a file.
    label_separator, encoding, quotes, delimiter, format
        As in :func:`bayesift.datasets.read`.

    Returns
    -------
    Split
        With texts; ``origin.guessed`` says which columns were not named.
    """
    check_encoding(encoding)
    place = Path(path)
    given: dict[str, Any] = {"encoding": encoding, "quotes": quotes, "delimiter": delimiter, "format": format}
    named: dict[str, Any] = {"text": text, "labels": labels}
    if any(prefer) and None in (text, labels):
        columns = column_names(place, **given)
        for role, wanted in zip(named, prefer, strict=True):
            if named[role] is None and wanted in columns and wanted not in named.values():
                named[role] = wanted
    try:
        split = read(place, **named, label_separator=label_separator, **given)
    except ValueError as error:
        if "must name a column" not in str(error):
            raise
        guess = columns_by_content(place, named["text"], named["labels"], **given)
        if None in guess:
            raise
        split = read(place, *guess, label_separator=label_separator, **given)
    if not split.has_texts:
        raise ValueError(f"{path} holds vectors, not texts; expected texts to count words in")
    if split.origin is not None and split.origin.text is not None:
        roles = tuple(role for role, name in (("text", text), ("labels", labels)) if name is None)
        split.origin = replace(split.origin, guessed=roles)
    return split
