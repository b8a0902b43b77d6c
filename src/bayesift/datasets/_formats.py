"""The formats of a user's own data: how they are detected, and which arguments apply to each."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal

from bayesift.datasets._columns import USUAL_NAMES
from bayesift.datasets.errors import FormatError, OptionError

Format = Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "folder", "svmlight"]

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}

_COLUMNS = ("text", "labels", "id", "label_separator", "features")
_FITTING: dict[Format, tuple[str, ...]] = {
    "csv": (*_COLUMNS, "encoding", "quotes", "delimiter", "header", "max_cell"),
    "tsv": (*_COLUMNS, "encoding", "quotes", "delimiter", "header", "max_cell"),
    "jsonl": (*_COLUMNS, "encoding", "max_cell"),
    "json": (*_COLUMNS, "encoding", "max_cell"),
    "parquet": _COLUMNS,
    "xlsx": (*_COLUMNS, "header", "max_cell"),
    "folder": ("encoding", "max_cell"),
    "svmlight": ("n_features",),
}
_DEFAULTS: dict[str, object] = {"quotes": True, "features": ()}

#: Formats of tables that cannot be read, and what to do about it.
_UNREADABLE = {
    ".xls": "save it as .xlsx or .csv",
    ".ods": "save it as .xlsx or .csv",
    ".docx": "save its texts as .csv or as plain text",
    ".pdf": "save its texts as .csv or as plain text",
    ".feather": "write it as .parquet",
    ".pkl": "write it as .parquet or .csv: a pickle can run any code",
}


def format_of(path: Path, format: Format | None = None) -> Format:
    """Tell the format of a file from the argument, from its name, or because it is a folder."""
    check_exists(path)
    if format is not None:
        if format not in _FITTING:
            raise ValueError(f"format must be one of {', '.join(_FITTING)}, found {format!r}")
        return format
    if path.is_dir():
        return "folder"
    if ending(path) not in _ENDINGS:
        if (remedy := _UNREADABLE.get(ending(path))) is not None:
            raise FormatError(path, ending(path), f"{path} cannot be read; {remedy}")
        problem = f"the format of {path} cannot be told from its name"
        raise FormatError(path, None, problem, remedy=f"; give format as one of {', '.join(_FITTING)}")
    return _ENDINGS[ending(path)]


def ending(path: Path) -> str:
    """Return the ending of a file's name in lower case; for a compressed file, that of the file inside."""
    return (Path(path.stem).suffix if path.suffix in (".gz", ".xz", ".bz2") else path.suffix).lower()


def check_exists(path: Path) -> None:
    """Refuse a file or folder that does not exist."""
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")


def vectors_error(path: str | Path) -> FormatError:
    """Return the error for a file of vectors where texts are needed."""
    return FormatError(path, "svmlight", f"{path} holds vectors, not texts; expected texts to count words in")


def check_fit(path: Path, format: Format, /, **arguments: object) -> None:
    """Refuse an argument that was given (differs from its default) but does not apply to the format."""
    for name, value in arguments.items():
        if name not in _FITTING[format] and value != _DEFAULTS.get(name):
            raise OptionError(path, name, value, format, _FITTING[format])


def format_of_line(line: str, wanted: Collection[str | None] = ()) -> Literal["json", "jsonl", "csv", "tsv"] | None:
    """Tell the format of a file without a name from its first line; None if it may be any text.

    Parameters
    ----------
    line : str
        The first line.
    wanted : collection of str
        Names of columns that it may have.
    """
    begin = line.lstrip("\ufeff \t")
    if begin.startswith(("{", "[")):
        return "jsonl" if begin.startswith("{") else "json"
    for mark in "\t,;|":
        names = [name.strip().strip('"') for name in line.rstrip("\r\n").split(mark)]
        usual = len(names) > 1 and any(name.lower() in USUAL_NAMES["text"] for name in names)
        if usual or any(name in wanted for name in names):
            return "tsv" if mark == "\t" else "csv"
    return None
