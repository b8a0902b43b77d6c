"""Where collections are looked for and where their parsed form is kept."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_root() -> Path:
    """Return the folder for everything that can be made again.

    Returns
    -------
    Path
        ``BAYESIFT_CACHE`` where it is set, else the user's cache folder as the platform has it.
    """
    named = os.environ.get("BAYESIFT_CACHE")
    return Path(named).expanduser() if named else platformdirs.user_cache_path("bayesift", appauthor=False)


def data_root(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the collections.

    Parameters
    ----------
    data_home : path, optional
        The folder to use. When it is not given, ``BAYESIFT_DATA`` names the folder; when that is not set
        either, it is the folder ``data`` in the user's cache (see ``BAYESIFT_CACHE``).

    Returns
    -------
    Path
        The folder; it need not exist.

    Examples
    --------
    >>> from bayesift.datasets import data_root
    >>> data_root("collections").name
    'collections'
    """
    chosen = data_home if data_home is not None else os.environ.get("BAYESIFT_DATA")
    return Path(chosen).expanduser() if chosen else cache_root() / "data"
