"""``bayesift filter`` killed at random moments and started again: what became of its decisions and judgements.

    python -m tools.fuzz.kills --runs 30 --seed 1

Each run is a stream of the embedded corpus whose command is killed (SIGKILL) a moment after its journal has grown by a
random amount, and started again, until it ends by itself. Runs write to standard output and to a file in turn. The exit
status is 1 if a decision is missing or in the wrong order, or a judgement was counted twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bayesift.datasets import load

LINE = "filter stream.jsonl --topics topics.jsonl --train train.jsonl -q"
_ROOT = Path(__file__).resolve().parents[2]
WAYS = ("stdout", "file")


class Outcome(NamedTuple):
    """What became of a run: ``again`` are decisions that were written more than once, ``judged_twice`` is an error."""

    kills: int
    decisions: int
    missing: int
    again: int
    in_order: bool
    judged_twice: int

    @property
    def is_right(self) -> bool:
        """Whether each decision was written, in order, and each judgement counted once."""
        return not self.missing and not self.judged_twice and self.in_order and self.again <= self.kills


def write_inputs(folder: Path) -> None:
    """Write the embedded corpus as a stream, training texts and topics."""
    news = load("newsroom")
    rows = zip(news.test.ids, news.test.texts, news.test.labels, strict=True)
    files = {
        "stream": [{"id": name, "text": text, "topics": list(labels)} for name, text, labels in rows],
        "topics": [{"name": name, "statement": news.descriptions[name]} for name in ("courts", "energy", "health")],
        "train": [
            {"text": t, "labels": list(labels)} for t, labels in zip(news.train.texts, news.train.labels, strict=True)
        ],
    }
    for name, found in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")


def killed_runs(folder: Path, ways: Sequence[str], lives: int, seed: int) -> list[Outcome]:
    """Run the command in a folder with its inputs, in about so many lives, and compare it with one that was not killed.

    Once for each way, with files that are named after it. The lives are forked from a process of its own, in which
    everything is loaded.
    """
    command = [sys.executable, "-m", "tools.fuzz.kills", "--lives", str(lives), "--seed", str(seed)]
    command += ["--folder", str(folder), "--ways", *ways]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=3600, cwd=_ROOT)
    return [_outcome(folder / way, int(kills)) for way, kills in zip(ways, done.stdout.split(), strict=True)]


def _outcome(folder: Path, kills: int) -> Outcome:
    whole, written = ((folder / f"{name}.jsonl").read_text().splitlines() for name in ("whole", "killed"))
    lines = (folder / "killed" / "journal.jsonl").read_text().splitlines()
    entries = [json.loads(line)["entry"] for line in lines]
    judged = Counter((entry["place"], entry["topic"]) for entry in entries if entry["kind"] == "judged")
    return Outcome(
        kills=kills,
        decisions=len(whole),
        missing=len(set(whole) - set(written)),
        again=len(written) - len(set(written)),
        in_order=list(dict.fromkeys(written)) == whole,
        judged_twice=sum(number > 1 for number in judged.values()) + abs(len(judged) - len(whole)),
    )


def _lives(folder: Path, way: str, lives: int, seed: int) -> int:
    """Run the command whole, then killed and started again until it ends by itself; return how often it was killed."""
    own = folder / way
    own.mkdir()
    for name in ("stream", "topics", "train"):
        (own / f"{name}.jsonl").symlink_to(folder / f"{name}.jsonl")
    os.chdir(own)
    answers = os.dup(1)
    for state in ("warm", "whole"):
        # The first loads what all others need.
        status = _run(state, way) if state == "warm" else os.waitpid(_child(state, way), 0)[1]
        if status != 0:
            raise RuntimeError(f"the command ended with status {status}")
    moments, kills, was_killed = random.Random(seed), 0, True
    while was_killed:
        goal = _size("killed") + moments.uniform(0, 2 * _size("whole") / lives)
        number, ended = _child("killed", way), 0
        while not ended:
            if _size("killed") >= goal:
                time.sleep(moments.uniform(0, 0.003))
                os.kill(number, signal.SIGKILL)
            time.sleep(0.0005)
            ended, status = os.waitpid(number, os.WNOHANG)
        was_killed = os.WIFSIGNALED(status)
        kills += was_killed
    os.dup2(answers, 1)
    if status != 0:
        raise RuntimeError(f"the command ended with status {os.WEXITSTATUS(status)}")
    return kills


def _child(state: str, way: str) -> int:
    number = os.fork()
    if number == 0:
        os._exit(_run(state, way))
    return number


def _run(state: str, way: str) -> int:
    """Run the command in this process; return its exit status."""
    from bayesift.cli import main

    out = f"{state}.jsonl"
    sys.argv = ["bayesift", *LINE.split(), "--state", state, *(["-o", out] if way == "file" else [])]
    if way == "stdout":
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), 1)
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def _size(state: str) -> int:
    try:
        return os.path.getsize(f"{state}/journal.jsonl")
    except FileNotFoundError:
        return 0


def main() -> int:
    """Run and print; return the exit status."""
    parser = argparse.ArgumentParser(description="Kill bayesift filter at random moments.")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--lives", type=int, default=40, help="about how many for a run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ways", choices=WAYS, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder is not None:
        print(*(_lives(options.folder, way, options.lives, options.seed) for way in options.ways))
        return 0
    total: Counter[str] = Counter()
    for run in range(options.runs):
        with TemporaryDirectory() as folder:
            write_inputs(Path(folder))
            [found] = killed_runs(Path(folder), WAYS[run % 2 : run % 2 + 1], options.lives, options.seed + run)
        print(run, WAYS[run % 2], found, flush=True)
        total.update(found._asdict(), wrong=not found.is_right)
    print(", ".join(f"{name} {number}" for name, number in total.items()))
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
