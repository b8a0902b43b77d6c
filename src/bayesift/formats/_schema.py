"""What skops wrote, brought into one form that depends on nothing but the model.

skops numbers objects and names arrays by their addresses in memory. Here arrays are named by their order, only objects
that occur more than once keep a number, and what stands in the file a second time becomes a reference to the first.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any
from zipfile import ZipFile

from bayesift.formats._types import OBJECTS, TUPLES, is_listed

SCHEMA = "schema.json"

SKOPS_PROTOCOL = 2
"""Protocol of skops whose nodes a model file has."""

_SHARED = ("ConstructorFromReduceNode", "ListNode", "NdArrayNode", "ObjectNode")

Node = dict[str, Any]


def written_by_skops(packed: Any) -> dict[str, bytes]:
    """Return the members of the file that skops writes, by name: the schema first, then the arrays."""
    # It takes long to import, and only those who save or load need it.
    from skops.io import dumps

    with ZipFile(io.BytesIO(dumps(packed))) as archive:
        found = json.loads(archive.read(SCHEMA))
        writer = _Canonical(found)
        # Of whatever protocol skops is: these nodes have the form of this one, and saving looks at every field.
        schema = writer.node(found) | {"protocol": SKOPS_PROTOCOL}
        text = json.dumps(schema, separators=(",", ":"))
        return {SCHEMA: text.encode()} | {name: archive.read(old) for old, name in writer.files.items()}


def children(node: Node) -> list[Node]:
    """List the nodes within a node, in a fixed order."""
    content = node.get("content")
    if isinstance(content, list):
        return content
    loader = node.get("__loader__")
    if loader == "DictNode" and isinstance(content, dict):
        return [node["key_types"], *content.values()]
    return [content] if isinstance(content, dict) else []


class _Canonical:
    """Rewrites the nodes of one schema."""

    def __init__(self, schema: Node) -> None:
        self.files: dict[str, str] = {}
        self._uses: Counter[int] = Counter()
        self._numbers: dict[int, int] = {}
        self._count(schema)

    def _count(self, node: Node) -> None:
        if node["__loader__"] in _SHARED:
            self._uses[node["__id__"]] += 1
            if self._uses[node["__id__"]] > 1:
                return
        for child in children(node):
            self._count(child)

    def node(self, node: Node) -> Node:
        """Return the canonical form of a node."""
        number = node["__id__"]
        if number in self._numbers:
            return {"__id__": self._numbers[number]}
        result = {"__class__": node["__class__"], "__module__": _public(node), "__loader__": node["__loader__"]}
        if self._uses[number] > 1:
            self._numbers[number] = result["__id__"] = len(self._numbers) + 1
        if "file" in node:
            result |= {"type": node["type"], "file": self._file(node["file"])}
        if "is_json" in node:
            return result | {"content": node["content"], "is_json": True}
        content = node.get("content")
        if isinstance(content, list):
            result["content"] = [self.node(child) for child in content]
        elif node["__loader__"] == "DictNode":
            result["key_types"] = self.node(node["key_types"])
            result["content"] = {key: self.node(child) for key, child in node["content"].items()}
        elif content is not None:
            result["content"] = self.node(content)
        return result

    def _file(self, name: str) -> str:
        return self.files.setdefault(name, f"{len(self.files)}.npy")


def _public(node: Node) -> str:
    """Return the module of a type as the list has it: its room, or the module it stands in."""
    module: str = node["__module__"]
    room = ".".join(module.split(".")[:2])
    listed = {"ObjectNode": OBJECTS, "TupleNode": TUPLES}.get(node["__loader__"], {})
    return room if is_listed(listed, room, node["__class__"]) else module
