"""The formats of a user's own data: how they are recognised and which arguments fit each."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bayesift.datasets.errors import FormatError

Format = Literal["csv", "tsv", "jsonl", "parquet", "folder", "svmlight"]

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}

_COLUMNS = ("text", "labels", "id", "label_separator")
_FITTING: dict[Format, tuple[str, ...]] = {
    "csv": (*_COLUMNS, "encoding", "quotes", "delimiter", "max_cell"),
    "tsv": (*_COLUMNS, "encoding", "quotes", "delimiter", "max_cell"),
    "jsonl": (*_COLUMNS, "encoding", "max_cell"),
    "parquet": _COLUMNS,
    "folder": ("encoding", "max_cell"),
    "svmlight": ("n_features",),
}
_DEFAULTS: dict[str, object] = {"encoding": "utf-8", "quotes": True}


def format_of(path: Path, format: Format | None = None) -> Format:
    """Tell the format of a file from the argument, from its being a folder, or from its name."""
    check_exists(path)
    if format is not None:
        if format not in _FITTING:
            raise ValueError(f"format must be one of {', '.join(_FITTING)}, found {format!r}")
        return format
    if path.is_dir():
        return "folder"
    if ending(path) not in _ENDINGS:
        problem = f"the format of {path} cannot be told from its name; give format as one of {', '.join(_FITTING)}"
        raise FormatError(path, None, problem)
    return _ENDINGS[ending(path)]


def ending(path: Path) -> str:
    """Return the ending of a file's name in small letters, that of the unpacked file for a packed one."""
    return (Path(path.stem).suffix if path.suffix in (".gz", ".xz", ".bz2") else path.suffix).lower()


def check_exists(path: Path) -> None:
    """Refuse a file or folder that does not exist."""
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")


def vectors_error(path: str | Path) -> FormatError:
    """Return the error for a file of vectors where texts are needed."""
    return FormatError(path, "svmlight", f"{path} holds vectors, not texts; expected texts to count words in")


def check_fit(path: Path, format: Format, /, **arguments: object) -> None:
    """Refuse an argument that was given, that is, differs from its default, and means nothing to the format."""
    for name, value in arguments.items():
        if name not in _FITTING[format] and value != _DEFAULTS.get(name):
            fitting = ", ".join(_FITTING[format])
            raise ValueError(
                f"{name} is {value!r}, but {path} is read as {format}, which takes {fitting}; leave {name} out"
            )
