"""The command lines of the original programs, run by ours: the same models, results and printed figures."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import golden
from bayesift.formats.bbr import read_binary_model, read_binary_results

CASES = golden.commands()
BINARY = [case for case in CASES if case.startswith("bbr-")]
INPUTS = ("binary.train", "binary.test", "poly.train", "poly.test", "priors.txt", "priors-class.txt")
#: The original loses the density where a variance is 0 or infinite, and its clock is not ours.
NOT_COMPARED = re.compile(r"Time |Log prior \(penalty\) -nan|max memory")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the input files, which is the current one."""
    for name in INPUTS:
        shutil.copyfile(golden.FOLDER / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, capsys):
    """Run a command by its main function; gives what it printed."""
    program, *arguments = command
    status = import_module(f"bayesift.cli.bbr.{program.lower()}").main(arguments)
    found = capsys.readouterr()
    assert (status, found.err) == (0, "")
    return found.out


def figures(text):
    """The lines that follow the first headline of results, and those that state a choice."""
    chosen = re.findall(r"(?m)^\tTuned threshold.*|^Final prior variance.*|^Class sizes.*|^Beta components.*", text)
    return chosen + [line for line in text[text.find("---") :].splitlines() if not NOT_COMPARED.match(line)]


@golden.needs_golden
@pytest.mark.parametrize("case", BINARY)
def test_a_binary_case(case, folder, capsys):
    train, classify = CASES[case]
    for command, stage in ((train, "train"), (classify, "classify")):
        printed = run(command, capsys)
        expected = (golden.FOLDER / f"{case}.{stage}.stdout").read_text()
        # To the last of six or twelve digits: our solver takes the steps of the original.
        assert [line for line in figures(expected) if line not in printed.splitlines()] == []
    ours, theirs = (read_binary_model(where / f"{case}.model") for where in (folder, golden.FOLDER))
    np.testing.assert_allclose(ours.coefficients, theirs.coefficients, rtol=0, atol=1e-11)
    np.testing.assert_allclose([ours.intercept, ours.threshold], [theirs.intercept, theirs.threshold], atol=1e-11)
    for field in ("features", "restricted_to", "threshold_rule", "standardize", "cosine_normalize", "name", "topic"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert (folder / f"{case}.results").read_text() == (golden.FOLDER / f"{case}.results").read_text()
    # All lines but those of coefficients and threshold, whose twelfth digit may round the other way.
    texts = [(where / f"{case}.model").read_text().splitlines() for where in (folder, golden.FOLDER)]
    assert [line for line in texts[0] if line.split()[0] not in ("beta", "threshold")] == [
        line for line in texts[1] if line.split()[0] not in ("beta", "threshold")
    ]


@golden.needs_golden
@pytest.mark.parametrize("case", BINARY)
def test_the_fast_solver_finds_the_same_model(case, folder, capsys):
    train, _ = CASES[case]
    run([train[0], "--solver", "newton", *train[1:]], capsys)
    ours, theirs = (read_binary_model(where / f"{case}.model") for where in (folder, golden.FOLDER))
    pairs = [dict(zip(model.features, model.coefficients, strict=True)) for model in (ours, theirs)]
    for feature in {*pairs[0], *pairs[1]}:
        assert pairs[0].get(feature, 0.0) == pytest.approx(pairs[1].get(feature, 0.0), abs=1e-4)
    assert ours.intercept == pytest.approx(theirs.intercept, abs=1e-4)
    assert ours.threshold == pytest.approx(theirs.threshold, abs=1e-5)


@golden.needs_golden
def test_the_original_models_give_the_original_results(folder, capsys):
    for case in BINARY:
        shutil.copyfile(golden.FOLDER / f"{case}.model", folder / f"{case}.model")
        run(CASES[case][1], capsys)
        found, expected = (read_binary_results(where / f"{case}.results") for where in (folder, golden.FOLDER))
        assert [result.prediction for result in found] == [result.prediction for result in expected]
        np.testing.assert_allclose(
            [result.probability for result in found], [result.probability for result in expected], atol=1e-11
        )


@golden.needs_golden
def test_the_installed_scripts(folder):
    scripts = Path(sys.executable).parent
    for program, *arguments in CASES["bbr-laplace-t2"]:
        done = subprocess.run([scripts / program.lower(), *arguments], capture_output=True, text=True, check=True)
        assert done.stderr == ""
    assert (folder / "bbr-laplace-t2.results").read_text() == (golden.FOLDER / "bbr-laplace-t2.results").read_text()
