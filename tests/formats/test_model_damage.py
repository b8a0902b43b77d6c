"""Files that are damaged, or something else, are refused cleanly; a failing disk leaves no file."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from skops.io import dumps

from bayesift import load, save
from bayesift.formats import ModelFileError, _container, describe
from bayesift.linear import BayesianLogisticRegression
from formats.models.attacks import members_of, sealed, zipped

SMALL = (Path(__file__).parent / "models" / "protocol-2" / "tagging.bayesift").read_bytes()


def overwrite(path: Path, content: bytes) -> None:
    # Emptying a file first would make some file systems wait for the disk each time.
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()


def refused(path: Path, content: bytes) -> bool:
    overwrite(path, content)
    try:
        load(path)
    except ModelFileError as error:
        return str(path) in str(error)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0xFF, 0x01, 0x20])
def test_every_flipped_byte_is_noticed(mask: int, tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.touch()
    for place in range(len(SMALL)):
        damaged = bytearray(SMALL)
        damaged[place] ^= mask
        assert refused(path, bytes(damaged)), place


def test_a_file_that_ends_at_any_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.touch()
    for length in range(len(SMALL)):
        assert refused(path, SMALL[:length]), length


def test_bytes_added_anywhere_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.touch()
    for place in [0, 1, 100, len(SMALL) // 2, len(SMALL) - 80, len(SMALL)]:
        assert refused(path, SMALL[:place] + b"x" + SMALL[place:])


@pytest.mark.slow
def test_with_a_right_checksum_a_flipped_byte_still_gives_no_other_model(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.write_bytes(SMALL)
    expected = load(path)
    for place in range(len(SMALL) - 64):
        damaged = bytearray(SMALL)
        damaged[place] ^= 0xFF
        overwrite(path, sealed(bytes(damaged)))
        try:
            found = load(path)
        except ModelFileError:
            continue
        # A date in the directory, say.
        assert np.array_equal(found.coef_, expected.coef_)
        assert found.get_params() == expected.get_params()


def test_damage_is_described_where_the_header_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    damaged = bytearray(SMALL)
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    assert not describe(path).is_intact


def zip_of_texts() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "hello")
    return file.getvalue()


FOREIGN: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "it is empty"),
    "pickle": (lambda: pickle.dumps({"a": np.arange(3)}), "looks like a pickle"),
    "old pickle": (lambda: pickle.dumps([1], protocol=0), "begins like something else"),
    "zip": (zip_of_texts, "another kind of zip"),
    "skops": (lambda: dumps(BayesianLogisticRegression()), "another kind of zip"),
    "text": (lambda: "Grüße".encode(), "begins like something else"),
    "one byte": (lambda: b"P", "begins like something else"),
    "gzip": (lambda: gzip.compress(b"abc"), "is a gzip file"),
    "zeros": (lambda: bytes(1000), "begins like something else"),
}


@pytest.mark.parametrize("reader", [load, describe])
@pytest.mark.parametrize("name", FOREIGN)
def test_another_kind_of_file_is_called_by_its_name(name: str, reader: Callable, tmp_path: Path) -> None:
    content, message = FOREIGN[name]
    path = tmp_path / "a.bayesift"
    path.write_bytes(content())
    with pytest.raises(ModelFileError, match=message):
        reader(path)


def test_a_folder_a_pipe_and_nothing_at_all(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)
    # Nobody writes to it: opening it would wait for ever.
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is a device"):
        load(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.write_bytes(SMALL)
    with pytest.raises(ModelFileError, match=f"has {len(SMALL)} bytes; the limit is 1000"):
        load(path, limit=1000)
    with pytest.raises(ModelFileError, match=f"bytes unpacked; the limit is {len(SMALL)}"):
        load(path, limit=len(SMALL))


def test_a_text_may_take_a_sixteenth_of_the_limit_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.write_bytes(SMALL)
    longest = max(len(content) for name, content in members_of(SMALL).items() if name.endswith(".json"))
    load(path, limit=16 * longest)
    with pytest.raises(ModelFileError, match=r"schema\.json is too long; give a greater limit"):
        load(path, limit=16 * longest - 1)


def test_a_text_may_have_a_hundred_thousand_values_with_a_small_limit_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    for n_values, message in [(100_000, "another format"), (100_001, r"bayesift\.json is too long")]:
        # A list counts as a value, and every comma stands before another one.
        content = b"[" + b",".join([b"1"] * n_values) + b"]"
        assert sum(map(content.count, (b",", b"[", b"{"))) == n_values
        path.write_bytes(sealed(zipped(list((members_of(SMALL) | {"bayesift.json": content}).items()))))
        with pytest.raises(ModelFileError, match=message):
            load(path, limit=2**24)


@pytest.mark.parametrize("change", [lambda content: content + b"x", lambda content: content[:-1]])
def test_a_file_that_changes_while_it_is_read_is_refused(change: Callable, monkeypatch, tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.write_bytes(SMALL)
    monkeypatch.setattr(_container, "_check_kind", lambda path, file: overwrite(path, change(SMALL)))
    with pytest.raises(ModelFileError, match="has changed while it was read"):
        load(path)


PROGRAM = """
import resource, signal, sys
import numpy as np
from bayesift import save
from bayesift.linear import BayesianLogisticRegression
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = BayesianLogisticRegression(grid=np.random.default_rng(0).random(100_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    save(model, sys.argv[1])
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.slow
def test_a_full_disk_is_an_error_and_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    path.write_bytes(SMALL)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "OSError"
    assert path.read_bytes() == SMALL
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match="file"):
        save(BayesianLogisticRegression(), tmp_path / "file" / "a.bayesift")
    assert len(list(tmp_path.iterdir())) == 1
