"""Columns and rows of Parquet files, read with polars or else with pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from bayesift._extras import require
from bayesift.datasets.errors import DamagedFileError, FormatError


def parquet_columns(path: Path) -> list[str]:
    """Read the columns of a Parquet file."""
    with path.open("rb") as stream:
        if stream.read(4) != b"PAR1":
            raise FormatError(path, "parquet", f"{path} is not a Parquet file")
    package = _parquet_package()
    with _damage(path, package):
        if package.__name__ == "polars":
            return list(package.read_parquet_schema(path))
        return list(package.read_schema(path).names)


def parquet_rows(path: Path, columns: Sequence[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return the rows of a Parquet file, numbered from 1, read with polars or else with pyarrow."""
    names = parquet_columns(path) if columns is None else list(columns)
    package = _parquet_package()
    with _damage(path, package):
        if package.__name__ == "polars":
            frame = package.read_parquet(path, columns=names)
            values = [frame[name].to_list() for name in names]
        else:
            table = package.read_table(path, columns=names)
            values = [table.column(name).to_pylist() for name in names]
    for number, row in enumerate(zip(*values, strict=True), start=1):
        yield number, dict(zip(names, row, strict=True))


def _parquet_package() -> ModuleType:
    name = "polars" if find_spec("polars") else "pyarrow.parquet"
    return require(name, extra="frames", purpose="Parquet files")


@contextmanager
def _damage(path: Path, package: ModuleType) -> Iterator[None]:
    """Turn a package's error about a damaged file, which does not name the file, into one that does."""
    own: tuple[type[BaseException], ...]
    if package.__name__ == "polars":
        # A panic of the compiled reader is a BaseException.
        own = package.exceptions.PolarsError, package.exceptions.PanicException
    else:
        own = (import_module("pyarrow").ArrowException,)
    try:
        yield
    except (ValueError, OSError, OverflowError, *own) as error:
        raise DamagedFileError(path, error) from error
