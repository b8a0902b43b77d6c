"""How the page is served."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class Settings(NamedTuple):
    """By which names the page may be called, and how much it takes.

    Parameters
    ----------
    hosts : tuple of str
        Names in the header ``Host`` that are answered, without port: a page of another site whose name was
        made to point here is not.
    https : bool
        Whether browsers reach the page by HTTPS, through a proxy; cookies are then sent by HTTPS only.
    body_limit, upload_limit : int
        The most bytes that a request may bring, and the most for a file of labels.
    """

    hosts: tuple[str, ...] = _LOOPBACK_NAMES
    https: bool = False
    body_limit: int = 64 * 1024
    upload_limit: int = 20 * 1024 * 1024


def is_loopback(host: str) -> bool:
    """Tell whether an address is heard on this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def settings_for(host: str, public_url: str | None) -> Settings:
    """Settle by which names the page may be called.

    Parameters
    ----------
    host : str
        The address to listen on.
    public_url : str, optional
        How the reviewers reach the page; needed where other machines can.

    Returns
    -------
    Settings
        The names of this machine, and the public one.
    """
    if public_url is None:
        if not is_loopback(host):
            raise ValueError(
                f"host is {host!r}, which other machines can reach; expected 127.0.0.1, or also the address by which "
                "reviewers reach the page, such as --public-url https://review.example.org"
            )
        return Settings()
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"public_url is {public_url!r}; expected an address such as https://review.example.org")
    return Settings(hosts=(*_LOOPBACK_NAMES, parts.hostname.lower()), https=parts.scheme == "https")
