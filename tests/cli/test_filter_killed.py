"""``bayesift filter`` that is killed at random moments: each decision is written, each judgement counts once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from bayesift.datasets import load
from command_cases import CommandRunner

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")

#: Lives of the same command. They are forked, so that each has everything loaded at once, and each is killed a moment
#: after the journal has grown by a random amount.
LIVES = """
import os, random, signal, sys, time
from bayesift.cli import main

folder, way, most, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.chdir(folder)
line = "bayesift filter stream.jsonl --topics topics.jsonl --train train.jsonl --state {state} -q"

def run(state, out):
    sys.argv = line.format(state=state).split() + (["-o", out] if way == "file" else [])
    if way == "stdout":
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), 1)
    try:
        main()
    except SystemExit as stop:
        return stop.code or 0
    return 0

def child(*arguments):
    number = os.fork()
    if number == 0:
        os._exit(run(*arguments))
    return number

answers = os.dup(1)
assert run("warm", "warm.jsonl") == 0
assert os.waitpid(child("whole", "whole.jsonl"), 0)[1] == 0

def size(state):
    try:
        return os.path.getsize(f"{state}/journal.jsonl")
    except FileNotFoundError:
        return 0

moments, kills = random.Random(seed), 0
while True:
    goal = size("state") + moments.uniform(0, 2 * size("whole") / most)
    number, ended = child("state", "out.jsonl"), 0
    while not ended:
        if size("state") >= goal:
            time.sleep(moments.uniform(0, 0.003))
            os.kill(number, signal.SIGKILL)
        time.sleep(0.0005)
        ended, status = os.waitpid(number, os.WNOHANG)
    kills += os.WIFSIGNALED(status)
    if os.WIFEXITED(status):
        os.write(answers, f"{kills} {os.WEXITSTATUS(status)}".encode())
        break
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder, news = tmp_path_factory.mktemp("inputs"), load("newsroom")
    rows = zip(news.test.ids, news.test.texts, news.test.labels, strict=True)
    stream = [{"id": i, "text": t, "topics": list(labels)} for i, t, labels in rows]
    topics = [{"name": name, "statement": news.descriptions[name]} for name in ("courts", "energy", "health")]
    train = [{"text": t, "labels": list(y)} for t, y in zip(news.train.texts, news.train.labels, strict=True)]
    for name, found in (("stream", stream), ("topics", topics), ("train", train)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    return folder


def copied(inputs, folder):
    for path in inputs.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.mark.parametrize("way", ["stdout", "file"])
def test_every_decision_is_written_and_every_judgement_counts_once(inputs, tmp_path, way):
    folder = copied(inputs, tmp_path)
    command = [sys.executable, "-c", LIVES, str(folder), way, "20", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    kills, status = map(int, done.stdout.split())
    assert status == 0, done.stderr
    assert kills >= 1
    whole = (folder / "whole.jsonl").read_text().splitlines()
    written = (folder / "out.jsonl").read_text().splitlines()
    assert len(whole) > 50
    if way == "file":
        assert written == whole
    # In their order, and at most one of them again after each kill.
    assert list(dict.fromkeys(written)) == whole
    assert len(written) <= len(whole) + kills
    entries = [json.loads(line)["entry"] for line in (folder / "state" / "journal.jsonl").read_text().splitlines()]
    judged = Counter((entry["place"], entry["topic"]) for entry in entries if entry["kind"] == "judged")
    assert set(judged.values()) == {1}
    decisions = [json.loads(line) for line in whole]
    assert sorted(judged) == sorted((entry["place"], entry["topic"]) for entry in decisions)
    assert sorted(os.listdir(folder / "state")) == ["journal.jsonl", "snapshot.npz"]
    states = [(folder / state / "snapshot.npz").read_bytes() for state in ("whole", "state")]
    assert len(states[0]) == len(states[1])


@pytest.fixture
def runner(inputs, tmp_path, monkeypatch, capfd):
    return CommandRunner(copied(inputs, tmp_path), monkeypatch, capfd)


LINE = "filter stream.jsonl --topics topics.jsonl --train train.jsonl -q"


def test_the_file_of_a_resumed_run_is_only_added_to(runner):
    folder, line = runner.folder, f"{LINE} --state state"
    stream = (folder / "stream.jsonl").read_text().splitlines(keepends=True)
    (folder / "stream.jsonl").write_text("".join(stream[:40]))
    out = folder / "out.jsonl"
    # Nothing of this run: refused before the training, and left alone.
    out.write_text("mine")
    done = runner.run(f"{line} -o out.jsonl")
    assert (done.status, out.read_text()) == (1, "mine")
    assert "out.jsonl is not empty, though state holds no run yet" in done.err
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
        (second[:50] + "x" + second[51:], "line 1, is no decision of this run"),
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
