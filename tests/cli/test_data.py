from __future__ import annotations

import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bayesift.cli import main
from bayesift.datasets import known


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line in this process; gives exit status, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["bayesift", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = stop.code or 0
        found = capsys.readouterr()
        return status, found.out, found.err

    return call


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "english.stop").write_text("the\nof\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()
        thread.join()


def test_list(run, empty_root):
    (empty_root / "sms-spam").mkdir()
    (empty_root / "sms-spam" / "SMSSpamCollection").write_text("ham\thello\n")
    status, out, err = run("data", "list")
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines() if line.strip()}
    assert (status, err) == (0, "")
    names = (*known(), "smart")
    assert {name: rows[name] for name in names} == {
        name: "yes" if name in ("newsroom", "sms") else "no" for name in names
    }
    assert str(empty_root) in out.replace("\n", "")


@pytest.mark.parametrize("name", [*known(), "smart"])
def test_info(run, name, tmp_path):
    status, out, err = run("data", "info", name, "--data-home", tmp_path)
    assert (status, err) == (0, "")
    assert out.startswith(f"{name}: ")
    assert "Cite:" in out


def test_fetch_with_a_bar(run, server, tmp_path):
    root = tmp_path / "data"
    address = f"{server}/english.stop"
    status, out, err = run("data", "fetch", "smart", "--data-home", root, "--url", address)
    assert (status, out) == (1, "")
    assert "--unverified" in err
    status, out, err = run("data", "fetch", "smart", "--data-home", root, "--url", address, "--unverified")
    assert status == 0
    assert out.strip().replace("\n", "") == str(root / "stopwords" / "english.stop")
    assert "smart" in err
    assert "7/7 bytes" in err
    status, out, err = run("data", "fetch", "smart", "--data-home", root, "--url", f"{server}/no", "--quiet")
    assert (status, err) == (0, "")  # it is there already


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("data", "info", "nope"), "bayesift: name must be one of newsroom, "),
        (("data", "fetch", "si650"), "bayesift: si650 cannot be fetched: no public address of it is known"),
        (("data", "fetch", "newsroom"), "bayesift: newsroom is part of the package, there is nothing to fetch"),
    ],
)
def test_an_expected_error_is_one_sentence(run, empty_root, arguments, sentence):
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith(sentence)
    assert err.count("\n") == 1


def test_an_error_of_the_system_names_the_file(run, server, tmp_path):
    (tmp_path / "data").write_text("a file where a folder is wanted")
    status, _, err = run(
        "data", "fetch", "smart", "--data-home", tmp_path / "data", "--url", f"{server}/english.stop", "--unverified"
    )
    assert status == 1
    assert str(tmp_path / "data") in err
    assert err.count("\n") == 1


def test_debug_shows_the_traceback(run):
    with pytest.raises(ValueError, match="name must be one of"):
        run("--debug", "data", "info", "nope")
    assert run("data", "info", "nope")[0] == 1


@pytest.mark.parametrize("arguments", [("data", "fetch"), ("data", "nope"), ("nope",), ("data", "list", "--nope")])
def test_a_command_not_understood_exits_with_2(run, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "Usage: bayesift" in err


@pytest.mark.parametrize("arguments", [["-m", "bayesift"], ["-c", "from bayesift.cli import main; main()"]])
def test_the_command_is_bayesift_however_it_was_called(arguments):
    done = subprocess.run([sys.executable, *arguments, "data", "--help"], capture_output=True, text=True, check=True)
    assert "Usage: bayesift data" in done.stdout


def test_version(run):
    from bayesift import __version__

    assert run("--version") == (0, f"bayesift {__version__}\n", "")


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from bayesift.cli import main; sys.argv = ['bayesift', *sys.argv[1:]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'numba', 'pooch', 'requests'} & set(sys.modules)))"
    )
    for arguments in (["--help"], ["data", "--help"], ["--version"]):
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
