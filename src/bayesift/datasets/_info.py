"""What is known about a dataset: its description, the files it comes in, where they are and how they are parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from bayesift.datasets._collection import Collection
from bayesift.datasets._files import FileSet, Member, cache_root
from bayesift.datasets._parsed import Parsed, cached_parsed
from bayesift.datasets.errors import EncodingError, MissingDataError

DOCUMENTS = "documents"


@dataclass(frozen=True)
class Archive:
    """A file that a collection, or a part of it, comes in.

    Parameters
    ----------
    name : str
        Its file name.
    sha256 : str, optional
        Its checksum, if known; otherwise any content is accepted.
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
    """Files and folders of a collection that have been unpacked.

    Parameters
    ----------
    patterns : tuple of str
        Glob patterns relative to a folder of the collection; a copy is complete if each of them matches.
    part : str
        Which part of the collection they hold.
    """

    patterns: tuple[str, ...]
    part: str = DOCUMENTS

    def find(self, base: Path) -> list[Path]:
        """List what matches in a folder, pattern by pattern; folders without files are left out."""
        return [path for pattern in self.patterns for path in _matches(base, pattern)]

    def lacks(self, base: Path) -> list[str]:
        """List the patterns that nothing in a folder matches."""
        return [pattern for pattern in self.patterns if not _matches(base, pattern)]

    def __str__(self) -> str:
        return _listing(self.patterns)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A description of a dataset, which is a collection or a word list.

    Parameters
    ----------
    name, title, summary : str
        Its name, its title, and what it is in a sentence or two.
    citation, terms, homepage : str
        What to cite, what its authors allow, and its web page.
    options : mapping
        What each option of ``load`` does.
    """

    name: str
    title: str
    summary: str
    citation: str
    terms: str
    homepage: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DatasetInfo(Reference):
    """What is known about a dataset that is kept in the data root.

    Parameters
    ----------
    name, title, summary, citation, terms, homepage, options
        As in :class:`Reference`.
    folders : tuple of str
        Folders of the data root to search; fetched files go into the first. Archives, whose names are unmistakable,
        may also be in the data root itself.
    archives, unpacked : tuple
        The forms in which its files come, the preferred first.
    needs : tuple of str
        The parts that are required.
    build : callable, optional
        Makes the collection from its files and the options; None for word lists.
    """

    folders: tuple[str, ...] = ()
    archives: tuple[Archive, ...] = ()
    unpacked: tuple[Unpacked, ...] = ()
    needs: tuple[str, ...] = (DOCUMENTS,)
    build: Callable[..., Collection] | None = None

    def find(self, root: Path, part: str = DOCUMENTS) -> FileSet | None:
        """Look for a part in the data root: archives first, then unpacked folders."""
        for base in (*(root / folder for folder in self.folders), root):
            for archive in self.archives:
                if archive.part == part and (base / archive.name).is_file():
                    return FileSet(base, (base / archive.name,), archive.sha256)
        for base in (root / folder for folder in self.folders):
            for unpacked in self.unpacked:
                if unpacked.part == part and not unpacked.lacks(base):
                    return FileSet(base, tuple(unpacked.find(base)))
        return None

    def lacking(self, root: Path, part: str = DOCUMENTS) -> tuple[Path, list[str]] | None:
        """Return the first incomplete unpacked copy: its folder and what is missing from it."""
        for base in (root / folder for folder in self.folders):
            for unpacked in self.unpacked:
                if unpacked.part == part and unpacked.find(base) and (lacks := unpacked.lacks(base)):
                    return base, lacks
        return None

    def forms(self, part: str = DOCUMENTS) -> str:
        """Name the files in which a part may come."""
        names = [archive.name for archive in self.archives if archive.part == part]
        return " or ".join(names + [str(each) for each in self.unpacked if each.part == part])

    def present(self, root: Path) -> bool:
        """Tell whether everything needed is in the data root."""
        return all(self.find(root, part) for part in self.needs)


@dataclass(frozen=True)
class DatasetFiles:
    """The files of a dataset in a data root.

    Parameters
    ----------
    info : DatasetInfo
        What is known about the dataset.
    root : Path
        The data root.
    verify : bool
        Whether archives with a known checksum are checked before they are parsed.
    """

    info: DatasetInfo
    root: Path
    verify: bool = True

    def locate(self, part: str = DOCUMENTS) -> FileSet:
        """Return the files of a part; if they are missing, an error says where they belong and how to get them."""
        found = self.info.find(self.root, part)
        if found is None:
            archives = [archive for archive in self.info.archives if archive.part == part]
            fetch = f"bayesift data fetch {self.info.name}"
            remedy = f"run: {fetch}" if any(a.url for a in archives) else f"{fetch} says where to get it"
            expected = f"{self.info.folders[0]}/ to hold {self.info.forms(part)}"
            if partly := self.info.lacking(self.root, part):
                folder, lacks = partly
                expected += f", and the copy in {folder} lacks {_listing(lacks)}"
            raise MissingDataError(self.info.name, self.root, expected, remedy=remedy)
        return found

    def verified(self, part: str = DOCUMENTS) -> FileSet:
        """Return the files of a part after checking their checksum."""
        found = self.locate(part)
        if self.verify:
            found.verify()
        return found

    def only_file(self, part: str = DOCUMENTS) -> Member:
        """Return the name and the content of the one file of a part, after checking its checksum."""
        [member] = self.verified(part).members()
        return member

    def identity(self) -> str:
        """Identify this copy of the dataset by the places, sizes and modification times of its files."""
        if not self.info.archives:
            return "embedded"
        found = [self.info.find(self.root, part) for part in self.info.needs]
        return "+".join(files.identity()[:16] if files else "absent" for files in found)

    def parsed(
        self,
        parse: Callable[[list[Member]], Parsed],
        *,
        version: int,
        part: str = DOCUMENTS,
        variant: str = "plain",
    ) -> Parsed:
        """Parse a part once and keep the result in the user's cache.

        Parameters
        ----------
        parse : callable
            Takes the files inside.
        version : int
            Number of the parser; a new number invalidates older caches.
        part, variant : str
            Which part is parsed, and in which of several ways.
        """

        def parse_now() -> Parsed:
            files = self.verified(part)
            try:
                return parse(list(files.members()))
            except UnicodeDecodeError as error:
                raise EncodingError(files.paths[0], None, error.encoding, error.reason) from error

        identity = self.locate(part).identity()[:16]
        name = f"{self.info.name}-{part}-{variant}-v{version}-{identity}.npz"
        return cached_parsed(cache_root() / "parsed" / name, parse_now)


@dataclass(frozen=True, kw_only=True)
class Description(Reference):
    """What is known about a collection or a word list, and whether it is available.

    Parameters
    ----------
    name, title, summary, citation, terms, homepage, options
        What it is, what to cite, what its authors allow, its page, and what each option of ``load`` does.
    addresses : mapping
        From file name to public address, for files that ``fetch`` can get.
    files : tuple of str
        Names of the files in which it may come, below the data root.
    root : Path
        The data root that was searched.
    present : bool
        Whether it can be loaded from there.
    """

    addresses: Mapping[str, str]
    files: tuple[str, ...]
    root: Path
    present: bool

    @classmethod
    def of(cls, info: DatasetInfo, root: Path) -> Description:
        """Describe a dataset and its presence in a data root."""
        return cls(
            **{known.name: getattr(info, known.name) for known in fields(Reference)},
            addresses={archive.name: archive.url for archive in info.archives if archive.url},
            files=tuple(f"{info.folders[0]}/{archive.name}" for archive in info.archives),
            root=root,
            present=info.present(root),
        )

    def __str__(self) -> str:
        embedded = not self.files
        place = "inside the package" if embedded else f"{self.root}{'' if self.present else ' (not there yet)'}"
        lines = [
            f"{self.name}: {self.title}",
            "",
            self.summary,
            "",
            f"Cite:   {self.citation}",
            f"Terms:  {self.terms}",
            f"Home:   {self.homepage}",
            f"Place:  {place}",
        ]
        if self.files:
            lines += ["Files:  one form of each", *(f"  {name}" for name in self.files)]
        if self.addresses:
            lines += ["Public addresses:", *(f"  {url}" for url in self.addresses.values())]
        if self.options:
            lines += ["Options of load:", *(f"  {name}: {text}" for name, text in self.options.items())]
        return "\n".join(lines)


def _listing(names: Sequence[str]) -> str:
    """List a few names in full, or the first and the last of many."""
    return " and ".join(names) if len(names) < 4 else f"{names[0]}, ..., {names[-1]} ({len(names)} in all)"


def _matches(base: Path, pattern: str) -> list[Path]:
    return sorted(path for path in base.glob(pattern) if any(FileSet(base, (path,)).files()))
