"""Model files of this protocol can still be read; those of earlier and later ones are refused with a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayesift import load
from bayesift.formats import ModelFileError, describe
from formats.models.attacks import members_of, rebuilt

MODELS = Path(__file__).parent / "models"
FILES = sorted(MODELS.glob("protocol-2/*.bayesift"))
OLD_FILES = sorted(MODELS.glob("protocol-1/*.bayesift"))


def test_there_are_stored_files() -> None:
    assert {path.parent.name for path in MODELS.glob("*/*.bayesift")} == {"protocol-1", "protocol-2"}
    assert len(FILES) > 10
    assert len(OLD_FILES) > 10


@pytest.mark.parametrize("reader", [load, describe])
@pytest.mark.parametrize("path", OLD_FILES, ids=lambda path: path.stem)
def test_a_file_of_the_first_protocol_is_refused_with_a_way_out(reader, path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"of protocol 1; .* reads protocols from 2 on.* Train the model again"):
        reader(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_file_names_no_private_module(path: Path) -> None:
    schema = json.loads(members_of(path.read_bytes())["schema.json"])
    names = {f"{node['__module__']}.{node['__class__']}" for node in nodes(schema)}
    assert len(names) > 3
    assert not any(part.startswith("_") for name in names for part in name.split("."))
    assert {name for name in names if name.startswith("bayesift.")} >= set(describe(path).types) - {
        "sklearn.pipeline.Pipeline"
    }


def nodes(value: object) -> list[dict[str, Any]]:
    """List all nodes of a schema that name a type."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict) and "__loader__" in value else []
    return [*own, *(node for part in inner for node in nodes(part))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_file_gives_the_answers_it_gave(path: Path) -> None:
    assert describe(path).is_intact
    model = load(path)
    with np.load(path.with_suffix(".npz")) as expected:
        for name in set(expected.files) - {"documents"}:
            found = getattr(model, name)(expected["documents"])
            if found.dtype.kind == "f":
                # Not to the last bit: another processor may add in another order.
                np.testing.assert_allclose(found, expected[name], rtol=1e-10, atol=1e-12)
            else:
                np.testing.assert_array_equal(found, expected[name])


@pytest.mark.parametrize("reader", [load, describe])
def test_a_newer_protocol_is_refused_with_a_sentence(reader, tmp_path: Path) -> None:
    def newer(members: dict[str, bytes]) -> None:
        header = json.loads(members["bayesift.json"])
        members["bayesift.json"] = json.dumps(header | {"protocol": 3}).encode()

    path = tmp_path / "newer.bayesift"
    path.write_bytes(rebuilt(FILES[0].read_bytes(), newer))
    with pytest.raises(ModelFileError, match=r"is of protocol 3; .* reads protocols up to 2\. Install a newer version"):
        reader(path)


@pytest.mark.parametrize("protocol", [0, -1, True, "1", None, 1.0, [1], 10**400])
def test_a_protocol_that_is_no_number_is_refused(protocol: object, tmp_path: Path) -> None:
    def other(members: dict[str, bytes]) -> None:
        header = json.loads(members["bayesift.json"])
        members["bayesift.json"] = json.dumps(header | {"protocol": protocol}).encode()

    path = tmp_path / "odd.bayesift"
    path.write_bytes(rebuilt(FILES[0].read_bytes(), other))
    with pytest.raises(ModelFileError, match="protocol"):
        load(path)
