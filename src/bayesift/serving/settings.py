"""By which names a model may be asked, by whom, and how much at once."""

from __future__ import annotations

from typing import NamedTuple

from bayesift._web.connections import Limits
from bayesift._web.listening import LOOPBACK_NAMES


class Settings(NamedTuple):
    """By which names a model may be asked, by whom, and how much at once.

    Parameters
    ----------
    hosts : tuple of str or None
        Names in the header ``Host`` that are answered, without port; None for all of them.
    token : str or None
        What a request has to bring in the header ``Authorization: Bearer …``.
    texts, characters : int
        The most texts of a request, and the most characters of them together.
    words : int
        The most words of a reason.
    values : int
        The most probabilities of an answer, texts times labels.
    body_limit : int
        The most bytes that a request may bring.
    waiting : int
        The most characters of all requests that wait for their turn; a request beyond is refused with 503.
    of_one_address : int
        The most characters that wait for one address, unless many people share it; beyond it is 429.
    limits : Limits
        How long a client may take, and how many connections there may be.
    proxies : tuple of str
        Addresses of proxies that are believed when they say for whom they ask.

    Examples
    --------
    >>> from bayesift.serving import Settings
    >>> Settings().hosts
    ('localhost', '127.0.0.1', '::1')
    """

    hosts: tuple[str, ...] | None = LOOPBACK_NAMES
    token: str | None = None
    texts: int = 1_000
    characters: int = 1_000_000
    words: int = 50
    values: int = 1_000_000
    body_limit: int = 8 * 1024 * 1024
    waiting: int = 8_000_000
    of_one_address: int = 2_000_000
    limits: Limits = Limits(idle=60)
    proxies: tuple[str, ...] = ()
