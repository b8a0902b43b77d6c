"""Model files with a forged schema: what is no listed type and no known node is refused, for the right reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from skops.io._audit import NODE_TYPE_MAPPING

from bayesift import load
from bayesift.formats import ModelFileError
from bayesift.formats._audit import _LOADERS, Audit, RefusedError, check_array
from formats.models.attacks import (
    Members,
    attribute,
    attributes,
    doubled,
    members_of,
    node,
    npy,
    plain,
    rebuilt,
    stand_in,
    values,
    with_schema,
)

FOLDER = Path(__file__).parent / "models" / "protocol-2"
SMALL = (FOLDER / "tagging.bayesift").read_bytes()

Change = Callable[[dict[str, Any]], Any]


def expect_refusal(change: Change, folder: Path, message: str, content: bytes = SMALL) -> None:
    path = folder / "a.bayesift"
    path.write_bytes(with_schema(content, change))
    with pytest.raises(ModelFileError, match=message):
        load(path)


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

    expect_refusal(change, tmp_path, "numpy.sum by way of .*, which is not allowed in a model file")


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

    expect_refusal(change, tmp_path, "was refused")


def replaced(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda schema: schema.update(fields)


def itself(schema: dict[str, Any]) -> None:
    schema["__id__"] = 77
    attributes(schema)["max_iter"] = {"__id__": 77}


def array_twice(schema: dict[str, Any]) -> None:
    """Name a file in two nodes, each of which would become an array of its own."""
    own = node("NdArrayNode", "numpy", "ndarray", file="0.npy", type="numpy")
    attribute("max_iter", node("ListNode", "builtins", "list", content=[own, own]))(schema)


def listing(*children: Any) -> Callable[[dict[str, Any]], None]:
    return attribute("max_iter", node("ListNode", "builtins", "list", content=list(children)))


def left_out(schema: dict[str, Any], of: dict[str, Any] | list[Any], key: Any = -1) -> None:
    """Leave out an attribute and the type of its name, or only the latter."""
    of.pop(key)
    if isinstance(of, dict):
        schema["content"]["key_types"]["content"].pop()


SCHEMAS: dict[str, tuple[Change, str]] = {
    "protocol 0 of skops": (replaced(protocol=0), "refused: its schema is not of protocol 2"),
    "protocol 1 of skops": (replaced(protocol=1), "refused: its schema is not of protocol 2"),
    "protocol true": (replaced(protocol=True), "refused: its schema is not of protocol 2"),
    "a later protocol of skops": (replaced(protocol=3), "refused: its schema is not of protocol 2"),
    "a list as model": (lambda schema: node("ListNode", "builtins", "list", content=[], protocol=2), "not a model"),
    "a class as model": (lambda schema: node("TypeNode", "builtins", "int", protocol=2), "int, which is not a model"),
    "a model without attributes": (replaced(content=None), "refused: .* has no attributes"),
    "a list of attributes": (
        replaced(content=node("ListNode", "builtins", "list", content=[])),
        "refused: .* has no attributes",
    ),
    "a spare field": (replaced(more=1), "has fields that do not belong to it"),
    "itself": (itself, "refers to an object that is not there"),
    "a reference to nothing": (attribute("max_iter", {"__id__": 5}), "refers to an object that is not there"),
    "a number that is none": (attribute("max_iter", {"__id__": "1"}), "an object without a valid number"),
    "a number that is true": (listing(plain("1") | {"__id__": True}), "an object without a valid number"),
    "a number twice": (listing(*[plain("1") | {"__id__": 1000}] * 2), "uses a number twice"),
    "a special attribute": (attribute("__class__", plain("1")), "an attribute without a valid name"),
    "a method": (attribute("predict()", plain("1")), "an attribute without a valid name"),
    "no node": (attribute("max_iter", 3), "something other than a node"),
    "a missing file": (
        attribute("max_iter", node("NdArrayNode", "numpy", "ndarray", file="x.npy", type="numpy")),
        "names an array that is not there",
    ),
    "the schema as array": (
        attribute("max_iter", node("NdArrayNode", "numpy", "ndarray", file="schema.json", type="numpy")),
        "names an array that is not there",
    ),
    "an object array": (
        attribute("max_iter", node("NdArrayNode", "numpy", "ndarray", content=[], shape=[], type="json")),
        "ndarray has fields that do not belong to it",
    ),
    "a list as value": (attribute("max_iter", plain("[1]")), "a value that is neither a number nor a string"),
    "a number of 5000 digits": (attribute("max_iter", plain("1" * 5000)), "5000 digits"),
    "no value": (attribute("max_iter", plain("")), "a value that is neither a number nor a string"),
    "values in brackets without end": (attribute("max_iter", plain("[" * 100_000)), "neither a number nor a string"),
    "keys of another type": (
        lambda schema: schema["content"]["key_types"].update(
            content=[node("TypeNode", "builtins", "int")] * len(attributes(schema))
        ),
        "attributes that are not named by strings",
    ),
    "fewer keys": (
        lambda schema: left_out(schema, schema["content"]["key_types"]["content"]),
        "attributes that are not named by strings",
    ),
    "a list without entries": (
        attribute("max_iter", node("ListNode", "builtins", "list", content={})),
        "refused: builtins.list has no entries",
    ),
    "a stand-in with other parts": (
        attribute("max_iter", stand_in("Plain", plain("1"))),
        "Plain holds .*not its parts",
    ),
    "a stand-in without parts": (attribute("max_iter", stand_in("Plain")), "Plain holds .*not its parts"),
    "a stand-in of a value": (
        attribute("max_iter", stand_in("Plain") | {"content": plain("1")}),
        "refused: bayesift.formats.Plain has no parts",
    ),
    "deep brackets in a stand-in": (attribute("max_iter", values("[" * 100_000)), "nested too deeply"),
    "words that are none": (attribute("max_iter", stand_in("Numbered", plain('"[1, 2]"'))), "other than strings"),
    "words that are equal": (
        attribute("max_iter", stand_in("Numbered", plain('"[\\"a\\", \\"a\\"]"'))),
        "holds a string twice",
    ),
    "a scalar that is none": (
        attribute("max_iter", stand_in("Scalar", plain('"object"'), plain("1"))),
        "expected a numpy number",
    ),
    "a scalar too large": (attribute("max_iter", stand_in("Scalar", plain('"int8"'), plain("1000"))), "int8"),
    "a type of objects": (attribute("max_iter", stand_in("DType", plain('"|O"'))), "expected a numeric type"),
    "a type of records": (attribute("max_iter", stand_in("DType", plain('"f8,O"'))), "expected a numeric type"),
    "a group of lists": (attribute("max_iter", stand_in("Group", plain('"set"'), values("[[1]]"))), "unhashable"),
    "a group that is none": (attribute("max_iter", stand_in("Group", plain('"eval"'), values("[]"))), "eval"),
    "an array with too few objects": (
        attribute("max_iter", stand_in("ObjectArray", values("[1000000000000]"), values("[]"))),
        "has 0 entries and the shape",
    ),
    "children that are shared": (doubled(38, "ListNode", "list"), "refers too often to the same ones"),
    "tuples that are shared": (doubled(38, "TupleNode", "tuple"), "refers too often to the same ones"),
    "an array in two places": (array_twice, "names an array twice"),
    "a range without end": (
        attribute("max_iter", stand_in("Span", plain('"range"'), values("[0, 9223372036854775807, 1]"))),
        "Span has more than",
    ),
    "a number of 400 digits": (attribute("max_iter", plain("1" * 400)), "more than 64 bits"),
    "lists in lists in JSON": (attribute("max_iter", values("[" * 60 + "]" * 60)), "too many lists within lists"),
    "a missing parameter": (lambda schema: left_out(schema, attributes(schema), "tol"), "has no tol"),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_is_not_as_written_is_refused(name: str, tmp_path: Path) -> None:
    change, message = SCHEMAS[name]
    expect_refusal(change, tmp_path, message)
    assert not Path("run").exists()


def test_an_attribute_that_no_check_knows_is_refused(tmp_path: Path) -> None:
    expect_refusal(attribute("spare", plain("1")), tmp_path, "spare, which is none of its own")


@pytest.mark.parametrize("name", ["relevant_", "coef_", "n_features_in_", "certificate_", "n_iter_", "target_type_"])
def test_an_attribute_that_is_missing_is_refused(name: str, tmp_path: Path) -> None:
    def change(members: Members) -> None:
        schema = json.loads(members["schema.json"])
        left_out = attributes(schema).pop(name)
        schema["content"]["key_types"]["content"].pop()
        for file in re.findall(r"[0-9]+\.npy", json.dumps(left_out)):
            del members[file]
        members["schema.json"] = json.dumps(schema).encode()

    (tmp_path / "a.bayesift").write_bytes(rebuilt(SMALL, change))
    with pytest.raises(ModelFileError, match=f"RelevanceTaggingMachine has no {name}"):
        load(tmp_path / "a.bayesift")


def test_a_cache_is_not_believed(tmp_path: Path) -> None:
    """The tables of a likelihood go to compiled loops as they are."""

    def change(schema: dict[str, Any]) -> None:
        model = attributes(schema)["steps"]["content"][1]["content"][1]
        likelihood = attributes(model)["_likelihood"]
        attributes(likelihood)["_tables"] = stand_in("Plain", plain(json.dumps('{"counts": 1}')))

    other = (FOLDER / "hashed-naive-bayes.bayesift").read_bytes()
    expect_refusal(change, tmp_path, "MultinomialLikelihood has values that are to be computed", other)


def weight(part: Any, schema: Any, sizes: dict[str, int]) -> int:
    """What the parts of a schema count for, each as often as it is referred to."""
    if isinstance(part, list):
        return sum(weight(each, schema, sizes) for each in part)
    if not isinstance(part, dict):
        return 0
    if set(part) == {"__id__"}:
        return weight(numbered(schema)[part["__id__"]], schema, sizes)
    own = 1024 if "__loader__" in part else 0
    if part.get("__loader__") == "JsonNode":
        own += 16 * len(part["content"])
    if part.get("__loader__") == "NdArrayNode":
        own += sizes[part["file"]]
    return own + sum(weight(each, schema, sizes) for each in part.values())


def numbered(part: Any) -> dict[int, Any]:
    """The nodes with a number, by their numbers."""
    parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    found = {number: each for child in parts for number, each in numbered(child).items()}
    if isinstance(part, dict) and len(part) > 1 and "__id__" in part:
        found[part["__id__"]] = part
    return found


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_what_is_shared_counts_as_often_as_it_is_met(depth: int) -> None:
    members = members_of(with_schema(SMALL, doubled(depth, "ListNode", "list")))
    schema = json.loads(members["schema.json"])
    arrays = {name: content for name, content in members.items() if name.endswith(".npy")}
    sizes = {name: len(content) for name, content in arrays.items()}
    needed = weight(schema, schema, sizes)
    Audit(arrays, sizes, most=needed).check(schema)
    with pytest.raises(RefusedError, match="too many objects"):
        Audit(arrays, sizes, most=needed - 1).check(schema)


def test_an_empty_array_may_claim_as_many_columns_as_numpy_bears_and_no_more() -> None:
    for columns in (2**40, 2**40 + 1):
        content = npy("'<f8'", f"(0, {columns})", b"")
        if columns == 2**40:
            check_array(content, len(content))
        else:
            with pytest.raises(RefusedError, match="does not match its header"):
                check_array(content, len(content))
