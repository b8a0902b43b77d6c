"""The names that the page answers to, how much it accepts, and how long it waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bayesift._web.connections import Limits
from bayesift._web.listening import LOOPBACK_NAMES, limits_behind, names_for


class Settings(NamedTuple):
    """The names that the page answers to, and how much it accepts.

    Parameters
    ----------
    hosts : tuple of str
        Names in the header ``Host`` that are answered, without port, so that a foreign name that was made to point here
        is refused.
    https : bool
        Whether browsers reach the page by HTTPS, through a proxy; cookies are then sent only over HTTPS.
    body_limit, upload_limit : int
        Most bytes in a request, and in a file of labels.
    free_logins : int
        How many failed logins from one address, or logins of one reviewer, are not slowed down.
    first_delay, longest_delay : float
        The first and the longest delay of a login, in seconds.
    limits : Limits
        How long a client may take, and how many connections there may be.
    proxies : tuple of str
        Addresses of trusted proxies, which say whom they forward requests for.
    home : str
        Address of a page that lists several projects, including this one; empty if there is none.
    """

    hosts: tuple[str, ...] = LOOPBACK_NAMES
    https: bool = False
    body_limit: int = 64 * 1024
    upload_limit: int = 20 * 1024 * 1024
    free_logins: int = 10
    first_delay: float = 1.0
    longest_delay: float = 30.0
    limits: Limits = Limits()
    proxies: tuple[str, ...] = ()
    home: str = ""


def settings_for(host: str, public_url: str | None, proxies: Sequence[str] = ()) -> Settings:
    """Return the settings for a host, a public address and trusted proxies.

    Parameters
    ----------
    host : str
        The address to listen on.
    public_url : str, optional
        Address at which reviewers reach the page; required if other machines can reach it.
    proxies : sequence of str
        Addresses of proxies whose header ``X-Forwarded-For`` is trusted.

    Returns
    -------
    Settings
        The names of this machine, and the public one.
    """
    limits = limits_behind(proxies)
    names = names_for(host, public_url, "the address by which reviewers reach the page")
    return Settings(names.hosts, names.https, limits=limits, proxies=tuple(proxies))
