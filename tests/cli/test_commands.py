"""Commands as data: each case of ``commands/*.toml`` is a command line, its inputs, what it prints and its exit status.

An expected line may hold numbers as ``<value±tolerance>``; it matches if some line printed has the same words, spaces
apart, and numbers within the tolerances. ``…`` stands for anything.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from bayesift.cli._shell import console, table
from command_cases import CommandRunner, matches

CASES = [
    pytest.param(case, id=f"{file.stem}: {case['name']}")
    for file in sorted((Path(__file__).parent / "commands").glob("*.toml"))
    for case in tomllib.loads(file.read_text(encoding="utf-8"))["case"]
]


def test_numbers_are_compared_within_their_tolerance():
    assert matches("F1 <0.9±0.05> of…texts", "micro  F1 0.93   of 20 texts")
    assert not matches("F1 <0.9±0.02> of", "F1 0.93 of")
    assert not matches("precision <0.9±0.02>", "F1 0.93 of")


def test_there_are_enough_cases_and_many_are_failures():
    failures = [case.values[0] for case in CASES if case.values[0].get("status", 0) != 0]
    assert len(CASES) >= 120
    assert len(failures) >= 25


def test_a_narrow_terminal_cuts_nothing(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    rows = table("label", ">texts")
    rows.add_row("comp.sys.ibm.pc.hardware", "12,345")
    console().print(rows)
    lines = capsys.readouterr().out.splitlines()
    assert "".join(line[:12].strip() for line in lines[1:]) == "comp.sys.ibm.pc.hardware"
    assert lines[1].endswith("12,345")


@pytest.mark.parametrize(
    ("columns", "last"),
    [(80, "…█ <0.1±0.1> (<0.1±0.1>–<0.1±0.1>)"), (70, " <0.1±0.1> (<0.1±0.1>–<0.1±0.1>)"), (60, " <0.1±0.1>")],
)
def test_bars_and_intervals_give_way_to_numbers(made_workspace, monkeypatch, capfd, columns, last):
    monkeypatch.setenv("COLUMNS", str(columns))
    done = CommandRunner(made_workspace, monkeypatch, capfd).run("evaluate mails.bayesift more.csv")
    assert matches(f"ham <20±0> <20±1> <1±0.1> <1±0.1> <1±0.1>{last}", done.out), done.out
    assert all(len(line) <= columns for line in done.out.splitlines())


@pytest.mark.parametrize("case", CASES)
def test_command(case, made_workspace, tmp_path, monkeypatch, capfd):
    folder = tmp_path / "work"
    shutil.copytree(made_workspace, folder)
    for name, content in case.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode("utf-8") if isinstance(content, str) else bytes(content))
    before = {path.relative_to(folder) for path in folder.rglob("*")}
    runner = CommandRunner(folder, monkeypatch, capfd)
    for line in case.get("before", []):
        assert runner.run(line).status == 0
    done = runner.run(case["run"], case.get("stdin", ""))
    assert done.status == case.get("status", 0), done.err or done.out
    for expected in case.get("out", []):
        assert matches(expected, done.out), f"{expected!r} is not in:\n{done.out}"
    for expected in case.get("err", []):
        assert matches(expected, done.err), f"{expected!r} is not in:\n{done.err}"
    for unexpected in case.get("not", []):
        assert unexpected not in done.out + done.err
    assert "Traceback" not in done.err
    for name, lines in case.get("written", {}).items():
        content = (folder / name).read_text(encoding="utf-8")
        for expected in lines:
            assert matches(expected, content), f"{expected!r} is not in {name}:\n{content[:2000]}"
    if case.get("status", 0) == 1:
        # An error is a sentence and perhaps a hint, and leaves nothing behind.
        lines = done.err.strip().splitlines()
        assert lines[0].startswith("bayesift: ")
        assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: "))
        assert done.out == "" or case.get("some_output")
        assert {path.relative_to(folder) for path in folder.rglob("*")} == before or case.get("before")
    if case.get("silent"):
        assert (done.out, done.err) == ("", "")
