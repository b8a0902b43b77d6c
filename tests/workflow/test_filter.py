"""Filtering a stream: topics, judgements and documents from files and pipes, and stopping in between."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bayesift.filtering import AdaptiveFilter
from bayesift.workflow.filter import (
    QuitError,
    StreamDocument,
    filter_stream,
    read_judgements,
    read_stream,
    read_topics,
    status,
)


def test_a_pipe_is_read_as_far_as_it_has_come(monkeypatch):
    """The first documents come before the stream has ended, and a line in two pieces is one line."""
    source, sink = os.pipe()
    with os.fdopen(source, "r") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        batches = read_stream(Path("-"), 1)
        os.write(sink, b'{"text": "skipped"}\n{"text": "a"}\n{"te')
        assert [document.text for document in next(batches)] == ["a"]
        os.write(sink, b'xt": "b", "title": "B"}\n{"text": "last"}')
        assert next(batches) == [StreamDocument("3", "B\nb", "B", None)]
        os.close(sink)
        assert [document.id for batch in batches for document in batch] == ["4"]


def test_leaving_keeps_the_document_for_the_next_time(tmp_path):
    train, labels, topics = ["wheat", "goal"] * 8, [("grain",), ()] * 8, ["grain"]
    documents = [StreamDocument(str(k), "wheat", "", None) for k in range(4)]
    answers, seen = [True, None], []

    def judge(decision, document):
        seen.append(document.id)
        if not answers:
            raise QuitError
        return answers.pop()

    for more in ([], [False, False]):
        answers += more
        with AdaptiveFilter(query=None).fit(train, labels, topics, state=tmp_path) as filter:
            tally = filter_stream(filter, iter([documents[filter.position_ :]]), judge, lambda entry: None)
            assert "4 documents" in status(filter, tally) or not more
    assert seen[:3] == ["0", "1", "2"]
    assert seen[3] == "2"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 1, "text": ', "line 3: not JSON"),
        ('["text"]', "line 3: expected a JSON object, found list"),
        ('{"id": 1}', "line 3: expected a string 'text'"),
        ('{"text": "a", "topics": "grain"}', "line 3: 'topics' must be a list"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, message):
    path = tmp_path / "stream.jsonl"
    path.write_text('{"text": "a"}\n\n' + line + "\n")
    with pytest.raises(ValueError, match=message):
        list(read_stream(path, 0))


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "stream.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "\xff"}\n')
    with pytest.raises(ValueError, match="line 2: not utf-8"):
        list(read_stream(path, 0))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.toml", "[topics", "is not TOML"),
        ("t.toml", "[other]\na = 'b'", "has no table"),
        ("t.toml", "[topics]\n", "has no topics"),
        ("t.jsonl", '{"statement": "x"}\n', "line 1: expected a 'name'"),
        ("t.jsonl", '{"name": "x"}\n{"name": "x"}\n', "line 2: expected a 'name' that no other topic has"),
    ],
)
def test_bad_topics_are_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_topics(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1, "topic": "x"}\n', "expected the keys"),
        ('{"id": 1, "topic": "x", "relevant": 1}\n', "'relevant' is 1, expected true, false or null"),
        (
            '{"id": 1, "topic": "x", "relevant": true}\n{"id": 1, "topic": "x", "relevant": false}\n',
            "line 2: document '1' has a different judgement",
        ),
    ],
)
def test_bad_judgements_are_named(tmp_path, content, message):
    path = tmp_path / "j.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_judgements(path)
