"""A file or folder of documents, of whatever format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bayesift.datasets._formats import format_of
from bayesift.datasets._reading import _decoded
from bayesift.datasets._source import is_hidden
from bayesift.review.importing.columns import Columns
from bayesift.review.importing.ris import read_ris
from bayesift.review.importing.tables import read_table
from bayesift.review.storage import Document


def read_pile(path: Path, columns: Columns = Columns(), encoding: str = "utf-8") -> Iterator[Document]:  # noqa: B008
    r"""Return the documents of a CSV, TSV, JSONL, Parquet or RIS file, or of a folder, one at a time.

    Parameters
    ----------
    path : Path
        The file; ``.gz``, ``.xz`` and ``.bz2`` are unpacked on the way. In a folder each file is a document.
    columns : Columns
        Which columns hold what, where their names are not the usual ones.
    encoding : str
        Encoding of the texts.

    Returns
    -------
    iterator of Document

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.review.importing import read_pile
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "papers.ris"
    ...     _ = path.write_text("TY  - JOUR\nTI  - Tin\nAB  - On tin.\nPY  - 1987\nER  - \n")
    ...     print(*read_pile(path))
    Document(key='1', title='Tin', text='On tin.', extra={'type': 'JOUR', 'year': '1987'}, place=-1)
    """
    if is_ris(path):
        return read_ris(path, encoding)
    format = format_of(path)
    if format == "folder":
        return _read_folder(path, encoding)
    if format == "svmlight":
        raise ValueError(f"{path} holds vectors; expected texts: CSV, TSV, JSONL, Parquet, RIS or a folder")
    return read_table(path, format, columns, encoding)


def is_ris(path: Path) -> bool:
    """Tell by its name whether a file is one of RIS."""
    ending = Path(path.stem).suffix if path.suffix in (".gz", ".xz", ".bz2") else path.suffix
    return ending.lower() == ".ris" and path.is_file()


def _read_folder(path: Path, encoding: str) -> Iterator[Document]:
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if file.is_file() and not is_hidden(name):
            yield Document(name.as_posix(), name.stem, _decoded(file, encoding))
