"""``python -m reproduction``, once in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from reproduction.__main__ import main
from reproduction.catalogue import every_experiment

ROOT = str(Path(__file__).parents[2])


class Done(NamedTuple):
    """What became of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """An empty folder, without collections and with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BAYESIFT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BAYESIFT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def reproduction(empty_folder, monkeypatch, capsys):
    """Run the command there, as ``python -m reproduction`` does."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["reproduction", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return call


def test_the_list_names_every_experiment(reproduction):
    done = reproduction("--list")
    assert done.returncode == 0
    listed = {line.split()[0] for line in done.stdout.splitlines() if "/" in line.split(" ")[0]}
    assert listed == set(every_experiment())


def test_the_list_of_a_paper_says_what_can_run_here(reproduction):
    done = reproduction("genkin2007", "--list")
    experiments = re.split(r"^(genkin2007/\w+)", done.stdout, flags=re.MULTILINE)
    shows = {name: " ".join(text.split()) for name, text in zip(experiments[1::2], experiments[2::2], strict=True)}
    assert "Cannot run here" not in shows["genkin2007/figure1"]
    assert shows["genkin2007/table1"].endswith("Cannot run here: no smart.")


@pytest.mark.slow
def test_a_report_pictures_and_a_page(reproduction, tmp_path):
    words = [sys.executable, "-m", "reproduction", "genkin2007/figure2", "-o", "out", "--page", "docs/page.md"]
    path = os.pathsep.join([ROOT, str(Path(ROOT) / "src")])
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    assert "3 of 3 conclusions hold" in done.stdout
    [result] = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert result["verdict"] == "agrees"
    assert (tmp_path / "out" / result["figures"][0]["file"]).exists()
    assert "Figure 2" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = (tmp_path / "docs" / "page.md").read_text(encoding="utf-8")
    assert page == (tmp_path / "out" / "report.md").read_text(encoding="utf-8").replace(
        "](genkin", "](images/reproduction/genkin"
    )
    # The page can be made again from the folder alone.
    (tmp_path / "docs" / "page.md").unlink()
    again = reproduction("-o", "out", "--page", "docs/page.md")
    assert again.returncode == 0
    assert (tmp_path / "docs" / "page.md").read_text(encoding="utf-8") == page


def test_a_missing_collection_skips_with_a_sentence(reproduction):
    done = reproduction("murphy2012/table3.1", "--quick")
    assert done.returncode == 0
    assert "skipped: needs 20newsgroups, not found in" in done.stdout
    assert "bayesift data fetch 20newsgroups" in done.stdout


def test_an_unknown_name_is_refused_with_near_ones(reproduction):
    done = reproduction("genkin2007/tabel1")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "reproduction: there is no experiment 'genkin2007/tabel1'; did you mean genkin2007/table1"
    )


@pytest.mark.parametrize(("words", "complaint"), [([], "name experiments"), (["--all", "--page", "x.md"], "--output")])
def test_what_is_missing_on_the_command_line_is_told(reproduction, words, complaint):
    done = reproduction(*words)
    assert done.returncode == 2
    assert complaint in done.stderr
