"""The collections that have a name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bayesift.datasets._collections import (
    cohen2006,
    newsroom,
    ohsumed,
    rcv1,
    reuters21578,
    si650,
    sms,
    trec9,
    twenty_newsgroups,
    webkb,
)
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import Holding
from bayesift.datasets._stop_words import WORD_LISTS

_MODULES = (
    newsroom,
    reuters21578,
    twenty_newsgroups,
    si650,
    webkb,
    ohsumed,
    trec9,
    rcv1,
    sms,
    cohen2006,
)

REGISTRY: Mapping[str, Entry] = MappingProxyType({module.ENTRY.name: module.ENTRY for module in _MODULES})


def entry(name: str) -> Entry:
    """Look a collection up by its name."""
    if name not in REGISTRY:
        raise ValueError(f"name must be one of {', '.join(REGISTRY)}, found {name!r}")
    return REGISTRY[name]


def holding(name: str) -> Holding:
    """Look a collection or a word list up by its name."""
    holdings: dict[str, Holding] = {**REGISTRY, **WORD_LISTS}
    if name not in holdings:
        raise ValueError(f"name must be one of {', '.join(holdings)}, found {name!r}")
    return holdings[name]
