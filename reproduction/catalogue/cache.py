"""Finished pieces of work on the disk, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import bayesift
from bayesift.datasets import cache_root, dataset_files


class Piece(NamedTuple):
    """A finished piece: its value, and the seconds and processor seconds that it took."""

    value: Any
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class Family:
    """Pieces that depend on the same code and data.

    Parameters
    ----------
    name : str
        Name of the folder of its pieces.
    modules : tuple of str
        Modules and packages that the values depend on: when their source changes, the pieces are made anew.
    collections : tuple of str
        Collections and word lists that they depend on.
    """

    name: str
    modules: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()

    def fingerprint(self) -> dict[str, str]:
        """Tell which code and which data the values come from; what all rooms of the package use always counts."""
        code = {module: source_digest(module) for module in self.modules}
        code["ground floor"] = _ground_floor_digest()
        return {"version": bayesift.__version__, **code, **{name: data_digest(name) for name in self.collections}}


@cache
def source_digest(module: str) -> str:
    """Digest the source of a module, or of all modules of a package."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"modules names {module!r}; expected a module that can be imported")
    path = Path(spec.origin)
    sources = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    return _digest(sources)


@cache
def _ground_floor_digest() -> str:
    """Digest the modules that lie in no room of the package."""
    return _digest(sorted(Path(bayesift.__file__).parent.glob("*.py")))


def _digest(sources: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def data_digest(collection: str) -> str:
    """Identify the copy of a collection in the data root."""
    return dataset_files(collection).identity()


class PieceCache:
    """A folder of finished pieces, each a JSON file that is written whole or not at all.

    Parameters
    ----------
    folder : path, optional
        The folder; by default ``reproduction`` in the user's cache.
    fresh : bool
        Whether pieces of earlier runs are ignored, and made anew.

    Examples
    --------
    >>> import tempfile
    >>> from reproduction.catalogue import Family, PieceCache
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = PieceCache(folder)
    ...     cache.put(Family("example"), {"category": "wheat"}, {"f1": 0.5}, 1.0, 1.0)
    ...     cache.get(Family("example"), {"category": "wheat"}).value
    {'f1': 0.5}
    """

    def __init__(self, folder: str | Path | None = None, *, fresh: bool = False) -> None:
        self.folder = Path(folder).expanduser() if folder else cache_root() / "reproduction"
        self.fresh = fresh
        self._made: set[Path] = set()
        self._used: set[Path] = set()

    def get(self, family: Family, setting: Mapping[str, Any]) -> Piece | None:
        """Return a piece, or None where it is yet to be made; a file that cannot be read counts as none."""
        path = self._path(family, setting)
        if self.fresh and path not in self._made:
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return Piece(content["value"], content["seconds"], content["cpu_seconds"])
        except (FileNotFoundError, json.JSONDecodeError, KeyError, TypeError):
            return None

    def first_use(self, family: Family, setting: Mapping[str, Any]) -> bool:
        """Tell whether a piece is asked for the first time, so that its seconds are counted once."""
        path = self._path(family, setting)
        new = path not in self._used
        self._used.add(path)
        return new

    def put(self, family: Family, setting: Mapping[str, Any], value: Any, seconds: float, cpu_seconds: float) -> None:
        """Keep a piece: numbers, strings, lists and mappings of strings to them."""
        path = self._path(family, setting)
        content = {
            "family": family.name,
            "setting": dict(setting),
            "fingerprint": family.fingerprint(),
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
            "value": value,
        }
        write_whole(path, json.dumps(content, default=_plain).encode())
        self._made.add(path)

    def _path(self, family: Family, setting: Mapping[str, Any]) -> Path:
        identity = json.dumps([dict(setting), family.fingerprint()], sort_keys=True, default=_plain)
        return self.folder / family.name / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.json"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, whenever the program ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """Return what JSON can hold for numpy's numbers and arrays."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a piece holds {type(value).__name__}; expected numbers, strings, lists, arrays or mappings")
