"""Which columns of a file hold what."""

from __future__ import annotations

from typing import NamedTuple


class Columns(NamedTuple):
    """Names of columns, where they are not the usual ones.

    Parameters
    ----------
    text, title, id : str, optional
        What is read, its title, and what a document is called.
    delimiter : str, optional
        What parts the columns of a CSV or TSV file.
    """

    text: str | None = None
    title: str | None = None
    id: str | None = None
    delimiter: str | None = None
