"""Filter a stream of documents: read topics and judgements, pass the stream through a filter, measure the result."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from bayesift._files import atomic_path, is_written_through, named_errors, open_through
from bayesift.datasets import MalformedFileError, stream_objects
from bayesift.evaluate import Outcomes, recall, t9p, t9u
from bayesift.filtering import AdaptiveFilter, Decision, Entry, state_files
from bayesift.workflow.errors import NoJudgementError
from bayesift.workflow.train import several_in_one


class QuitError(Exception):
    """The person who judges wants to stop."""


class StreamDocument(NamedTuple):
    """A document of the stream; ``topics`` are those it is relevant to, None if the stream does not say."""

    id: str
    text: str
    title: str
    topics: frozenset[str] | None


def read_topics(path: Path) -> dict[str, str]:
    """Read names and statements of topics from TOML or JSONL.

    TOML has a table ``[topics]`` of ``name = "statement"``; JSONL has objects with ``name`` and ``statement``.
    """
    if path.suffix.lower() == ".toml":
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8")).get("topics")
        except (ValueError, RecursionError) as error:
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
        raise ValueError(f"{path} has no topics; expected at least one")
    return topics


def read_judgements(path: Path) -> dict[tuple[str, str], bool | None]:
    """Read judgements from JSONL: objects with ``id``, ``topic`` and ``relevant`` (true, false or null)."""
    found: dict[tuple[str, str], bool | None] = {}
    for number, row in chain.from_iterable(stream_objects(path)):
        if "id" not in row or not isinstance(row.get("topic"), str) or "relevant" not in row:
            raise _malformed(path, number, "expected the keys 'id', 'topic' and 'relevant'")
        if not isinstance(row["relevant"], bool | None):
            raise _malformed(path, number, f"'relevant' is {row['relevant']!r}, expected true, false or null")
        pair = str(row["id"]), row["topic"]
        if found.setdefault(pair, row["relevant"]) != row["relevant"]:
            raise _malformed(
                path, number, f"document {pair[0]!r} has a different judgement for {pair[1]!r} in an earlier line"
            )
    return found


def check_judgements(path: Path, judgements: Mapping[tuple[str, str], bool | None], topics: Mapping[str, str]) -> None:
    """Raise an error if a file of judgements is of other topics only: every document would count as unlisted."""
    judged = sorted({topic for _, topic in judgements})
    if judged and not topics.keys() & set(judged):
        raise ValueError(f"{path} judges none of the topics {', '.join(topics)}; it is about {', '.join(judged[:5])}")


def doubts_about_training(labels: Iterable[Any], topics: Iterable[str]) -> list[str]:
    """Say which topics no training text is about, and whether labels look like several in one cell."""
    found = {name for label in labels for name in ([label] if isinstance(label, str) else label or ())}
    without = [repr(topic) for topic in topics if topic not in found]
    said = [f"no training text is about {', '.join(without)}"] if without else []
    return said + several_in_one(sorted(map(str, found)))


def read_stream(path: Path, skip: int) -> Iterator[list[StreamDocument]]:
    """Read documents from a JSONL file, or from standard input for ``-``, as they come; skip the first ones."""
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
    return MalformedFileError("standard input" if str(path) == "-" else path, number, problem)


#: Judges a retrieved document: relevant, irrelevant, or None for unsure.
Judge = Callable[[Decision, StreamDocument], bool | None]


def judge_from(
    judgements: dict[tuple[str, str], bool | None] | None, unlisted: bool | None, ask: Judge | None
) -> Judge:
    """Return the function that judges: by the file, or by what the stream says, or by asking."""

    def judge(decision: Decision, document: StreamDocument) -> bool | None:
        entry = decision.entry
        if judgements is not None:
            return judgements.get((entry.id, entry.topic), unlisted)
        if document.topics is not None:
            return entry.topic in document.topics
        if ask is None:
            raise NoJudgementError(
                f"document {entry.id!r} was retrieved for {entry.topic!r}, but there is no judgement of it"
            )
        return ask(decision, document)

    return judge


class Tally:
    """How many documents have come and, if the stream says it for all of them, how many were relevant to each topic."""

    def __init__(self, topics: tuple[str, ...]) -> None:
        self.relevant: dict[str, int] | None = dict.fromkeys(topics, 0)

    def count(self, documents: list[StreamDocument]) -> None:
        """Count more documents of the stream."""
        for document in documents:
            if document.topics is None:
                self.relevant = None
            elif self.relevant is not None:
                for name in self.relevant.keys() & document.topics:
                    self.relevant[name] += 1


def filter_stream(
    filter: AdaptiveFilter,
    batches: Iterator[list[StreamDocument]],
    judge: Judge,
    write: Callable[[Entry], None],
    tell: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Pass a stream through a fitted filter.

    Parameters
    ----------
    filter : AdaptiveFilter
        Fitted, or resumed.
    batches : iterator of list of StreamDocument
        The documents from ``filter.position_`` on.
    judge : callable
        Gives the judgement of a retrieved document.
    write : callable
        Called with the entry of each retrieved document after its judgement.
    tell : callable
        Called with the tally after every judgement and every batch.

    Returns
    -------
    tally : Tally
    """
    tally = Tally(filter.topics_)
    if filter.position_ > 0:
        # What was relevant before the run was resumed is unknown.
        tally.relevant = None
    for batch in batches:
        begin = filter.position_
        for decision in filter.stream(batch):
            place, topic = decision.entry.place, decision.entry.topic
            try:
                answer = judge(decision, batch[place - begin])
            except QuitError:
                tally.count(batch[: place - begin])
                return tally
            decision.judge(answer)
            judged = filter.record_.get(place, topic)
            if judged is not None:
                write(judged)
            tell(tally)
        tally.count(batch)
        tell(tally)
    return tally


def status(filter: AdaptiveFilter, tally: Tally) -> str:
    """Return a line about the progress of the stream and how good the filter has been."""
    outcomes, target = outcomes_of(filter, tally), max(round(filter.target), 1)
    found = (
        f"{filter.position_:,} documents, {len(filter.record_):,} retrieved, {int(outcomes.tp.sum()):,} relevant, "
        f"mean T9U {t9u(outcomes, average='macro'):.1f}, "
        f"mean T9P {t9p(outcomes, target=target, average='macro'):.3f}"
    )
    return found if tally.relevant is None else f"{found}, recall {recall(outcomes, average='micro'):.3f}"


def outcomes_of(filter: AdaptiveFilter, tally: Tally) -> Outcomes:
    """Count the outcomes; a person may judge documents relevant that the stream does not call relevant."""
    outcomes = filter.record_.outcomes()
    if tally.relevant is None:
        return outcomes
    total = np.array([tally.relevant[name] for name in filter.topics_])
    return outcomes._replace(fn=np.maximum(total - outcomes.tp, 0))


@contextmanager
def decision_writer(
    output: Path | None, filter: AdaptiveFilter, *, resumable: bool
) -> Iterator[Callable[[Entry], None]]:
    """Open where decisions go, each as a line that is written at once, after its judgement has been stored.

    Every decision is written at least once. A file of a resumable run is only ever appended to: it must be empty or
    hold the first decisions of the run, and the missing ones are added first. To anything else, such as a pipe,
    decisions are written again if it is not known whether they were written before the run was killed. A run that
    cannot be resumed replaces the file.

    Parameters
    ----------
    output : Path, optional
        A file, pipe or device; standard output if it is None or ``-``.
    filter : AdaptiveFilter
        Fitted, or resumed.
    resumable : bool
        Whether the filter keeps its state in a folder.

    Yields
    ------
    write : callable
        Takes the entry of a judged document.
    """
    again = filter.unconfirmed_
    with ExitStack() as stack:
        if output is None or str(output) == "-":
            file: IO[str] = sys.stdout
        elif is_written_through(output):
            file = stack.enter_context(TextIOWrapper(open_through(output), "utf-8"))
        else:
            if resumable:
                _add_missing(output, "".join(_line(entry) for entry in filter.record_ if entry.judged).encode())
            else:
                _empty(output)
            file, again = stack.enter_context(output.open("a", encoding="utf-8")), []

        def write(entry: Entry) -> None:
            with named_errors("standard output" if output is None else output):
                file.write(_line(entry))
                file.flush()

        for entry in again:
            write(entry)
        yield write


def check_decisions_begin(output: Path | None, state: Path) -> None:
    """Refuse a file that already has content although the run has not begun, before time is spent on training."""
    if output is None or state_files(state)["journal"].exists() or not output.is_file() or is_written_through(output):
        return
    if output.stat().st_size:
        raise ValueError(f"{output} is not empty, although {state} holds no run yet; {_OTHER_FILE}")


_END = b"\n"
_OTHER_FILE = "decisions are only appended to a file of the same run: remove the file, or choose another"


def _line(entry: Entry) -> str:
    line = json.dumps(entry._asdict(), ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair cannot be encoded in UTF-8, but can be written as an escape.
        line = json.dumps(entry._asdict())
    return line + "\n"


def _empty(output: Path) -> None:
    with atomic_path(output):
        pass


def _add_missing(output: Path, decisions: bytes) -> None:
    """Append to a file the decisions so far that it lacks; refuse a file that does not begin like them.

    An incomplete line, as a killed process or a full disk leaves it, is completed.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("a+b") as file:
        file.seek(0)
        content = file.read()
        if content.startswith(decisions) and len(content) > len(decisions):
            raise ValueError(
                f"{output} holds decisions after line {decisions.count(_END)} that the state does not know: "
                f"judgements were lost, or the file is of another run; restore the folder of the state; {_OTHER_FILE}"
            )
        if not decisions.startswith(content):
            pairs = zip(content.split(_END), decisions.split(_END), strict=False)
            number = next(number for number, (found, expected) in enumerate(pairs, start=1) if found != expected)
            raise ValueError(f"{output}, line {number}, is not a decision of this run; {_OTHER_FILE}")
        file.write(decisions[len(content) :])
