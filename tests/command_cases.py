"""A folder of files and models for the command tests, and a way to run commands in this process."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

from bayesift.cli import main
from bayesift.datasets import load

_REPOSITORY = Path(__file__).resolve().parents[1]
_SPAM = ("win a cash prize now", "claim your free prize call now", "free cash offer reply now", "urgent prize waiting")
_HAM = ("see you at lunch today", "running late sorry mate", "lunch at noon then", "call me when you are home")


_NUMBER = re.compile(r"<(-?[\d.]+)±([\d.]+)>")


def squeezed(text: str) -> str:
    """Leave out spaces, and the frames that are drawn around errors of usage."""
    return " ".join(text.replace("│", " ").split())


def matches(expected: str, text: str) -> bool:
    """Tell whether a text holds the words of a line, with its numbers within their tolerances."""
    wanted = squeezed(expected)
    numbers = [(float(value), float(tolerance)) for value, tolerance in _NUMBER.findall(wanted)]
    pattern = "".join(
        r"(-?[\d.]+(?:e[+-]?\d+)?)" if _NUMBER.fullmatch(part) else re.escape(part).replace("…", ".*?")
        for part in re.split(r"(<-?[\d.]+±[\d.]+>)", wanted)
    )
    return any(
        all(
            abs(float(found.rstrip(".")) - value) <= tolerance
            for found, (value, tolerance) in zip(match.groups(), numbers, strict=True)
        )
        for match in re.finditer(pattern, squeezed(text))
    )


class Done(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


class CommandRunner:
    """Runs command lines in a folder, in this process."""

    def __init__(self, folder: Path, monkeypatch, capture) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.capture = capture

    def run(self, line: str, stdin: str | list[int] = "") -> Done:
        given = stdin.encode() if isinstance(stdin, str) else bytes(stdin)
        self.monkeypatch.chdir(self.folder)
        # The tests are started in the repository, a command is not.
        self.monkeypatch.setattr(sys, "path", [place for place in sys.path if Path(place).resolve() != _REPOSITORY])
        for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
            self.monkeypatch.delitem(sys.modules, name)
        self.monkeypatch.setattr(sys, "argv", ["bayesift", *shlex.split(line)])
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        self.capture.readouterr()
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = stop.code or 0
        sys.stdout.flush()
        found = self.capture.readouterr()
        return Done(status, found.out, found.err)


def write_csv(path: Path, header: list[str], rows: list[list[str]], delimiter: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)


def mails(n: int, shift: int = 0) -> list[list[str]]:
    """Messages of two kinds, all different."""
    rows = []
    for number in range(n):
        label, texts = (("spam", _SPAM), ("ham", _HAM), ("ham", _HAM))[number % 3]
        rows.append([str(number + 1), f"{texts[(number + shift) % 4]} {number + shift}", label])
    return rows


def make_workspace(folder: Path) -> None:
    """Write the data files, and train the models that most cases use."""
    write_csv(folder / "mails.csv", ["id", "text", "label"], mails(60))
    write_csv(folder / "more.csv", ["id", "text", "label"], mails(30, 7))
    write_csv(folder / "new.csv", ["id", "text"], [row[:2] for row in mails(6, 3)])
    write_csv(folder / "semicolons.csv", ["text", "label"], [row[1:] for row in mails(60)], ";")
    write_csv(
        folder / "odd.csv", ["when", "what was said", "kind"], [[f"{n}:00", *r[1:]] for n, r in enumerate(mails(60))]
    )
    news = load("newsroom")
    for name, part in (("news", news.train), ("news-test", news.test)):
        rows = [[text, ";".join(labels)] for text, labels in zip(part.texts, part.labels, strict=True)]
        write_csv(folder / f"{name}.csv", ["text", "topics"], rows)
        single = [[text, labels.split(";")[0]] for text, labels in rows]
        write_csv(folder / f"{name}-one.csv", ["text", "topic"], single)
    with (folder / "mails.jsonl").open("w", encoding="utf-8") as stream:
        for number, text, label in mails(60):
            stream.write(json.dumps({"id": int(number), "text": text, "label": [label]}) + "\n")
    (folder / "known.toml").write_text('spam = "cash prizes, free offers"\n[ham]\nkeywords = { lunch = 1.0 }\n')
    (folder / "vectors.svm").write_text("1 1:1.0\n-1 2:1.0\n")
    (folder / "texts.txt").write_text("free cash prize\nlunch at noon\n")
    for line in (
        "train mails.csv -o mails.bayesift --quiet",
        "train mails.csv -o ridge.bayesift --model ridge --quiet",
        "train mails.csv -o nb.bayesift --model nb --quiet",
        "train news.csv -o news.bayesift --label-separator ; --no-check --quiet",
        "train news-one.csv -o one.bayesift --model polytomous --no-check --quiet",
    ):
        _quietly(folder, line)


def _quietly(folder: Path, line: str) -> None:
    import os

    before, arguments = Path.cwd(), sys.argv
    os.chdir(folder)
    sys.argv = ["bayesift", *line.split()]
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise AssertionError(line) from stop
    finally:
        os.chdir(before)
        sys.argv = arguments
