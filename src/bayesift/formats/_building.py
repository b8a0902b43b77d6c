"""How the nodes of a schema become objects, once the audit has accepted them.

Nodes have the form that skops gives them: a type (``__class__``, ``__module__``), the kind of node (``__loader__``),
and contents. Types have their names in the registry. A stand-in is a node for a value that would otherwise be long or
unordered: it has a name in ``STAND_INS`` and parts, from which its function makes the value. The parts come from a
file, so these functions check them. Names and parts belong to the protocol: once released, they do not change.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from math import prod
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from bayesift._registry import class_named

Node = dict[str, Any]

#: The module that a file names for stand-ins.
STAND_IN_MODULE = "bayesift.formats"

_SCALARS = (
    "bool",
    "float16",
    "float32",
    "float64",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
#: Anybody who makes a list or an array of a range needs memory for all its numbers.
_LONGEST_RANGE = 1_000_000
_MATRICES = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")

#: Types that stand for themselves, as the parameter ``dtype`` of a vectorizer.
VALUES = frozenset(f"builtins.{name}" for name in ("bool", "float", "int", "str")) | frozenset(
    f"numpy.{name}" for name in ("bool_", *_SCALARS) if name != "float16"
)


class Builder:
    """Makes the objects of a schema.

    Parameters
    ----------
    member : callable
        Opens the array file with a name.
    """

    def __init__(self, member: Callable[[str], IO[bytes]]) -> None:
        self._member = member
        self._made: dict[int, Any] = {}

    def build(self, node: Node) -> Any:
        """Return the object that a node represents."""
        number = node.get("__id__")
        if number is None:
            return _MAKERS[node["__loader__"]](self, node)
        if number not in self._made:
            self._made[number] = _MAKERS[node["__loader__"]](self, node)
        return self._made[number]

    def _object(self, node: Node) -> Any:
        made: Any = object.__new__(class_named(f"{node['__module__']}.{node['__class__']}"))
        # A file may be older than a parameter.
        made.__dict__.update({**getattr(made, "_parameters_before", {}), **self.build(node["content"])})
        return made

    def _attributes(self, node: Node) -> dict[str, Any]:
        return {name: self.build(child) for name, child in node["content"].items()}

    def _list(self, node: Node) -> list[Any]:
        return [self.build(child) for child in node["content"]]

    def _tuple(self, node: Node) -> Any:
        kind: Any = class_named(f"{node['__module__']}.{node['__class__']}")
        entries = self._list(node)
        return tuple(entries) if kind is tuple else kind(*entries)

    def _stand_in(self, node: Node) -> Any:
        name, parts = node["__class__"], self.build(node["content"])
        make, *takes = STAND_INS[name]
        if len(parts) != len(takes) or not all(map(isinstance, parts, takes)):
            found = ", ".join(type(part).__name__ for part in parts)
            raise ValueError(f"{name} holds ({found}), which are not its parts")
        return make(*parts)

    def _json(self, node: Node) -> Any:
        return json.loads(node["content"])

    def _type(self, node: Node) -> Any:
        return getattr(import_module(node["__module__"]), node["__class__"])

    def _array(self, node: Node) -> Any:
        # Straight into its array: a copy of a large one would be as large.
        with self._member(node["file"]) as file:
            return np.load(file, allow_pickle=False)


_MAKERS: dict[str, Callable[[Builder, Node], Any]] = {
    "ConstructorFromReduceNode": Builder._stand_in,
    "DictNode": Builder._attributes,
    "JsonNode": Builder._json,
    "ListNode": Builder._list,
    "NdArrayNode": Builder._array,
    "ObjectNode": Builder._object,
    "TupleNode": Builder._tuple,
    "TypeNode": Builder._type,
}


def _numbered(text: str) -> dict[str, int]:
    words = json.loads(text)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("Numbered holds something other than strings")
    numbers = dict(zip(words, range(len(words)), strict=True))
    if len(numbers) < len(words):
        raise ValueError("Numbered holds a string twice")
    return numbers


def _table(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    return dict(zip(keys, values, strict=True))


def _group(kind: str, members: list[Any]) -> Any:
    return {"set": set, "frozenset": frozenset}[kind](members)


def _span(kind: str, ends: list[Any]) -> Any:
    if len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
        raise ValueError(f"Span has the bounds {ends}")
    made: Any = {"range": range, "slice": slice}[kind](*ends)
    if kind == "range" and len(made[: _LONGEST_RANGE + 1]) > _LONGEST_RANGE:
        raise ValueError(f"Span has more than {_LONGEST_RANGE} numbers")
    return made


def _scalar(kind: str, value: Any) -> Any:
    if kind == "str":
        return np.str_(value)
    if kind not in _SCALARS or isinstance(value, str):
        raise ValueError(f"Scalar holds {value!r} of the type {kind!r}; expected a numpy number")
    return np.dtype(kind).type(value)


def _dtype(text: str) -> Any:
    sizes = {"b": "1", "f": "248", "i": "1248", "u": "1248"}
    kind, size = text.lstrip("<>|=")[:1], text.lstrip("<>|=")[1:]
    if len(size) != 1 or size not in sizes.get(kind, ""):
        raise ValueError(f"DType is {text[:20]!r}; expected a numeric type")
    return np.dtype(text)


def _object_array(shape: list[Any], entries: list[Any]) -> Any:
    if not all(isinstance(size, int) and size >= 0 for size in shape) or prod(shape) != len(entries):
        raise ValueError(f"ObjectArray has {len(entries)} entries and the shape {shape}")
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def _random_numbers(key: Any, place: int, has_normal: int, normal: float) -> np.random.RandomState:
    # numpy would read beyond the end of the key without asking.
    if key.dtype != np.uint32 or key.shape != (624,) or not 0 <= place <= 624 or has_normal not in (0, 1):
        raise ValueError("RandomNumbers holds no state of the Mersenne twister")
    source = np.random.RandomState(0)
    source.set_state(("MT19937", key, place, has_normal, normal))
    return source


def _sparse_matrix(kind: str, shape: list[Any], data: Any, indices: Any, indptr: Any) -> Any:
    if kind not in _MATRICES or len(shape) != 2 or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise ValueError(f"SparseMatrix is {kind!r} of the shape {shape}")
    if indices.dtype not in (np.int32, np.int64) or indptr.dtype != indices.dtype or data.dtype.kind not in "biuf":
        raise ValueError(f"SparseMatrix has numbers of the types {data.dtype}, {indices.dtype} and {indptr.dtype}")
    n_lines, n_places = shape if kind.startswith("csr") else shape[::-1]
    _check_lines(data, indices, indptr, n_lines, n_places)
    matrix = getattr(sp, kind)(tuple(shape), dtype=data.dtype)
    # The constructor from arrays would choose another type of indices.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def _check_lines(data: Any, indices: Any, indptr: Any, n_lines: int, n_places: int) -> None:
    """Refuse a compressed matrix unless every start and index is valid for loops without bounds checks.

    scipy's own check is not enough: if the last start is 0 or less, it looks at no index and at no other start.
    """
    if any(array.ndim != 1 for array in (data, indices, indptr)) or data.size != indices.size:
        raise ValueError(f"SparseMatrix has {data.shape} values and {indices.shape} indices; expected as many")
    # Compared, not subtracted: a difference may overflow.
    falls = bool(np.any(indptr[1:] < indptr[:-1]))
    if indptr.size != n_lines + 1 or indptr[0] != 0 or indptr[-1] > indices.size or falls:
        raise ValueError(f"SparseMatrix has starts that do not rise from 0 to at most {indices.size}, {n_lines} steps")
    if indices.size and not 0 <= indices.min() <= indices.max() < n_places:
        raise ValueError(f"SparseMatrix has indices from {indices.min()} to {indices.max()}; expected below {n_places}")


#: The function that makes the value of each stand-in, and the types of its parts.
STAND_INS: dict[str, tuple[Any, ...]] = {
    # Lists and dictionaries of numbers and strings, as JSON.
    "Plain": (json.loads, str),
    # A dictionary from different strings to 0, 1, 2, …: the strings, as JSON.
    "Numbered": (_numbered, str),
    # Any other dictionary: its keys and its values.
    "Table": (_table, list, list),
    # A set, sorted.
    "Group": (_group, str, list),
    # A range or a slice: where it starts, where it stops, and its steps.
    "Span": (_span, str, list),
    # A number or string of numpy.
    "Scalar": (_scalar, str, (str, int, float)),
    # A type of the entries of arrays.
    "DType": (_dtype, str),
    # An array of Python objects: its shape and its entries.
    "ObjectArray": (_object_array, list, list),
    # A source of random numbers, in the middle of its sequence.
    "RandomNumbers": (_random_numbers, np.ndarray, int, int, float),
    # A matrix of compressed rows or columns.
    "SparseMatrix": (_sparse_matrix, str, list, np.ndarray, np.ndarray, np.ndarray),
}
