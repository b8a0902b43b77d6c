"""How a model becomes the nodes of a schema and arrays, and a clear word on what cannot be stored.

The form is that of :mod:`bayesift.formats._building`, and depends on nothing but the model: arrays are named by their
order, attributes and sets are sorted, and only what occurs more than once has a number, to which it is referred later.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._registry import OBJECTS, TUPLES, name_of
from bayesift.formats._building import STAND_IN_MODULE, VALUES, Node
from bayesift.formats._container import ModelFileError

SCHEMA = "schema.json"

SKOPS_PROTOCOL = 2
"""Protocol of skops whose nodes a model file has."""

#: Deeper nesting than any model has; the reader has the same limit.
DEEPEST = 40


def members_of(model: Any) -> dict[str, bytes]:
    """Return the members of a model's file by name: the schema first, then the arrays."""
    writer = Writer()
    schema = writer.node(model, type(model).__name__) | {"protocol": SKOPS_PROTOCOL}
    return {SCHEMA: json.dumps(schema, separators=(",", ":")).encode()} | writer.arrays


def written_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that are written, by name."""
    state = dict(value.__getstate__() or {})
    state.pop("_sklearn_version", None)
    return state


class Writer:
    """Writes the parts of one model; what it meets twice it writes once, so that it is one object after loading too."""

    def __init__(self) -> None:
        self.arrays: dict[str, bytes] = {}
        # The objects are kept as well, so that no other one can get the address of one that is gone.
        self._done: dict[int, tuple[Any, Node]] = {}
        self._n_shared = 0
        self._path: list[str] = []

    def node(self, value: Any, name: str) -> Node:
        """Return the node of a value; ``name`` is where it stands in what holds it."""
        if value is None or type(value) in (bool, int, float, str):
            return _node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)
        known = self._done.get(id(value))
        if known is not None:
            return self._reference(known[1])
        if len(self._path) > DEEPEST:
            raise ModelFileError(f"{self._place(name)} is nested too deeply, or holds itself, and cannot be stored")
        self._path.append(name)
        node = self._written(value)
        self._path.pop()
        if node["__loader__"] not in ("TupleNode", "TypeNode"):
            self._done[id(value)] = value, node
        return node

    def _reference(self, node: Node) -> Node:
        """Return a reference to a node that stands before, and has a number from now on."""
        if "__id__" not in node:
            self._n_shared += 1
            node["__id__"] = self._n_shared
        return {"__id__": node["__id__"]}

    def _written(self, value: Any) -> Node:
        for kinds, write in _WAYS:
            if isinstance(value, kinds):
                return write(self, value)
        name = name_of(type(value)) or ""
        if name in OBJECTS:
            return self._object(value, name)
        if callable(value):
            name = getattr(value, "__qualname__", type(value).__name__)
            raise self._refusal(f"the function {name!r}", ": a model file holds no code")
        raise self._wrong_type(value)

    def _object(self, value: Any, name: str) -> Node:
        state = written_attributes(value)
        content = {own: self.node(state[own], own) for own in sorted(state)}
        types = _node("ListNode", "builtins.list", content=[_node("TypeNode", "builtins.str")] * len(content))
        return _node("ObjectNode", name, content=_node("DictNode", "builtins.dict", key_types=types, content=content))

    def _array(self, array: Any) -> Node:
        if type(array) not in (np.ndarray, np.memmap):
            raise self._wrong_type(array)
        if array.dtype == object:
            return self._stand_in("ObjectArray", list(array.shape), array.ravel().tolist())
        if array.dtype.kind not in "biufUS" or (array.dtype.itemsize > 8 and array.dtype.kind in "iuf"):
            raise self._refusal(f"an array of the type {array.dtype}")
        file, content = f"{len(self.arrays)}.npy", io.BytesIO()
        np.save(content, np.asarray(array), allow_pickle=False)
        self.arrays[file] = content.getvalue()
        return _node("NdArrayNode", "numpy.ndarray", type="numpy", file=file)

    def _matrix(self, matrix: Any) -> Node:
        kind = type(matrix).__name__
        if kind not in ("csr_matrix", "csc_matrix", "csr_array", "csc_array"):
            raise self._wrong_type(matrix)
        shape = [int(size) for size in matrix.shape]
        return self._stand_in("SparseMatrix", kind, shape, matrix.data, matrix.indices, matrix.indptr)

    def _scalar(self, value: Any) -> Node:
        kind = "str" if isinstance(value, np.str_) else value.dtype.name
        if value.dtype.kind not in "biufU" or (value.dtype.itemsize > 8 and value.dtype.kind != "U"):
            raise self._refusal(f"a number of the type {value.dtype}")
        return self._stand_in("Scalar", kind, value.item())

    def _dtype(self, value: Any) -> Node:
        if value.kind not in "biuf" or value.itemsize > 8:
            raise self._refusal(f"the type {value}")
        return self._stand_in("DType", value.str)

    def _span(self, value: Any) -> Node:
        return self._stand_in("Span", type(value).__name__, [value.start, value.stop, value.step])

    def _random(self, value: Any) -> Node:
        if type(value) is not np.random.RandomState or value.get_state(legacy=False)["bit_generator"] != "MT19937":
            raise self._wrong_type(value)
        _, key, place, has_normal, normal = value.get_state()
        return self._stand_in("RandomNumbers", key, int(place), int(has_normal), float(normal))

    def _dict(self, value: dict[Any, Any]) -> Node:
        if type(value) is not dict:
            raise self._wrong_type(value)
        if _is_plain(value):
            numbered = value and list(value.values()) == list(range(len(value)))
            # True is 1, but not the same.
            if numbered and all(type(number) is int for number in value.values()):
                return self._stand_in("Numbered", json.dumps(list(value)))
            return self._stand_in("Plain", json.dumps(value))
        return self._stand_in("Table", list(value), list(value.values()))

    def _list(self, value: list[Any]) -> Node:
        if type(value) is not list:
            raise self._wrong_type(value)
        if _is_plain(value):
            return self._stand_in("Plain", json.dumps(value))
        return _node("ListNode", "builtins.list", content=self._entries(value))

    def _tuple(self, value: tuple[Any, ...]) -> Node:
        name = name_of(type(value)) or ""
        if name not in TUPLES:
            raise self._wrong_type(value)
        fields = getattr(value, "_fields", range(len(value)))
        content = [self.node(entry, str(field)) for field, entry in zip(fields, value, strict=True)]
        return _node("TupleNode", name, content=content)

    def _set(self, value: Any) -> Node:
        if type(value) not in (set, frozenset):
            raise self._wrong_type(value)
        members = sorted(value, key=lambda member: (type(member).__name__, member if isinstance(member, str) else ""))
        if not all(isinstance(member, str) for member in members):
            members = sorted(value, key=lambda member: (type(member).__name__, repr(member)))
        return self._stand_in("Group", type(value).__name__, members)

    def _type(self, value: type) -> Node:
        if full_name(value) not in VALUES:
            raise self._refusal(f"the class {full_name(value)}")
        return _node("TypeNode", full_name(value))

    def _stand_in(self, name: str, *parts: Any) -> Node:
        """Return the node of a stand-in; its lists are made for it, and so are never met again."""
        own = [self._list(part) if type(part) is list else self.node(part, name) for part in parts]
        content = _node("TupleNode", "builtins.tuple", content=own)
        return _node("ConstructorFromReduceNode", f"{STAND_IN_MODULE}.{name}", content=content)

    def _entries(self, values: list[Any]) -> list[Node]:
        return [self.node(entry, f"[{place}]") for place, entry in enumerate(values)]

    def _wrong_type(self, value: Any) -> ModelFileError:
        return self._refusal(f"of the type {full_name(type(value))}")

    def _refusal(self, what: str, why: str = "") -> ModelFileError:
        return ModelFileError(f"{self._place()} is {what}, which cannot be stored{why}")

    def _place(self, *more: str) -> str:
        return ".".join([*self._path, *more]).replace(".[", "[")


_WAYS: tuple[tuple[Any, Callable[[Writer, Any], Node]], ...] = (
    (dict, Writer._dict),
    (list, Writer._list),
    (tuple, Writer._tuple),
    ((set, frozenset), Writer._set),
    ((range, slice), Writer._span),
    (np.ndarray, Writer._array),
    (np.generic, Writer._scalar),
    (np.dtype, Writer._dtype),
    (sp.sparray | sp.spmatrix if hasattr(sp, "sparray") else sp.spmatrix, Writer._matrix),
    (np.random.RandomState, Writer._random),
    (type, Writer._type),
)


def _node(loader: str, name: str, **fields: Any) -> Node:
    module, own = name.rsplit(".", 1)
    return {"__class__": own, "__module__": module, "__loader__": loader, **fields}


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Return whether JSON gives a value back as it is."""
    if value is None or type(value) in (bool, int, float, str):
        return True
    if depth > DEEPEST:
        return False
    if type(value) is list:
        return all(_is_plain(entry, depth + 1) for entry in value)
    if type(value) is dict:
        return all(type(key) is str and _is_plain(entry, depth + 1) for key, entry in value.items())
    return False


def full_name(kind: type) -> str:
    """Return the name by which a class is refused."""
    return f"{kind.__module__}.{kind.__qualname__}"
