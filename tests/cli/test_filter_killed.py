"""``bayesift filter`` that is killed at random moments: each decision is written, each judgement counts once."""

from __future__ import annotations

import json
import os
import sys

import pytest

from command_cases import CommandRunner
from tools.fuzz.kills import LINE, WAYS, killed_runs, write_inputs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


def copied(inputs, folder):
    for path in inputs.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.mark.slow
def test_every_decision_is_written_and_every_judgement_counts_once(inputs, tmp_path):
    for way, found in zip(WAYS, killed_runs(copied(inputs, tmp_path), WAYS, lives=12, seed=7), strict=True):
        assert found.is_right, (way, found)
        assert found.kills >= 3
        assert found.decisions > 50
        if way == "file":
            assert found.again == 0
        assert sorted(os.listdir(tmp_path / way / "killed")) == ["journal.jsonl", "snapshot.npz"]


@pytest.fixture
def runner(inputs, tmp_path, monkeypatch, capfd):
    return CommandRunner(copied(inputs, tmp_path), monkeypatch, capfd)


def test_the_file_of_a_resumed_run_is_only_added_to(runner):
    folder, line = runner.folder, f"{LINE} --state state"
    stream = (folder / "stream.jsonl").read_text().splitlines(keepends=True)
    (folder / "stream.jsonl").write_text("".join(stream[:40]))
    out = folder / "out.jsonl"
    # Nothing of this run: refused before the training, and left alone.
    out.write_text("mine")
    done = runner.run(f"{line} -o out.jsonl")
    assert (done.status, out.read_text()) == (1, "mine")
    assert "out.jsonl is not empty, although state holds no run yet" in done.err
    assert not (folder / "state").exists()
    out.unlink()
    assert runner.run(f"{line} -o out.jsonl").status == 0
    first, number = out.read_text(), out.stat().st_ino
    (folder / "stream.jsonl").write_text("".join(stream[:80]))
    # The file lost a part of a line, and two lines before it.
    out.write_text("".join(first.splitlines(keepends=True)[:-3]) + first.splitlines()[-3][:20])
    assert runner.run(f"{line} -o out.jsonl").status == 0
    second = out.read_text()
    assert second.startswith(first)
    assert len(second) > len(first)
    assert out.stat().st_ino == number
    for content, message in (
        (second + second.splitlines(keepends=True)[0], "holds decisions after line"),
        (second[:50] + "x" + second[51:], "line 1, is not a decision of this run"),
    ):
        out.write_text(content)
        done = runner.run(f"{line} -o out.jsonl")
        assert (done.status, out.read_text()) == (1, content)
        assert message in done.err
    # Another file gets all of them, and standard output those that may not have been written.
    assert runner.run(f"{line} -o new/other.jsonl").status == 0
    assert (folder / "new" / "other.jsonl").read_text() == second
    done = runner.run(line)
    assert (done.status, done.out) == (0, "")


def test_without_a_state_the_file_is_replaced(runner):
    out = runner.folder / "out.jsonl"
    out.write_text("old")
    assert runner.run(f"{LINE} -o out.jsonl").status == 0
    assert all(json.loads(line)["judged"] for line in out.read_text().splitlines())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_decisions_that_could_not_be_printed_are_printed_on_resuming(runner):
    folder, line = runner.folder, f"{LINE} --state state"
    done = runner.run(f"{line} -o /dev/full")
    assert done.status == 1
    assert "No space left on device" in done.err
    assert "Traceback" not in done.err
    assert runner.run(f"{line} -o /dev/full").status == 1
    printed = runner.run(line).out.splitlines()
    entries = [json.loads(line)["entry"] for line in (folder / "state" / "journal.jsonl").read_text().splitlines()]
    judged = [(entry["place"], entry["topic"]) for entry in entries if entry["kind"] == "judged"]
    assert [(entry["place"], entry["topic"]) for entry in map(json.loads, printed)] == judged
