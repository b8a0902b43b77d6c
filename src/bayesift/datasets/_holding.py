"""What is kept in the data root: its story, the files it comes in and where to look for them."""

from __future__ import annotations

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
