"""Reading a user's own data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from bayesift.datasets._errors import MalformedFileError
from bayesift.datasets._formats import Format, check_fit, format_of
from bayesift.datasets._origin import Origin
from bayesift.datasets._records import iter_records
from bayesift.datasets._source import is_hidden
from bayesift.datasets._split import Split
from bayesift.datasets._svmlight import read_svmlight


def read(
    path: str | os.PathLike[str],
    text: str | None = None,
    labels: str | Literal[False] | None = None,
    id: str | None = None,
    *,
    label_separator: str | None = None,
    encoding: str = "utf-8",
    quotes: bool = True,
    delimiter: str | None = None,
    n_features: int | None = None,
    format: Format | None = None,
) -> Split:
    r"""Read labelled documents from a file or a folder.

    CSV and TSV files begin with a header line; JSONL files have an object a line; Parquet files need polars
    or pyarrow; in a folder of folders each file is a document and its folder the label; SVMlight files hold
    vectors instead of texts. An argument that means nothing to the format is refused.

    Parameters
    ----------
    path : path
        The file or folder.
    text, labels, id, label_separator, quotes, delimiter
        As in :func:`iter_records`; for files with columns.
    encoding : str
        Encoding of the texts.
    n_features : int, optional
        Number of columns of the matrix, for SVMlight.
    format : {"csv", "tsv", "jsonl", "parquet", "folder", "svmlight"}, optional
        The format, where the name does not tell.

    Returns
    -------
    Split
        ``texts`` (or ``matrix``, from SVMlight), ``labels``, ``ids``, ``categories`` and ``indicator()``;
        ``origin`` says which columns were used and which of them were guessed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.datasets import read
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "news.tsv"
    ...     _ = path.write_text("headline\ttopics\nTin falls\tmetals, trade\n")
    ...     news = read(path, text="headline", label_separator=",")
    >>> news.labels, news.origin.guessed
    ([('metals', 'trade')], ('labels',))
    """
    path = Path(path)
    found = format_of(path, format)
    check_fit(
        path,
        found,
        text=text,
        labels=labels,
        id=id,
        label_separator=label_separator,
        encoding=encoding,
        quotes=quotes,
        delimiter=delimiter,
        n_features=n_features,
    )
    if found == "svmlight":
        matrix, targets = read_svmlight(path, n_features=n_features)
        ids = [str(number) for number in range(1, len(targets) + 1)]
        return Split(targets, ids, matrix=matrix, origin=Origin(path, found))
    if found == "folder":
        return _read_folder(path, encoding)
    records = iter_records(
        path,
        text,
        labels,
        id,
        label_separator=label_separator,
        encoding=encoding,
        quotes=quotes,
        delimiter=delimiter,
        format=found,
    )
    rows = list(records)
    if not rows:
        raise ValueError(f"{path} has no rows after its header")
    return Split(
        labels=[row.labels for row in rows],
        ids=[row.id for row in rows],
        texts=[row.text for row in rows],
        origin=records.origin,
    )


def _read_folder(path: Path, encoding: str) -> Split:
    """Read a folder of folders; hidden files and folders do not count."""
    folders = sorted(inner for inner in path.iterdir() if inner.is_dir() and not inner.name.startswith("."))
    if not folders:
        raise ValueError(f"{path} has no folders in it, expected one per label with a file per document")
    texts: list[str] = []
    ids: list[str] = []
    labels: list[tuple[str, ...]] = []
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            name = file.relative_to(path)
            if not file.is_file() or is_hidden(name):
                continue
            texts.append(_decoded(file, encoding))
            ids.append(name.as_posix())
            labels.append((folder.name,))
    if not texts:
        raise ValueError(f"{path} has folders but no files in them, expected a file per document")
    return Split(labels, ids, texts, origin=Origin(path, "folder"))


def _decoded(file: Path, encoding: str) -> str:
    content = file.read_bytes()
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise MalformedFileError(file, line, f"not {error.encoding}: {error.reason}") from error
