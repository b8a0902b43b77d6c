"""The report on a run: verdicts first, then every miss, then each experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import groupby

from bayesift.experiments.catalogue._blocks import Block, Heading, Items, Matrix, Paragraph, Picture
from bayesift.experiments.catalogue.result import Result
from bayesift.experiments.catalogue.table import Table


def report(results: Sequence[Result], pictures: str = "") -> Iterator[Block]:
    """Return the blocks of a report; ``pictures`` goes before the names of picture files."""
    yield Heading(1, "Reproduction")
    yield Paragraph(
        "Every published table and figure that this package does again, the printed numbers beside ours "
        "(*published / ours*). A cross marks a number of ours that does not agree by the rule named with the "
        "experiment, or a conclusion that does not hold. This page is made by a command from the numbers of a run."
    )
    yield Paragraph(_count(results))
    yield from _provenance(results)
    yield Heading(2, "Verdicts")
    yield Matrix(
        ("experiment", "verdict", "in numbers", "minutes"),
        tuple((f"`{r.name}`", r.verdict, r.summary, _minutes(r)) for r in results),
        left=3,
    )
    yield Heading(2, "Every miss")
    misses = tuple(miss for result in results for miss in _misses(result))
    yield Items(misses) if misses else Paragraph("None.")
    for paper, group in groupby(results, key=lambda result: result.paper):
        yield Heading(2, paper)
        members = list(group)
        if members[0].source:
            yield Paragraph(f"Source of the printed numbers: {members[0].source}")
        told: set[str] = set()
        for result in members:
            yield from _experiment(result, pictures, told)
            told.update(result.notes)


def _count(results: Sequence[Result]) -> str:
    """Count the experiments by verdict."""
    verdicts = Counter(result.verdict for result in results)
    parts = [text.format(verdicts[name]) for name, text in _VERDICTS.items() if verdicts[name]]
    return f"{len(results)} experiments: {', '.join(parts)}."


_VERDICTS = {
    "agrees": "{} agree in every number and conclusion",
    "partly": "{} in part",
    "differs": "{} in none",
    "shown": "{} show what has no printed numbers",
    "quick": "{} were done in part and are not judged",
    "skipped": "{} were skipped",
}


def _provenance(results: Sequence[Result]) -> Iterator[Block]:
    done = [result for result in results if not result.skipped] or list(results)
    if not done:
        return
    versions = ", ".join(f"{name} {number}" for name, number in done[-1].versions.items())
    days = sorted({result.date for result in done})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    wall, cpu = (sum(getattr(r, name) for r in done) / 60 for name in ("seconds", "cpu_seconds"))
    kept = sum(r.seconds_kept for r in done) / 60
    again = f", and {kept:.1f} minutes of earlier work taken from the cache" if kept >= 0.1 else ""
    yield Paragraph(f"Run of {span} with {versions}: {wall:.1f} minutes{again}; {cpu:.1f} minutes of processor time.")
    if any(result.quick for result in done):
        yield Paragraph("This was a quick run: where a part was left out, printed numbers are shown and not judged.")


def _experiment(result: Result, pictures: str, told: Set[str]) -> Iterator[Block]:
    """Return all about an experiment, but notes that were told already."""
    yield Heading(3, f"{result.item} (`{result.name}`)")
    yield Paragraph(result.shows)
    if result.skipped:
        yield Paragraph(f"Not run: {result.skipped}.")
        return
    if result.quick:
        yield Paragraph(f"Quick run: {result.quick}")
    for table in result.tables:
        yield from _table(table)
    for figure in result.figures:
        if figure.file:
            yield Picture(f"{pictures}{figure.file}", figure.caption)
            yield Paragraph(f"*{figure.caption}*")
    if result.claims:
        yield Items(tuple(f"{_sign(c.holds)} {c.text}{f' ({c.detail})' if c.detail else ''}" for c in result.claims))
    yield Paragraph(f"**{result.verdict}**: {result.summary}. `bayesift reproduce {result.name}`")
    new = tuple(note for note in result.notes if note not in told)
    if len(new) < len(result.notes):
        new = (*new, "Notes given above hold here too.")
    if new:
        yield Items(new)


def _table(table: Table) -> Iterator[Block]:
    yield Paragraph(f"**{table.title}**" + ("" if table.comparable else " (shown, not judged)"))
    rows = tuple((name, *cells) for name, cells in zip(table.rows, table.texts(), strict=True))
    yield Matrix((table.corner, *table.columns), rows)
    if table.note:
        yield Paragraph(table.note)


def _misses(result: Result) -> Iterator[str]:
    for table in result.tables:
        for row, cells, texts in zip(table.rows, table.cells, table.texts(), strict=True):
            for column, cell, text in zip(table.columns, cells, texts, strict=True):
                if cell.agrees is False:
                    yield f"`{result.name}`, {row}, {column}: {text.removesuffix(' ✗')}"
    for claim in result.claims:
        if claim.holds is False:
            yield f"`{result.name}`: does not hold: {claim.text}{f' ({claim.detail})' if claim.detail else ''}"


def _minutes(result: Result) -> str:
    return "" if result.skipped else f"{(result.seconds + result.seconds_kept) / 60:.1f}"


def _sign(holds: bool | None) -> str:
    return {True: "✓", False: "✗", None: "?"}[holds]
