"""The facts about a collection, for reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import Holding


@dataclass(frozen=True)
class Description:
    """The facts about a collection or a word list.

    Parameters
    ----------
    name, title, summary, citation, terms, homepage : str
        What it is, whom to cite, what its authors allow, where it lives.
    options : mapping
        What each option of ``load`` does.
    addresses : mapping
        File name to public address, for what ``fetch`` can get.
    files : tuple of str
        Names of the files it may come in, below the data root.
    root : Path
        The data root that was looked in.
    present : bool
        Whether it can be loaded from there.
    """

    name: str
    title: str
    summary: str
    citation: str
    terms: str
    homepage: str
    options: Mapping[str, str]
    addresses: Mapping[str, str]
    files: tuple[str, ...]
    root: Path
    present: bool

    @classmethod
    def of(cls, entry: Holding, root: Path) -> Description:
        """Gather the facts of a collection or a word list."""
        return cls(
            name=entry.name,
            title=entry.title,
            summary=entry.summary,
            citation=entry.citation,
            terms=entry.terms,
            homepage=entry.homepage,
            options=entry.options if isinstance(entry, Entry) else {},
            addresses={archive.name: archive.url for archive in entry.archives if archive.url},
            files=tuple(f"{entry.folders[0]}/{archive.name}" for archive in entry.archives),
            root=root,
            present=entry.present(root),
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
