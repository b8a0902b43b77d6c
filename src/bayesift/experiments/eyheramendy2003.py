"""Eyheramendy, Genkin, Ju, Lewis & Madigan (2003): ``python -m bayesift.experiments.eyheramendy2003``.

:func:`table1` to :func:`table8` give the published numbers beside ours. The readings that come nearest to the tables:
documents with at least one of the 90 categories, title and body, stop words removed, no stems, no cosine norm; the best
terms by Pearson correlation for each category; the constant under the same prior; thresholds of the least training
errors, the middle one of equally good cuts. The paper's γ is the Laplace *rate* of its tables (its formula for the
M-step has γ where the text implies √γ), and its EM stops early. ``exact`` are the modes that EM would reach, for
Jeffreys priors from a firmer start.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as RichTable

from bayesift._extras import require
from bayesift._files import atomic_path
from bayesift.experiments import _eyheramendy2003 as published
from bayesift.experiments._eyheramendy2003_runs import LOG_IDF, RAW, Runs, Setting, rcv1, reuters


class Column(NamedTuple):
    """One setting of a table; ``ours`` is None where nothing was run, ``exact`` where the mode is not of interest."""

    name: str
    published: tuple[float, ...]
    ours: tuple[float, ...] | None = None
    exact: tuple[float, ...] | None = None


class Table(NamedTuple):
    """A table of the paper with our numbers; ``note`` says what is missing."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[Column, ...]
    note: str = ""


_ROWS = (*published.CATEGORIES, "macro", "micro")
_TEN = Setting("laplace", 10.0)
_PRIORS = {
    "Jeffreys": Setting("jeffreys"),
    **{f"γ={gamma:g}": Setting("laplace", gamma) for gamma in published.GAMMAS},
}


def _f1(name: str, printed: tuple[float, ...], runs: Runs, setting: Setting) -> Column:
    return Column(name, printed, runs(setting).f1)


def table1(runs: Runs | None = None) -> Table:
    """Compare with naive Bayes, logistic regression and a support vector machine on 10,000 terms (printed only)."""
    runs = reuters() if runs is None else runs
    columns = (
        Column("naive Bayes", published.NAIVE_BAYES),
        Column("logistic", published.LOGISTIC_10000),
        Column("SVM", published.SVM),
        _f1("Laplace γ=10", published.LAPLACE[10.0], runs, _TEN),
    )
    return Table("Table 1: F1 in per cent", _ROWS, columns)


def table2(runs: Runs | None = None) -> Table:
    """Compare raw and log term frequencies."""
    runs = reuters() if runs is None else runs
    jeffreys = Setting("jeffreys")
    columns = (
        _f1("Jeffreys, raw TF", published.JEFFREYS_RAW, runs, jeffreys._replace(weighting=RAW)),
        _f1("Jeffreys, log TF", published.JEFFREYS, runs, jeffreys),
        _f1("Laplace γ=10, raw TF", published.LAPLACE_RAW, runs, _TEN._replace(weighting=RAW)),
        _f1("Laplace γ=10, log TF", published.LAPLACE[10.0], runs, _TEN),
    )
    return Table("Table 2: F1 in per cent, raw and log TF", _ROWS, columns)


def table3(runs: Runs | None = None) -> Table:
    """Compare priors."""
    runs = reuters() if runs is None else runs
    columns = []
    for name, setting in _PRIORS.items():
        printed = published.JEFFREYS if setting.prior == "jeffreys" else published.LAPLACE[setting.strength]
        columns.append(Column(name, printed, runs(setting).f1, runs(setting._replace(exact=True)).f1))
    return Table("Table 3: F1 in per cent, priors", _ROWS, tuple(columns))


def table4(runs: Runs | None = None) -> Table:
    """Count the coefficients that are not zero, of 301 with the constant."""
    runs = reuters() if runs is None else runs
    columns = []
    for name, setting in _PRIORS.items():
        printed = published.KEPT_JEFFREYS if setting.prior == "jeffreys" else published.KEPT_LAPLACE[setting.strength]
        columns.append(Column(name, printed, runs(setting).kept, runs(setting._replace(exact=True)).kept))
    return Table("Table 4: coefficients that are not zero, of 301", published.CATEGORIES, tuple(columns))


def table5(runs: Runs | None = None) -> Table:
    """Compare 300 and 1,000 terms."""
    runs = reuters() if runs is None else runs
    jeffreys = Setting("jeffreys")
    columns = (
        _f1("Jeffreys, 300", published.JEFFREYS, runs, jeffreys),
        _f1("Jeffreys, 1000", published.JEFFREYS_1000, runs, jeffreys._replace(n_terms=1000)),
        _f1("Laplace γ=10, 300", published.LAPLACE[10.0], runs, _TEN),
        _f1("Laplace γ=10, 1000", published.LAPLACE_1000, runs, _TEN._replace(n_terms=1000)),
    )
    return Table("Table 5: F1 in per cent, 300 and 1,000 terms", _ROWS, columns)


def table6(runs: Runs | None = None) -> Table:
    """Compare probit and logistic models, sparse and not; the logistic ones on log TF × IDF."""
    runs = reuters() if runs is None else runs
    logistic = Setting("gaussian", 0.01, "logistic", LOG_IDF)
    columns = (
        _f1("probit, Gaussian", published.PROBIT_GAUSSIAN, runs, Setting("gaussian", 0.01)),
        _f1("probit, Laplace", published.LAPLACE[10.0], runs, _TEN),
        _f1("logistic, Gaussian", published.LOGISTIC_GAUSSIAN, runs, logistic),
        _f1("logistic, Laplace", published.LOGISTIC_LAPLACE, runs, logistic._replace(prior="laplace", strength=10.0)),
    )
    return Table("Table 6: F1 in per cent, probit and logistic", _ROWS, columns)


_RCV1_SETTINGS = {
    "probit Jeffreys 300": Setting("jeffreys"),
    "probit Laplace 300": Setting("laplace", 25.0),
    "probit Gaussian 300": Setting("gaussian", 0.001),
    "logistic Laplace 300": Setting("laplace", 25.0, "logistic", LOG_IDF),
    "logistic Laplace 3000": Setting("laplace", 25.0, "logistic", LOG_IDF, 3000),
    "logistic Gaussian 3000": Setting("gaussian", 0.01, "logistic", LOG_IDF, 3000),
}


def _rcv1_table(title: str, names: Sequence[str], runs: Runs | None) -> Table:
    runs = rcv1() if runs is None else runs
    columns = []
    for name in names:
        setting = _RCV1_SETTINGS.get(name)
        ours = None if runs is None or setting is None else runs(setting).f1[-2:]
        columns.append(Column(name, published.RCV1[name], ours))
    note = "" if runs else "not run: the texts of RCV1-v2 are not in the data root, only its judgements"
    return Table(title, ("macro", "micro"), tuple(columns), note)


def table7(runs: Runs | None = None) -> Table:
    """Compare with other methods on RCV1-v2, where its texts are at hand."""
    names = [*list(published.RCV1)[:5], "logistic Laplace 3000"]
    return _rcv1_table("Table 7: F1 in per cent, RCV1-v2, 101 topics", names, runs)


def table8(runs: Runs | None = None) -> Table:
    """Compare sparse and other models on RCV1-v2, where its texts are at hand."""
    return _rcv1_table("Table 8: F1 in per cent, RCV1-v2, sparse and not", list(_RCV1_SETTINGS), runs)


TABLES = {f.__name__: f for f in (table1, table2, table3, table4, table5, table6, table7, table8)}


def show(table: Table, console: Console) -> None:
    """Print a table: published / ours, and the exact mode in brackets."""
    rich = RichTable(title=table.title, title_justify="left", caption=table.note or None, caption_justify="left")
    rich.add_column("")
    for column in table.columns:
        rich.add_column(column.name, justify="right")
    for place, row in enumerate(table.rows):
        cells = []
        for column in table.columns:
            cell = f"{column.published[place]:g}"
            cell += "" if column.ours is None else f" / {_short(column.ours[place])}"
            cell += "" if column.exact is None else f" ({_short(column.exact[place])})"
            cells.append(cell)
        rich.add_row(row, *cells)
    console.print(rich)


def _short(value: float) -> str:
    return f"{value}" if isinstance(value, int) else f"{value:.1f}"


def draw_boxplots(table: Table, target: Path) -> None:
    """Draw the paper's figure 2: F1 of the ten categories, a box from quartile to quartile and the extremes."""
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing")
    n = len(published.CATEGORIES)
    boxes = [(f"{column.name}\npublished", column.published[:n], "#2b5c8a") for column in table.columns]
    boxes += [(f"{column.name}\nours", column.ours[:n], "#d8853b") for column in table.columns if column.ours]
    figure, axis = pyplot.subplots(figsize=(7, 3.8), layout="constrained")
    drawn = axis.boxplot([values for _, values, _ in boxes], whis=(0, 100), patch_artist=True, widths=0.5)
    for patch, (_, _, color) in zip(drawn["boxes"], boxes, strict=True):
        patch.set(facecolor=color, alpha=0.6)
    for line in drawn["medians"]:
        line.set_color("black")
    axis.set_xticks(range(1, len(boxes) + 1), [name for name, _, _ in boxes], fontsize=9)
    axis.set_ylabel("F1, per cent")
    axis.spines[["top", "right"]].set_visible(False)
    with atomic_path(target) as temporary:
        figure.savefig(temporary, dpi=110)
    pyplot.close(figure)


def main() -> None:
    """Run the tables named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m bayesift.experiments.eyheramendy2003", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TABLES, []], help="which to run (default: all)")
    parser.add_argument("--picture", type=Path, help="where to draw the boxplots of table 1")
    arguments = parser.parse_args()
    console, errors = Console(), Console(stderr=True)
    runs = reuters(lambda setting: errors.print(f"fitting {setting}", highlight=False))
    for name in arguments.names or TABLES:
        show(TABLES[name](None if name in ("table7", "table8") else runs), console)
    if arguments.picture is not None:
        draw_boxplots(table1(runs), arguments.picture)


if __name__ == "__main__":
    main()
