"""The check of a schema before any object is made: known loaders, listed types, sound arrays, no depth or cycles.

skops on its own would trust more than a model needs (functions of numpy and scipy, all estimators of scikit-learn,
bound methods, operators), let an old protocol choose old loaders, and check types but not their contents. So files are
read here, and only eight kinds of node become objects, after every field of them has been checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping
from math import inf, prod
from typing import Any

from bayesift._registry import OBJECTS, TUPLES
from bayesift.formats._building import STAND_IN_MODULE, STAND_INS, VALUES, Node
from bayesift.formats._writing import DEEPEST, SKOPS_PROTOCOL

_NPY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<order>[<>|])(?P<kind>[biufUS])(?P<size>[0-9]{1,7})', "
    rb"'fortran_order': (?:True|False), 'shape': \((?P<shape>[0-9, ]{0,200})\), \} *\n",
    re.DOTALL,
)
_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}

_LONGEST = 2**40

#: What a node and a character of a text count for, compared with bytes of an array: about the memory they become.
_NODE, _CHARACTER = 1024, 16

#: Enough for any header that the expression above accepts.
NPY_HEADER_BYTES = 1024


class RefusedError(ValueError):
    """The schema contains something that is not allowed."""


class Audit:
    """Checks every node of a schema.

    Parameters
    ----------
    beginnings : mapping from str to bytes
        The first bytes of every member except the schema.
    sizes : mapping from str to int
        How many bytes they have.
    most : int, optional
        Most bytes that everything may take, each object as often as it is referred to. A shared object takes its memory
        only once, but comparing, printing or hashing the model goes through it every time.
    """

    def __init__(self, beginnings: Mapping[str, bytes], sizes: Mapping[str, int], most: float = inf) -> None:
        self._beginnings = beginnings
        self._sizes = sizes
        self._most = most
        self._total = 0
        #: How much each object with a number counts.
        self._complete: dict[int, int] = {}
        self._used: set[str] = set()
        #: The listed types that occur.
        self.objects: list[str] = []

    def check(self, schema: Any) -> None:
        """Check a whole schema; raise RefusedError if anything is wrong."""
        if not isinstance(schema, dict) or schema.get("protocol") != SKOPS_PROTOCOL:
            raise RefusedError(f"its schema is not of protocol {SKOPS_PROTOCOL} of skops")
        if schema.get("__loader__") != "ObjectNode":
            raise RefusedError(f"it holds {_name(schema)}, which is not a model")
        self._node({key: value for key, value in schema.items() if key != "protocol"}, 0)
        if len(self._used) < len(self._sizes):
            raise RefusedError("it has a member that nothing uses")

    def _node(self, node: Any, depth: int) -> None:
        if depth > 3 * DEEPEST:
            raise RefusedError("it is nested too deeply")
        if not isinstance(node, dict):
            raise RefusedError("its schema has something other than a node")
        number = node.get("__id__")
        if number is not None and (type(number) is not int or number < 1):
            raise RefusedError("its schema has an object without a valid number")
        if set(node) == {"__id__"}:
            # Only to earlier, complete objects, so nothing can contain itself.
            if number not in self._complete:
                raise RefusedError("its schema refers to an object that is not there")
            self._count(self._complete[number])
            return
        before = self._total
        self._count(_NODE)
        loader = node.get("__loader__")
        check = _LOADERS.get(loader) if isinstance(loader, str) else None
        if check is None:
            raise RefusedError(
                f"it holds {_name(node)} by way of {_short(loader)}, which is not allowed in a model file"
            )
        check(self, node, depth + 1)
        if number is not None:
            if number in self._complete:
                raise RefusedError("its schema uses a number twice")
            self._complete[number] = self._total - before

    def _count(self, n_bytes: int) -> None:
        self._total += n_bytes
        if self._total > self._most:
            raise RefusedError(
                "it holds too many objects, or refers too often to the same ones; give a greater limit if you trust "
                "the file"
            )

    def _object(self, node: Node, depth: int) -> None:
        self._fields(node, "content")
        self._listed(node, OBJECTS)
        self.objects.append(_name(node))
        attributes = node["content"]
        if not isinstance(attributes, dict) or attributes.get("__loader__") != "DictNode":
            raise RefusedError(f"{_name(node)} has no attributes")
        self._node(attributes, depth)

    def _attributes(self, node: Node, depth: int) -> None:
        self._fields(node, "content", "key_types")
        self._is(node, "builtins", "dict")
        types, content = node["key_types"], node["content"]
        if not isinstance(content, dict) or not all(re.fullmatch(r"_?[A-Za-z][A-Za-z0-9_]*", key) for key in content):
            raise RefusedError("its schema has an attribute without a valid name")
        self._node(types, depth)
        text = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
        if types.get("__loader__") != "ListNode" or types["content"] != [text] * len(content):
            raise RefusedError("its schema has attributes that are not named by strings")
        for child in content.values():
            self._node(child, depth)

    def _list(self, node: Node, depth: int) -> None:
        self._fields(node, "content")
        self._is(node, "builtins", "list")
        self._entries(node, depth)

    def _tuple(self, node: Node, depth: int) -> None:
        self._fields(node, "content")
        self._listed(node, TUPLES)
        self._entries(node, depth)

    def _entries(self, node: Node, depth: int) -> None:
        if not isinstance(node["content"], list):
            raise RefusedError(f"{_name(node)} has no entries")
        for child in node["content"]:
            self._node(child, depth)

    def _stand_in(self, node: Node, depth: int) -> None:
        self._fields(node, "content")
        name = node["__class__"]
        if node["__module__"] != STAND_IN_MODULE or not isinstance(name, str) or name not in STAND_INS:
            raise RefusedError(f"it calls {_name(node)}, which is not allowed in a model file")
        parts = node["content"]
        if not isinstance(parts, dict) or parts.get("__loader__") != "TupleNode" or parts["__class__"] != "tuple":
            raise RefusedError(f"{_name(node)} has no parts")
        self._node(parts, depth)

    def _json(self, node: Node, depth: int) -> None:
        self._fields(node, "content", "is_json")
        self._is(node, "builtins", "str")
        text = node["content"]
        # Anything but a string, number or name begins with a bracket, and may be too long to show.
        if not isinstance(text, str) or text.lstrip()[:1] in ("", "[", "{"):
            raise RefusedError("its schema has a value that is neither a number nor a string")
        self._count(_CHARACTER * len(text))
        json.loads(text)

    def _type(self, node: Node, depth: int) -> None:
        self._fields(node)
        self._listed(node, VALUES)

    def _array(self, node: Node, depth: int) -> None:
        self._fields(node, "file", "type")
        self._is(node, "numpy", "ndarray")
        name = node["file"]
        if node["type"] != "numpy" or not isinstance(name, str) or name not in self._sizes:
            raise RefusedError("its schema names an array that is not there")
        if name in self._used:
            raise RefusedError("its schema names an array twice")
        self._used.add(name)
        self._count(self._sizes[name])
        check_array(self._beginnings[name], self._sizes[name])

    def _fields(self, node: Node, *names: str) -> None:
        if set(node) - {"__id__"} != {"__class__", "__module__", "__loader__", *names}:
            raise RefusedError(f"{_name(node)} has fields that do not belong to it")

    def _listed(self, node: Node, listed: Container[str]) -> None:
        module, name = node["__module__"], node["__class__"]
        if not isinstance(module, str) or not isinstance(name, str) or f"{module}.{name}" not in listed:
            raise RefusedError(f"it holds {_name(node)}, which is not a type that a model file may hold")

    def _is(self, node: Node, module: str, name: str) -> None:
        if (node["__module__"], node["__class__"]) != (module, name):
            raise RefusedError(f"it holds {_name(node)} where {module}.{name} is expected")


_LOADERS: dict[str, Callable[[Audit, Node, int], None]] = {
    "ConstructorFromReduceNode": Audit._stand_in,
    "DictNode": Audit._attributes,
    "JsonNode": Audit._json,
    "ListNode": Audit._list,
    "NdArrayNode": Audit._array,
    "ObjectNode": Audit._object,
    "TupleNode": Audit._tuple,
    "TypeNode": Audit._type,
}


def check_array(beginning: bytes, size: int) -> None:
    """Refuse an array with entries other than numbers and strings, or whose size does not match its bytes."""
    header = _NPY_HEADER.match(beginning)
    if header is None or int.from_bytes(header["length"], "little") != header.end() - 10:
        raise RefusedError("it holds an array of an unknown kind")
    kind, width = header["kind"].decode(), int(header["size"])
    if width == 0 or width not in _SIZES.get(kind, (width,)):
        raise RefusedError("it holds an array of an unknown kind")
    shape = [int(part) for part in header["shape"].split(b",") if part.strip()]
    # An array without entries may still claim any number of rows.
    if (
        len(shape) > 32
        or max(shape, default=0) > _LONGEST
        or prod(shape) * width * (4 if kind == "U" else 1) != size - header.end()
    ):
        raise RefusedError("it holds an array whose size does not match its header")


def _name(node: Node) -> str:
    return f"{_short(node.get('__module__'))}.{_short(node.get('__class__'))}"


def _short(value: object) -> str:
    """Show a name from a file, shortened and without control characters."""
    text = value if isinstance(value, str) else type(value).__name__
    return "".join(letter if letter.isprintable() else "?" for letter in text[:80])
