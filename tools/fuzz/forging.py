"""Changes of a stored model: of its arrays, of the nodes of its schema, and of both together."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bayesift._registry import OBJECTS, TUPLES
from bayesift.formats._building import STAND_INS
from tools.fuzz.bases import Base, Members

Node = dict[str, Any]

WHOLE = [
    0,
    1,
    -1,
    2,
    3,
    5,
    6,
    7,
    8,
    64,
    255,
    2**15,
    2**31 - 1,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    -(2**63),
    2**64,
    10**400,
]
REAL = [0.0, -0.0, -1.0, 0.5, 1.0, 1e-320, 1e-300, 1e155, 1e308, -1e308, np.nan, np.inf, -np.inf, 2.0**31, 2.0**63]
WORDS = [
    "", "0", "nan", "binary", "multiclass", "multilabel-indicator", "posterior", "map", "mle", "probit", "flip", "full",
    "diagonal", "low-rank", "linear", "polynomial", "rbf", "cosine", "content", "filename", "file", "nnn", "ltc", "lsc",
    "cv", "norm", "auto", "half", "max_f1", "min_error", "log_odds", "laplace", "gaussian", "same", "smart", "english",
    "newton", "clg", "em", "map-em", "fast", "mackay", "edcm", "fixed_point", "lasso", "nb", "perceptron", "wheat",
    "utf-16", "zip", "precomputed", "sigmoid", "/etc/passwd", "balanced", "uniform", "\u0000", "\ud800", "a" * 3000,
]  # fmt: skip
TYPES = ["<f8", "<f4", "<f2", ">f8", "<i8", "<i4", "<i1", "<u8", "|b1", "<U3", "|S3", "<U1"]


class Forgery(NamedTuple):
    """What is in a forged file, and what was done to it."""

    base: Base
    members: Members
    changes: list[str]


def forge(all_bases: list[Base], seed: int, number: int) -> Forgery:
    """Return the forgery of a seed and a number: the same always."""
    rng = np.random.default_rng([seed, number])
    base = all_bases[number % len(all_bases)]
    work = _Work(rng, dict(base.members), all_bases)
    for _ in range(1 + int(rng.integers(3) * rng.integers(2))):
        work.change()
    return Forgery(base, work.finished(), work.changes)


class _Work:
    """A stored model while it is changed."""

    def __init__(self, rng: np.random.Generator, members: Members, all_bases: list[Base]) -> None:
        self.rng, self.members, self.all_bases = rng, members, all_bases
        self.schema: Node = json.loads(members["schema.json"])
        self.changes: list[str] = []

    def finished(self) -> Members:
        for node in walk(self.schema):
            if node.get("__loader__") == "DictNode":
                node["key_types"]["content"] = [dict(_KEY) for _ in node["content"]]
        used = {node["file"] for node in walk(self.schema) if "file" in node}
        kept = {name: content for name, content in self.members.items() if not name.endswith(".npy") or name in used}
        return kept | {"schema.json": json.dumps(self.schema).encode()}

    def change(self) -> None:
        kinds, shares = zip(*_CHANGES, strict=True)
        change = kinds[int(self.rng.choice(len(kinds), p=np.array(shares) / sum(shares)))]
        told = change(self)
        if told is not None:
            self.changes.append(f"{change.__name__.strip('_')}: {told}")

    def pick(self, entries: Any) -> Any:
        entries = list(entries)
        return entries[int(self.rng.integers(len(entries)))] if entries else None

    def array(self, name: str) -> Any:
        return np.load(io.BytesIO(self.members[name]), allow_pickle=False)

    def store(self, name: str, array: Any) -> None:
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        self.members[name] = file.getvalue()

    def arrays(self) -> list[str]:
        return [name for name in self.members if name.endswith(".npy")]

    def oddity(self) -> Any:
        kind = int(self.rng.integers(8))
        if kind < 3:
            return self.pick(WHOLE)
        if kind < 5:
            return self.pick(REAL)
        return self.pick(WORDS) if kind < 7 else self.pick([None, True, False])


_KEY = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}


def walk(node: Any) -> Iterator[Node]:
    """List all nodes of a schema, the outermost first."""
    if isinstance(node, dict):
        if "__loader__" in node or "__id__" in node:
            yield node
        for key, child in node.items():
            if key != "key_types":
                yield from walk(child)
    elif isinstance(node, list):
        for child in node:
            yield from walk(child)


def _places(work: _Work) -> list[tuple[Any, Any]]:
    """List where nodes stand: in which dictionary or list, under which key."""
    found: list[tuple[Any, Any]] = []
    for node in walk(work.schema):
        content = node.get("content")
        keys = content if isinstance(content, dict) and "__loader__" not in content else range(len(content or ""))
        if isinstance(content, (dict, list)) and not (isinstance(content, dict) and "__loader__" in content):
            found += [(content, key) for key in keys]
    return found


def _value(value: Any) -> Node:
    return _node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def _node(loader: str, name: str, **fields: Any) -> Node:
    module, own = name.rsplit(".", 1)
    return {"__class__": own, "__module__": module, "__loader__": loader, **fields}


# Arrays


def _entries(work: _Work) -> str | None:
    """Put odd numbers at some places, or at all."""
    name = work.pick(work.arrays())
    if name is None:
        return None
    array = work.array(name)
    if not array.size or array.dtype.kind not in "biuf":
        return None
    odd = [n for n in WHOLE + list(array.shape) if np.iinfo(np.int64).min <= n <= np.iinfo(np.int64).max]
    values = REAL if array.dtype.kind == "f" else odd
    value = work.pick(values)
    flat = array.ravel()
    many = int(work.rng.integers(4))
    places = slice(None) if many == 0 else work.rng.integers(array.size, size=min(many, 2))
    with np.errstate(all="ignore"):
        flat[places] = np.asarray(value).astype(array.dtype)
    work.store(name, flat.reshape(array.shape))
    return f"{name} {value!r} at {'all' if many == 0 else places}"


def _shape(work: _Work) -> str | None:
    """Cut, lengthen, turn, flatten or empty an array."""
    name = work.pick(work.arrays())
    if name is None:
        return None
    array = work.array(name)
    axis = int(work.rng.integers(max(array.ndim, 1)))
    way = work.pick(["less", "more", "none", "much", "turned", "flat", "deeper", "scalar", "fortran", "reversed"])
    if array.ndim == 0:
        changed = array.reshape(1)
    elif way == "less":
        changed = np.delete(array, 0, axis=axis) if array.shape[axis] else array
    elif way in ("more", "much"):
        times = 1 if way == "more" else 50
        changed = np.concatenate([array, *[np.take(array, [0], axis=axis)] * times], axis) if array.size else array
    elif way == "none":
        changed = np.take(array, [], axis=axis)
    else:
        changed = {
            "turned": lambda: array.T,
            "flat": array.ravel,
            "deeper": lambda: array[None],
            "scalar": lambda: array.ravel()[:1].reshape(()) if array.size else array,
            "fortran": lambda: np.asfortranarray(array),
            "reversed": lambda: np.flip(array, axis=axis),
        }[way]()
    work.store(name, changed)
    return f"{name} {way} {array.shape} to {changed.shape}"


def _type(work: _Work) -> str | None:
    """Store the numbers of an array in another type."""
    name, kind = work.pick(work.arrays()), work.pick(TYPES)
    if name is None:
        return None
    array = work.array(name)
    try:
        with np.errstate(all="ignore"):
            changed = array.astype(kind)
    except ValueError:
        changed = np.zeros(array.shape, kind)
    work.store(name, changed)
    return f"{name} {array.dtype} to {kind}"


def _exchange(work: _Work) -> str | None:
    """Put an array in the place of another."""
    one, other = work.pick(work.arrays()), work.pick(work.arrays())
    if one is None:
        return None
    work.members[one], work.members[other] = work.members[other], work.members[one]
    return f"{one} and {other}"


# Nodes


def _scalar(work: _Work) -> str | None:
    """Put another number, word or nothing in the place of one."""
    node = work.pick(node for node in walk(work.schema) if node.get("__loader__") == "JsonNode")
    if node is None:
        return None
    old = json.loads(node["content"])
    value = work.oddity()
    if type(old) is int and work.rng.integers(2):
        value = old + work.pick([-1, 1, old, 1000])
    if isinstance(old, str) and old[:1] in "[{" and work.rng.integers(4):
        value = _inner(work, old)
    node["content"] = json.dumps(value)
    return f"{str(old)[:40]!r} to {str(value)[:60]!r}"


def _inner(work: _Work, text: str) -> str:
    """Change something in a list or dictionary that is written as JSON; a pattern only looks like one."""
    try:
        found = json.loads(text)
    except ValueError:
        return str(work.pick(WORDS))
    if isinstance(found, list) and found:
        place = int(work.rng.integers(len(found)))
        found[place] = work.pick([work.oddity(), found[0], [found[place]]])
        if not work.rng.integers(3):
            del found[place]
    elif isinstance(found, dict) and found:
        found[work.pick(found)] = work.oddity()
    else:
        found = [work.oddity()]
    return json.dumps(found)


def _all_of_a_size(work: _Work) -> str | None:
    """Change a number everywhere: every whole number, and every array that has as many rows or columns."""
    sizes = [n for name in work.arrays() for n in work.array(name).shape]
    size, way = work.pick(sizes), work.pick(["less", "more", "none", "huge"])
    if not size:
        return None
    new = {"less": size - 1, "more": size + 1, "none": 0, "huge": int(work.pick([2**20, 2**31 - 1, 2**40]))}[way]
    for name in work.arrays():
        array = work.array(name)
        for axis, n in enumerate(array.shape):
            if n == size and way != "huge":
                array = np.take(array, np.arange(new) % size, axis=axis)
        work.store(name, array)
    for node in walk(work.schema):
        if node.get("__loader__") == "JsonNode" and node["content"] == str(size):
            node["content"] = str(new)
        elif node.get("__loader__") == "JsonNode" and node["content"].startswith('"[') and len(node["content"]) < 40:
            node["content"] = node["content"].replace(str(size), str(new))
    return f"{size} to {new}"


def _drop(work: _Work) -> str | None:
    """Take out an attribute or an entry."""
    place = work.pick(_places(work))
    if place is None:
        return None
    content, key = place
    del content[key]
    return str(key)


def _repeat(work: _Work) -> str | None:
    """Put an entry in twice."""
    place = work.pick(place for place in _places(work) if isinstance(place[0], list))
    if place is None:
        return None
    content, key = place
    content.insert(key, _without_numbers(work, content[key]))
    return str(key)


def _attribute(work: _Work) -> str | None:
    """Give an object an attribute of another model, or one that it computes itself otherwise."""
    own = work.pick(node for node in walk(work.schema) if node.get("__loader__") == "DictNode")
    other = work.pick(work.all_bases)
    foreign = [node for node in walk(json.loads(other.members["schema.json"])) if node.get("__loader__") == "DictNode"]
    donor = work.pick(foreign)["content"]
    name = work.pick(donor)
    if name is None:
        return None
    target = work.pick([name, "_tables", "_lookup_table", "_scorer", "_laws", "_logs", "feature_names_in_", "steps"])
    own["content"][target] = _brought(work, donor[name], other)
    return f"{target} from {name} of {other.name}"


def _transplant(work: _Work) -> str | None:
    """Put a node of another model in the place of one."""
    place, other = work.pick(_places(work)), work.pick(work.all_bases)
    donor = work.pick(node for node in walk(json.loads(other.members["schema.json"])) if "__loader__" in node)
    if place is None or donor["__loader__"] in ("DictNode", "TypeNode"):
        return None
    place[0][place[1]] = _brought(work, donor, other)
    return f"{place[1]} gets {donor['__class__']} of {other.name}"


def _swap(work: _Work) -> str | None:
    """Exchange two nodes."""
    places = _places(work)
    one, other = work.pick(places), work.pick(places)
    if one is None:
        return None
    first, second = copy.deepcopy(one[0][one[1]]), copy.deepcopy(other[0][other[1]])
    one[0][one[1]], other[0][other[1]] = second, first
    _number_arrays(work)
    return f"{one[1]} and {other[1]}"


def _share(work: _Work) -> str | None:
    """Let a place refer to an object that stands before it."""
    nodes = [node for node in walk(work.schema) if node.get("__loader__") not in (None, "DictNode", "TypeNode")]
    target, place = work.pick(nodes[1:]), work.pick(_places(work))
    if target is None or place is None:
        return None
    number = target.setdefault("__id__", 1000 + len(nodes))
    place[0][place[1]] = {"__id__": number}
    return f"{place[1]} is {target.get('__class__')}"


def _double(work: _Work) -> str | None:
    """Put lists or tuples that refer twice to the same child at every level in the place of something."""
    place, depth = work.pick(_places(work)), int(work.rng.integers(2, 45))
    if place is None:
        return None
    loader, name = work.pick([("ListNode", "builtins.list"), ("TupleNode", "builtins.tuple")])
    child = copy.deepcopy(place[0][place[1]])
    if "__id__" in child:
        child = _value(1)
    for level in range(depth):
        child["__id__"] = 5000 + level
        child = _node(loader, name, content=[child, {"__id__": 5000 + level}])
    place[0][place[1]] = child
    return f"{place[1]} in {depth} {name}"


def _kind(work: _Work) -> str | None:
    """Call an object, a tuple or a stand-in something else."""
    loaders = {"ObjectNode": list(OBJECTS), "TupleNode": list(TUPLES)}
    stand_ins = [f"bayesift.formats.{name}" for name in STAND_INS]
    node = work.pick(n for n in walk(work.schema) if n.get("__loader__") in (*loaders, "ConstructorFromReduceNode"))
    if node is None:
        return None
    old = node["__class__"]
    node["__module__"], node["__class__"] = work.pick(loaders.get(node["__loader__"], stand_ins)).rsplit(".", 1)
    return f"{old} to {node['__class__']}"


def _wrap(work: _Work) -> str | None:
    """Put a list or tuple around a node, or a type, a set or a dictionary in its place."""
    place = work.pick(_places(work))
    if place is None:
        return None
    child = place[0][place[1]]
    way = work.pick(["list", "tuple", "type", "empty", "set", "range", "scalar"])
    if way in ("list", "tuple"):
        made = _node({"list": "ListNode", "tuple": "TupleNode"}[way], f"builtins.{way}", content=[child])
    elif way == "type":
        made = _node("TypeNode", work.pick(["builtins.int", "builtins.str", "numpy.float32"]))
    else:
        parts = {
            "empty": ("Plain", ["[]"]),
            "set": ("Group", ["frozenset", []]),
            "range": ("Span", ["range", [0, work.pick(WHOLE), 1]]),
            "scalar": ("Scalar", [work.pick(["float64", "int64", "bool", "float16"]), 1]),
        }[way]
        made = _stand_in(*parts)
    place[0][place[1]] = made
    return f"{place[1]} {way}"


def _stand_in(name: str, parts: list[Any]) -> Node:
    own = [_stand_in("Plain", [json.dumps(part)]) if isinstance(part, list) else _value(part) for part in parts]
    content = _node("TupleNode", "builtins.tuple", content=own)
    return _node("ConstructorFromReduceNode", f"bayesift.formats.{name}", content=content)


def _brought(work: _Work, node: Node, other: Base) -> Node:
    """Return a copy of a node of another model, with its arrays."""
    made = _without_numbers(work, node, files=other.members)
    return made if "__loader__" in made else _value(None)


def _without_numbers(work: _Work, node: Node, files: Members | None = None) -> Node:
    """Return a copy of a node whose numbers and arrays are its own; what it refers to is left out."""
    made = copy.deepcopy(node)
    for part in walk(made):
        if set(part) == {"__id__"}:
            part.clear()
            part.update(_value(None))
        part.pop("__id__", None)
        if "file" in part:
            content = (files or work.members)[part["file"]]
            part["file"] = f"{len(work.members) + int(work.rng.integers(10**5, 10**6))}.npy"
            work.members[part["file"]] = content
    return made


def _number_arrays(work: _Work) -> None:
    """Give every array node a file of its own."""
    seen: set[str] = set()
    for part in list(walk(work.schema)):
        if part.get("file") in seen:
            content = work.members[part["file"]]
            part["file"] = f"{int(work.rng.integers(10**5, 10**6))}.npy"
            work.members[part["file"]] = content
        elif "file" in part:
            seen.add(part["file"])


_CHANGES: list[tuple[Callable[[_Work], str | None], float]] = [
    (_entries, 6), (_shape, 6), (_type, 2), (_exchange, 2), (_scalar, 8), (_all_of_a_size, 4), (_drop, 2), (_repeat, 1),
    (_attribute, 3), (_transplant, 3), (_swap, 3), (_share, 2), (_double, 1), (_kind, 2), (_wrap, 2),
]  # fmt: skip
