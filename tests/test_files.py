"""Files that are whole or not there, whatever stands in their place and however the process ends."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from bayesift._files import atomic_path, open_output, remove_left_over
from file_cases import file_size_limit

posix = pytest.mark.skipif(os.name != "posix", reason="devices, pipes and locks of POSIX")


def test_the_file_takes_its_place_when_the_block_ends(tmp_path):
    target = tmp_path / "a" / "b" / "file.txt"
    with atomic_path(target) as temporary:
        assert temporary.parent.parent == target.parent
        assert temporary.name == "file.txt"
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


@posix
@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_are_those_of_a_new_file(tmp_path, mask, expected):
    before = os.umask(mask)
    try:
        with atomic_path(tmp_path / "file") as temporary:
            temporary.write_text("new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == expected


@posix
def test_a_file_keeps_its_permissions_when_it_is_replaced(tmp_path):
    target = tmp_path / "file"
    target.write_text("private")
    target.chmod(0o600)
    with atomic_path(target) as temporary:
        temporary.write_text("new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@posix
def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    file, link, dangling = tmp_path / "there" / "data.bin", tmp_path / "link.png", tmp_path / "dangling"
    file.write_text("old")
    link.symlink_to("there/data.bin")
    dangling.symlink_to("there/new.bin")
    for path in (link, dangling):
        with atomic_path(path) as temporary:
            # By the ending some writers choose a format.
            assert temporary.suffix == path.suffix
            temporary.write_text("new")
        assert path.is_symlink()
    assert file.read_text() == (tmp_path / "there" / "new.bin").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["dangling", "link.png", "there"]


@posix
def test_links_in_a_circle_and_folders_are_refused_before_the_block(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for name, error in (("a", "Too many levels of symbolic links"), (".", "Is a directory")):
        with pytest.raises(OSError, match=error), atomic_path(tmp_path / name):
            raise AssertionError("the block was entered")
    assert (tmp_path / "a").is_symlink()


@posix
@pytest.mark.parametrize("write", ["path", "stream"])
def test_a_pipe_is_written_to_and_stays(tmp_path, write):
    pipe, found = tmp_path / "pipe.txt", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    if write == "path":
        with atomic_path(pipe) as temporary:
            temporary.write_bytes(b"through")
    else:
        with open_output(pipe) as stream:
            stream.write(b"through")
    reader.join(60)
    assert found == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe.txt"]


@posix
def test_a_device_is_written_to_and_stays(tmp_path):
    link = tmp_path / "nowhere"
    link.symlink_to("/dev/null")
    for path in ("/dev/null", link):
        with atomic_path(path) as temporary:
            temporary.write_text("lost")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert link.is_symlink()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make devices")
def test_root_does_not_replace_a_device(tmp_path):
    node = tmp_path / "null"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.write_bytes(b"")
    except OSError:
        pytest.skip("devices cannot be made here")
    with atomic_path(node) as temporary:
        temporary.write_text("lost")
    assert stat.S_ISCHR(node.stat().st_mode)


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_standard_output_goes_on_where_it_is(tmp_path, name, mode):
    script = """
import sys
from bayesift._files import atomic_path, open_output
print("one")
with atomic_path(sys.argv[1]) as temporary:
    temporary.write_text("two\\n")
with open_output(sys.argv[1]) as stream:
    stream.write(b"three\\n")
print("four")
"""
    (tmp_path / "link").symlink_to("/dev/stdout")
    out = tmp_path / "out"
    out.write_text("before\n")
    with out.open(mode) as stream:
        subprocess.run([sys.executable, "-c", script, name], stdout=stream, check=True, timeout=120, cwd=tmp_path)
    before = "before\n" if mode == "ab" else ""
    assert out.read_text() == before + "one\ntwo\nthree\nfour\n"


#: Writes a file and waits in the middle, until it is killed or gets a line.
WRITER = """
import sys
from bayesift._files import atomic_path
with atomic_path(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print(temporary.parent.name, flush=True)
    sys.stdin.readline()
"""


def writer(target):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(target)], **pipes)
    return process, process.stdout.readline().strip()


@posix
def test_what_a_killed_process_left_is_removed_by_the_next_and_what_a_living_one_writes_is_not(tmp_path):
    target = tmp_path / "file [1].txt"
    target.write_text("old")
    living, kept = writer(target)
    killed, left = writer(target)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    own = {".file [1].txt.deadbeef.unfinished.txt", ".file [1].txt.deadbeef", ".file 1.txt.deadbeef.unfinished"}
    for name in own:
        (tmp_path / name).mkdir()
    assert set(os.listdir(tmp_path)) == {target.name, kept, left, *own}
    assert target.read_text() == "old"
    with atomic_path(target) as temporary:
        temporary.write_text("new")
    assert set(os.listdir(tmp_path)) == {target.name, kept, *own}
    living.communicate("\n", timeout=60)
    assert living.returncode == 0
    assert target.read_text() == "half"
    assert set(os.listdir(tmp_path)) == {target.name, *own}


@posix
def test_left_over_files_are_removed_without_writing(tmp_path):
    killed, left = writer(tmp_path / "file")
    killed.kill()
    killed.communicate(timeout=60)
    assert os.listdir(tmp_path) == [left]
    remove_left_over(tmp_path / "file")
    assert os.listdir(tmp_path) == []


@posix
def test_many_writers_of_one_file_do_not_remove_what_the_others_write(tmp_path):
    target, errors = tmp_path / "file", []

    def write(number):
        try:
            for _ in range(30):
                with atomic_path(target) as temporary:
                    temporary.write_text(str(number) * 1000)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(set(target.read_text())) == 1
    assert os.listdir(tmp_path) == ["file"]


def test_the_longest_names(tmp_path):
    target = tmp_path / ("ä" * 120 + "0123456789")
    with atomic_path(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


@posix
@pytest.mark.parametrize(("exists", "said"), [(True, "the file is as it was before"), (False, "nothing was written")])
def test_a_full_disk_leaves_the_old_file(tmp_path, exists, said):
    target = tmp_path / "new" / "file.txt"
    if exists:
        target.parent.mkdir()
        target.write_text("old")
    said = f"File too large, {said}"
    with file_size_limit(1000), pytest.raises(OSError, match=said) as error, atomic_path(target) as temporary:
        temporary.write_bytes(b"new" * 1000)
    assert error.value.filename == str(target)
    assert sorted(os.listdir(tmp_path)) == (["new"] if exists else [])
    if exists:
        assert (target.read_text(), os.listdir(target.parent)) == ("old", ["file.txt"])


@posix
@pytest.mark.parametrize("name", ["/dev/full", "link"])
def test_a_device_that_is_full_is_an_error(tmp_path, monkeypatch, name):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(OSError, match=f"No space left on device: '{name}'"), atomic_path(name) as temporary:
        temporary.write_text("new")
    with pytest.raises(OSError, match=f"No space left on device: '{name}'"), open_output(name) as stream:
        stream.write(b"new")


@posix
def test_file_and_folder_are_on_the_disk_around_the_renaming(tmp_path, monkeypatch):
    """The order of the calls to the system, which no test can see in any other way without a power cut."""
    calls = []

    def noted(name, function, what):
        def call(*arguments):
            calls.append((name, what(*arguments)))
            return function(*arguments)

        monkeypatch.setattr(os, name, call)

    def kind(number):
        return "folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file"

    noted("fsync", os.fsync, kind)
    noted("replace", os.replace, lambda source, target: os.path.basename(target))
    with atomic_path(tmp_path / "made" / "file") as temporary:
        temporary.write_text("new")
    assert calls == [("fsync", "folder"), ("fsync", "file"), ("replace", "file"), ("fsync", "folder")]
