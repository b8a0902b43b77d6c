"""Model files that were written by earlier versions can still be read, and those of later ones say so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bayesift import load
from bayesift.formats import ModelFileError, describe
from formats.models.attacks import rebuilt

FILES = sorted((Path(__file__).parent / "models").glob("protocol-*/*.bayesift"))


def test_there_are_stored_files() -> None:
    assert {path.parent.name for path in FILES} == {"protocol-1"}
    assert len(FILES) > 10


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
        members["bayesift.json"] = json.dumps(header | {"protocol": 2}).encode()

    path = tmp_path / "newer.bayesift"
    path.write_bytes(rebuilt(FILES[0].read_bytes(), newer))
    with pytest.raises(ModelFileError, match=r"is of protocol 2; .* reads protocols up to 1\. Install a newer version"):
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
