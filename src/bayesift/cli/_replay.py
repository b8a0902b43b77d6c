"""Replaying the labels of a file without a person, for ``bayesift review --simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bayesift.cli._shell import console, steps, table

if TYPE_CHECKING:
    from bayesift.review.importing import Columns
    from bayesift.review.simulate import Simulation


class Replays(NamedTuple):
    """Replays of one review with different seeds, and how many documents and relevant ones it has."""

    runs: list[Simulation]
    n_documents: int
    n_relevant: int


def replay(
    data: Path, columns: Columns, encoding: str, *, label: str | None, description: str, seeds: int, quiet: bool = False
) -> Replays:
    """Replay the review that a file holds.

    Parameters
    ----------
    data : Path
        File of documents with labels.
    columns : Columns
        Which columns hold what.
    encoding : str
        Of the file.
    label : str, optional
        Column of the labels; guessed by its name if not given.
    description : str
        What is relevant, in words. With none, one relevant and one irrelevant document are known from the start.
    seeds : int
        How often to replay, with another random share each time.
    quiet : bool
        Whether to show no progress.

    Returns
    -------
    Replays
    """
    from bayesift.review.engine import Knowledge, Pile
    from bayesift.review.importing import read_pile, relevance
    from bayesift.review.simulate import simulate, starting_pair
    from bayesift.review.storage.documents import reading_text

    documents = list(read_pile(data, columns, encoding))
    truth = relevance(documents, label)
    with steps(quiet) as step:
        texts = [reading_text(document.title, document.text) for document in documents]
        pile = Pile.build(texts, lambda done, total: step("reading words", done, total))
        runs = []
        for seed in range(seeds):
            step("replaying", seed, seeds)
            known = () if description else starting_pair(truth, seed)
            runs.append(simulate(pile, truth, knowledge=Knowledge(description), start=known, check=True, seed=seed))
    return Replays(runs, len(documents), sum(truth))


def show(found: Replays) -> None:
    """Write the means over the replays to standard output."""
    from statistics import fmean

    screen = console()
    runs = found.runs
    screen.print(f"{found.n_documents} documents, {found.n_relevant} relevant; means over {len(runs)} replays\n")
    measures = table("measure", ">value")
    measures.add_row("recall after reading 10 %", f"{fmean(run.recall_at(0.1) for run in runs):.1%}")
    measures.add_row("work saved over sampling at 95 % recall", f"{fmean(run.wss95 for run in runs):.1%}")
    discovery = fmean(run.average_time_to_discovery for run in runs)
    measures.add_row("average time to discovery, share of the pile", f"{discovery:.1%}")
    screen.print(measures)
    stops = table("rule", ">read", ">recall reached", ">target missed", title="\nWhere each rule would have stopped")
    for name in runs[0].stops:
        ends = [run.stops[name] for run in runs]
        missed = sum(end.recall < 0.95 for end in ends)
        effort, recall = fmean(end.effort for end in ends), fmean(end.recall for end in ends)
        stops.add_row(name, f"{effort:.1%}", f"{recall:.1%}", f"{missed} of {len(ends)}")
    screen.print(stops)
