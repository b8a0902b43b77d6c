"""The names that a served model answers to, who may ask, and how much at once."""

from __future__ import annotations

from typing import NamedTuple

from bayesift._web.connections import Limits
from bayesift._web.listening import LOOPBACK_NAMES


class Settings(NamedTuple):
    """The names that a served model answers to, who may ask, and how much at once.

    Parameters
    ----------
    hosts : tuple of str or None
        Names in the header ``Host`` that are answered, without port; None for all of them.
    token : str or None
        The token that requests must have in the header ``Authorization: Bearer …``.
    texts, characters : int
        The most texts in a request, and the most characters in all of them together.
    words : int
        The most words in a reason.
    values : int
        The most probabilities in an answer, texts times labels.
    body_limit : int
        The most bytes in a request.
    waiting : int
        The most characters of all waiting requests; a request beyond that is refused with 503.
    of_one_address : int
        The most characters waiting for one address, unless many people share it; a request beyond that gets 429.
    limits : Limits
        How long a client may take, and how many connections there may be.
    proxies : tuple of str
        Addresses of trusted proxies, which say whom they forward requests for.

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
