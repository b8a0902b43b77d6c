"""Files that are whole or not there."""

from __future__ import annotations

import os
import stat

import pytest

from bayesift._files import atomic_path


def test_the_file_takes_its_place_when_the_block_ends(tmp_path):
    target = tmp_path / "a" / "b" / "file.txt"
    with atomic_path(target) as temporary:
        assert temporary.parent == target.parent
        assert temporary.suffix == ".txt"
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["file.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_nothing_that_was_not_there(tmp_path, error):
    (tmp_path / "kept").mkdir()
    with pytest.raises(error), atomic_path(tmp_path / "kept" / "a" / "b" / "file.txt"):
        raise error
    assert list(tmp_path.rglob("*")) == [tmp_path / "kept"]


def write_and_fail(target, written):
    with atomic_path(target) as temporary:
        (written or temporary).write_text("half")
        raise ValueError("stop")


def test_a_failure_leaves_what_others_wrote_meanwhile(tmp_path):
    with pytest.raises(ValueError, match="stop"):
        write_and_fail(tmp_path / "a" / "b" / "file.txt", written=tmp_path / "a" / "other")
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a" / "other"]


def test_a_failure_leaves_the_old_file(tmp_path):
    target = tmp_path / "file.txt"
    target.write_text("old")
    with pytest.raises(ValueError, match="stop"):
        write_and_fail(target, written=None)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_are_those_of_a_new_file(tmp_path, mask, expected):
    before = os.umask(mask)
    try:
        with atomic_path(tmp_path / "file") as temporary:
            temporary.write_text("new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == expected
