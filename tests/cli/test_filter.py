"""``bayesift filter``: streams from files and pipes, judgements from a file, the stream and a person; resuming."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from bayesift.cli import main
from bayesift.cli._shell import console
from bayesift.cli.filter import asking, filter_command
from bayesift.datasets import load
from bayesift.filtering import AdaptiveFilter
from bayesift.workflow.filter import QuitError, StreamDocument
from command_cases import write_csv

TOPICS = ("courts", "energy")


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Files of the embedded corpus: a stream with and one without topics, training texts, topics and judgements."""
    folder, news = tmp_path_factory.mktemp("inputs"), load("newsroom")
    test, train = news.test, news.train
    rows = [{"id": i, "text": t, "topics": list(y)} for i, t, y in zip(test.ids, test.texts, test.labels, strict=True)]
    written(folder / "stream.jsonl", rows[:80])
    written(folder / "bare.jsonl", [{"id": row["id"], "text": row["text"]} for row in rows[:80]])
    written(
        folder / "train.jsonl", [{"text": t, "labels": list(y)} for t, y in zip(train.texts, train.labels, strict=True)]
    )
    written(folder / "topics.jsonl", [{"name": name, "statement": news.descriptions[name]} for name in TOPICS])
    (folder / "topics.toml").write_text(
        "[topics]\n" + "".join(f"{name} = {json.dumps(news.descriptions[name])}\n" for name in TOPICS)
    )
    written(
        folder / "judgements.jsonl",
        [{"id": r["id"], "topic": name, "relevant": True} for r in rows for name in r["topics"] if name in TOPICS],
    )
    return folder


def run(*arguments, **options):
    app = typer.Typer()
    app.command("filter")(filter_command)
    return CliRunner().invoke(app, [str(a) for a in arguments], **options)


def on(inputs, stream="stream.jsonl", topics="topics.toml"):
    return inputs / stream, "--topics", inputs / topics, "--train", inputs / "train.jsonl"


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def decisions(inputs):
    found = run(*on(inputs))
    assert found.exit_code == 0, found.output
    return lines(found.stdout)


def test_decisions_are_those_of_the_filter(inputs, decisions):
    news = load("newsroom")
    filter = AdaptiveFilter().fit(news.train.texts, news.train.labels, {n: news.descriptions[n] for n in TOPICS})
    documents = list(zip(news.test.ids, news.test.texts, strict=True))[:80]
    record = filter.run(documents, lambda d: d.entry.topic in news.test.labels[d.entry.place])
    assert decisions == [entry._asdict() for entry in record]
    assert len(decisions) > 10


def test_the_summary_goes_to_standard_error(inputs):
    found = run(*on(inputs))
    assert "training on" in found.stderr
    for word in ("T9U", "T9P", "recall", *TOPICS):
        assert word in found.stderr
    assert run(*on(inputs), "-q").stderr == ""


def test_training_texts_are_read_as_train_reads_them(inputs, tmp_path):
    news = load("newsroom").train
    rows = [[text, labels[0]] for text, labels in zip(news.texts, news.labels, strict=True)]
    write_csv(tmp_path / "train.csv", ["Nachricht", "Abteilung"], rows, delimiter=";")
    found = run(inputs / "stream.jsonl", "--topics", inputs / "topics.toml", "--train", tmp_path / "train.csv")
    assert found.exit_code == 0, found.output
    assert "columns: --text 'Nachricht' (guessed); --label 'Abteilung' (guessed)" in found.stderr
    assert "fields separated by ';'" in found.stderr


def test_judgements_from_a_file_and_topics_from_jsonl(inputs, decisions, tmp_path):
    out = tmp_path / "out.jsonl"
    found = run(*on(inputs, "bare.jsonl", "topics.jsonl"), "--judgements", inputs / "judgements.jsonl", "-o", out)
    assert found.exit_code == 0, found.output
    assert found.stdout == ""
    assert lines(out.read_text()) == decisions
    unsure = run(
        *on(inputs, "bare.jsonl"),
        "--judgements",
        inputs / "judgements.jsonl",
        "--unlisted",
        "unsure",
        "--query",
        "none",
    )
    assert {entry["relevant"] for entry in lines(unsure.stdout)} <= {True, None}


def test_judgements_that_match_nothing_are_noticed(inputs, tmp_path):
    strange = written(tmp_path / "strange.jsonl", [{"id": "n005", "topic": "nope", "relevant": True}])
    found = run(*on(inputs, "bare.jsonl"), "--judgements", strange)
    assert "strange.jsonl judges none of the topics courts, energy; it is about nope" in str(found.exception)
    other = written(tmp_path / "other.jsonl", [{"id": "no such", "topic": "courts", "relevant": True}])
    found = run(*on(inputs, "bare.jsonl"), "--judgements", other)
    assert "other.jsonl judges no document that was retrieved: are its 'id's those of the stream?" in found.stderr
    found = run(*on(inputs, "bare.jsonl"), "--judgements", inputs / "judgements.jsonl")
    assert "no document" not in found.stderr


def test_training_labels_that_are_no_topics_are_noticed(inputs, tmp_path):
    news = load("newsroom").train
    rows = [[text, ";".join(labels)] for text, labels in zip(news.texts, news.labels, strict=True)]
    write_csv(tmp_path / "train.csv", ["text", "labels"], rows)
    found = run(inputs / "stream.jsonl", "--topics", inputs / "topics.toml", "--train", tmp_path / "train.csv")
    assert "! labels such as 'agriculture;courts' look like several in one: give their separator, ';'" in found.stderr
    write_csv(tmp_path / "other.csv", ["text", "labels"], [["a text", "courts"], ["another", "zzz"]])
    found = run(inputs / "stream.jsonl", "--topics", inputs / "topics.toml", "--train", tmp_path / "other.csv")
    assert "! no training text is about 'energy'" in found.stderr
    assert "!" not in run(*on(inputs)).stderr


def test_resuming_gives_the_same_file(inputs, decisions, tmp_path):
    whole = (inputs / "stream.jsonl").read_text().splitlines(keepends=True)
    part, out, state = tmp_path / "part.jsonl", tmp_path / "out.jsonl", tmp_path / "state"
    for stop in (30, 31, 80):
        part.write_text("".join(whole[:stop]))
        found = run(part, *on(inputs)[1:], "--state", state, "-o", out)
        assert found.exit_code == 0, found.output
        assert ("continuing at document" in found.stderr) == (stop > 30)
    assert lines(out.read_text()) == decisions


def test_options_reach_the_filter(inputs, decisions):
    without = lines(run(*on(inputs), "--query", "none", "--no-rel", "--kappa", "0.1").stdout)
    assert {entry["reason"] for entry in without} == {"relevant"}
    random = run(*on(inputs), "--query", "random", "--stream-size", "80", "--target", "20", "--seed", "2")
    assert random.exit_code == 0
    assert lines(random.stdout) not in (without, decisions)


def test_a_person_answers():
    screen = io.StringIO()
    shown = console()
    shown.file = screen
    ask = asking(io.StringIO("what\ny\nN\nunsure\nq\n"), shown)
    filter = AdaptiveFilter().fit(["wheat", "goal"] * 8, [("grain",), ()] * 8, ["grain"])
    decision = next(filter.stream(["wheat\x1b[31m and " + "oats " * 900]))
    document = StreamDocument("7", decision.text, "A title", None)
    assert [ask(decision, document) for _ in range(3)] == [True, False, None]
    with pytest.raises(QuitError):
        ask(decision, document)
    with pytest.raises(QuitError):
        ask(decision, document)
    text = screen.getvalue()
    assert "A title" in text
    assert "grain – document 1 (0): it looks relevant; probability 0." in text
    assert "\x1b" not in text
    assert "…" in text


def test_typed_in_a_terminal(inputs, monkeypatch, capsys):
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    arguments = [str(a) for a in (*on(inputs, "bare.jsonl"), "--query", "none")]
    monkeypatch.setattr(sys, "argv", ["bayesift", "filter", *arguments])
    os.write(leader, b"y\nn\nu\nq\n")
    with os.fdopen(follower) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        with pytest.raises(SystemExit) as stop:
            main()
    os.close(leader)
    out, error = capsys.readouterr()
    assert stop.value.code == 0, error
    assert [entry["relevant"] for entry in lines(out)] == [True, False, None]
    assert "Relevant? (y)es, (n)o, (u)nsure, (q)uit" in error


def test_an_error_is_one_sentence(inputs, tmp_path, monkeypatch, capsys):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": "a", "topics": []}\nnonsense\n')
    for stream, message in ((bad, "bad.jsonl, line 2: not JSON: Expecting value (column 1)"), ("no.jsonl", "no.jsonl")):
        monkeypatch.setattr(sys, "argv", ["bayesift", "filter", str(stream), *map(str, on(inputs)[1:]), "-q"])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 1
        error = capsys.readouterr().err
        assert error.startswith("bayesift: ")
        assert message in error
        assert "Traceback" not in error


def test_nobody_to_judge(inputs):
    found = run(*on(inputs, "bare.jsonl"))
    assert found.exit_code == 1
    assert "there is no judgement of it" in str(found.exception)


def test_the_command_is_there_before_the_slow_imports():
    script = "import sys; import bayesift.cli.filter; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
