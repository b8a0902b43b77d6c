"""Stop word lists that are read from the data root and not shipped."""

from __future__ import annotations

import os

from bayesift.datasets._holding import Archive, Holding
from bayesift.datasets._paths import data_root
from bayesift.datasets._shelf import Shelf

SMART = Holding(
    name="smart",
    title="SMART stop word list",
    summary="The 571 English stop words of the SMART retrieval system, one word a line.",
    citation="G. Salton and C. Buckley, SMART system, Cornell University; on-line appendix 11 of LYRL2004",
    terms="not stated",
    homepage="http://www.jmlr.org/papers/volume5/lewis04a/",
    folders=("stopwords",),
    archives=(
        Archive("SMART.txt", "9869c9b6c582d7485871e136b05b64556a1741657c2401fb0698d56a6cf190fe"),
        Archive(
            "english.stop",
            url="http://www.jmlr.org/papers/volume5/lewis04a/a11-smart-stop-list/english.stop",
        ),
    ),
)

WORD_LISTS = {SMART.name: SMART}


def known_stop_words() -> tuple[str, ...]:
    """List the names of the stop word lists, whether they are at hand or not.

    Examples
    --------
    >>> from bayesift.datasets import known_stop_words
    >>> known_stop_words()
    ('smart',)
    """
    return tuple(WORD_LISTS)


def stop_words(name: str = "smart", data_home: str | os.PathLike[str] | None = None) -> frozenset[str]:
    """Read a stop word list from the data root.

    Parameters
    ----------
    name : {"smart"}
        Name of the list. ``"smart"`` reads ``stopwords/SMART.txt``: 571 English words.
    data_home : path, optional
        The data root, see :func:`data_root`.

    Returns
    -------
    frozenset of str
        The words, as they stand in the file.

    Raises
    ------
    MissingDataError
        The list is not in the data root. It is a ``FileNotFoundError``.

    Examples
    --------
    >>> from bayesift.datasets import stop_words
    >>> "the" in stop_words("smart")  # doctest: +SKIP
    True
    """
    if name not in WORD_LISTS:
        raise ValueError(f"name must be one of {', '.join(WORD_LISTS)}, found {name!r}")
    source = Shelf(WORD_LISTS[name], data_root(data_home)).verified()
    [(_, content)] = source.members()
    return frozenset(content.decode("utf-8").split())
