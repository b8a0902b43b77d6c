"""A collection of the registry: what is kept, its options and how to build it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bayesift.datasets._collection import Collection
from bayesift.datasets._holding import Holding


@dataclass(frozen=True, kw_only=True)
class Entry(Holding):
    """One collection of the registry.

    Parameters
    ----------
    build : callable
        Makes the collection from a shelf and the options.
    options : mapping
        What each option of ``load`` does.
    """

    build: Callable[..., Collection]
    options: Mapping[str, str] = field(default_factory=dict)
