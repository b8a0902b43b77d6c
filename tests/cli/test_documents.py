"""The examples of README.md and docs/commands.md run as printed.

Blocks of Python are executed; in blocks of a console, lines that begin with ``$ bayesift`` are run in one folder, one
after the other, and every line below them must be in what is printed (``…`` stands for anything, spaces do not count,
numbers with a fraction may differ a little).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_cases import CommandRunner, mails, matches, write_csv

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FRACTION = re.compile(r"(?<![\w.:/+-])([+-]?)(\d+\.\d+)(?![\w.])")


def blocks(name: str, language: str) -> list[str]:
    path = ROOT / name
    return [content for found, content in _BLOCK.findall(path.read_text(encoding="utf-8")) if found == language]


def about(line: str) -> str:
    """Allow numbers with a fraction to differ a little."""
    return _FRACTION.sub(lambda m: f"{m[1]}<{m[2]}±{max(0.02, 0.05 * float(m[2])):.3f}>", line)


@pytest.mark.parametrize("name", ["README.md", "docs/commands.md"])
def test_python_as_printed(name, capsys):
    if not (ROOT / name).exists():
        pytest.skip(f"{name} is not beside the tests")
    assert blocks(name, "python") or name != "README.md"
    for content in blocks(name, "python"):
        exec(compile(content, name, "exec"), {})


@pytest.mark.parametrize("name", ["README.md", pytest.param("docs/commands.md", marks=pytest.mark.slow)])
def test_commands_as_printed(name, tmp_path, monkeypatch, capfd):
    if not (ROOT / name).exists():
        pytest.skip(f"{name} is not beside the tests")
    # What a reader who has messages of his own would have.
    write_csv(tmp_path / "mails.csv", ["id", "text", "label"], mails(60))
    runner = CommandRunner(tmp_path, monkeypatch, capfd)
    for content in blocks(name, "console"):
        done, lines = None, content.splitlines()
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            if line.startswith("$ bayesift "):
                done = runner.run(line.removeprefix("$ bayesift ").split(" #")[0])
                # A command may fail only where the page shows its error.
                assert (done.status == 0) != following.startswith("bayesift: "), f"{line}\n{done.err}"
            elif line.strip() and not line.startswith("$ ") and done is not None:
                assert matches(about(line), done.out + "\n" + done.err), f"{line!r} is not in\n{done.out}{done.err}"
            elif line.startswith("$ "):
                done = None
