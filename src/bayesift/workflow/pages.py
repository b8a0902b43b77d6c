"""Reports as pages of their own: one HTML file without anything from outside."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite
from pathlib import Path

from bayesift._files import atomic_path
from bayesift.workflow._reasons import Reason, WeightedWords
from bayesift.workflow._svg import reliability, word_bars
from bayesift.workflow.evaluation import Evaluation
from bayesift.workflow.facts import Facts
from bayesift.workflow.sentences import fact_lines, summary_lines
from bayesift.workflow.training import Trained

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --pale: #6b7280; --rule: #e5e7eb; --for: #0072b2; --against: #d55e00 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --pale: #9ca3af; --rule: #374151; --for: #56b4e9;
  --against: #e69f00 } body { background: #15181c } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); margin: 2rem auto; max-width: 62rem; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem } h3 { font-size: 1rem; margin: 0 0 .3rem }
table { border-collapse: collapse } th, td { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top }
th { color: var(--pale); font-weight: 500 } tr { border-bottom: 1px solid var(--rule) }
.wide { overflow-x: auto } .number { text-align: right; font-variant-numeric: tabular-nums }
.bar { background: var(--for); height: .7rem; display: inline-block; min-width: 1px }
.warning { border-left: 3px solid var(--against); padding-left: .7rem } .pale { color: var(--pale) }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(27rem, 100%), 1fr)); gap: 1.6rem }
@media (max-width: 34rem) { th, td { padding-right: .55rem } body { font-size: 14px } .bar { max-width: 8rem } }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif } svg text { fill: var(--ink) }
svg .for, svg circle { fill: var(--for) } svg .against { fill: var(--against) }
svg .axis, svg .frame, svg polyline { stroke: var(--rule); fill: none } svg polyline { stroke: var(--for) }
"""


def training_page(trained: Trained, title: str) -> str:
    """Build the page of a training: data, model, figures, words.

    Parameters
    ----------
    trained : Trained
    title : str
        What was learned from.

    Returns
    -------
    str
        HTML without links to anything outside.
    """
    found = trained.examination
    most = max(found.balance.values(), default=1)
    balance = _table(
        ("label", "texts", ""),
        (
            (escape(label), f"{count:,}", f'<span class="bar" style="width:{12 * count / most:.2f}rem"></span>')
            for label, count in found.balance.items()
        ),
        numbers=(1,),
    )
    warnings = _paragraphs([*found.warnings, *trained.notes], "warning")
    parts = [
        f"<p>{found.n_texts:,} texts, {len(found.balance):,} labels</p>{warnings}",
        _section("Texts by label", balance),
        _section("Model", facts_part(trained.facts)),
    ]
    if trained.evaluation is not None:
        parts.append(_section(f"On {trained.evaluation.on}", evaluation_part(trained.evaluation)))
    parts.append(words_part(trained.telling))
    return page(f"What was learned from {title}", parts)


def evaluation_page(found: Evaluation, title: str) -> str:
    """Build the page of an evaluation.

    Parameters
    ----------
    found : Evaluation
    title : str

    Returns
    -------
    str
    """
    return page(title, [_section(f"On {found.on}", evaluation_part(found))])


def explanation_page(telling: dict[str, WeightedWords], reasons: Sequence[tuple[str, list[Reason]]], title: str) -> str:
    """Build the page of an explanation: the words of the labels, and of some texts.

    Parameters
    ----------
    telling : dict
        For every label its words.
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
            f"<div><h3>{escape(reason.label)} <span class=pale>{reason.probability:.3f}"
            f"{'' if reason.accepted else ', not given'}</span></h3>{word_bars(reason.words, reason.label)}</div>"
            for reason in found
        )
        parts.append(f'<p>{escape(text)}</p><div class="cards">{cards}</div>')
    return page(title, [*parts, words_part(telling)])


def facts_part(found: Facts) -> str:
    """Return what a model is as a table."""
    lines = [("model", f"{found.model}: {found.about}"), *fact_lines(found)]
    return _table((), ((f'<span class="pale">{escape(name)}</span>', escape(value)) for name, value in lines))


def evaluation_part(found: Evaluation) -> str:
    """Return the figures of every label, all together, and the picture of the probabilities."""
    rows = (
        (
            escape(score.label),
            f"{score.n_texts:,}",
            f"{score.n_given:,}",
            *(f"{value:.3f}" if isfinite(value) else "–" for value in (score.precision, score.recall, score.f1)),
        )
        for score in found.categories
    )
    scores = _table(("label", "texts", "given", "precision", "recall", "F1"), rows, numbers=(1, 2, 3, 4, 5))
    picture = reliability(found.reliability, "Share that was right against the probability given")
    return f"{scores}{_paragraphs(summary_lines(found))}<h3>Do the probabilities mean what they say?</h3>{picture}"


def words_part(telling: dict[str, WeightedWords]) -> str:
    """Return the telling words of every label as bars."""
    cards = "".join(
        f"<div><h3>{escape(label)}</h3>{word_bars(words, label)}</div>" for label, words in telling.items() if words
    )
    return _section("Most telling words", f'<div class="cards">{cards}</div>') if cards else ""


def page(title: str, parts: Iterable[str]) -> str:
    """Put parts into a page of HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def write_page(html: str, path: str | os.PathLike[str]) -> None:
    """Write a page; it appears complete or not at all.

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
    """Return a table; cells are HTML already."""

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
