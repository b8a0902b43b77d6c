"""Folders of shards: what is written is read again, and what was damaged or forged is refused before any kernel."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift import shards
from bayesift.shards import ShardError, ShardWriter, _layout

X = sp.random(50, 12, 0.2, format="csr", random_state=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shards.write_matrix(X, tmp_path / "made", labels=[f"label{row % 3}" for row in range(50)], rows=20)
    return tmp_path / "made"


@pytest.mark.parametrize(("rows", "entries", "n_shards"), [(50, 2**24, 1), (20, 2**24, 3), (13, 2**24, 4)])
def test_rows_are_read_as_they_were_written(tmp_path: Path, rows: int, entries: int, n_shards: int) -> None:
    shards.write_matrix(X, tmp_path / "a", rows=rows, entries=entries)
    found = shards.open(tmp_path / "a")
    assert len(found.files) == n_shards
    assert found.shape == X.shape
    assert abs(sp.vstack(list(found)) - X).max() == 0.0
    np.testing.assert_array_equal(found.column_counts, np.diff(X.tocsc().indptr))
    found.verify()


@settings(max_examples=12, deadline=None)
@given(rows=st.integers(1, 9), entries=st.integers(1, 9), block=st.integers(1, 20), seed=st.integers(0, 99))
def test_limits_of_a_shard_hold_and_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: int, entries: int, block: int, seed: int
) -> None:
    matrix = sp.random(12, 5, 0.4, format="csr", random_state=seed)
    place = tmp_path_factory.mktemp("limits") / "a"
    parts = (matrix[first : first + block] for first in range(0, 12, block))
    shards.write_matrix(parts, place, rows=rows, entries=entries)
    found = shards.open(place)
    assert abs(sp.vstack(list(found)) - matrix).max() == 0.0
    for file in found.files:
        assert file.n_rows <= rows
        assert file.n_entries <= entries or file.n_rows == 1


def test_values_of_half_the_size_are_rounded_once(tmp_path: Path) -> None:
    shards.write_matrix(X, tmp_path / "a", dtype="float32")
    [found] = shards.open(tmp_path / "a")
    np.testing.assert_array_equal(found.data, X.data.astype(np.float32).astype(np.float64))


def test_labels_are_beside_the_rows(folder: Path, tmp_path: Path) -> None:
    assert shards.open(folder).labels.tolist() == [f"label{row % 3}" for row in range(50)]
    sets = [["b"], [], ["a", "b"]]
    shards.write_matrix(sp.eye(3, format="csr"), tmp_path / "several", labels=sets, rows=2)
    found = shards.open(tmp_path / "several")
    assert found.label_names == ["a", "b"]
    assert found.labels.toarray().tolist() == [[0, 1], [0, 0], [1, 1]]


def test_terms_are_kept(tmp_path: Path) -> None:
    shards.write_matrix(X, tmp_path / "a", terms=[f"t{j}" for j in range(12)])
    assert shards.open(tmp_path / "a").terms == [f"t{j}" for j in range(12)]
    with pytest.raises(ValueError, match="11 terms; expected 12"):
        shards.write_matrix(X, tmp_path / "b", terms=["t"] * 11)


def test_nothing_is_left_of_a_write_that_fails(tmp_path: Path) -> None:
    def blocks():
        yield X
        raise KeyError("the source")

    with pytest.raises(KeyError):
        shards.write_matrix(blocks(), tmp_path / "a", rows=10)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_exists_is_left_alone(folder: Path) -> None:
    with pytest.raises(FileExistsError):
        shards.write_matrix(X, folder)
    shards.open(folder).verify()


def stop(writer: ShardWriter, *rows) -> None:
    """Write rows, and fail before all is done."""
    with suppress(KeyError), writer:
        writer.add(*rows)
        raise KeyError
    assert not writer.folder.exists()


def test_a_killed_write_goes_on_after_its_last_shard(tmp_path: Path) -> None:
    plan = {"source": "here"}
    stop(ShardWriter(tmp_path / "a", 12, rows=20, plan=plan), X[:45], [row % 3 for row in range(45)])
    written = (tmp_path / ".a.unfinished" / "000000.values.npy").stat().st_mtime_ns
    with ShardWriter(tmp_path / "a", 12, rows=20, plan=plan) as writer:
        assert writer.n_done == 40
        writer.add(X[40:], [row % 3 for row in range(40, 50)])
    found = shards.open(tmp_path / "a")
    assert (found.folder / "000000.values.npy").stat().st_mtime_ns == written
    assert abs(sp.vstack(list(found)) - X).max() == 0.0
    assert found.labels.tolist() == [row % 3 for row in range(50)]
    assert os.listdir(tmp_path) == ["a"]


def test_a_killed_write_of_which_a_piece_was_damaged_begins_anew(tmp_path: Path) -> None:
    stop(ShardWriter(tmp_path / "a", 12, rows=20, plan={"source": 1}), X, list("abcde") * 10)
    forge(tmp_path / ".a.unfinished", "values", lambda array: array.__setitem__(0, 7.0), number=1)
    with ShardWriter(tmp_path / "a", 12, rows=20, plan={"source": 1}) as writer:
        assert writer.n_done == 0
        writer.add(X, list("edcba") * 10)
    found = shards.open(tmp_path / "a")
    assert abs(found.in_memory() - X).max() == 0.0
    assert found.labels.tolist() == list("edcba") * 10


def test_another_plan_begins_anew(tmp_path: Path) -> None:
    stop(ShardWriter(tmp_path / "a", 12, rows=20, plan={"source": 1}), X)
    with ShardWriter(tmp_path / "a", 12, rows=20, plan={"source": 2}) as writer:
        assert writer.n_done == 0
        writer.add(X[:5])
    assert shards.open(tmp_path / "a").shape == (5, 12)


def test_two_processes_do_not_write_one_folder(tmp_path: Path) -> None:
    with (
        ShardWriter(tmp_path / "a", 12) as writer,
        pytest.raises(ShardError, match="another process"),
        ShardWriter(tmp_path / "a", 12),
    ):
        pass
    with pytest.raises(ValueError, match="no block"):
        shards.write_matrix([], tmp_path / "b")
    assert writer.n_done == 0


def forge(folder: Path, piece: str, change, number: int = 0) -> None:
    """Change a piece of a shard and keep its size."""
    path = folder / f"{number:06d}.{piece}.npy"
    array = np.load(path)
    change(array)
    np.save(path, array)


def last_beyond(array) -> None:
    array[-1] += 1


FORGERIES = {
    "a row that ends beyond the entries": ("starts", last_beyond),
    "rows that go back": ("starts", lambda array: array.__setitem__(slice(1, 3), array[[2, 1]] + [5, 0])),
    "a negative start": ("starts", lambda array: array.__setitem__(1, -1)),
    "a column too many": ("columns", lambda array: array.__setitem__(0, 12)),
    "a last column of a row too many": ("columns", lambda array: array.__setitem__(-1, 12)),
    "a negative column": ("columns", lambda array: array.__setitem__(0, -1)),
    "a column twice": ("columns", lambda array: array.__setitem__(slice(None), 3)),
    "a value that is no number": ("values", lambda array: array.__setitem__(0, np.nan)),
    "an infinite value": ("values", lambda array: array.__setitem__(0, np.inf)),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_kernels_could_not_bear_is_refused(folder: Path, name: str) -> None:
    forge(folder, *FORGERIES[name])
    with pytest.raises(ShardError, match="shard 0"):
        list(shards.open(folder))
    with pytest.raises(ShardError, match="checksum"):
        shards.open(folder).verify()


def test_a_shard_that_changes_after_it_was_checked_is_checked_again(folder: Path) -> None:
    found = shards.open(folder)
    list(found)
    forge(folder, "columns", lambda array: array.__setitem__(0, 99))
    with pytest.raises(ShardError, match="columns of a row"):
        list(found)


@pytest.mark.parametrize("piece", ["starts", "columns", "values"])
def test_pieces_that_are_cut_off_missing_or_of_another_kind_are_refused(folder: Path, piece: str) -> None:
    path = folder / f"000001.{piece}.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(ShardError):
        list(shards.open(folder))
    path.write_bytes(whole[:20])
    with pytest.raises(ShardError, match="cut off"):
        shards.open(folder)
    path.unlink()
    with pytest.raises(ShardError, match="missing"):
        shards.open(folder)
    np.save(path, np.zeros(500, dtype=np.complex128))
    with pytest.raises(ShardError, match="manifest says"):
        list(shards.open(folder))
    np.save(path, np.array([{}] * 500, dtype=object), allow_pickle=True)
    with pytest.raises(ShardError):
        list(shards.open(folder))


class Harm:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_in_place_of_a_piece_is_not_unpickled(folder: Path, tmp_path: Path) -> None:
    pickled = pickle.dumps(Harm(tmp_path / "harm"))
    whole = (folder / "000001.values.npy").stat().st_size
    # Dots end a pickle: what comes after them is not read.
    (folder / "000001.values.npy").write_bytes(pickled + b"." * (whole - len(pickled)))
    with pytest.raises(ShardError, match="cannot be read as a piece of a shard"):
        list(shards.open(folder))
    assert not (tmp_path / "harm").exists()
    pickle.loads(pickled)
    assert (tmp_path / "harm").exists()


CHANGES = {
    "format": ("format", "another"),
    "version": ("version", 2),
    "columns": ("n_columns", -1),
    "no number": ("n_columns", True),
    "dtype": ("dtype", "object"),
    "shards": ("shards", {}),
    "names": ("label_names", ["a", "a"]),
    "kinds": ("label_names", ["a", 1]),
    "kind": ("label_kind", "many"),
    "digest": ("counts_sha256", "../../x"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_manifest_that_cannot_be_true_is_refused(folder: Path, name: str) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    field, value = CHANGES[name]
    path.write_text(json.dumps(content | {field: value}))
    with pytest.raises(ShardError, match=r"manifest\.json"):
        shards.open(folder)


def test_rows_that_the_manifest_invents_are_refused(folder: Path) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    content["shards"][0]["n_rows"] = 2**39
    path.write_text(json.dumps(content))
    with pytest.raises(ShardError, match="cut off"):
        shards.open(folder)
    path.write_text("{" * 100_000)
    with pytest.raises(ShardError, match="not JSON"):
        shards.open(folder)
    path.unlink()
    with pytest.raises(ShardError, match=r"no manifest\.json"):
        shards.open(folder)


ENTRY_CHANGES = {
    "a checksum that is none": ("sha256", "columns", "../../x"),
    "a checksum too many": ("sha256", "more", "0" * 64),
    "a negative number of rows": ("n_rows", None, -1),
    "a negative number of entries": ("n_entries", None, -1),
    "a negative number of labels": ("n_labels", None, -1),
}


@pytest.mark.parametrize("name", ENTRY_CHANGES)
def test_a_shard_of_the_manifest_that_cannot_be_true_is_refused(folder: Path, name: str) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    field, piece, value = ENTRY_CHANGES[name]
    entry = content["shards"][0]
    if piece is None:
        entry[field] = value
    else:
        entry[field][piece] = value
    path.write_text(json.dumps(content))
    with pytest.raises(ShardError, match=f"{field} is not as it must be"):
        shards.open(folder)


def test_a_manifest_that_is_too_long_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "manifest.json"
    size = path.stat().st_size
    monkeypatch.setattr(_layout, "_LARGEST_MANIFEST", size)
    shards.open(folder)
    with path.open("a") as stream:
        stream.write(" ")
    with pytest.raises(ShardError, match=f"has {size + 1} bytes; expected at most {size}"):
        shards.open(folder)


def test_shards_without_rows_or_entries_are_read(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "a", 4, rows=3) as writer:
        writer.add_empty_shard()
        writer.add(sp.csr_matrix((3, 4)))
        writer.add(sp.eye(3, 4, format="csr"))
    found = shards.open(tmp_path / "a")
    assert [part.shape for part in found] == [(0, 4), (3, 4), (3, 4)]
    assert [part.nnz for part in found] == [0, 0, 3]
    found.verify()


@pytest.mark.parametrize("labels", [["b", "a", "b"], [["b"], [], ["a", "b"]]])
def test_a_shard_without_rows_needs_no_labels(tmp_path: Path, labels: list) -> None:
    with ShardWriter(tmp_path / "a", 4, rows=2) as writer:
        writer.add_empty_shard()
        writer.add(sp.eye(3, 4, format="csr"), labels)
        writer.add_empty_shard()
    found = shards.open(tmp_path / "a")
    assert [part.shape[0] for part in found] == [0, 2, 1, 0]
    assert found.label_names == ["a", "b"]
    if labels[0] == "b":
        assert found.labels.tolist() == labels
    else:
        assert found.labels.toarray().tolist() == [[0, 1], [0, 0], [1, 1]]
    found.verify()


@pytest.mark.parametrize("first", [None, ["a", "b"]])
def test_labels_for_some_rows_only_are_refused(tmp_path: Path, first: list[str] | None) -> None:
    block = sp.eye(2, 4, format="csr")
    for rows in (1, 2, 9):
        with ShardWriter(tmp_path / f"{rows}", 4, rows=rows) as writer:
            writer.add(block, first)
            with pytest.raises(ValueError, match="expected labels for all rows or for none"):
                writer.add(block, ["a", "b"] if first is None else None)
            writer.add(block[:0])
            writer.add(block, first)
        assert shards.open(tmp_path / f"{rows}").shape == (4, 4)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([True, False, True], "labels hold True; expected strings or whole numbers"),
        (np.array([True, False, True]), "labels hold .*True.*; expected strings or whole numbers"),
        ([1.0, 0.0, 1.0], r"labels hold 1\.0; expected strings or whole numbers"),
        (["a", None, "b"], "labels hold None; expected strings or whole numbers"),
        ([["a"], [None], []], r"labels hold \[None\]; expected"),
        ([b"a", b"b", b"c"], "labels hold b'a'; expected"),
        (["wheat", ["corn"], "gold"], "single for some rows and sequences for others"),
        ([1, "a", 1], "labels are strings and numbers; expected labels of one type"),
        ([[1, "a"], [], [1]], "labels are strings and numbers; expected labels of one type"),
        (np.eye(3, dtype=int), r"labels have shape \(3, 3\); expected one for each row"),
        (sp.eye(3, format="csr"), r"labels have shape \(3, 3\); expected one for each row"),
        (["a", "b"], "3 rows and 2 labels; expected one for each row"),
    ],
)
def test_labels_that_could_not_be_read_again_are_refused(tmp_path: Path, labels, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shards.write_matrix(np.eye(3), tmp_path / "a", labels)
    assert not os.listdir(tmp_path)


def test_labels_of_later_blocks_are_of_the_type_of_the_first(tmp_path: Path) -> None:
    def write() -> None:
        with ShardWriter(tmp_path / "a", 3, rows=3) as writer:
            writer.add(np.eye(3), ["a", "b", "a"])
            writer.add(np.eye(3), [1, 2, 3])

    with pytest.raises(ValueError, match="labels are strings and numbers"):
        write()
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        (np.eye(3) * 1e120, {}, r"X holds 1e\+120; expected numbers from -1e\+110"),
        (np.eye(3) * 1e50, {"dtype": "float32"}, r"X holds 1e\+50, which is too large for dtype='float32'"),
        (np.eye(3), {"dtype": "foo"}, "dtype is 'foo'; expected 'float32' or 'float64'"),
        (np.eye(3), {"rows": 2.5}, r"rows is 2\.5; expected a whole number of at least 1"),
        (np.eye(3), {"entries": 0}, "entries is 0; expected a whole number of at least 1"),
        (np.eye(3), {"terms": [1, 2, 3]}, "terms hold 1; expected strings"),
        (np.ones(3), {}, r"X has shape \(3,\); expected a sparse matrix or array of two dimensions"),
        ([[1.0, 0.0], [0.0, 1.0]], {}, "X is list of list; expected a sparse matrix or array of two dimensions"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, matrix, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shards.write_matrix(matrix, tmp_path / "a", **options)
    assert not os.listdir(tmp_path)


def test_numbers_too_small_to_be_squared_are_no_entries(tmp_path: Path) -> None:
    X = sp.csr_matrix([[1.0, 1e-120], [0.0, 2.0]])
    shards.write_matrix(X, tmp_path / "a")
    found = sp.vstack(list(shards.open(tmp_path / "a")))
    assert found.nnz == 2
    assert X.nnz == 3


def test_a_matrix_may_have_one_column_but_not_none(tmp_path: Path) -> None:
    shards.write_matrix(sp.csr_matrix([[1.0], [2.0]]), tmp_path / "a")
    assert shards.open(tmp_path / "a").shape == (2, 1)
    path = tmp_path / "a" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"n_columns": 0}))
    with pytest.raises(ShardError, match="n_columns is not as it must be; expected a number from 1 to"):
        shards.open(tmp_path / "a")


def test_labels_of_rows_that_do_not_follow_each_other_are_refused(folder: Path) -> None:
    forge(folder, "label_starts", lambda array: array.__setitem__(1, array[2] + 1))
    with pytest.raises(ShardError, match="the starts of the labels of rows are out of order"):
        _ = shards.open(folder).labels


def test_counts_and_labels_that_do_not_add_up_are_refused(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    np.save(folder / "counts.npy", np.zeros(12, dtype=np.int64))
    with pytest.raises(ShardError, match="add up"):
        _ = shards.open(folder).column_counts
    forge(copy, "labels", lambda array: array.__setitem__(0, 7))
    with pytest.raises(ShardError, match="label number that is none"):
        _ = shards.open(copy).labels


@pytest.mark.parametrize("memory", ["2 apples", "", "-1", 0, "0G"])
def test_memory_that_is_no_number_of_bytes_is_refused(folder: Path, memory: object) -> None:
    with pytest.raises(ValueError, match="memory is"):
        shards.open(folder, memory=memory)


def test_memory_is_read_in_the_usual_units(folder: Path) -> None:
    assert shards.open(folder, memory="1.5G").memory == 3 * 2**29
    assert shards.open(folder, memory="200 MiB").memory == 200 * 2**20


def test_a_link_in_place_of_the_unfinished_folder_is_refused_and_what_it_leads_to_stays(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept.txt").write_text("kept")
    (tmp_path / ".news.unfinished").symlink_to(other)
    with pytest.raises(ShardError, match=r"\.news\.unfinished is a symbolic link"):
        shards.write_matrix(np.eye(3), tmp_path / "news")
    assert [path.name for path in other.iterdir()] == ["kept.txt"]
