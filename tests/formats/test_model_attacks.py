"""Files that someone made to do harm: each a clean error, quickly, in little memory, and never a call of anything."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skops.io._audit import NODE_TYPE_MAPPING

from bayesift import load
from bayesift.formats import ModelFileError, describe
from bayesift.formats._audit import _LOADERS
from formats.models.attacks import (
    Entry,
    Members,
    archive_of,
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


def attributes(schema: dict[str, Any]) -> dict[str, Any]:
    return schema["content"]["content"]


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
    "a long directory": (large_directory, "directory"),
    "a directory for large archives": (extended, "directory"),
    "members at one place": (same_place_twice, "overlap"),
    "an archive within a member": (shared_data, "a.bayesift"),
    "something before the members": (
        lambda: archive_of(entries_of(members_of(SMALL)), prefix=b"MZ" * 10),
        "a.bayesift",
    ),
    "a page before the members": (lambda: archive_of(entries_of(members_of(SMALL)), prefix=b"PK\x03\x04"), "overlap"),
    "gaps": (lambda: archive_of(entries_of(members_of(SMALL)), gap=b"secret"), "overlap"),
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

    expect_refusal(rebuilt(SMALL, change), tmp_path)


# Nodes


def node(loader: str, module: str = "os", name: str = "system", **fields: Any) -> dict[str, Any]:
    return {"__class__": name, "__module__": module, "__loader__": loader} | fields


WORD = node("JsonNode", "builtins", "str", content='"touch run"', is_json=True)
WORDS = node("TupleNode", "builtins", "tuple", content=[WORD])
ANYTHING = {"content": WORDS, "args": WORDS, "func": "system", "attrs": WORDS, "file": "0.npy", "type": "numpy"}
OTHERS = sorted({loader for loader, _ in NODE_TYPE_MAPPING} - set(_LOADERS))


def test_skops_has_loaders_that_are_not_wanted() -> None:
    assert {"FunctionNode", "MethodNode", "PartialNode", "OperatorFuncNode", "SparseMatrixNode"} <= set(OTHERS)


@pytest.mark.parametrize("loader", [*OTHERS, "NoSuchNode", "", "__class__", 3, None, ["JsonNode"]])
def test_every_other_loader_of_skops_is_refused(loader: Any, tmp_path: Path) -> None:
    def change(schema: dict[str, Any]) -> None:
        attributes(schema)["max_iter"] = node(loader, "numpy", "sum", **ANYTHING)

    expect_refusal(with_schema(SMALL, change), tmp_path, "numpy.sum by way of .*, which is not allowed in a model file")


CALLS = [
    ("os", "system"),
    ("builtins", "eval"),
    ("builtins", "exec"),
    ("subprocess", "Popen"),
    ("bayesift.formats", "STAND_INS"),
    ("bayesift.formats._building", "Plain"),
    ("bayesift.formats._building", "json"),
    ("bayesift.formats", "load"),
    ("bayesift.text", "TextVectorizer"),
    ("numpy", "load"),
    (None, None),
    ({}, []),
]


@pytest.mark.parametrize(
    ("loader", "module", "name"),
    # Our own vectorizer is an object indeed.
    [(x, *call) for x in sorted(_LOADERS) for call in CALLS if (x, call[1]) != ("ObjectNode", "TextVectorizer")],
)
def test_a_known_loader_makes_no_other_type(loader: str, module: Any, name: Any, tmp_path: Path) -> None:
    fields = {
        "ConstructorFromReduceNode": {"content": WORDS},
        "DictNode": {"content": {}, "key_types": node("ListNode", "builtins", "list", content=[])},
        "JsonNode": {"content": "1", "is_json": True},
        "ListNode": {"content": [WORD]},
        "NdArrayNode": {"file": "0.npy", "type": "numpy"},
        "ObjectNode": {"content": node("DictNode", "builtins", "dict", content={}, key_types=WORDS)},
        "TupleNode": {"content": [WORD]},
        "TypeNode": {},
    }[loader]

    def change(schema: dict[str, Any]) -> None:
        attributes(schema)["max_iter"] = node(loader, module, name, **fields)

    expect_refusal(with_schema(SMALL, change), tmp_path, "was refused")


def replaced(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda schema: schema.update(fields)


def attribute(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(schema: dict[str, Any]) -> None:
        attributes(schema)[name] = value
        schema["content"]["key_types"]["content"] = [node("TypeNode", "builtins", "str")] * len(attributes(schema))

    return change


def itself(schema: dict[str, Any]) -> None:
    schema["__id__"] = 77
    attributes(schema)["max_iter"] = {"__id__": 77}


def doubled(depth: int, loader: str, name: str) -> Callable[[dict[str, Any]], None]:
    """Refer twice to the same child at every level."""
    child = plain("1") | {"__id__": 100}
    for level in range(1, depth):
        content = [child, {"__id__": 99 + level}]
        child = node(loader, "builtins", name, content=content) | {"__id__": 100 + level}
    return attribute("max_iter", child)


def array_twice(schema: dict[str, Any]) -> None:
    """Name a file in two nodes, each of which would become an array of its own."""
    own = node("NdArrayNode", "numpy", "ndarray", file="0.npy", type="numpy")
    attribute("max_iter", node("ListNode", "builtins", "list", content=[own, own]))(schema)


def plain(text: str) -> dict[str, Any]:
    return node("JsonNode", "builtins", "str", content=text, is_json=True)


def stand_in(name: str, *parts: Any) -> dict[str, Any]:
    return node(
        "ConstructorFromReduceNode",
        "bayesift.formats",
        name,
        content=node("TupleNode", "builtins", "tuple", content=list(parts)),
    )


def values(text: str) -> dict[str, Any]:
    return stand_in("Plain", plain(json.dumps(text)))


SCHEMAS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "protocol 0 of skops": replaced(protocol=0),
    "protocol 1 of skops": replaced(protocol=1),
    "protocol true": replaced(protocol=True),
    "a later protocol of skops": replaced(protocol=3),
    "a list as model": lambda schema: node("ListNode", "builtins", "list", content=[], protocol=2),
    "a class as model": lambda schema: node("TypeNode", "builtins", "int", protocol=2),
    "a model without attributes": replaced(content=None),
    "a spare field": replaced(more=1),
    "itself": itself,
    "a reference to nothing": attribute("max_iter", {"__id__": 5}),
    "a number that is none": attribute("max_iter", {"__id__": "1"}),
    "a special attribute": attribute("__class__", plain("1")),
    "a method": attribute("predict()", plain("1")),
    "no node": attribute("max_iter", 3),
    "a missing file": attribute("max_iter", node("NdArrayNode", "numpy", "ndarray", file="x.npy", type="numpy")),
    "the schema as array": attribute(
        "max_iter", node("NdArrayNode", "numpy", "ndarray", file="schema.json", type="numpy")
    ),
    "an object array": attribute(
        "max_iter", node("NdArrayNode", "numpy", "ndarray", content=[], shape=[], type="json")
    ),
    "a list as value": attribute("max_iter", plain("[1]")),
    "a number of 5000 digits": attribute("max_iter", plain("1" * 5000)),
    "no value": attribute("max_iter", plain("")),
    "values in brackets without end": attribute("max_iter", plain("[" * 100_000)),
    "keys of another type": lambda schema: schema["content"]["key_types"].update(
        content=[node("TypeNode", "builtins", "int")] * len(attributes(schema))
    ),
    "fewer keys": lambda schema: schema["content"]["key_types"]["content"].pop(),
    "a stand-in with other parts": attribute("max_iter", stand_in("Plain", plain("1"))),
    "a stand-in without parts": attribute("max_iter", stand_in("Plain")),
    "deep brackets in a stand-in": attribute("max_iter", stand_in("Plain", plain(json.dumps("[" * 100_000)))),
    "words that are none": attribute("max_iter", stand_in("Numbered", plain('"[1, 2]"'))),
    "words that are equal": attribute("max_iter", stand_in("Numbered", plain('"[\\"a\\", \\"a\\"]"'))),
    "a scalar that is none": attribute("max_iter", stand_in("Scalar", plain('"object"'), plain("1"))),
    "a scalar too large": attribute("max_iter", stand_in("Scalar", plain('"int8"'), plain("1000"))),
    "a type of objects": attribute("max_iter", stand_in("DType", plain('"|O"'))),
    "a type of records": attribute("max_iter", stand_in("DType", plain('"f8,O"'))),
    "a group of lists": attribute("max_iter", stand_in("Group", plain('"set"'), values("[[1]]"))),
    "a group that is none": attribute("max_iter", stand_in("Group", plain('"eval"'), values("[]"))),
    "an array with too few objects": attribute(
        "max_iter",
        stand_in("ObjectArray", stand_in("Plain", plain('"[1000000000000]"')), values("[]")),
    ),
    "children that are shared": doubled(38, "ListNode", "list"),
    "tuples that are shared": doubled(38, "TupleNode", "tuple"),
    "an array in two places": array_twice,
    "a range without end": attribute(
        "max_iter", stand_in("Span", plain('"range"'), stand_in("Plain", plain('"[0, 9223372036854775807, 1]"')))
    ),
    "a number of 400 digits": attribute("max_iter", plain("1" * 400)),
    "lists in lists in JSON": attribute("max_iter", stand_in("Plain", plain(json.dumps("[" * 60 + "]" * 60)))),
    "a missing parameter": lambda schema: (
        attributes(schema).pop("tol"),
        schema["content"]["key_types"]["content"].pop(),
        None,
    )[-1],
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_is_not_as_written_is_refused(name: str, tmp_path: Path) -> None:
    expect_refusal(with_schema(SMALL, SCHEMAS[name]), tmp_path)
    assert not Path("run").exists()


def test_an_attribute_that_no_check_knows_is_refused(tmp_path: Path) -> None:
    expect_refusal(with_schema(SMALL, attribute("spare", plain("1"))), tmp_path, "spare, which is none of its own")


@pytest.mark.parametrize("name", ["relevant_", "coef_", "n_features_in_", "certificate_", "n_iter_", "target_type_"])
def test_an_attribute_that_is_missing_is_refused(name: str, tmp_path: Path) -> None:
    def change(members: Members) -> None:
        schema = json.loads(members["schema.json"])
        left_out = attributes(schema).pop(name)
        schema["content"]["key_types"]["content"].pop()
        for file in re.findall(r"[0-9]+\.npy", json.dumps(left_out)):
            del members[file]
        members["schema.json"] = json.dumps(schema).encode()

    expect_refusal(rebuilt(SMALL, change), tmp_path, f"RelevanceTaggingMachine has no {name}")


def test_a_cache_is_not_believed(tmp_path: Path) -> None:
    """The tables of a likelihood go to compiled loops as they are."""

    def change(schema: dict[str, Any]) -> None:
        model = attributes(schema)["steps"]["content"][1]["content"][1]
        likelihood = attributes(model)["_likelihood"]
        attributes(likelihood)["_tables"] = stand_in("Plain", plain(json.dumps('{"counts": 1}')))

    forged = with_schema((FOLDER / "hashed-naive-bayes.bayesift").read_bytes(), change)
    expect_refusal(forged, tmp_path, "MultinomialLikelihood has values that are to be computed")


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
from bayesift.formats import ModelFileError, describe
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
