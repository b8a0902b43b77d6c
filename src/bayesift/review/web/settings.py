"""By which names the page may be called, how much it takes, and how long it waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bayesift._web.connections import Limits
from bayesift._web.listening import LOOPBACK_NAMES, limits_behind, names_for


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
    free_logins : int
        So many failed logins from one address, or logins of one reviewer, are not slowed down.
    first_delay, longest_delay : float
        The first and the longest time for which a login is held back, in seconds.
    limits : Limits
        How long a client may take, and how many connections there may be.
    proxies : tuple of str
        Addresses of proxies that are believed when they say for whom they ask.
    home : str
        Address of a page that lists several projects, this one among them; empty where there is none.
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
    """Settle by which names the page may be called, and who may say for whom they ask.

    Parameters
    ----------
    host : str
        The address to listen on.
    public_url : str, optional
        How the reviewers reach the page; needed where other machines can.
    proxies : sequence of str
        Addresses of proxies whose header ``X-Forwarded-For`` is believed.

    Returns
    -------
    Settings
        The names of this machine, and the public one.
    """
    limits = limits_behind(proxies)
    names = names_for(host, public_url, "the address by which reviewers reach the page")
    return Settings(names.hosts, names.https, limits=limits, proxies=tuple(proxies))
