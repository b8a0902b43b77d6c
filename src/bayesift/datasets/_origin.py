"""Where a user's own data were read from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Origin:
    """The file or folder that was read, and which of its columns were used.

    Parameters
    ----------
    path : Path
        The file or folder.
    format : str
        How it was read: ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"parquet"``, ``"folder"`` or ``"svmlight"``.
    text, labels, id : str, optional
        The columns used for each, where the format has columns.
    guessed : tuple of str
        Which of ``"text"``, ``"labels"`` and ``"id"`` the caller did not name; they were found by their
        usual names.
    """

    path: Path
    format: str
    text: str | None = None
    labels: str | None = None
    id: str | None = None
    guessed: tuple[str, ...] = ()
