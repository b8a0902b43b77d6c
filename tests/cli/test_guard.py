"""No command writes a file that it reads, or one file twice, by whatever names; pipes and links stay what they are."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import sys
from enum import Enum
from inspect import Parameter, signature
from pathlib import Path
from typing import get_args

import pytest
from typer.models import OptionInfo

from bayesift.bbr import commands as bbr_commands
from bayesift.bbr.options import InputFile, OutputFile, Parser
from bayesift.cli._guard import file_parameters, option_names
from bayesift.cli.app import app
from command_cases import CommandRunner
from process_cases import finished

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")


def all_commands():
    """Return the words and the function of every command, as they are registered."""
    found = {(info.name or info.callback.__name__,): info.callback for info in app.registered_commands}
    for group in app.registered_groups:
        for info in group.typer_instance.registered_commands:
            found[group.name, info.name or info.callback.__name__] = info.callback
    return found


COMMANDS = all_commands()
#: Names of options that are for what is written in every command that has them.
OUTPUTS = {"--output", "-o", "--report"}


def annotation_of(command, name):
    return signature(command, eval_str=True).parameters[name].annotation


def marks_of(command, name):
    return get_args(annotation_of(command, name))[1:]


def files_of(words):
    """Return what a command reads, and the files that it writes with what each may replace."""
    files = file_parameters(COMMANDS[words])
    reads = [name for name, file in files.items() if file.written is None]
    writes = {name: file.written for name, file in files.items() if file.written and not file.written.is_folder}
    return reads, writes


def command_line(words, given):
    """Return a command line with these files, and something for everything else that must be given."""
    command, arguments, options = COMMANDS[words], [], []
    for name, parameter in signature(command).parameters.items():
        if name not in given and parameter.default is not Parameter.empty:
            continue
        kind, *marks = get_args(annotation_of(command, name))
        value = given.get(name)
        if value is None:
            is_choice = isinstance(kind, type) and issubclass(kind, Enum)
            value = next(iter(kind)).value if is_choice else "newsroom" if kind is str else f"other-{name}"
        if any(isinstance(mark, OptionInfo) for mark in marks):
            file = file_parameters(command).get(name)
            options += [f"--{name}" if file is None else file.spelled, value]
        else:
            arguments.append(value)
    return shlex.join([*words, *options, *arguments])


PAIRS = [
    (words, read, write)
    for words in COMMANDS
    for read in files_of(words)[0]
    for write, written in files_of(words)[1].items()
    if written.in_place_of != read
]
DOUBLES = [
    (words, one, other)
    for words in COMMANDS
    for one in files_of(words)[1]
    for other in files_of(words)[1]
    if one < other
]


def ids(case):
    return " ".join(case[0]) + f": {case[1]} {case[2]}"


@pytest.fixture
def runner(tmp_path, monkeypatch, capfd):
    folder = tmp_path / "work"
    folder.mkdir()
    return CommandRunner(folder, monkeypatch, capfd)


def state_of(folder):
    return {
        path.relative_to(folder): (os.lstat(path), None if path.is_dir() else path.read_bytes())
        for path in folder.rglob("*")
        if not stat.S_ISFIFO(os.lstat(path).st_mode)
    }


def without_times(state):
    return {path: (found.st_ino, found.st_mode, found.st_size, content) for path, (found, content) in state.items()}


def refused(runner, line, *named, said="is the same file as"):
    before = without_times(state_of(runner.folder))
    done = runner.run(line)
    assert done.status == 1, (line, done)
    assert said in done.err, line
    for name in named:
        assert name in done.err, line
    assert "Traceback" not in done.err
    assert without_times(state_of(runner.folder)) == before, line


def names_of_one_file(folder):
    """Make a file with a hard link, a link, a link to the link, and a way to it through a linked folder."""
    file = folder / "file.png"
    file.write_text("text,label\na,b\n")
    (folder / "hard.png").hardlink_to(file)
    (folder / "link.png").symlink_to("file.png")
    (folder / "link-to-link.png").symlink_to("link.png")
    (folder / "elsewhere").symlink_to(folder)
    return ["file.png", "./file.png", "hard.png", "link.png", "link-to-link.png", "elsewhere/file.png"]


def test_all_that_is_called_an_output_is_guarded():
    found = set()
    for words, command in COMMANDS.items():
        for name in signature(command).parameters:
            for mark in marks_of(command, name):
                if isinstance(mark, OptionInfo) and OUTPUTS & set(option_names(mark)):
                    assert file_parameters(command)[name].written is not None, (words, name)
                    found.add(words)
    assert {("train",), ("classify",), ("evaluate",), ("filter",), ("data", "export")} <= found


def test_there_are_pairs_of_every_command_that_writes():
    assert {words for words, _, _ in PAIRS} >= {
        (name,) for name in ("train", "classify", "evaluate", "explain", "update", "filter", "convert", "path")
    }
    assert len(PAIRS) >= 18
    assert (("train",), "model_file", "report") in DOUBLES


@pytest.mark.parametrize("case", PAIRS, ids=ids)
def test_what_is_read_is_not_written(case, runner):
    words, read, write = case
    for name in names_of_one_file(runner.folder):
        line = command_line(words, {read: "file.png", write: name})
        refused(runner, line, name.removeprefix("./"), "which is read")
    refused(runner, command_line(words, {read: "link.png", write: "file.png"}))


@pytest.mark.parametrize("case", DOUBLES, ids=ids)
def test_one_file_is_not_written_twice(case, runner):
    words, one, other = case
    for name in names_of_one_file(runner.folder):
        refused(runner, command_line(words, {one: "file.png", other: name}), "which is written too")
    for first, second in (("new", "new"), ("new", "./new"), ("a/b/new", "a/../a/b/new"), ("new", "elsewhere/new")):
        refused(runner, command_line(words, {one: first, other: second}), "which is written too")


@pytest.mark.parametrize("words", [words for words in COMMANDS if files_of(words)[0]], ids=" ".join)
def test_what_is_read_is_not_standard_output(words, runner):
    for read in files_of(words)[0]:
        file = runner.folder / "file"
        file.write_text("text,label\na,b\n")
        with file.open("a") as stream, runner.monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", stream)
            refused(runner, command_line(words, {read: "file"}), "standard output is the same file")


def test_a_file_in_a_folder_that_is_read_is_not_written(runner):
    folder = runner.folder / "texts" / "spam"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("win a prize")
    (runner.folder / "hard").hardlink_to(folder / "a.txt")
    (runner.folder / "texts" / "beside").write_text("no text with a label")
    for name in ("texts/spam/a.txt", "hard", "texts/beside"):
        for line in ("train texts", "classify m texts"):
            if line == "train texts" and name == "texts/beside":
                # Only the folders are read, so that a model may stand beside them.
                assert "is a file in the folder" not in runner.run(f"{line} -o {name}").err
            else:
                refused(runner, f"{line} -o {name}", said="is a file in the folder DATA (texts), which is read")


@pytest.fixture(scope="module")
def workspace(made_workspace, tmp_path_factory):
    return shutil.copytree(made_workspace, tmp_path_factory.mktemp("guard") / "workspace")


def bayesift(line, folder, **options):
    return finished(shlex.split(line), folder, **options)


def test_standard_input_counts_as_the_file_that_it_is(workspace):
    before = (workspace / "new.csv").read_bytes()
    with (workspace / "new.csv").open("rb") as given:
        done = bayesift("classify mails.bayesift - -o new.csv", workspace, stdin=given)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"--output (new.csv) is the same file as standard input, which is read" in done.stderr
    assert (workspace / "new.csv").read_bytes() == before
    with (workspace / "new.csv").open("rb") as given, (workspace / "new.csv").open("ab") as out:
        done = bayesift("classify mails.bayesift -", workspace, stdin=given, stdout=out)
    assert done.returncode == 1
    assert b"standard output is the same file as standard input" in done.stderr
    assert (workspace / "new.csv").read_bytes() == before


def test_outputs_that_are_no_files_are_written_through(workspace, runner):
    """A pipe, links to a file and to a device, standard output and /dev/null, twice too."""
    expected = bayesift("classify mails.bayesift new.csv -q", workspace).stdout
    assert expected.count(b"\n") == 7
    assert bayesift("classify mails.bayesift new.csv -q -o /dev/stdout", workspace).stdout == expected
    out = workspace / "appended"
    out.write_text("before\n")
    with out.open("ab") as stream:
        assert bayesift("classify mails.bayesift new.csv -q -o /dev/stdout", workspace, stdout=stream).returncode == 0
    assert out.read_bytes() == b"before\n" + expected
    os.mkfifo(workspace / "pipe.csv")
    reader = subprocess.Popen(["cat", "pipe.csv"], cwd=workspace, stdout=subprocess.PIPE)
    assert bayesift("classify mails.bayesift new.csv -q -o pipe.csv", workspace).returncode == 0
    assert reader.communicate(timeout=60)[0] == expected
    assert stat.S_ISFIFO(os.lstat(workspace / "pipe.csv").st_mode)
    (workspace / "link.csv").symlink_to("behind.csv")
    (workspace / "nowhere").symlink_to("/dev/null")
    runner.folder = workspace
    for name in ("link.csv", "nowhere"):
        assert runner.run(f"classify mails.bayesift new.csv -q -o {name}").status == 0
        assert (workspace / name).is_symlink()
    assert (workspace / "behind.csv").read_bytes() == expected
    done = runner.run("train mails.csv -o /dev/null --report /dev/null --no-check --variance 1 -q")
    assert (done.status, done.err) == (0, "")


def test_update_in_place_is_allowed_also_by_another_name(workspace, runner):
    runner.folder = workspace
    (workspace / "same.bayesift").symlink_to("nb.bayesift")
    for name in ("nb.bayesift", "same.bayesift"):
        before = (workspace / "nb.bayesift").read_bytes()
        assert runner.run(f"update nb.bayesift more.csv -o {name} -q").status == 0
        assert (workspace / "nb.bayesift").read_bytes() != before
    assert (workspace / "same.bayesift").is_symlink()


def test_files_that_a_command_names_itself(workspace, runner):
    """The default name of a converted model, its list of words, exported texts, and the files of a filter's state."""
    runner.folder = workspace
    for source, line in {
        "a.skops": "convert a.skops --to sklearn",
        "b.bbr.words": "convert b.bbr.words --to bbr -o b.bbr",
    }.items():
        (workspace / source).write_bytes((workspace / "mails.bayesift").read_bytes())
        refused(runner, line, "MODEL")
    (workspace / "state").mkdir()
    (workspace / "state" / "journal.jsonl").write_text("")
    filtering = "filter mails.jsonl --topics known.toml --train mails.csv"
    for output in ("state/journal.jsonl", "state/snapshot.npz"):
        refused(runner, f"{filtering} --state state -o {output}", "which is written too")
    refused(runner, "filter state/journal.jsonl --topics known.toml --train mails.csv --state state", "STREAM")


def test_a_dash_is_standard_output_or_refused(workspace, runner):
    runner.folder = workspace
    done = runner.run("train mails.csv -o -")
    assert done.status == 1
    assert (
        "bayesift: --output is '-'; expected the name of a file\nhint: for standard output, give /dev/stdout"
        in done.err
    )
    assert not (workspace / "-").exists()


def test_a_report_that_cannot_be_written_is_found_before_the_work(workspace, runner):
    runner.folder = workspace
    done = runner.run("evaluate no-such-model mails.csv --report mails.csv/page.html")
    assert done.status == 1
    assert "page.html cannot be written" in done.err


def parsers(monkeypatch):
    """Return the parsers of the six programs."""
    found = []

    def keep(parser, *given):
        found.append(parser)
        raise SystemExit

    monkeypatch.setattr(Parser, "parse_args", keep)
    for name in ("bbrtrain", "bbrclassify", "bmrtrain", "bmrclassify", "bxrtrain", "bxrclassify"):
        with pytest.raises(SystemExit):
            getattr(bbr_commands, name)([])
    monkeypatch.undo()
    return found


def test_the_six_programs_do_not_write_what_they_read(tmp_path, monkeypatch, capsys):
    tried = 0
    for parser in parsers(monkeypatch):
        actions = {kind: [a for a in parser._actions if a.type is kind] for kind in (InputFile, OutputFile)}
        assert not [a.dest for a in parser._actions if a.metavar == "FILE" and a.type not in actions]
        run = getattr(bbr_commands, parser.prog)
        for write in actions[OutputFile]:
            for other in (*actions[InputFile], *actions[OutputFile]):
                if other is write:
                    continue
                file, link = tmp_path / "file", tmp_path / "link"
                file.write_text("1 1:1\n-1 2:1\n")
                link.unlink(missing_ok=True)
                link.symlink_to("file")
                arguments = []
                for action in (*actions[InputFile], *actions[OutputFile]):
                    value = {write.dest: link, other.dest: file}.get(action.dest, tmp_path / action.dest)
                    if action.option_strings and (action in (write, other) or action.required):
                        arguments += [action.option_strings[0], str(value)]
                    elif not action.option_strings:
                        arguments.append(str(value))
                with pytest.raises(SystemExit) as stop:
                    run(arguments)
                assert stop.value.code == 2, arguments
                assert "is the same file as" in capsys.readouterr().err
                assert (file.read_text(), link.is_symlink()) == ("1 1:1\n-1 2:1\n", True)
                tried += 1
    assert tried >= 20
    with pytest.raises(SystemExit):
        bbr_commands.bbrtrain([str(tmp_path / "file"), "-"])
    assert "modelfile is '-'; expected the name of a file" in capsys.readouterr().err


def test_the_same_folder_of_models_and_results(tmp_path, capsys):
    (tmp_path / "models").mkdir()
    model = tmp_path / "models" / "a.model"
    model.write_text("kept")
    with pytest.raises(SystemExit):
        bbr_commands.bxrclassify(["-r", str(model), str(Path("data")), str(model.parent)])
    assert "is a file in the folder modelfile" in capsys.readouterr().err
    assert model.read_text() == "kept"
