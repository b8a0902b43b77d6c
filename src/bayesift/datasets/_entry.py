"""What is known about a collection: its story, its files, its options and how to build it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bayesift.datasets._collection import Collection
from bayesift.datasets._errors import MissingDataError
from bayesift.datasets._paths import cache_root
from bayesift.datasets._source import Member, Source
from bayesift.datasets._table import Table, cached_table

DOCUMENTS = "documents"


@dataclass(frozen=True)
class Archive:
    """A file that a collection, or a part of it, comes in.

    Parameters
    ----------
    name : str
        Its name, by which it is looked for.
    sha256 : str, optional
        Its checksum where it is known; without one any content is accepted.
    url : str, optional
        Its public address.
    part : str
        Which part of the collection it holds.
    """

    name: str
    sha256: str | None = None
    url: str | None = None
    part: str = DOCUMENTS


@dataclass(frozen=True)
class Unpacked:
    """Files and folders of a collection that somebody unpacked.

    Parameters
    ----------
    patterns : tuple of str
        Glob patterns relative to a folder of the collection; the first must match for the copy to count.
    part : str
        Which part of the collection they hold.
    """

    patterns: tuple[str, ...]
    part: str = DOCUMENTS


@dataclass(frozen=True, kw_only=True)
class Holding:
    """Something that is kept in the data root: a collection, a word list.

    Parameters
    ----------
    name, title, summary : str
        What it is called, and what it is in a sentence or two.
    citation, terms, homepage : str
        Whom to cite, what its authors allow, where it lives.
    folders : tuple of str
        Folders of the data root it is looked for in; what is fetched goes into the first. Archives, whose
        names are unmistakable, are looked for in the data root itself as well.
    archives, unpacked : tuple
        The forms its files come in, most preferred first.
    needs : tuple of str
        The parts without which it is of no use.
    """

    name: str
    title: str
    summary: str
    citation: str
    terms: str
    homepage: str
    folders: tuple[str, ...] = ()
    archives: tuple[Archive, ...] = ()
    unpacked: tuple[Unpacked, ...] = ()
    needs: tuple[str, ...] = (DOCUMENTS,)

    def find(self, root: Path, part: str = DOCUMENTS) -> Source | None:
        """Look for a part in the data root: archives first, then unpacked folders."""
        for base in (*(root / folder for folder in self.folders), root):
            for archive in self.archives:
                if archive.part == part and (base / archive.name).is_file():
                    return Source(base, (base / archive.name,), archive.sha256)
        for base in (root / folder for folder in self.folders):
            for unpacked in self.unpacked:
                if unpacked.part == part and any(base.glob(unpacked.patterns[0])):
                    found = [path for pattern in unpacked.patterns for path in sorted(base.glob(pattern))]
                    return Source(base, tuple(found))
        return None

    def forms(self, part: str = DOCUMENTS) -> str:
        """Name the files that a part may come in."""
        names = [archive.name for archive in self.archives if archive.part == part]
        return " or ".join(names + [each.patterns[0] for each in self.unpacked if each.part == part])

    def present(self, root: Path) -> bool:
        """Whether everything needed is in the data root."""
        return all(self.find(root, part) for part in self.needs)


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
        """Give the files of a part, or an error that says where they belong and how to get them."""
        found = self.holding.find(self.root, part)
        if found is None:
            archives = [archive for archive in self.holding.archives if archive.part == part]
            fetch = f"bayesift data fetch {self.holding.name}"
            remedy = f"run: {fetch}" if any(a.url for a in archives) else f"{fetch} tells where to get it"
            raise MissingDataError(
                self.holding.name,
                self.root,
                f"{self.holding.folders[0]}/ to hold {self.holding.forms(part)}",
                remedy=remedy,
            )
        return found

    def verified(self, part: str = DOCUMENTS) -> Source:
        """Give the files of a part after a look at their checksum."""
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
