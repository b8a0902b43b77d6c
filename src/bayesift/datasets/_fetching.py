"""Fetch collections from their public addresses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

from bayesift._files import atomic_path
from bayesift.datasets._files import members_of, sha256_of
from bayesift.datasets._info import Archive, DatasetInfo
from bayesift.datasets._registry import dataset_files
from bayesift.datasets.errors import ChecksumError, DamagedFileError, FetchError

_CHUNK = 1 << 16
_SECURE = "https://"


class ProgressBar(Protocol):
    """Follows a download; the interface that pooch expects."""

    total: int

    def update(self, size: int) -> None:
        """Count more bytes."""

    def reset(self) -> None:
        """Start counting again."""

    def close(self) -> None:
        """Finish."""


def fetch(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    url: str | None = None,
    force: bool = False,
    unverified: bool = False,
    progress: ProgressBar | None = None,
) -> Path:
    """Fetch a collection, or a word list, from its public address into the data root.

    The download goes to a temporary file that gets its name only when it is complete and its SHA-256 is right; a
    download that fails or is interrupted leaves nothing behind. Only addresses that begin with ``https://`` are used,
    including redirections, and only files whose SHA-256 is known, unless the caller says otherwise.

    Parameters
    ----------
    name : str
        Name of the collection; ``"smart"`` is the stop word list.
    data_home : path, optional
        The data root, see :func:`data_root`.
    url : str, optional
        Another address for the same file; the public one by default.
    force : bool
        Fetch even if the collection is already there.
    unverified : bool
        Also allow plain HTTP, and files whose SHA-256 is not known; a known SHA-256 is still checked.
    progress : ProgressBar, optional
        Called with the number of bytes received.

    Returns
    -------
    Path
        The file that was fetched, or the one that was there.

    Raises
    ------
    FetchError
        There is no public address, what it sends cannot be verified, or it did not answer as expected. It is an
        ``OSError``.
    ChecksumError
        The file received is not the known one. It is a ``ValueError``.

    Examples
    --------
    >>> from bayesift.datasets import fetch
    >>> fetch("reuters21578")  # doctest: +SKIP
    """
    files = dataset_files(name, data_home)
    found, root = files.info, files.root
    if url is not None and not url.strip():
        raise ValueError(f"url must be an address, or None for the public one, found {url!r}")
    if not found.archives:
        raise FetchError(f"{name} is part of the package, there is nothing to fetch")
    archive = next((archive for archive in found.archives if archive.url), None)
    if archive is None or archive.url is None:
        raise FetchError(_by_hand(found, root, "no public address of it is known for certain"))
    present = found.find(root)
    if present is not None and not force:
        return present.paths[0]
    target = root / found.folders[0] / archive.name
    address = archive.url if url is None else url
    doubt = None if unverified else _doubt(archive, address)
    if doubt is not None:
        way = f"{doubt}; where {address} can be trusted, unverified=True (--unverified) fetches it all the same"
        raise FetchError(_by_hand(found, root, way))
    try:
        _download(archive, target, address, progress, only_https=not unverified)
    except OSError as error:
        raise FetchError(_by_hand(found, root, f"{address} failed, {_reason(error)}")) from error
    except DamagedFileError as error:
        raise FetchError(_by_hand(found, root, f"{address} sent something that is not an archive")) from error
    return target


def _doubt(archive: Archive, url: str) -> str | None:
    """Say why the file that an address sends cannot be verified; None if it can."""
    if not url.startswith(_SECURE):
        return f"{url} does not begin with {_SECURE}"
    return "no SHA-256 of the file is known" if archive.sha256 is None else None


def _refuse_other_than_https(response: Any, **_: Any) -> None:
    """Stop a download that is redirected to an insecure address; called for each answer of a server."""
    for address in (response.url, response.headers.get("Location") or _SECURE):
        if "://" in address and not address.startswith(_SECURE):
            raise OSError(f"it leads to {address}, which does not begin with {_SECURE}")


def _download(archive: Archive, target: Path, url: str, progress: ProgressBar | None, *, only_https: bool) -> None:
    import pooch

    # Without this header some servers compress or unpack what they send, and the checksum differs.
    headers = {"Accept-Encoding": "identity"}
    hooks = {"response": _refuse_other_than_https} if only_https else {}
    download = pooch.HTTPDownloader(progressbar=progress or False, chunk_size=_CHUNK, headers=headers, hooks=hooks)
    with atomic_path(target) as temporary:
        download(url, str(temporary), None)
        if archive.sha256 is None:
            # Reading all of it detects a damaged file, or an error page instead of the archive.
            for _ in members_of(temporary, target.name):
                pass
        elif (digest := sha256_of(temporary)) != archive.sha256:
            raise ChecksumError(url, expected=archive.sha256, found=digest)


def _reason(error: OSError) -> str:
    """Say briefly why a download failed; the message of requests is long."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    kinds = {"ConnectTimeout": "no answer in time", "ReadTimeout": "no answer in time"}
    kinds |= {"ConnectionError": "no connection", "ChunkedEncodingError": "the connection broke off"}
    return kinds.get(type(error).__name__, str(error))


def _by_hand(found: DatasetInfo, root: Path, reason: str) -> str:
    wanted = " and ".join(found.forms(part) for part in found.needs)
    return (
        f"{found.name} cannot be fetched: {reason}; get it by hand (home: {found.homepage}) "
        f"and put {wanted} into {root / found.folders[0]}"
    )
