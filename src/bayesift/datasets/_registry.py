"""The datasets that have a name: loading them, describing them, finding their files."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

from bayesift.datasets._collection import Collection
from bayesift.datasets._collections import (
    cohen2006,
    labelled_lines,
    newsroom,
    ohsumed,
    rcv1,
    reuters21578,
    synergy,
    trec9,
    twenty_newsgroups,
    webkb,
)
from bayesift.datasets._files import data_root
from bayesift.datasets._info import Archive, DatasetFiles, DatasetInfo, Description, Unpacked

_BUILDERS: dict[str, Callable[..., Collection]] = {
    "newsroom": newsroom.build,
    "reuters21578": reuters21578.build,
    "20newsgroups": twenty_newsgroups.build,
    "si650": labelled_lines.build_si650,
    "webkb": webkb.build,
    "ohsumed": ohsumed.build,
    "trec9": trec9.build,
    "rcv1": rcv1.build,
    "sms": labelled_lines.build_sms,
    "cohen2006": cohen2006.build,
    "synergy": synergy.build,
}


def _read_infos() -> dict[str, DatasetInfo]:
    """Read what is known about the datasets from the file inside the package."""
    page = (resources.files("bayesift.datasets") / "datasets.toml").read_text(encoding="utf-8")
    infos = {}
    for name, facts in tomllib.loads(page).items():
        archives = tuple(Archive(**archive) for archive in facts.pop("archives", ()))
        unpacked = tuple(Unpacked(tuple(copy.pop("patterns")), **copy) for copy in facts.pop("unpacked", ()))
        facts |= {key: tuple(facts[key]) for key in ("folders", "needs") if key in facts}
        infos[name] = DatasetInfo(name=name, archives=archives, unpacked=unpacked, build=_BUILDERS.get(name), **facts)
    return infos


DATASETS: Mapping[str, DatasetInfo] = MappingProxyType(_read_infos())
COLLECTIONS: Mapping[str, DatasetInfo] = MappingProxyType({name: DATASETS[name] for name in _BUILDERS})
WORD_LISTS = MappingProxyType({name: info for name, info in DATASETS.items() if info.build is None})


def _find(name: str, among: Mapping[str, DatasetInfo]) -> DatasetInfo:
    if name not in among:
        raise ValueError(f"name must be one of {', '.join(among)}, found {name!r}")
    return among[name]


def load(
    name: str, data_home: str | os.PathLike[str] | None = None, *, verify: bool = True, **options: Any
) -> Collection:
    """Load a collection by its name.

    Its archive is read in place, parsed once, and the result kept in a compact form in the user's cache.

    Parameters
    ----------
    name : str
        Name of the collection; :func:`known` lists them.
    data_home : path, optional
        The data root, see :func:`data_root`.
    verify : bool
        Whether an archive whose SHA-256 is known is checked before it is parsed.
    **options
        Options of the collection; :func:`describe` lists them.

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
    found = _find(name, COLLECTIONS)
    unknown = sorted(set(options) - set(found.options))
    if unknown:
        known_options = ", ".join(found.options) or "none"
        raise TypeError(f"options of {name!r} are {known_options}; found {', '.join(unknown)}")
    assert found.build is not None
    return found.build(DatasetFiles(found, data_root(data_home), verify), **options)


def describe(name: str, data_home: str | os.PathLike[str] | None = None) -> Description:
    """Describe a collection: what it is, whom to cite, its terms, its options and where it is looked for.

    Parameters
    ----------
    name : str
        Name of the collection or word list.
    data_home : path, optional
        The data root, see :func:`data_root`.

    Returns
    -------
    Description
        With attributes; ``str`` of it is a page to read.

    Examples
    --------
    >>> from bayesift.datasets import describe
    >>> describe("reuters21578").title
    'Reuters-21578, Distribution 1.0 (ModApte split)'
    """
    return Description.of(_find(name, DATASETS), data_root(data_home))


def known() -> tuple[str, ...]:
    """Return the names of all collections, whether their data are available or not.

    Examples
    --------
    >>> from bayesift.datasets import known
    >>> "reuters21578" in known()
    True
    """
    return tuple(COLLECTIONS)


def available(data_home: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Return the names of the collections whose data are available.

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
    return tuple(name for name, found in COLLECTIONS.items() if found.present(root))


def dataset_files(name: str, data_home: str | os.PathLike[str] | None = None) -> DatasetFiles:
    """Return the files of a collection or a word list, as they are in the data root.

    Parameters
    ----------
    name, data_home
        As in :func:`describe`.

    Returns
    -------
    DatasetFiles
        ``locate()`` finds the files, whose ``members()`` are their names and contents; ``identity()``
        distinguishes this copy from any other.

    Examples
    --------
    >>> from bayesift.datasets import dataset_files
    >>> dataset_files("newsroom").identity()
    'embedded'
    """
    return DatasetFiles(_find(name, DATASETS), data_root(data_home))


def known_stop_words() -> tuple[str, ...]:
    """Return the names of the stop word lists, whether they are available or not.

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
        The words, as they are in the file.

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
    _, content = DatasetFiles(WORD_LISTS[name], data_root(data_home)).only_file()
    return frozenset(content.decode("utf-8").split())
