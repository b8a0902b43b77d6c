"""Files of one document a line: the label, a tab, the text."""

from __future__ import annotations

from collections.abc import Collection as Values

from bayesift.datasets.errors import MalformedFileError


def labelled_lines(name: str, content: str, labels: Values[str]) -> list[tuple[str, str]]:
    """Split the lines of a file at their first tab.

    Lines end at newlines only: the texts hold other characters that Python takes for line ends.

    Parameters
    ----------
    name : str
        The file, for messages.
    content : str
        Its text.
    labels : collection of str
        The labels that may occur.

    Returns
    -------
    list of (str, str)
        Label and text of each line, in order.
    """
    rows = []
    for number, line in enumerate(content.removesuffix("\n").split("\n"), start=1):
        label, tab, text = line.partition("\t")
        if not tab or label not in labels:
            raise MalformedFileError(
                name, number, f"expected one of {', '.join(labels)}, a tab and the text, found {line[:40]!r}"
            )
        rows.append((label, text.removesuffix("\r")))
    return rows
