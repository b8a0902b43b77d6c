"""``bayesift filter``: decide about a stream of documents, learning from judgements on the way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import typer

from bayesift.cli._guard import Labelled, Written
from bayesift.cli._options import Label, LabelSeparator, Quiet, Reading, Text
from bayesift.cli._shell import Steps, console, say, say_if_compiling, shown, steps, table

if TYPE_CHECKING:
    from rich.console import Console

    from bayesift.filtering import AdaptiveFilter, Decision
    from bayesift.filtering.topic import Query
    from bayesift.workflow.filter import Judge, StreamDocument, Tally

#: Seconds between changes of the progress line.
_SECONDS = 0.3

#: How many characters of a document are shown to a person.
_SHOWN = 1500


class QueryKind(StrEnum):
    """Which documents are retrieved although they do not look relevant."""

    information = "information"
    random = "random"
    none = "none"


class Unlisted(StrEnum):
    """What it means if a file of judgements does not list a document."""

    irrelevant = "irrelevant"
    unsure = "unsure"


def filter_command(
    stream: Annotated[
        Path,
        typer.Argument(
            metavar="STREAM",
            help="JSONL file with 'id', 'text' and, if known, 'title' and 'topics'; - is standard input.",
        ),
    ],
    topics: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="TOML with a table 'topics' of name = 'statement', or JSONL with both keys.",
        ),
    ],
    train: Annotated[
        Path, typer.Option(metavar="DATA", help="Labelled training texts, in any format that 'train' takes."), Labelled
    ],
    judgements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSONL with 'id', 'topic' and 'relevant'; without it, the stream's 'topics' are used, or you decide.",
        ),
    ] = None,
    unlisted: Annotated[
        Unlisted, typer.Option(help="How to treat documents that the file of judgements does not list.")
    ] = Unlisted.irrelevant,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write each decision to a file, not to standard output; with --state the file is only appended to.",
        ),
        Written(or_dash=True),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep every judgement in this folder; the same command then continues where it stopped."
        ),
        Written(is_folder=True),
    ] = None,
    query: Annotated[
        QueryKind, typer.Option(help="Which documents to ask about although they do not look relevant.")
    ] = QueryKind.information,
    target: Annotated[float, typer.Option(min=0.1, help="How many documents to retrieve for each topic.")] = 50,
    rel: Annotated[
        bool, typer.Option("--rel/--no-rel", help="After an irrelevant document, learn an earlier relevant one again.")
    ] = True,
    kappa: Annotated[float, typer.Option(min=0, max=0.499, help="Probability that a judgement is wrong.")] = 0.05,
    stream_size: Annotated[
        int | None, typer.Option(min=1, help="Number of documents in the stream; needed for --query random.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random queries.")] = 0,
    text: Text = None,
    label: Label = None,
    label_separator: LabelSeparator = None,
    quiet: Quiet = False,
) -> None:
    """Filter a stream of documents for topics, and learn from judgements of what was retrieved.

    Writes a line of JSON for each retrieved document: place, id, topic, reason, probability, information, judgement.
    With --state, each judgement counts once and each decision is written at least once, however often a run is killed.
    """
    from bayesift._same_files import check_distinct
    from bayesift.cli._show import columns_of
    from bayesift.filtering import AdaptiveFilter, state_files
    from bayesift.workflow.errors import counted
    from bayesift.workflow.filter import (
        check_decisions_begin,
        check_judgements,
        decision_writer,
        doubts_about_training,
        filter_stream,
        judge_from,
        read_judgements,
        read_stream,
        read_topics,
    )

    if state is not None:
        reads = {"STREAM": stream, "--topics": topics, "--train": train, "--judgements": judgements}
        own = {f"the {part} of --state": path for part, path in state_files(state).items()}
        check_distinct(reads, {"--output": output, **own}, labelled=["--train"])
        check_decisions_begin(output, state)
    names = read_topics(topics)
    known = None if judgements is None else read_judgements(judgements)
    if judgements is not None and known is not None:
        check_judgements(judgements, known, names)
    if str(stream) != "-" and not stream.is_file():
        raise FileNotFoundError(f"{stream} does not exist")
    data = Reading([text] if text else None, label, label_separator).read(train, quiet=quiet)
    filter = AdaptiveFilter(
        query=None if query is QueryKind.none else cast("Query", query.value),
        target=target,
        relearn_relevant=rel,
        kappa=kappa,
        stream_size=stream_size,
        random_state=seed,
    )
    say_if_compiling("perceptron", quiet=quiet)
    if columns := columns_of(data):
        say(columns, quiet)
    say(f"training on {counted(len(data), 'text')} for {counted(len(names), 'topic')}", quiet)
    for doubt in doubts_about_training(data.labels, names):
        say(f"! {shown(doubt)}", quiet)
    with filter.fit(data.texts, data.labels, names, state=state):
        if filter.position_ > 0:
            before = len(filter.record_)
            say(f"continuing at document {filter.position_ + 1:,}; {before:,} were retrieved before", quiet)
        with (
            terminal(stream) as person,
            decision_writer(output, filter, resumable=state is not None) as write,
            steps(quiet) as step,
        ):
            asks = None if person is None else _pausing(asking(person, console(stderr=True)), step)
            judge = judge_from(known, None if unlisted is Unlisted.unsure else False, asks)
            batches = read_stream(stream, filter.position_)
            tally = filter_stream(filter, batches, judge, write, _teller(filter, step))
        if known and not any((entry.id, entry.topic) in known for entry in filter.record_):
            say(f"! {judgements} judges no document that was retrieved: are its 'id's those of the stream?", quiet)
        if not quiet:
            _show(filter, tally)


def _pausing(ask: Judge, step: Steps) -> Judge:
    """Hide the progress line while a person is asked."""

    def paused(*arguments: Any) -> bool | None:
        with step.paused():
            return ask(*arguments)

    return paused


def _teller(filter: AdaptiveFilter, step: Steps) -> Callable[[Tally], None]:
    """Return a function that shows the progress of the stream now and then, because counting takes time."""
    from bayesift.workflow.filter import status

    last = 0.0

    def tell(tally: Tally) -> None:
        nonlocal last
        if step.is_shown and time.monotonic() - last > _SECONDS:
            step(status(filter, tally))
            last = time.monotonic()

    return tell


def _show(filter: AdaptiveFilter, tally: Tally) -> None:
    """Show the outcome of every topic on standard error."""
    from bayesift.evaluate import recall, t9p, t9u
    from bayesift.workflow.filter import outcomes_of, status

    outcomes = outcomes_of(filter, tally)
    utility, recalls = t9u(outcomes), recall(outcomes)
    precision = t9p(outcomes, target=max(round(filter.target), 1))
    headers = ["topic", ">retrieved", ">relevant", ">T9U", ">T9P", *([">recall"] if tally.relevant is not None else [])]
    rows = table(*headers)
    for k, name in enumerate(filter.topics_):
        numbers = [f"{outcomes.tp[k] + outcomes.fp[k]:,}", f"{outcomes.tp[k]:,}", f"{utility[k]:.0f}"]
        last = [f"{recalls[k]:.3f}"] if tally.relevant is not None else []
        rows.add_row(shown(name, 40), *numbers, f"{precision[k]:.3f}", *last)
    errors = console(stderr=True)
    errors.print(rows)
    errors.print(status(filter, tally))


def asking(answers: IO[str], console: Console) -> Judge:
    """Return a function that shows a document and reads y, n, u or q."""
    from bayesift.workflow.filter import QuitError

    def ask(decision: Decision, document: StreamDocument) -> bool | None:
        entry = decision.entry
        why = "it looks relevant" if entry.reason == "relevant" else "a judgement of it would teach most"
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
                raise QuitError
            match line.strip().lower()[:1]:
                case "y":
                    return True
                case "n":
                    return False
                case "u":
                    return None
                case "q":
                    raise QuitError

    return ask


@contextmanager
def terminal(stream: Path) -> Iterator[IO[str] | None]:
    """Yield where a person can answer: standard input, or the terminal itself if standard input is the stream."""
    with ExitStack() as stack:
        if str(stream) != "-":
            yield sys.stdin if sys.stdin.isatty() else None
            return
        try:
            person = stack.enter_context(open("/dev/tty", encoding="utf-8")) if sys.stderr.isatty() else None
        except OSError:
            person = None
        yield person
