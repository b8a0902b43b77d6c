"""What ``bayesift filter`` reads: topics, the stream, and judgements from a file, from the stream or from a person."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from bayesift.cli._shell import UserError, shown

if TYPE_CHECKING:
    from rich.console import Console

    from bayesift.filtering import Decision

#: Characters of a document that are shown to a person.
_SHOWN = 1500


class LeaveError(Exception):
    """The person at the terminal wants to stop."""


class StreamDocument(NamedTuple):
    """A document of the stream; ``topics`` are those it is relevant to, None where the stream does not say."""

    id: str
    text: str
    title: str
    topics: frozenset[str] | None


def read_topics(path: Path) -> dict[str, str]:
    """Read names and statements of topics from TOML or JSONL.

    TOML has a table ``[topics]`` of ``name = "statement"``; JSONL has objects with ``name`` and ``statement``.
    """
    from bayesift.datasets import stream_objects

    if path.suffix.lower() == ".toml":
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8")).get("topics")
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not TOML: {error}") from error
        if not isinstance(found, dict) or not all(isinstance(statement, str) for statement in found.values()):
            raise ValueError(f'{path} has no table [topics] with lines such as wheat = "wheat and other cereals"')
        topics: dict[str, str] = found
    else:
        topics = {}
        for number, row in chain.from_iterable(stream_objects(path)):
            name, statement = row.get("name"), row.get("statement", "")
            if not isinstance(name, str) or not isinstance(statement, str) or name in topics:
                raise _malformed(
                    path, number, "expected a 'name' that no other topic has, and a 'statement', as strings"
                )
            topics[name] = statement
    if not topics:
        raise ValueError(f"{path} holds no topic")
    return topics


def read_judgements(path: Path) -> dict[tuple[str, str], bool | None]:
    """Read judgements from JSONL: objects with ``id``, ``topic`` and ``relevant`` (true, false or null)."""
    from bayesift.datasets import stream_objects

    found: dict[tuple[str, str], bool | None] = {}
    for number, row in chain.from_iterable(stream_objects(path)):
        if "id" not in row or not isinstance(row.get("topic"), str) or "relevant" not in row:
            raise _malformed(path, number, "expected the keys 'id', 'topic' and 'relevant'")
        if not isinstance(row["relevant"], bool | None):
            raise _malformed(path, number, f"'relevant' is {row['relevant']!r}, expected true, false or null")
        pair = str(row["id"]), row["topic"]
        if found.setdefault(pair, row["relevant"]) != row["relevant"]:
            raise _malformed(path, number, f"document {pair[0]!r} has another judgement for {pair[1]!r} above")
    return found


def read_stream(path: Path, skip: int) -> Iterator[list[StreamDocument]]:
    """Return the documents of a JSONL file, or of standard input for ``-``, as they come; leave out the first ones."""
    from bayesift.datasets import stream_objects

    for batch in stream_objects(path, skip=skip):
        yield [_document(path, number, row) for number, row in batch]


def _document(path: Path, number: int, row: dict[str, Any]) -> StreamDocument:
    text, title, topics = row.get("text"), row.get("title", ""), row.get("topics")
    if not isinstance(text, str) or not isinstance(title, str):
        raise _malformed(path, number, "expected a string 'text' (and, if there is one, a string 'title')")
    if topics is not None and not (isinstance(topics, list) and all(isinstance(name, str) for name in topics)):
        raise _malformed(path, number, "'topics' must be a list of the topics to which the document is relevant")
    name = row.get("id", number)
    known = None if topics is None else frozenset(topics)
    return StreamDocument(str(name), f"{title}\n{text}" if title else text, title, known)


def _malformed(path: Path, number: int, problem: str) -> Exception:
    from bayesift.datasets import MalformedFileError

    return MalformedFileError("standard input" if str(path) == "-" else path, number, problem)


Judge = Callable[["Decision", StreamDocument], bool | None]


def judge_from(
    judgements: dict[tuple[str, str], bool | None] | None, unlisted: bool | None, ask: Judge | None
) -> Judge:
    """Return the function that judges: by the file, else by what the stream says, else by asking."""

    def judge(decision: Decision, document: StreamDocument) -> bool | None:
        entry = decision.entry
        if judgements is not None:
            return judgements.get((entry.id, entry.topic), unlisted)
        if document.topics is not None:
            return entry.topic in document.topics
        if ask is None:
            raise UserError(
                f"document {entry.id!r} was retrieved for {entry.topic!r} and there is nobody to judge it",
                "give --judgements FILE, put 'topics' into the stream, or run this in a terminal",
            )
        return ask(decision, document)

    return judge


def asking(answers: IO[str], console: Console) -> Judge:
    """Return a function that shows a document and reads y, n, u or q."""

    def ask(decision: Decision, document: StreamDocument) -> bool | None:
        entry = decision.entry
        why = "it looks relevant" if entry.reason == "relevant" else "its judgement would teach most"
        console.rule()
        console.print(
            f"{shown(entry.topic)} – document {entry.place + 1} ({shown(entry.id)}): {why}; probability "
            f"{entry.probability:.2f}, {entry.information:.2f} bits expected, number {entry.retrieved} of this topic"
        )
        if document.title:
            console.print(shown(document.title), style="bold")
        console.print(shown(document.text.removeprefix(document.title), _SHOWN))
        while True:
            console.print("Relevant? (y)es, (n)o, (u)nsure, (q)uit: ", end="")
            line = answers.readline()
            if not line:
                raise LeaveError
            match line.strip().lower()[:1]:
                case "y":
                    return True
                case "n":
                    return False
                case "u":
                    return None
                case "q":
                    raise LeaveError

    return ask


@contextmanager
def terminal(stream: Path) -> Iterator[IO[str] | None]:
    """Return where a person can answer: standard input, or the terminal itself if the stream comes from there."""
    with ExitStack() as stack:
        if str(stream) != "-":
            yield sys.stdin if sys.stdin.isatty() else None
            return
        try:
            person = stack.enter_context(open("/dev/tty", encoding="utf-8")) if sys.stderr.isatty() else None
        except OSError:
            person = None
        yield person
