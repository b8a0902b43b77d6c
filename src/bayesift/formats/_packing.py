"""A model made ready for skops: a copy of its containers, with stand-ins, and a clear word on what cannot be stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift.formats._packed import (
    DType,
    Group,
    Numbered,
    ObjectArray,
    Plain,
    RandomNumbers,
    Scalar,
    Span,
    SparseMatrix,
    Table,
)
from bayesift.formats._types import OBJECTS, TRANSIENT, TUPLES, VALUES, full_name, listed_module
from bayesift.formats.model_error import ModelFileError

#: Deeper nesting than any model has; the reader has the same limit.
DEEPEST = 40


class Packer:
    """Packs the parts of one model; what it meets twice it packs once, so that it is one object after loading too."""

    def __init__(self) -> None:
        # The objects are kept as well, so that no other one can get the address of one that is gone.
        self._done: dict[int, tuple[Any, Any]] = {}
        self._path: list[str] = []

    def pack(self, value: Any, name: str) -> Any:
        """Return what skops is to write for a value; ``name`` is where it stands in what holds it."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        known = self._done.get(id(value))
        if known is not None:
            return known[1]
        if len(self._path) > DEEPEST:
            raise ModelFileError(f"{self._place(name)} is nested too deeply, or holds itself, and cannot be stored")
        self._path.append(name)
        packed = self._pack(value)
        self._path.pop()
        self._done[id(value)] = value, packed
        return packed

    def _pack(self, value: Any) -> Any:
        for kinds, pack in _WAYS:
            if isinstance(value, kinds):
                return pack(self, value)
        if listed_module(OBJECTS, type(value)) is None:
            if callable(value):
                name = getattr(value, "__qualname__", type(value).__name__)
                raise self._refusal(f"the function {name!r}", ": a model file holds no code")
            raise self._wrong_type(value)
        return self._object(value)

    def _object(self, value: Any) -> Any:
        twin = object.__new__(type(value))
        state = value.__getstate__()
        state.pop("_sklearn_version", None)
        for name in sorted(state):
            own = Plain.holding(TRANSIENT[name]) if name in TRANSIENT else self.pack(state[name], name)
            twin.__dict__[name] = own
        return twin

    def _array(self, array: Any) -> Any:
        if type(array) not in (np.ndarray, np.memmap):
            raise self._wrong_type(array)
        if array.dtype == object:
            return ObjectArray.holding(self._list(list(array.shape)), self._list(array.ravel().tolist()))
        if array.dtype.kind not in "biufUS" or (array.dtype.itemsize > 8 and array.dtype.kind in "iuf"):
            raise self._refusal(f"an array of the type {array.dtype}")
        return np.asarray(array)

    def _matrix(self, matrix: Any) -> Any:
        if type(matrix).__name__ not in ("csr_matrix", "csc_matrix", "csr_array", "csc_array"):
            raise self._wrong_type(matrix)
        parts = (self.pack(getattr(matrix, part), part) for part in ("data", "indices", "indptr"))
        return SparseMatrix.holding(type(matrix).__name__, self._list([int(size) for size in matrix.shape]), *parts)

    def _scalar(self, value: Any) -> Any:
        kind = "str" if isinstance(value, np.str_) else value.dtype.name
        if value.dtype.kind not in "biufU" or (value.dtype.itemsize > 8 and value.dtype.kind != "U"):
            raise self._refusal(f"a number of the type {value.dtype}")
        return Scalar.holding(kind, value.item())

    def _dtype(self, value: Any) -> Any:
        if value.kind not in "biuf" or value.itemsize > 8:
            raise self._refusal(f"the type {value}")
        return DType.holding(value.str)

    def _span(self, value: Any) -> Any:
        return Span.holding(type(value).__name__, self._list([value.start, value.stop, value.step]))

    def _random(self, value: Any) -> Any:
        if type(value) is not np.random.RandomState or value.get_state(legacy=False)["bit_generator"] != "MT19937":
            raise self._wrong_type(value)
        _, key, place, has_normal, normal = value.get_state()
        return RandomNumbers.holding(key, int(place), int(has_normal), float(normal))

    def _dict(self, value: dict[Any, Any]) -> Any:
        if type(value) is not dict:
            raise self._wrong_type(value)
        if _is_plain(value):
            numbered = value and list(value.values()) == list(range(len(value)))
            # True is 1, but not the same.
            if numbered and all(type(number) is int for number in value.values()):
                return Numbered.holding(json.dumps(list(value)))
            return Plain.holding(json.dumps(value))
        return Table.holding(self._list(list(value)), self._list(list(value.values())))

    def _list(self, value: list[Any]) -> Any:
        if type(value) is not list:
            raise self._wrong_type(value)
        if _is_plain(value):
            return Plain.holding(json.dumps(value))
        return [self.pack(entry, f"[{place}]") for place, entry in enumerate(value)]

    def _tuple(self, value: tuple[Any, ...]) -> Any:
        if listed_module(TUPLES, type(value)) is None:
            raise self._wrong_type(value)
        names = getattr(value, "_fields", range(len(value)))
        packed = [self.pack(entry, str(name)) for name, entry in zip(names, value, strict=True)]
        return tuple(packed) if type(value) is tuple else type(value)(*packed)

    def _set(self, value: Any) -> Any:
        if type(value) not in (set, frozenset):
            raise self._wrong_type(value)
        members = sorted(value, key=lambda member: (type(member).__name__, member if isinstance(member, str) else ""))
        if not all(isinstance(member, str) for member in members):
            members = sorted(value, key=lambda member: (type(member).__name__, repr(member)))
        return Group.holding(type(value).__name__, self._list(members))

    def _type(self, value: type) -> Any:
        if listed_module(VALUES, value) is None:
            raise self._refusal(f"the class {full_name(value)}")
        return value

    def _wrong_type(self, value: Any) -> ModelFileError:
        return self._refusal(f"of the type {full_name(type(value))}")

    def _refusal(self, what: str, why: str = "") -> ModelFileError:
        return ModelFileError(f"{self._place()} is {what}, which cannot be stored{why}")

    def _place(self, *more: str) -> str:
        return ".".join([*self._path, *more]).replace(".[", "[")


_WAYS: tuple[tuple[Any, Callable[[Packer, Any], Any]], ...] = (
    (dict, Packer._dict),
    (list, Packer._list),
    (tuple, Packer._tuple),
    ((set, frozenset), Packer._set),
    ((range, slice), Packer._span),
    (np.ndarray, Packer._array),
    (np.generic, Packer._scalar),
    (np.dtype, Packer._dtype),
    (sp.sparray | sp.spmatrix if hasattr(sp, "sparray") else sp.spmatrix, Packer._matrix),
    (np.random.RandomState, Packer._random),
    (type, Packer._type),
)


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Tell whether JSON gives a value back as it is."""
    if value is None or type(value) in (bool, int, float, str):
        return True
    if depth > DEEPEST:
        return False
    if type(value) is list:
        return all(_is_plain(entry, depth + 1) for entry in value)
    if type(value) is dict:
        return all(type(key) is str and _is_plain(entry, depth + 1) for key, entry in value.items())
    return False
