"""Reports of training, evaluation and explanation: one HTML file each, which loads nothing from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite
from pathlib import Path

from bayesift._files import atomic_path
from bayesift.workflow.curve import LearningCurve
from bayesift.workflow.evaluate import Evaluation, ProbabilityGroup
from bayesift.workflow.explain import Reason, WeightedWords
from bayesift.workflow.info import ModelInfo
from bayesift.workflow.train import Trained

#: Height of a bar with its word, in pixels.
_LINE = 20

# Tables that are too wide for the window have a shadow at the side where they go on: a cover that moves with the table
# hides the one that stays.
_STYLE = """
:root { color-scheme: light dark; --page: #fff; --page-clear: #fff0; --shadow: #0004; --ink: #1f2328; --pale: #6b7280;
  --rule: #e5e7eb; --for: #0072b2; --against: #d55e00 }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --page-clear: #15181c00; --shadow: #fff5; --ink: #e6e6e6;
  --pale: #9ca3af; --rule: #374151; --for: #56b4e9; --against: #e69f00 } }
body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 62rem; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem } h3 { font-size: 1rem; margin: 0 0 .3rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top }
th { color: var(--pale); font-weight: 500 } tr { border-bottom: 1px solid var(--rule) }
.wide { overflow-x: auto; background:
  linear-gradient(to right, var(--page) 1rem, var(--page-clear)) left / 2rem 100% local,
  linear-gradient(to left, var(--page) 1rem, var(--page-clear)) right / 2rem 100% local,
  linear-gradient(to right, var(--shadow), transparent) left / .7rem 100% scroll,
  linear-gradient(to left, var(--shadow), transparent) right / .7rem 100% scroll; background-repeat: no-repeat }
.number { text-align: right; font-variant-numeric: tabular-nums }
.bar { background: var(--for); height: .7rem; display: inline-block; min-width: 1px; width: calc(12rem * var(--share)) }
.warning { border-left: 3px solid var(--against); padding-left: .7rem } .pale { color: var(--pale) }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(27rem, 100%), 1fr)); gap: 1.6rem }
@media (max-width: 34rem) { th, td { padding-right: .55rem } body { font-size: 14px }
.bar { width: calc(7rem * var(--share)) } }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif } svg text { fill: var(--ink) }
svg .for, svg circle { fill: var(--for) } svg .against { fill: var(--against) }
svg .axis, svg .frame, svg polyline { stroke: var(--rule); fill: none } svg polyline { stroke: var(--for) }
"""


def training_report(trained: Trained, title: str) -> str:
    """Build the report of a training: data, model, measures, words.

    Parameters
    ----------
    trained : Trained
    title : str
        The name of the data.

    Returns
    -------
    str
        HTML that loads nothing from elsewhere.
    """
    found = trained.data
    most = max(found.balance.values(), default=1)
    balance = _table(
        ("label", "texts", ""),
        (
            (escape(label), f"{count:,}", f'<span class="bar" style="--share: {count / most:.3f}"></span>')
            for label, count in found.balance.items()
        ),
        numbers=(1,),
    )
    warnings = _paragraphs([*found.warnings, *trained.notes], "warning")
    parts = [
        f"<p>{found.n_texts:,} texts, {len(found.balance):,} labels</p>{warnings}",
        _section("Texts by label", balance),
        _section("Model", _model_part(trained.info)),
    ]
    compared = trained.info.comparison
    if compared is not None and compared.models:
        header, rows = compared.table()
        cells = ([escape(cell) for cell in row] for row in rows)
        parts.append(_section(compared.about(), _table(header, cells, numbers=range(1, len(header)))))
    if trained.evaluation is not None:
        parts.append(_section(f"On {trained.evaluation.on}", _evaluation_part(trained.evaluation)))
    if trained.curve is not None:
        parts.append(_section("Would more labels help?", _curve_part(trained.curve)))
    parts.append(_words_part(trained.top_words))
    return _page(f"What was learned from {title}", parts)


def evaluation_report(found: Evaluation, title: str) -> str:
    """Build the report of an evaluation.

    Parameters
    ----------
    found : Evaluation
    title : str

    Returns
    -------
    str
    """
    return _page(title, [_section(f"On {found.on}", _evaluation_part(found))])


def explanation_report(
    top_words: dict[str, WeightedWords], reasons: Sequence[tuple[str, list[Reason]]], title: str
) -> str:
    """Build the report of an explanation: the words of labels and of some texts.

    Parameters
    ----------
    top_words : dict
        The words of every label.
    reasons : sequence of (str, list of Reason)
        Texts and the reasons of their labels.
    title : str

    Returns
    -------
    str
    """
    parts = []
    for text, found in reasons:
        cards = "".join(
            f"<div><h3>{escape(reason.label)} <span class=pale>{reason.probability:.3f}{_span(reason)}"
            f"{'' if reason.accepted else ', not given'}</span></h3>{_word_bars(reason.words, reason.label)}</div>"
            for reason in found
        )
        parts.append(f'<p>{escape(text)}</p><div class="cards">{cards}</div>')
    return _page(title, [*parts, _words_part(top_words)])


def _span(reason: Reason) -> str:
    """Return the interval of a probability, if there is one."""
    return "" if reason.interval is None else " ({:.3f} to {:.3f})".format(*reason.interval)


def _model_part(found: ModelInfo) -> str:
    """Return the summary of a model as a table."""
    lines = [("model", f"{found.model}: {found.about}"), *found.lines()]
    return _table((), ((f'<span class="pale">{escape(name)}</span>', escape(value)) for name, value in lines))


def _evaluation_part(found: Evaluation) -> str:
    """Return the measures of every label, those of all labels together, and a plot of the probabilities."""
    rows = (
        (
            escape(score.label),
            f"{score.n_texts:,}",
            f"{score.n_given:,}",
            *(f"{value:.3f}" if isfinite(value) else "–" for value in (score.precision, score.recall, score.f1)),
            f"{score.calibration_error:.3f} ({score.calibration_low:.3f} to {score.calibration_high:.3f})",
        )
        for score in found.categories
    )
    header = ("label", "texts", "given", "precision", "recall", "F1", "calibration error (95 % interval)")
    scores = _table(header, rows, numbers=(1, 2, 3, 4, 5, 6))
    picture = _reliability(found.reliability, "Share that was right against the probability given")
    return f"{scores}{_paragraphs(found.sentences())}<h3>Do the probabilities mean what they say?</h3>{picture}"


def _curve_part(found: LearningCurve) -> str:
    """Return what more labels would gain, and the points of the learning curve."""
    means = found.scores.mean(axis=1).tolist()
    rows = ((f"{size:,}", f"{mean:.3f}") for size, mean in zip(found.sizes.tolist(), means, strict=True))
    return f"<p>{escape(found.sentence())}</p>" + _table(("training texts", found.measure), rows, numbers=(0, 1))


def _words_part(top_words: dict[str, WeightedWords]) -> str:
    """Return the top words of every label as bars."""
    cards = "".join(
        f"<div><h3>{escape(label)}</h3>{_word_bars(words, label)}</div>" for label, words in top_words.items() if words
    )
    return _section("Top words", f'<div class="cards">{cards}</div>') if cards else ""


def _page(title: str, parts: Iterable[str]) -> str:
    """Join the parts into an HTML page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def write_report(html: str, path: str | os.PathLike[str]) -> None:
    """Write a report; the file appears complete or not at all.

    Parameters
    ----------
    html : str
    path : path
    """
    with atomic_path(Path(path)) as temporary:
        temporary.write_text(html, encoding="utf-8", errors="replace")


def _section(title: str, content: str) -> str:
    return f"<h2>{escape(title)}</h2>{content}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table; its cells are already HTML."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} class="number">{cell}</{tag}>' if place in numbers else f"<{tag}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )

    head = f"<tr>{line(header, 'th')}</tr>" if header else ""
    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f'<div class="wide"><table>{head}{body}</table></div>'


def _paragraphs(lines: Iterable[str], name: str = "") -> str:
    return "".join(f'<p class="{name}">{escape(line)}</p>' if name else f"<p>{escape(line)}</p>" for line in lines)


def _word_bars(words: WeightedWords, title: str) -> str:
    """Draw words with bars to the right (for) and to the left (against)."""
    ordered = sorted(words, key=lambda pair: -pair[1])
    most = max((abs(weight) for _, weight in ordered), default=1.0) or 1.0
    # The axis is in the middle only if there are words on both sides.
    middle, half = (250, 110) if any(weight < 0 for _, weight in ordered) else (140, 220)
    parts = []
    for place, (word, weight) in enumerate(ordered):
        y = place * _LINE
        length = abs(weight) / most * half
        x = middle if weight > 0 else middle - length
        parts.append(
            f'<text x="130" y="{y + 14}" text-anchor="end">{escape(_cut(word))}</text>'
            f'<rect class="{"for" if weight > 0 else "against"}" x="{x:.1f}" y="{y + 3}" width="{length:.1f}" '
            f'height="{_LINE - 7}"/><text x="372" y="{y + 14}">{weight:+.2f}</text>'
        )
    height = max(len(ordered), 1) * _LINE
    axis = f'<line class="axis" x1="{middle}" x2="{middle}" y1="0" y2="{height}"/>'
    return _drawn(430, height, title, "".join(parts) + axis)


def _reliability(groups: list[ProbabilityGroup], title: str) -> str:
    """Plot the observed share against the probability; probabilities are right on the diagonal."""
    left, size = 56, 240

    def place(group: ProbabilityGroup) -> tuple[float, float]:
        return left + group.predicted * size, 8 + (1 - group.observed) * size

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, groups))
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{group.n:,} decisions: probability {group.predicted:.2f}, '
        f"right {group.observed:.2f}</title></circle>"
        for group, (x, y) in zip(groups, map(place, groups), strict=True)
    )
    marks = "".join(
        f'<text x="{left + value * size:.0f}" y="{size + 26}" text-anchor="middle">{value:g}</text>'
        f'<text x="{left - 6}" y="{12 + (1 - value) * size:.0f}" text-anchor="end">{value:g}</text>'
        for value in (0.0, 0.5, 1.0)
    )
    frame = (
        f'<rect class="frame" x="{left}" y="8" width="{size}" height="{size}"/>'
        f'<line class="axis" x1="{left}" y1="{8 + size}" x2="{left + size}" y2="8"/>'
        f'<polyline points="{points}"/>'
    )
    names = (
        f'<text x="{left + size / 2:.0f}" y="{size + 44}" text-anchor="middle">probability given</text>'
        f'<text transform="translate(14 {8 + size / 2:.0f}) rotate(-90)" text-anchor="middle">share right</text>'
    )
    return _drawn(left + size + 12, size + 50, title, frame + dots + marks + names)


def _drawn(width: int, height: int, title: str, content: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{content}</svg>'
    )


def _cut(word: str, limit: int = 18) -> str:
    return word if len(word) <= limit else word[: limit - 1] + "…"
