"""Reports in the terminal."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from bayesift.cli._shell import bar, list_of, shown, table
from bayesift.workflow.errors import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from bayesift.datasets import Split
    from bayesift.workflow import DataSummary, Evaluation, ModelInfo, Reason

    WeightedWords = list[tuple[str, float]]

#: How many rows of a table are shown; a report page has them all.
MOST_ROWS = 25


def show_data(data: Split, found: DataSummary, console: Console, n_more: int = 0) -> None:
    """Show what was read, the columns that were guessed, the texts of each label, and warnings."""
    kinds = "several labels per text" if found.multilabel else "one label per text"
    name = "texts" if data.origin is None else shown(data.origin.path.name)
    name += f" and {n_more} more" if n_more else ""
    console.print(
        f"{name}: {counted(found.n_texts, 'text')}, {counted(len(found.balance), 'label')}, {kinds}", style="bold"
    )
    if columns := columns_of(data):
        console.print(columns)
    rows = table("label", ">texts", ">share", "")
    most, labelled = max(found.balance.values()), found.n_texts - found.n_in_pile
    for label, count in list(found.balance.items())[:MOST_ROWS]:
        rows.add_row(shown(label, 40), f"{count:,}", f"{count / labelled:.1%}", bar(count / most))
    console.print()
    console.print(rows)
    _more(console, len(found.balance) - MOST_ROWS, "labels")
    for warning in found.warnings:
        console.print(f"! {shown(warning)}", style="yellow")
    console.print()


def columns_of(data: Split) -> str:
    """Name the columns that were read, and say which were guessed; nothing where there are no columns."""
    origin = data.origin
    if origin is None or origin.text is None:
        return ""
    return "columns: " + "; ".join(
        f"--{option} {shown(column)!r}{' (guessed)' if role in origin.guessed else ''}"
        for role, option, columns in (("text", "text", origin.text), ("labels", "label", origin.labels))
        if columns is not None
        for column in list_of(columns)
    )


def show_model(found: ModelInfo, console: Console, seconds: float | None = None) -> None:
    """Show a summary of a model."""
    console.print(f"{found.model}: {found.about}", style="bold")
    rows = table("", "")
    rows.show_header = False
    for name, value in found.lines(seconds):
        rows.add_row(name, shown(value))
    console.print(rows)
    show_comparison(found, console)


def show_comparison(found: ModelInfo, console: Console) -> None:
    """Show the models that were compared to choose one."""
    compared = found.comparison
    if compared is None or not compared.models:
        return
    console.print(f"\n{compared.about()}", style="bold")
    header, lines = compared.table()
    rows = table(header[0], *(f">{name}" for name in header[1:]))
    for line in lines:
        rows.add_row(*map(shown, line))
    console.print(rows)


def show_evaluation(found: Evaluation, console: Console) -> None:
    """Show how good a model is."""
    console.print(f"\nOn {found.on}", style="bold")
    wide = console.options.update(max_width=2 * console.width)
    # In a narrow terminal first the bars give way, then the intervals.
    for parts in ((True, True), (False, True), (False, False)):
        rows = _scores(found, *parts)
        if console.measure(rows, options=wide).maximum <= console.width:
            break
    console.print(rows)
    _more(console, len(found.categories) - MOST_ROWS, "labels")
    for line in found.sentences():
        console.print(shown(line))


def _scores(found: Evaluation, with_bars: bool, with_intervals: bool) -> Table:
    last = "off by (95 %)" if with_intervals else "off by"
    rows = table("label", ">texts", ">given", ">precision", ">recall", ">F1", *[""] * with_bars, f">{last}")
    for score in found.categories[:MOST_ROWS]:
        interval = f" ({score.calibration_low:.3f}–{score.calibration_high:.3f})" if with_intervals else ""
        rows.add_row(
            shown(score.label, 40),
            f"{score.n_texts:,}",
            f"{score.n_given:,}",
            *(_number(value) for value in (score.precision, score.recall, score.f1)),
            *[bar(score.f1 if isfinite(score.f1) else 0.0, 12)] * with_bars,
            f"{score.calibration_error:.3f}{interval}",
        )
    return rows


def show_top_words(words: dict[str, WeightedWords], console: Console) -> None:
    """Show the words with the largest weights, one line for each label."""
    if not any(words.values()):
        return
    rows = table("label", "words", title="\nTop words")
    for label, found in list(words.items())[:MOST_ROWS]:
        rows.add_row(shown(label, 40), ", ".join(f"{shown(word)} {weight:+.2f}" for word, weight in found))
    console.print(rows)
    _more(console, len(words) - MOST_ROWS, "labels")


def show_bars(
    words: WeightedWords,
    console: Console,
    company: WeightedWords | None = None,
    intervals: list[tuple[float, float]] | None = None,
) -> None:
    """Show words with bars to the right (for) or left (against), the part due to similar words, and intervals."""
    more = [">by company"] * bool(company) + [">surely from", ">to"] * bool(intervals)
    rows = table("", ">", "", ">", *more)
    rows.show_header = bool(more)
    parts = dict(company or ())
    ends = dict(zip((word for word, _ in words), intervals, strict=True)) if intervals else {}
    most = max((abs(weight) for _, weight in words), default=1.0)
    for word, weight in sorted(words, key=lambda pair: -pair[1]):
        drawn = bar(abs(weight) / most, 18)
        sides = ("", drawn) if weight > 0 else (drawn, "")
        others = [*([parts[word]] if company else []), *ends.get(word, ())]
        rows.add_row(shown(word, 30), *sides, *(f"{value:+.3f}" for value in (weight, *others)))
    console.print(rows)


def show_reasons(text: str, reasons: list[Reason], console: Console) -> None:
    """Show why a text has its labels."""
    console.print(f"\n{shown(text, 300)}")
    for reason in reasons:
        given = "" if reason.accepted else ", not given"
        ends = "" if reason.interval is None else ", surely from {:.3f} to {:.3f}".format(*reason.interval)
        console.print(f"{shown(reason.label)}: probability {reason.probability:.3f}{ends}{given}", style="bold")
        if reason.words:
            show_bars(reason.words, console, reason.company, reason.word_intervals)
        else:
            console.print("no word that the model knows counts for or against it")


def _number(value: float) -> str:
    return f"{value:.3f}" if isfinite(value) else "–"


def _more(console: Console, number: int, what: str) -> None:
    if number > 0:
        console.print(f"… and {number:,} more {what} (--json and --report have them all)")
