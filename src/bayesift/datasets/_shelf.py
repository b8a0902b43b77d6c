"""The place of a collection in a data root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bayesift.datasets._holding import DOCUMENTS, Holding, listing
from bayesift.datasets._paths import cache_root
from bayesift.datasets._source import Member, Source
from bayesift.datasets._table import Table, cached_table
from bayesift.datasets.errors import MissingDataError


@dataclass(frozen=True)
class Shelf:
    """The place of one holding in a data root.

    Parameters
    ----------
    holding : Holding
        What stands there.
    root : Path
        The data root.
    verify : bool
        Whether archives with a known checksum are checked before they are parsed.
    """

    holding: Holding
    root: Path
    verify: bool = True

    def source(self, part: str = DOCUMENTS) -> Source:
        """Return the files of a part, or an error that says where they belong and how to get them."""
        found = self.holding.find(self.root, part)
        if found is None:
            archives = [archive for archive in self.holding.archives if archive.part == part]
            fetch = f"bayesift data fetch {self.holding.name}"
            remedy = f"run: {fetch}" if any(a.url for a in archives) else f"{fetch} tells where to get it"
            expected = f"{self.holding.folders[0]}/ to hold {self.holding.forms(part)}"
            if partly := self.holding.lacking(self.root, part):
                folder, lacks = partly
                expected += f", and the copy in {folder} lacks {listing(lacks)}"
            raise MissingDataError(self.holding.name, self.root, expected, remedy=remedy)
        return found

    def verified(self, part: str = DOCUMENTS) -> Source:
        """Return the files of a part after a look at their checksum."""
        source = self.source(part)
        if self.verify:
            source.verify()
        return source

    def table(
        self,
        parse: Callable[[list[Member]], Table],
        *,
        version: int,
        part: str = DOCUMENTS,
        variant: str = "plain",
    ) -> Table:
        """Parse a part once and keep the result in the user's cache.

        Parameters
        ----------
        parse : callable
            Makes the table from the files inside.
        version : int
            Number of the parser; a new number makes older caches void.
        part, variant : str
            What is parsed, and which of several ways.
        """

        def parse_now() -> Table:
            return parse(list(self.verified(part).members()))

        identity = self.source(part).identity()[:16]
        name = f"{self.holding.name}-{part}-{variant}-v{version}-{identity}.npz"
        return cached_table(cache_root() / "parsed" / name, parse_now)
