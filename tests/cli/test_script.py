"""The command in a process of its own: signals, pipes, start-up, folders that cannot be written, completion."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bayesift
import bayesift.cli
from bayesift.formats import save
from bayesift.workflow import MEASURES, MODELS, TextClassifier
from command_cases import mails, write_csv

COMMAND = [sys.executable, "-m", "bayesift"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model and data to classify."""
    folder = tmp_path_factory.mktemp("script")
    rows = mails(60)
    classifier = TextClassifier("ridge", variance=1.0).fit([row[1] for row in rows], [row[2] for row in rows])
    save(classifier, folder / "mails.bayesift")
    write_csv(folder / "mails.csv", ["id", "text", "label"], rows)
    write_csv(folder / "long.csv", ["id", "text"], [row[:2] for row in mails(60)] * 500)
    return folder


def run(*arguments, cwd, **options):
    return subprocess.run([*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_end_from_outside_leaves_nothing_half_written(folder, tmp_path, number, status):
    shutil.copy(folder / "mails.bayesift", tmp_path)
    before = set(tmp_path.iterdir())
    process = subprocess.Popen(
        [*COMMAND, "classify", "mails.bayesift", "-", "-o", "out/sorted.csv", "--input-format", "lines"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Tests that a shell runs in the background ignore SIGINT, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # The command waits for more lines; its file is begun by then.
    process.stdin.write(b"free cash prize\n" * 50_000)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("out/.sorted*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.glob("out/.sorted*"))
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == status
    assert error.endswith(b"; nothing is left half-written\n")
    assert b"Traceback" not in error
    assert set(tmp_path.iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_compiled_loop_does_not_hold_up_the_end(tmp_path, number, status):
    # The loop runs for hours without a step of the interpreter, on the main thread and on another.
    script = (
        "import hashlib, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from bayesift._ending import ending_when_asked\n"
        "from bayesift._files import atomic_path\n"
        "def loop(): hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)\n"
        "with ending_when_asked('trial'), atomic_path('out/result') as path, atomic_path('/dev/null'):\n"
        "    threading.Thread(target=loop).start()\n"
        "    print('begun', flush=True)\n"
        "    loop()\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == status
    assert error.startswith("trial: ")
    assert error.endswith("nothing is left half-written\n")
    assert list(tmp_path.iterdir()) == []


def test_signals_are_as_before_after_a_command(capsys, monkeypatch):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(sys, "argv", ["bayesift", "--version"])
    with pytest.raises(SystemExit):
        bayesift.cli.main()
    assert capsys.readouterr().out.startswith("bayesift ")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_process_that_takes_no_notice_goes_on(tmp_path):
    script = (
        "import os, signal\n"
        "from bayesift._ending import ending_when_asked\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with ending_when_asked('trial'):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    __import__('time').sleep(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_broken_pipe_is_silent(folder):
    process = subprocess.Popen(
        [*COMMAND, "classify", "mails.bayesift", "long.csv"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"id,text,predicted\n"
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) != 0
    assert error == b""


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_error(folder, tmp_path, closed):
    model, sorted_ = shlex.quote(str(folder / "mails.bayesift")), shlex.quote(str(tmp_path / "sorted.csv"))
    line = f"{shlex.join(COMMAND)} classify {model} {shlex.quote(str(folder / 'mails.csv'))} -o {sorted_} {closed}"
    assert subprocess.run(line, shell=True, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "sorted.csv").stat().st_size > 100
    line = f"{shlex.join(COMMAND)} info {model} --json {closed}"
    assert subprocess.run(line, shell=True, cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize("columns", ["0", "-3", "wide", ""])
def test_a_width_that_is_none_does_not_count(folder, columns):
    found = run("data", "list", cwd=folder, env={**os.environ, "COLUMNS": columns})
    assert "20newsgroups" in found.stdout


def test_a_model_is_written_although_nobody_reads_the_report(folder, tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "train", "mails.csv", "-o", str(tmp_path / "new.bayesift"), "--model", "nb"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), error) == (0, b"")
    assert (tmp_path / "new.bayesift").exists()


def test_the_script_is_installed(folder):
    script = Path(sys.executable).parent / "bayesift"
    if not script.exists():
        pytest.skip("the package is not installed beside this interpreter")
    options = {"cwd": folder, "env": {**os.environ, "NO_COLOR": "1"}, "capture_output": True, "text": True}
    done = subprocess.run([script, "info", "mails.bayesift"], check=True, **options)
    assert done.stdout.startswith("mails.bayesift: ridge")
    assert "\x1b" not in done.stdout


def test_help_of_every_command_imports_nothing_heavy():
    script = (
        "import sys; from bayesift.cli import main; sys.argv = ['bayesift', *sys.argv[1:]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'numba', 'skops'} & set(sys.modules)))"
    )
    for command in ("train", "classify", "path"):
        done = subprocess.run(
            [sys.executable, "-c", script, command, "--help"], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "[]"


def test_completion_offers_commands_and_choices(folder):
    def offered(words):
        environment = {**os.environ, "_BAYESIFT_COMPLETE": "complete_bash", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split(" ")) - 1)
        return run(cwd=folder, env=environment).stdout.split()

    assert "classify" in offered("bayesift cl")
    assert "polytomous" in offered("bayesift train x --model po")


def test_completion_is_shown_for_the_shell_that_asks(folder):
    # Which shell that is the command finds out from the process that started it.
    line = f"{shlex.join([*COMMAND, '--show-completion'])}; exit $?"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=True)
    assert "_bayesift_completion" in done.stdout


@pytest.mark.slow
def test_the_first_use_says_that_it_compiles_and_keeps_the_result(folder, tmp_path):
    # In a copy of the package without a cache, of which the smallest kernel is compiled.
    package = tmp_path / "package" / "bayesift"
    shutil.copytree(Path(bayesift.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "from bayesift.cli._shell import is_compiled, say_if_compiling\n"
        "import bayesift.text._scan as scan\n"
        "say_if_compiling()\n"
        "print(is_compiled('bayesift.text._scan'), scan.__file__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def first_line():
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert str(package) in done.stdout
        return done.stdout.split()[0], done.stderr

    compiled, said = first_line()
    assert compiled == "False"
    assert said.startswith("First use: compiling")
    fill = (
        "import numpy as np, bayesift.text._scan as scan\n"
        "scan._same_bytes(np.zeros(2, np.uint8), 0, np.zeros(2, np.uint8), 0, 2)"
    )
    subprocess.run([sys.executable, "-c", fill], env=environment, check=True)
    assert first_line() == ("True", "")


def test_the_choices_of_the_command_line_are_those_of_the_workflow():
    from bayesift.cli._words import Score
    from bayesift.cli.convert import Target
    from bayesift.cli.train import MeasureName, ModelName, Policy
    from bayesift.decide.tuning import TUNED
    from bayesift.select.selector import _NAMED
    from bayesift.workflow.convert import TARGETS

    assert [str(name) for name in ModelName] == ["auto", *MODELS]
    assert [str(name) for name in MeasureName] == ["auto", *MEASURES]
    assert {str(name) for name in Policy} == {"auto", "half", *TUNED}
    assert {str(name) for name in Score} == set(_NAMED)
    assert [str(name) for name in Target] == list(TARGETS)


def test_what_the_word_on_compiling_looks_at_are_modules_with_kernels():
    from importlib import import_module

    from bayesift.cli._shell import _FIRST, _ROOMS

    for module in _FIRST.values():
        assert any(hasattr(value, "py_func") for value in vars(import_module(module)).values()), module
    assert set(_ROOMS.values()) <= set(_FIRST)
    assert set(_ROOMS) <= {"auto", *MODELS}
