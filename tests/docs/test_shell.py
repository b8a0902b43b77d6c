"""The commands on the pages run as printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["index.md", "howto/own_data.md", "howto/few_labels.md"]

TICKETS = """number,message,team
1,The invoice shows the wrong amount,billing
2,I can not log in since the update,access
3,Please send the invoice again,billing
4,My password is not accepted,access
5,When will the refund be paid,billing
6,The login page stays empty,access
"""


def commands(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    return [
        line[2:]
        for block in re.findall(r"^```console$(.*?)^```$", text, re.M | re.S)
        for line in block.split("\n")[1:-1]
        if line.startswith("$ ")
    ]


@pytest.mark.slow
def test_the_lines_of_the_readme_run_in_a_shell(tmp_path):
    lines = commands("../README.md")
    targets = [line.split()[1] for line in lines if line.startswith("make ")]
    assert lines[0].startswith("make demo")
    assert [target for target in targets if f"\n{target}:" not in (DOCS.parent / "Makefile").read_text()] == []
    # What 'make demo' makes: an environment that has the command, to be found after its script has run.
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "activate").write_text(f"PATH={shlex.quote(str(scripts))}:$PATH\n")
    (scripts / "bayesift").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bayesift "$@"\n')
    (scripts / "bayesift").chmod(0o755)
    script = "\n".join(line for line in lines if not line.startswith("make "))
    done = subprocess.run(["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sorted.csv").exists()


def test_what_the_readme_installs_can_be_installed():
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"pip install '?bayesift\[(\w+)\]", text)
    assert named
    assert set(named) <= set(extras)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tickets.csv").write_text(TICKETS, encoding="utf-8")
    (tmp_path / "new.csv").write_text("number,message\n7,The amount of the invoice is wrong\n", encoding="utf-8")
    text = (DOCS / "howto/few_labels.md").read_text(encoding="utf-8")
    (tmp_path / "teams.toml").write_text(re.search(r"^```toml$(.*?)^```$", text, re.M | re.S)[1], encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_commands_do_what_they_promise(folder):
    # The same command stands on several pages.
    lines = list(dict.fromkeys(line for page in PAGES for line in commands(page)))
    assert len(lines) == 3
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "bayesift"
        done = subprocess.run(
            [sys.executable, "-m", "bayesift", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    answer = (folder / "answers.csv").read_text(encoding="utf-8").splitlines()[1]
    number, _, label, access, billing, reasons = answer.split(",", 5)
    assert (number, label) == ("7", "billing")
    assert float(access) < 0.4 < float(billing)
    assert "amount" in reasons
