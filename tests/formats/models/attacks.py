"""Model files with other contents and right checksums: what damage cannot do, but someone who means harm can."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

Members = dict[str, bytes]

COMMENT = b"sha256 "


def members_of(content: bytes) -> Members:
    """Return the members of a model file by name."""
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def listed(members: Members) -> Members:
    """Return the members with the right sizes and checksums in the header."""
    header = json.loads(members["bayesift.json"])
    header["members"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in members.items()
        if name != "bayesift.json"
    }
    return members | {"bayesift.json": json.dumps(header, sort_keys=True).encode()}


def zipped(members: list[tuple[str, bytes]]) -> bytes:
    """Return an archive of these members, without a checksum yet."""
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for name, content in members:
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
        archive.comment = COMMENT + b"0" * 64
    return file.getvalue()


def sealed(content: bytes) -> bytes:
    """Return an archive with its checksum."""
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


def rebuilt(content: bytes, change: Callable[[Members], None]) -> bytes:
    """Return a model file with changed members, otherwise in order."""
    members = members_of(content)
    change(members)
    return sealed(zipped(list(listed(members).items())))


def with_schema(content: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return a model file with a changed schema; ``change`` works on it or returns another."""

    def apply(members: Members) -> None:
        schema = json.loads(members["schema.json"])
        members["schema.json"] = json.dumps(change(schema) or schema).encode()

    return rebuilt(content, apply)


def npy(descr: str, shape: str, data: bytes) -> bytes:
    """Return an array file with any header."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data


class Entry(NamedTuple):
    """A member of an archive with any claims about it."""

    name: str
    data: bytes
    size: int
    crc: int = 0
    method: int = 8
    flags: int = 0
    #: Where the directory says that it begins; None is the truth.
    offset: int | None = None


def archive_of(entries: list[Entry], *, prefix: bytes = b"", gap: bytes = b"", rest: bytes = b"") -> bytes:
    """Return an archive that says what it is told to, with a right checksum."""
    body, directory = bytearray(prefix), bytearray()
    for entry in entries:
        name = entry.name.encode()
        fields = struct.pack(
            "<HHHHHIIIHH",
            20, entry.flags, entry.method, 0, 33, entry.crc, len(entry.data), entry.size, len(name), 0,
        )  # fmt: skip
        offset = len(body) if entry.offset is None else entry.offset
        body += b"PK\x03\x04" + fields + name + entry.data + gap
        directory += b"PK\x01\x02\x14\x00" + fields + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name
    body += rest
    count = len(entries) % 2**16
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), len(COMMENT) + 64)
    return sealed(bytes(body + directory) + b"PK\x05\x06" + end + COMMENT + b"0" * 64)


def entries_of(members: Members) -> list[Entry]:
    """Return members as honest entries."""
    return [
        Entry(name, deflated(content), len(content), zlib.crc32(content)) for name, content in listed(members).items()
    ]


def deflated(content: bytes) -> bytes:
    """Compress without a header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def zeros(n_megabytes: int) -> bytes:
    """Compress so many megabytes of zeros, quickly: one of them, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * n_megabytes + packer.flush()


def attributes(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of the model itself."""
    return schema["content"]["content"]


def node(loader: str, module: str = "os", name: str = "system", **fields: Any) -> dict[str, Any]:
    """Return a node of a schema; without more, one that would call what it must not."""
    return {"__class__": name, "__module__": module, "__loader__": loader} | fields


def attribute(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change that gives the model an attribute, with the type of its name."""

    def change(schema: dict[str, Any]) -> None:
        attributes(schema)[name] = value
        schema["content"]["key_types"]["content"] = [node("TypeNode", "builtins", "str")] * len(attributes(schema))

    return change


def plain(text: str) -> dict[str, Any]:
    """Return the node of a value in JSON."""
    return node("JsonNode", "builtins", "str", content=text, is_json=True)


def stand_in(name: str, *parts: Any) -> dict[str, Any]:
    """Return the node of a stand-in with these parts."""
    return node(
        "ConstructorFromReduceNode",
        "bayesift.formats",
        name,
        content=node("TupleNode", "builtins", "tuple", content=list(parts)),
    )


def values(text: str) -> dict[str, Any]:
    """Return the stand-in of a text in JSON."""
    return stand_in("Plain", plain(json.dumps(text)))


def doubled(depth: int, loader: str, name: str) -> Callable[[dict[str, Any]], None]:
    """Refer twice to the same child at every level."""
    child = plain("1") | {"__id__": 100}
    for level in range(1, depth):
        content = [child, {"__id__": 99 + level}]
        child = node(loader, "builtins", name, content=content) | {"__id__": 100 + level}
    return attribute("max_iter", child)
