"""The report on a run, as Markdown and HTML, and the folder that it is written into."""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from reproduction.catalogue.cache import write_whole
from reproduction.catalogue.experiment import Figure, every_experiment
from reproduction.catalogue.result import Result, judged_again
from reproduction.catalogue.table import Table


class Heading(NamedTuple):
    """A heading of some level, 1 the highest."""

    level: int
    text: str


class Paragraph(NamedTuple):
    """Text; words between backquotes are code."""

    text: str


class Items(NamedTuple):
    """A list with a dot before each item."""

    items: tuple[str, ...]


class Matrix(NamedTuple):
    """Rows under a header; the first ``left`` columns are aligned to the left, the others to the right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


class Picture(NamedTuple):
    """A picture in a file beside the report."""

    file: str
    caption: str


Block = Heading | Paragraph | Items | Matrix | Picture

_STYLE = """body { font: 15px/1.5 sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; }
th, td { border-bottom: 1px solid #ddd; padding: 0.2rem 0.7rem; text-align: right; }
th.left, td.left { text-align: left; }
td.miss { background: #fbe3d6; }
img { max-width: 100%; }"""


def to_markdown(blocks: Iterable[Block]) -> str:
    """Write blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Items):
        return "\n".join(f"- {item}" for item in block.items)
    if isinstance(block, Picture):
        return f"![{block.caption}]({block.file})"
    rule = ["---" if place < block.left else "---:" for place in range(len(block.header))]
    return "\n".join(_bars(row) for row in (block.header, rule, *block.rows))


def _bars(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def to_html(blocks: Iterable[Block], title: str) -> str:
    """Write blocks as a page of HTML that needs nothing but its pictures."""
    head = f'<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n<style>\n{_STYLE}\n</style>'
    body = "\n".join(_html(block) for block in blocks)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_inline(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Items):
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in block.items) + "</ul>"
    if isinstance(block, Picture):
        return f'<p><img src="{html.escape(block.file)}" alt="{html.escape(block.caption)}"></p>'
    rows = [_row(block.header, "th", block.left), *(_row(row, "td", block.left) for row in block.rows)]
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def _row(cells: Sequence[str], tag: str, left: int) -> str:
    return "<tr>" + "".join(_cell(cell, tag, place < left) for place, cell in enumerate(cells)) + "</tr>"


def _cell(text: str, tag: str, left: bool) -> str:
    kinds = ["left"] * left + ["miss"] * text.endswith("✗")
    return f'<{tag} class="{" ".join(kinds)}">{_inline(text)}</{tag}>' if kinds else f"<{tag}>{_inline(text)}</{tag}>"


def _inline(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def report(results: Sequence[Result], pictures: str = "") -> Iterator[Block]:
    """Return the blocks of a report; ``pictures`` goes before the names of picture files."""
    yield Heading(1, "Reproduction")
    yield Paragraph(
        "Every published table and figure that this package does again, the printed numbers beside ours "
        "(*published / ours*). A cross marks a number of ours that does not agree by the rule named with the "
        "experiment, or a conclusion that does not hold. This page is made by a command from the numbers of a run."
    )
    yield Items((_count(results), *_tallies(results)))
    yield from _provenance(results)
    yield Heading(2, "What changed since the last page, and why")
    yield Items(changes())
    yield Heading(2, "Verdicts")
    yield Matrix(
        ("experiment", "verdict", "in numbers", "run", "minutes"),
        tuple((f"`{r.name}`", r.verdict, r.summary, "" if r.skipped else r.date, _minutes(r)) for r in results),
        left=4,
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


def changes() -> tuple[str, ...]:
    """Read what changed since the page before, as ``reproduction/changes.toml`` tells it."""
    text = (files("reproduction") / "changes.toml").read_text(encoding="utf-8")
    return tuple(" ".join(change.split()) for change in tomllib.loads(text)["changes"])


def _count(results: Sequence[Result]) -> str:
    """Count the experiments by verdict."""
    verdicts = Counter(result.verdict for result in results)
    parts = [text.format(verdicts[name]) for name, text in _VERDICTS.items() if verdicts[name]]
    return f"{len(results)} experiments: {', '.join(parts)}."


def _tallies(results: Sequence[Result]) -> tuple[str, str]:
    """Count the printed numbers that were judged, and the conclusions: those that agree and those that do not."""
    cells = [agrees for result in results for agrees in result.cells]
    claims = [holds for result in results for holds in result.conclusions]
    absent = sum(
        cell.published is not None and cell.ours is None
        for result in results
        for table in result.tables
        for row in table.cells
        for cell in row
    )
    other = f" {absent} printed numbers have none of ours beside them." if absent else ""
    return (
        f"{len(cells)} printed numbers judged: {sum(cells)} agree, {len(cells) - sum(cells)} do not.{other}",
        f"{len(claims)} conclusions judged: {sum(claims)} hold, {len(claims) - sum(claims)} do not.",
    )


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
    if len(days) > 1:
        earlier = sum(result.date < days[-1] for result in done)
        yield Paragraph(
            f"Not one run: the numbers of {earlier} of {len(done)} experiments are of an earlier day, with the code of "
            f"that day, and were judged by the rules of today; the table below has the days."
        )
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
    yield Paragraph(f"**{result.verdict}**: {result.summary}. `python -m reproduction {result.name}`")
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


#: The file of a folder that holds everything but the pictures.
RESULTS = "results.json"


def write_folder(results: Sequence[Result], folder: Path) -> list[Result]:
    """Draw the pictures and write the report.

    Parameters
    ----------
    results : sequence of Result
        What to report, in this order.
    folder : Path
        Gets ``report.md``, ``report.html``, ``results.json`` and the pictures.

    Returns
    -------
    list of Result
        The same with the names of their picture files.
    """
    drawn = [replace(r, figures=tuple(_drawn(f, r.name, folder) for f in r.figures)) for r in results]
    blocks = list(report(drawn))
    write_whole(folder / "report.md", to_markdown(blocks).encode())
    write_whole(folder / "report.html", to_html(blocks, "Reproduction").encode())
    plain = json.dumps([result.as_dict() for result in drawn], indent=1, ensure_ascii=False)
    write_whole(folder / RESULTS, f"{plain}\n".encode())
    return drawn


def joined(results: Sequence[Result], folder: Path) -> list[Result]:
    """Join new results with those of other experiments in a folder, judged again; in the order of the catalogue.

    Parameters
    ----------
    results : sequence of Result
        What was run now.
    folder : Path
        Where :func:`write_folder` wrote earlier ones, if anything.

    Returns
    -------
    list of Result
    """
    everything = every_experiment()
    found = {result.name: result for result in (read_results(folder) if (folder / RESULTS).exists() else [])}
    found = {name: judged_again(result, everything[name]) for name, result in found.items() if name in everything}
    found |= {result.name: result for result in results}
    order = {name: place for place, name in enumerate(everything)}
    return sorted(found.values(), key=lambda result: order.get(result.name, len(order)))


def read_results(folder: Path) -> list[Result]:
    """Read the results that :func:`write_folder` wrote."""
    return [Result.from_dict(values) for values in json.loads((folder / RESULTS).read_text(encoding="utf-8"))]


def write_page(folder: Path, page: Path, pictures: str = "images/reproduction") -> None:
    """Write the page of the documentation from the folder of a run.

    Parameters
    ----------
    folder : Path
        What :func:`write_folder` wrote.
    page : Path
        The page, Markdown; what it is made from is put beside it as JSON.
    pictures : str
        Folder beside the page into which the pictures are copied.
    """
    results = read_results(folder)
    for figure in (figure for result in results for figure in result.figures if figure.file):
        write_whole(page.parent / pictures / figure.file, (folder / figure.file).read_bytes())
    write_whole(page, to_markdown(report(results, f"{pictures}/")).encode())
    write_whole(page.with_suffix(".json"), (folder / RESULTS).read_bytes())


def _drawn(figure: Figure, experiment: str, folder: Path) -> Figure:
    if figure.draw is None:
        return figure
    pyplot = require_pyplot()
    drawing = figure.draw()
    name = f"{experiment.replace('/', '-')}-{figure.name}.png"
    drawn = BytesIO()
    drawing.savefig(drawn, dpi=110)
    pyplot.close(drawing)
    write_whole(folder / name, drawn.getvalue())
    return figure._replace(draw=None, file=name)


def require_pyplot() -> Any:
    """Return matplotlib's ``pyplot``, or say how to install it."""
    try:
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError("drawing needs matplotlib, which is not installed; run: pip install matplotlib") from error
