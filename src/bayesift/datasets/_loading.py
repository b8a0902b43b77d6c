"""Loading collections by name and telling about them."""

from __future__ import annotations

import os
from typing import Any

from bayesift.datasets._collection import Collection
from bayesift.datasets._description import Description
from bayesift.datasets._paths import data_root
from bayesift.datasets._registry import REGISTRY, entry, holding
from bayesift.datasets._shelf import Shelf


def load(
    name: str, data_home: str | os.PathLike[str] | None = None, *, verify: bool = True, **options: Any
) -> Collection:
    """Load a collection by its name.

    Its archive is read where it lies, parsed once and kept in a compact form in the user's cache.

    Parameters
    ----------
    name : str
        Name of the collection; :func:`known` lists them.
    data_home : path, optional
        The data root, see :func:`data_root`.
    verify : bool
        Whether an archive whose SHA-256 is known is checked before it is parsed.
    **options
        Options of the collection; :func:`describe` tells them.

    Returns
    -------
    Collection
        Training and test documents with their label sets.

    Raises
    ------
    MissingDataError
        The files are not in the data root. It is a ``FileNotFoundError``.
    ChecksumError
        An archive is damaged or of another version. It is a ``ValueError``.

    Examples
    --------
    >>> from bayesift.datasets import load
    >>> news = load("newsroom")
    >>> len(news.train.texts) > len(news.test.texts)
    True
    """
    found = entry(name)
    unknown = sorted(set(options) - set(found.options))
    if unknown:
        known_options = ", ".join(found.options) or "none"
        raise TypeError(f"options of {name!r} are {known_options}; found {', '.join(unknown)}")
    return found.build(Shelf(found, data_root(data_home), verify), **options)


def describe(name: str, data_home: str | os.PathLike[str] | None = None) -> Description:
    """Tell what a collection is, whom to cite, its terms, its options and where it is looked for.

    Parameters
    ----------
    name : str
        Name of the collection or word list.
    data_home : path, optional
        The data root, see :func:`data_root`.

    Returns
    -------
    Description
        The facts as attributes; ``str`` of it is a page to read.

    Examples
    --------
    >>> from bayesift.datasets import describe
    >>> describe("reuters21578").title
    'Reuters-21578, Distribution 1.0 (ModApte split)'
    """
    return Description.of(holding(name), data_root(data_home))


def known() -> tuple[str, ...]:
    """List the names of all collections, whether their data are at hand or not.

    Examples
    --------
    >>> from bayesift.datasets import known
    >>> "reuters21578" in known()
    True
    """
    return tuple(REGISTRY)


def available(data_home: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """List the names of the collections whose data are at hand.

    Parameters
    ----------
    data_home : path, optional
        The data root, see :func:`data_root`.

    Examples
    --------
    >>> from bayesift.datasets import available
    >>> "newsroom" in available()
    True
    """
    root = data_root(data_home)
    return tuple(name for name, found in REGISTRY.items() if found.present(root))
