"""Files that someone made to do harm: each a clean error, quickly, in little memory, and never a call of anything."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesift import load
from bayesift.formats import ModelFileError, NotAModelFileError, describe
from formats.models.attacks import (
    Entry,
    Members,
    archive_of,
    attributes,
    doubled,
    entries_of,
    listed,
    members_of,
    npy,
    rebuilt,
    sealed,
    with_schema,
    zeros,
    zipped,
)

FOLDER = Path(__file__).parent / "models" / "protocol-2"
SMALL = (FOLDER / "tagging.bayesift").read_bytes()


def expect_refusal(content: bytes, folder: Path, message: str = "a.bayesift") -> None:
    path = folder / "a.bayesift"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        load(path)


# Archives


def bomb(claimed: int, megabytes: int) -> bytes:
    members = members_of(SMALL)
    honest = [entry for entry in entries_of(members) if entry.name != "0.npy"]
    return archive_of([*honest, Entry("0.npy", zeros(megabytes), claimed)])


def same_place_twice() -> bytes:
    entries = entries_of(members_of(SMALL))
    return archive_of([*entries[:-1], entries[-1]._replace(offset=0)])


def shared_data() -> bytes:
    """Members that begin within one another, each a quine of the rest, as a bomb has them."""
    entries = entries_of(members_of(SMALL))
    inner = archive_of(entries[-1:])
    return archive_of([*entries[:-1], entries[-1]._replace(data=inner, method=0, size=len(inner))])


def more(name: str) -> bytes:
    members = list(listed(members_of(SMALL)).items())
    return sealed(zipped([*members, (name, members[-1][1])]))


def large_directory() -> bytes:
    """Many members that are nothing, which would each become an object of half a kilobyte."""
    return archive_of([Entry(f"{place}.npy", b"", 0, offset=0) for place in range(200_000)])


def extended() -> bytes:
    """The record for large archives, which says something else than the plain one."""
    content = archive_of(entries_of(members_of(SMALL)))
    end = content[-93:]
    return sealed(content[:-93] + b"PK\x06\x07" + bytes(16) + end)


ARCHIVES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a bomb that says so": (lambda: bomb(1500 * 2**20, 1500), "would take 157.* bytes unpacked; the limit is"),
    "a bomb that claims little": (lambda: bomb(1000, 1500), "a.bayesift"),
    "a bomb that claims the impossible": (lambda: bomb(2**32 - 1, 1), "bytes unpacked"),
    "a long directory": (large_directory, "its directory is not that"),
    "a directory for large archives": (extended, "its directory is not that"),
    "members at one place": (same_place_twice, "overlap"),
    "an archive within a member": (shared_data, "a.bayesift"),
    "something before the members": (
        lambda: archive_of(entries_of(members_of(SMALL)), prefix=b"MZ" * 10),
        "a.bayesift",
    ),
    "a page before the members": (lambda: archive_of(entries_of(members_of(SMALL)), prefix=b"PK\x03\x04"), "overlap"),
    "gaps": (lambda: archive_of(entries_of(members_of(SMALL)), gap=b"secret"), "overlap"),
    "a gap before the directory": (
        lambda: archive_of(entries_of(members_of(SMALL)), rest=b"secret"),
        "overlap or have an unknown layout",
    ),
    "encryption": (lambda: archive_of([e._replace(flags=1) for e in entries_of(members_of(SMALL))]), "unknown layout"),
    "another compression": (
        lambda: archive_of([e._replace(method=14) for e in entries_of(members_of(SMALL))]),
        "unknown layout",
    ),
    "a way out": (lambda: more("../../etc/passwd"), "members that no model file has"),
    "a root": (lambda: more("/1.npy"), "members that no model file has"),
    "a folder": (lambda: more("a/1.npy"), "members that no model file has"),
    "another name": (lambda: more("run.py"), "members that no model file has"),
    "no members": (lambda: archive_of([]), "members that no model file has"),
    "only a header": (lambda: archive_of(entries_of(members_of(SMALL))[:1]), "members that no model file has"),
    "a spare member": (lambda: rebuilt(SMALL, lambda m: m.update({"99.npy": m["0.npy"]})), "nothing uses"),
    "wrong contents": (lambda: sealed(zipped(list((members_of(SMALL) | {"0.npy": b"x"}).items()))), "damaged"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_not_as_written_is_refused(name: str, tmp_path: Path) -> None:
    content, message = ARCHIVES[name]
    expect_refusal(content(), tmp_path, message)


def with_header(**changed: Any) -> bytes:
    """Return a file whose header says something else, whatever its members are."""
    members = listed(members_of(SMALL))
    header = json.loads(members["bayesift.json"]) | changed
    return sealed(zipped(list((members | {"bayesift.json": json.dumps(header).encode()}).items())))


LISTED = json.loads(listed(members_of(SMALL))["bayesift.json"])["members"]


@pytest.mark.parametrize(
    "members",
    [
        LISTED | {"99.npy": LISTED["0.npy"]},
        {name: entry for name, entry in LISTED.items() if name != "0.npy"},
        dict(reversed(LISTED.items())),
        list(LISTED),
        None,
    ],
    ids=["one more", "one less", "in another order", "a list", "nothing"],
)
def test_a_header_that_lists_other_members_is_refused(members: Any, tmp_path: Path) -> None:
    expect_refusal(with_header(members=members), tmp_path, "its header lists other members than there are")


@pytest.mark.parametrize("reader", [load, describe])
@pytest.mark.parametrize("name", ["bayesift shards", "", None, ["bayesift model"]])
def test_an_archive_of_another_format_is_no_model_file(name: Any, reader: Callable, tmp_path: Path) -> None:
    (tmp_path / "a.bayesift").write_bytes(with_header(format=name))
    with pytest.raises(NotAModelFileError, match="its header is of another format"):
        reader(tmp_path / "a.bayesift")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["0.npy", "schema.json", "bayesift.json"])
def test_a_name_twice_is_refused(name: str, tmp_path: Path) -> None:
    expect_refusal(more(name), tmp_path, "members that no model file has")


# Texts


def text(member: str, content: bytes) -> Callable[[], bytes]:
    def build() -> bytes:
        members = listed(members_of(SMALL)) | {member: content}
        return sealed(zipped(list((listed(members) if member != "bayesift.json" else members).items())))

    return build


DEEP = b"[" * 100_000 + b"]" * 100_000
DEEP_OBJECT = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


@pytest.mark.parametrize("member", ["schema.json", "bayesift.json"])
@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        DEEP_OBJECT,
        b"",
        b"[]",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"1" * 5000,
        b'{"format": 1e999}',
        b'{"a": ' + b"9" * 5000,
    ],
    ids=lambda content: repr(content[:12]),
)
def test_texts_that_are_no_texts_of_a_model_are_refused(member: str, content: bytes, tmp_path: Path) -> None:
    expect_refusal(text(member, content)(), tmp_path)


@pytest.mark.parametrize("depth", [200, 5000])
def test_lists_in_lists_in_lists_are_refused(depth: int, tmp_path: Path) -> None:
    # Written as text, since json itself gives up on the deeper one.
    start = '{"__class__":"list","__module__":"builtins","__loader__":"ListNode","content":['
    value = '{"__class__":"str","__module__":"builtins","__loader__":"JsonNode","content":"1","is_json":true}'

    def change(members: Members) -> None:
        schema = json.loads(members["schema.json"])
        attributes(schema)["max_iter"] = "HERE"
        members["schema.json"] = json.dumps(schema).replace('"HERE"', start * depth + value + "]}" * depth).encode()

    expect_refusal(rebuilt(SMALL, change), tmp_path, "nested too deeply")


# Arrays

FLOATS = np.arange(6.0).tobytes()
ARRAYS = {
    "absurd": npy("'<f8'", "(1000000000000000,)", FLOATS),
    "absurd and empty": npy("'<f8'", "(0, 99999999999999999999)", b""),
    "many empty strings": npy("'<U0'", "(1000000000,)", b""),
    "many nothings": npy("'|S0'", "(1000000000,)", b""),
    "too long": npy("'<f8'", "(5,)", FLOATS),
    "negative": npy("'<f8'", "(-6,)", FLOATS),
    "objects": npy("'|O'", "(1,)", b"\x80\x04cos\nsystem\n."),
    "records": npy("[('a', '<f8')]", "(6,)", FLOATS),
    "dates": npy("'<M8[D]'", "(6,)", FLOATS),
    "odd numbers": npy("'<f3'", "(16,)", FLOATS),
    "a call": npy("__import__('os')", "(6,)", FLOATS),
    "a later version": b"\x93NUMPY\x03\x00" + npy("'<f8'", "(6,)", FLOATS)[8:],
    "wrong length": npy("'<f8'", "(6,)", FLOATS)[:8] + b"\xff\xff" + npy("'<f8'", "(6,)", FLOATS)[10:],
    "long": npy("'<f8'", "(" + "1," * 40 + ")", np.zeros(1).tobytes()),
    "nothing": b"",
    "half": npy("'<f8'", "(6,)", FLOATS)[:50],
    "pickle": b"\x80\x04\x95",
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_is_not_as_it_says_is_refused(name: str, tmp_path: Path) -> None:
    expect_refusal(rebuilt(SMALL, lambda members: members.update({"0.npy": ARRAYS[name]})), tmp_path, "was refused")


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", 3), ("types", {}), ("versions", None), ("versions", []), ("provenance", "x")],
)
def test_a_header_of_another_form_is_not_described(name: str, value: Any, tmp_path: Path) -> None:
    def change(members: Members) -> None:
        members["bayesift.json"] = json.dumps(json.loads(members["bayesift.json"]) | {name: value}).encode()

    (tmp_path / "a.bayesift").write_bytes(rebuilt(SMALL, change))
    with pytest.raises(ModelFileError, match=f"its header has no valid {name}"):
        describe(tmp_path / "a.bayesift")


# Memory and time

PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from bayesift import load
from bayesift.formats import ModelFileError, NotAModelFileError, describe
import skops.io
results = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    try:
        load(path)
        outcome = "loaded"
    except ModelFileError:
        outcome = "refused"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before.ru_maxrss
    results[path.name] = outcome, time.process_time() - start, grown / 1024
print(json.dumps(results))
"""


def crowd(n_values: int) -> bytes:
    """A text that is much smaller than the objects it stands for."""

    def change(members: Members) -> None:
        members["schema.json"] = b"[" + b"[]," * n_values + b"[]]"

    return rebuilt(SMALL, change)


@pytest.mark.slow
def test_harm_is_refused_quickly_and_in_little_memory(tmp_path: Path) -> None:
    harmful = {f"archive {name}": content for name, (content, _) in ARCHIVES.items()}
    harmful |= {"deep": text("schema.json", DEEP), "crowd": lambda: crowd(20_000_000), "many": lambda: crowd(500_000)}
    harmful |= {
        f"shared {name}": lambda loader=loader, name=name: with_schema(SMALL, doubled(38, loader, name))
        for loader, name in (("ListNode", "list"), ("TupleNode", "tuple"))
    }
    harmful |= {
        f"array {name}": lambda name=name: rebuilt(SMALL, lambda members: members.update({"0.npy": ARRAYS[name]}))
        for name in ARRAYS
    }
    for name, content in harmful.items():
        (tmp_path / name).write_bytes(content())
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True, timeout=300
    )
    results = json.loads(done.stdout)
    assert len(results) == len(harmful)
    for name, (outcome, seconds, megabytes) in results.items():
        assert outcome == "refused", name
        assert seconds < 2, name
        assert megabytes < 100, name
