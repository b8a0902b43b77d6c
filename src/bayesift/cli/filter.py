"""``bayesift filter``: a stream of documents in, decisions out, learning from judgements on the way."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import typer

from bayesift.cli._compiling import say_if_compiling
from bayesift.cli._options import Label, LabelSeparator, Quiet, Text
from bayesift.cli._shell import console, say, shown, table

if TYPE_CHECKING:
    from rich.progress import Progress

    from bayesift.cli._filtering import Judge, StreamDocument
    from bayesift.evaluate import Outcomes
    from bayesift.filtering import AdaptiveFilter, Entry
    from bayesift.filtering.topic import Query

#: How often the moving line changes.
_SECONDS = 0.3


class QueryKind(StrEnum):
    """Which documents are retrieved though they do not look relevant."""

    information = "information"
    random = "random"
    none = "none"


class Unlisted(StrEnum):
    """What the silence of a file of judgements means."""

    irrelevant = "irrelevant"
    unsure = "unsure"


class Tally:
    """How many documents have come, and, where the stream says it of all, how many were relevant to each topic."""

    def __init__(self, topics: tuple[str, ...]) -> None:
        self.relevant: dict[str, int] | None = dict.fromkeys(topics, 0)

    def count(self, documents: list[StreamDocument]) -> None:
        """Take in more documents of the stream."""
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
        Told the entry of each retrieved document after its judgement.
    tell : callable
        Told the tally now and then.

    Returns
    -------
    tally : Tally
    """
    from bayesift.cli._filtering import LeaveError

    tally = Tally(filter.topics_)
    if filter.position_ > 0:
        # What was relevant before the run was resumed is not known.
        tally.relevant = None
    for batch in batches:
        begin = filter.position_
        for decision in filter.stream(batch):
            place, topic = decision.entry.place, decision.entry.topic
            try:
                answer = judge(decision, batch[place - begin])
            except LeaveError:
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
        typer.Option(metavar="FILE", help="TOML with a table 'topics' of name = 'statement', or JSONL with both keys."),
    ],
    train: Annotated[Path, typer.Option(metavar="DATA", help="Labelled training texts, in any format of 'train'.")],
    judgements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSONL with 'id', 'topic' and 'relevant'. Without it the stream's 'topics' count, or you are asked.",
        ),
    ] = None,
    unlisted: Annotated[
        Unlisted, typer.Option(help="What it means that the file of judgements does not name a document.")
    ] = Unlisted.irrelevant,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write decisions to a file, not to standard output."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep every judgement there; the same command again goes on where it stopped."
        ),
    ] = None,
    query: Annotated[
        QueryKind, typer.Option(help="Which documents to ask about though they do not look relevant.")
    ] = QueryKind.information,
    target: Annotated[float, typer.Option(min=0.1, help="How many documents to retrieve for a topic.")] = 50,
    rel: Annotated[
        bool, typer.Option("--rel/--no-rel", help="Learn a past relevant document again after an irrelevant one.")
    ] = True,
    kappa: Annotated[float, typer.Option(min=0, max=0.499, help="Probability that a judgement is wrong.")] = 0.05,
    stream_size: Annotated[
        int | None, typer.Option(min=1, help="Documents in the stream; needed for --query random.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random queries.")] = 0,
    text: Text = None,
    label: Label = None,
    label_separator: LabelSeparator = None,
    quiet: Quiet = False,
) -> None:
    """Filter a stream of documents for topics, and learn from judgements of what was retrieved.

    A line of JSON goes out for each retrieved document: place, id, topic, reason, probability, information, judgement.
    """
    from bayesift.cli import _filtering as inputs

    names = inputs.read_topics(topics)
    known = None if judgements is None else inputs.read_judgements(judgements)
    from bayesift.datasets import read
    from bayesift.filtering import AdaptiveFilter

    if str(stream) != "-" and not stream.is_file():
        raise FileNotFoundError(f"{stream} does not exist")
    data = read(train, text, label, label_separator=label_separator)
    filter = AdaptiveFilter(
        query=None if query is QueryKind.none else cast("Query", query.value),
        target=target,
        rel=rel,
        kappa=kappa,
        stream_size=stream_size,
        random_state=seed,
    )
    say_if_compiling("perceptron", quiet=quiet)
    say(f"training on {len(data):,} texts for {len(names):,} topics", quiet)
    with filter.fit(data.texts, data.labels, names, state=state):
        if filter.position_ > 0:
            say(f"going on at document {filter.position_ + 1:,}; {len(filter.record_):,} were retrieved before", quiet)
        with inputs.terminal(stream) as person, _decisions(output, filter) as write, _progress(quiet) as progress:
            asks = None if person is None else _pausing(inputs.asking(person, console(stderr=True)), progress)
            judge = inputs.judge_from(known, None if unlisted is Unlisted.unsure else False, asks)
            batches = inputs.read_stream(stream, filter.position_)
            tally = filter_stream(filter, batches, judge, write, _teller(progress, filter))
        if not quiet:
            _show(filter, tally)


@contextmanager
def _decisions(output: Path | None, filter: AdaptiveFilter) -> Iterator[Callable[[Entry], None]]:
    """Open where decisions go; a file begins with what was judged before the run was resumed."""

    def line(entry: Entry) -> str:
        return json.dumps(entry._asdict(), ensure_ascii=False) + "\n"

    def writer(file: IO[str]) -> Callable[[Entry], None]:
        def write(entry: Entry) -> None:
            file.write(line(entry))
            file.flush()

        return write

    if output is None:
        yield writer(sys.stdout)
        return
    with output.open("w", encoding="utf-8") as file:
        file.writelines(line(entry) for entry in filter.record_ if entry.judged)
        yield writer(file)


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    errors = console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=errors, transient=True, disable=quiet or not errors.is_terminal) as progress:
        progress.add_task("starting", total=None)
        yield progress


def _pausing(ask: Judge, progress: Progress) -> Judge:
    """Let the moving line rest while a person is asked."""

    def paused(*arguments: Any) -> bool | None:
        progress.stop()
        answer = ask(*arguments)
        progress.start()
        return answer

    return paused


def _teller(progress: Progress, filter: AdaptiveFilter) -> Callable[[Tally], None]:
    last = 0.0

    def tell(tally: Tally) -> None:
        nonlocal last
        # Counting takes longer than deciding on a document.
        if not progress.disable and time.monotonic() - last > _SECONDS:
            progress.update(progress.task_ids[0], description=running(filter, tally))
            last = time.monotonic()

    return tell


def running(filter: AdaptiveFilter, tally: Tally) -> str:
    """Say in one line how far the stream has come and what it was worth."""
    from bayesift.evaluate import recall, t9p, t9u

    outcomes, target = _outcomes(filter, tally), max(round(filter.target), 1)
    found = (
        f"{filter.position_:,} documents, {len(filter.record_):,} retrieved, {int(outcomes.tp.sum()):,} relevant, "
        f"mean T9U {t9u(outcomes, average='macro'):.1f}, "
        f"mean T9P {t9p(outcomes, target=target, average='macro'):.3f}"
    )
    return found if tally.relevant is None else f"{found}, recall {recall(outcomes, average='micro'):.3f}"


def _outcomes(filter: AdaptiveFilter, tally: Tally) -> Outcomes:
    """Count the outcomes; a person may find relevant what the stream does not call so."""
    import numpy as np

    outcomes = filter.record_.outcomes()
    if tally.relevant is None:
        return outcomes
    total = np.array([tally.relevant[name] for name in filter.topics_])
    return outcomes._replace(fn=np.maximum(total - outcomes.tp, 0))


def _show(filter: AdaptiveFilter, tally: Tally) -> None:
    """Show the outcome of every topic on standard error."""
    from bayesift.evaluate import recall, t9p, t9u

    outcomes = _outcomes(filter, tally)
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
    errors.print(running(filter, tally))
