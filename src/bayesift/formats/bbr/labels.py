"""Label files of BXR: which class a document has in which model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from bayesift.formats.bbr._errors import FormatError, quoted
from bayesift.formats.bbr._files import Source, name_of, read_lines, write_text
from bayesift.formats.bbr._words import Words, one_word

#: In place of a model: holds for every model that the document has no line for.
ALL_OTHER_MODELS = "@allothermodels"


@dataclass(frozen=True)
class Label:
    """A line ``DOCID MODEL CLASS``."""

    document: str
    model: str
    class_name: str


def read_labels(source: Source) -> tuple[Label, ...]:
    r"""Read a label file.

    Parameters
    ----------
    source : str, path or binary stream

    Returns
    -------
    tuple of Label

    Raises
    ------
    FormatError
        With file and line; also when a document has two classes in a model.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.formats.bbr import read_labels
    >>> read_labels(BytesIO(b"d1 grain wheat\n"))
    (Label(document='d1', model='grain', class_name='wheat'),)
    """
    name = name_of(source)
    found: dict[tuple[str, str], Label] = {}
    for number, line in enumerate(read_lines(source), start=1):
        words = Words(name, [line], number)
        if words.peek() is None:
            continue
        document, model, class_name = (str(words.take("DOCID MODEL CLASS")) for _ in range(3))
        words.end("the end of the line")
        key = (document.upper(), model.upper())
        if key in found:
            raise FormatError(name, number, f"a second class of {quoted(document)}", "one class for each model")
        found[key] = Label(document, model, class_name)
    return tuple(found.values())


def write_labels(target: str | os.PathLike[str], labels: Iterable[Label]) -> None:
    """Write a label file, whole or not at all.

    Parameters
    ----------
    target : str or path
    labels : iterable of Label
    """
    lines = []
    for label in labels:
        words = (label.document, label.model, label.class_name)
        lines.append(" ".join(one_word("labels", word) for word in words))
    write_text(target, "".join(f"{line}\n" for line in lines))


def true_class(labels: Iterable[Label]) -> dict[tuple[str, str], str]:
    """Return a table from (document, model) to class, names in capitals: they are compared without case.

    Parameters
    ----------
    labels : iterable of Label

    Returns
    -------
    dict
        Look up (document, model) first, then (document, ``"@ALLOTHERMODELS"``).
    """
    return {(label.document.upper(), label.model.upper()): label.class_name for label in labels}
