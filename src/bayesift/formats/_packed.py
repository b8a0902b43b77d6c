"""Stand-ins for values that skops would store at length, in the order of a hash, or as a file within the file.

``Kind.holding(*parts)`` is what is written; ``Kind(*parts)``, which reading calls, gives the plain value itself. The
parts come from a file and are checked here. Names and parts belong to the protocol: once released they stay.
"""

from __future__ import annotations

import json
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

_SCALARS = (
    "bool",
    "float16",
    "float32",
    "float64",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
_MATRICES = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")


class Packed:
    """What all stand-ins have in common."""

    _parts: tuple[Any, ...]

    #: The types of the parts.
    takes: ClassVar[tuple[type, ...]]

    def __new__(cls, *parts: Any) -> Any:
        if len(parts) != len(cls.takes) or not all(map(isinstance, parts, cls.takes)):
            expected = ", ".join(kind.__name__ for kind in cls.takes)
            found = ", ".join(type(part).__name__ for part in parts)
            raise ValueError(f"{cls.__name__} holds {found}; expected {expected}")
        return cls._value(*parts)

    @classmethod
    def holding(cls, *parts: Any) -> Self:
        """Return the stand-in that is written."""
        packed: Self = object.__new__(cls)
        packed._parts = parts
        return packed

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), self._parts

    @classmethod
    def _value(cls, *parts: Any) -> Any:
        raise NotImplementedError


class Plain(Packed):
    """Lists and dictionaries of numbers and strings, as JSON."""

    takes = (str,)

    @classmethod
    def _value(cls, text: str) -> Any:
        return json.loads(text)


class Numbered(Packed):
    """A dictionary from different strings to 0, 1, 2, …: the strings, as JSON."""

    takes = (str,)

    @classmethod
    def _value(cls, text: str) -> dict[str, int]:
        words = json.loads(text)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError("Numbered holds something else than strings")
        numbers = dict(zip(words, range(len(words)), strict=True))
        if len(numbers) < len(words):
            raise ValueError("Numbered holds a string twice")
        return numbers


class Table(Packed):
    """Any other dictionary: its keys and its values."""

    takes = (list, list)

    @classmethod
    def _value(cls, keys: list[Any], values: list[Any]) -> dict[Any, Any]:
        return dict(zip(keys, values, strict=True))


class Group(Packed):
    """A set, sorted."""

    takes = (str, list)

    @classmethod
    def _value(cls, kind: str, members: list[Any]) -> Any:
        return {"set": set, "frozenset": frozenset}[kind](members)


class Span(Packed):
    """A range or a slice: where it starts, where it stops, and its steps."""

    takes = (str, list)

    @classmethod
    def _value(cls, kind: str, ends: list[Any]) -> Any:
        if len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
            raise ValueError(f"Span goes from one to another of {ends}")
        return {"range": range, "slice": slice}[kind](*ends)


class Scalar(Packed):
    """A number or string of numpy."""

    takes = (str, (str, int, float))  # type: ignore[assignment]

    @classmethod
    def _value(cls, kind: str, value: Any) -> Any:
        if kind == "str":
            return np.str_(value)
        if kind not in _SCALARS or isinstance(value, str):
            raise ValueError(f"Scalar holds {value!r} of the type {kind!r}; expected a number of numpy")
        return np.dtype(kind).type(value)


class DType(Packed):
    """A type of the entries of arrays."""

    takes = (str,)

    @classmethod
    def _value(cls, text: str) -> Any:
        if text.lstrip("<>|=") not in {
            "b1",
            "f2",
            "f4",
            "f8",
            *(f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)),
        }:
            raise ValueError(f"DType is {text[:20]!r}; expected a type of numbers")
        return np.dtype(text)


class ObjectArray(Packed):
    """An array of Python objects: its shape and its entries."""

    takes = (list, list)

    @classmethod
    def _value(cls, shape: list[Any], entries: list[Any]) -> Any:
        if not all(isinstance(size, int) and size >= 0 for size in shape) or prod(shape) != len(entries):
            raise ValueError(f"ObjectArray has {len(entries)} entries and the shape {shape}")
        array = np.empty(len(entries), dtype=object)
        array[:] = entries
        return array.reshape(shape)


class RandomNumbers(Packed):
    """A source of random numbers, in the middle of its sequence."""

    takes = (np.ndarray, int, int, float)

    @classmethod
    def _value(cls, key: Any, place: int, has_normal: int, normal: float) -> np.random.RandomState:
        # numpy would read beyond the end of the key without asking.
        if key.dtype != np.uint32 or key.shape != (624,) or not 0 <= place <= 624 or has_normal not in (0, 1):
            raise ValueError("RandomNumbers holds no state of the Mersenne twister")
        source = np.random.RandomState(0)
        source.set_state(("MT19937", key, place, has_normal, normal))
        return source


class SparseMatrix(Packed):
    """A matrix of compressed rows or columns."""

    takes = (str, list, np.ndarray, np.ndarray, np.ndarray)

    @classmethod
    def _value(cls, kind: str, shape: list[Any], data: Any, indices: Any, indptr: Any) -> Any:
        if kind not in _MATRICES or len(shape) != 2 or not all(isinstance(size, int) and size >= 0 for size in shape):
            raise ValueError(f"SparseMatrix is {kind!r} of the shape {shape}")
        if indices.dtype not in (np.int32, np.int64) or indptr.dtype != indices.dtype or data.dtype.kind not in "biuf":
            raise ValueError(f"SparseMatrix has numbers of the types {data.dtype}, {indices.dtype} and {indptr.dtype}")
        matrix = getattr(sp, kind)(tuple(shape), dtype=data.dtype)
        # The constructor from arrays would choose another type of indices.
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        # Also that all indices are within the matrix and the starts of rows never fall.
        matrix.check_format(full_check=True)
        return matrix


PACKED = frozenset(kind.__name__ for kind in Packed.__subclasses__())
"""Names of the stand-ins, which are all in this module."""
