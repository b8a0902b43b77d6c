"""A folder with the results of a run: pictures, a report as Markdown and HTML, and JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bayesift._extras import require
from bayesift._files import atomic_path
from bayesift.experiments.catalogue._blocks import to_html, to_markdown
from bayesift.experiments.catalogue._report import report
from bayesift.experiments.catalogue.outcome import Figure
from bayesift.experiments.catalogue.result import Result

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
    _write(folder / "report.md", to_markdown(blocks))
    _write(folder / "report.html", to_html(blocks, "Reproduction"))
    _write(folder / RESULTS, json.dumps([result.as_dict() for result in drawn], indent=1, ensure_ascii=False) + "\n")
    return drawn


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
        with atomic_path(page.parent / pictures / figure.file) as temporary:
            shutil.copyfile(folder / figure.file, temporary)
    _write(page, to_markdown(report(results, f"{pictures}/")))
    with atomic_path(page.with_suffix(".json")) as temporary:
        shutil.copyfile(folder / RESULTS, temporary)


def _drawn(figure: Figure, experiment: str, folder: Path) -> Figure:
    if figure.draw is None:
        return figure
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing the figures of a report")
    drawing = figure.draw()
    name = f"{experiment.replace('/', '-')}-{figure.name}.png"
    with atomic_path(folder / name) as temporary:
        drawing.savefig(temporary, dpi=110)
    pyplot.close(drawing)
    return figure._replace(draw=None, file=name)


def _write(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
