"""What is kept in the data root: its story, the files it comes in and where to look for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bayesift.datasets._source import Source

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
        Glob patterns relative to a folder of the collection; each must match for the copy to count as whole.
    part : str
        Which part of the collection they hold.
    """

    patterns: tuple[str, ...]
    part: str = DOCUMENTS

    def find(self, base: Path) -> list[Path]:
        """List what matches in a folder, pattern by pattern; folders without a file in them do not count."""
        return [path for pattern in self.patterns for path in _matches(base, pattern)]

    def lacks(self, base: Path) -> list[str]:
        """List the patterns that nothing in a folder matches."""
        return [pattern for pattern in self.patterns if not _matches(base, pattern)]

    def __str__(self) -> str:
        return listing(self.patterns)


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
                if unpacked.part == part and not unpacked.lacks(base):
                    return Source(base, tuple(unpacked.find(base)))
        return None

    def lacking(self, root: Path, part: str = DOCUMENTS) -> tuple[Path, list[str]] | None:
        """Find the first unpacked copy that is there in part only: its folder and what is not in it."""
        for base in (root / folder for folder in self.folders):
            for unpacked in self.unpacked:
                if unpacked.part == part and unpacked.find(base) and (lacks := unpacked.lacks(base)):
                    return base, lacks
        return None

    def forms(self, part: str = DOCUMENTS) -> str:
        """Name the files that a part may come in."""
        names = [archive.name for archive in self.archives if archive.part == part]
        return " or ".join(names + [str(each) for each in self.unpacked if each.part == part])

    def present(self, root: Path) -> bool:
        """Whether everything needed is in the data root."""
        return all(self.find(root, part) for part in self.needs)


def listing(names: Sequence[str]) -> str:
    """Name a few things all, and of many the first and the last."""
    return " and ".join(names) if len(names) < 4 else f"{names[0]}, ..., {names[-1]} ({len(names)} in all)"


def _matches(base: Path, pattern: str) -> list[Path]:
    return sorted(path for path in base.glob(pattern) if any(Source(base, (path,)).files()))
