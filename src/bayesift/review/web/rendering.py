"""Render templates to pages, and cut texts at the words to mark; templates escape everything from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from bayesift.review.engine import Highlight
from bayesift.review.web.access import Session, service_of
from bayesift.review.web.language import LANGUAGE, LANGUAGES, THEME, in_language, translated

#: Words that weigh less than this share of the heaviest one of the document are left plain.
_FAINT = 0.1

#: How often somebody writes "the" may tell the model something; marked, it tells a person nothing.
_SMALL_WORDS = """
a an the this that these those and or but nor so if than then as at by for from in into of on onto to up with without
about over under after before between during through i you he she it we they me him her us them my your his its our
their who which what whose when where how there here is are was were be been being am do does did has have had will
would can could may might must shall should not no all any some each other more most such only own same too very just
now against s t
"""
_UNMARKED = frozenset(_SMALL_WORDS.split())

_environment = Environment(
    loader=PackageLoader("bayesift.review.web", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def percent(share: float) -> str:
    r"""Write a probability: whole per cent, but never 0 or 100 where it is neither.

    Examples
    --------
    >>> from bayesift.review.web.rendering import percent
    >>> [percent(share).replace("\N{NO-BREAK SPACE}", " ") for share in (0.731, 0.0004, 0.9999)]
    ['73 %', '< 1 %', '> 99 %']
    """
    if 0 < share < 0.005:
        return "<\u00a01\u00a0%"
    if 0.995 < share < 1:
        return ">\u00a099\u00a0%"
    return f"{100 * share:.0f}\u00a0%"


def name_of(document: Any) -> str:
    """Return what a document is called in a list: its title, or else how its text begins, or else its identifier.

    Examples
    --------
    >>> from bayesift.review.storage import Document
    >>> from bayesift.review.web.rendering import name_of
    >>> name_of(Document("x", "", "Freezing rain has coated power lines in the east with ice as thick as an arm today"))
    'Freezing rain has coated power lines in the east with ice as thick as an arm…'
    >>> name_of(Document("x2", "", ""))
    'x2'
    """
    text = " ".join(document.text[:200].split())
    if len(text) > 80:
        # Texts without spaces are cut anywhere.
        text = (text[:80].rpartition(" ")[0] or text[:79]) + "…"
    return document.title or text or document.key


def thousands(number: int) -> str:
    """Write a number with thin spaces, which no language takes for a decimal mark."""
    return f"{number:,}".replace(",", "\u202f")


def moment(at: str) -> str:
    """Write a time of the database for people, to the second.

    Examples
    --------
    >>> from bayesift.review.web.rendering import moment
    >>> moment("2026-01-02T03:04:05.678Z")
    '2026-01-02 03:04:05'
    """
    return at[:19].replace("T", " ")


_environment.globals.update(
    _=translated, in_language=in_language, language=LANGUAGE.get, theme=THEME.get, languages=LANGUAGES
)
_environment.filters.update(name_of=name_of, percent=percent, thousands=thousands, moment=moment)


def fragment(name: str, /, **context: Any) -> str:
    """Render a part of a page."""
    return _environment.get_template(name).render(context)


def page(request: Request, name: str, session: Session | None, /, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Render a whole page."""
    home = request.app.state.settings.home
    shared = {"session": session, "project": service_of(request).project, "here": request.url.path, "home": home}
    return HTMLResponse(fragment(name, **shared, **context), status)


class Piece(NamedTuple):
    """A stretch of text that is shown in one way.

    Parameters
    ----------
    text : str
        The stretch.
    side : {"for", "against"}, optional
        What its word counts for; None for plain text.
    level : int
        How much it counts, from 1 to 3; 0 for plain text.
    weight : float
        The weight itself.
    """

    text: str
    side: Literal["for", "against"] | None = None
    level: int = 0
    weight: float = 0.0


class Words(NamedTuple):
    """The heaviest words of a document, heaviest first."""

    speak_for: list[str]
    speak_against: list[str]


def pieces(text: str, highlights: Iterable[Highlight], begin: int = 0, end: int | None = None) -> list[Piece]:
    """Cut the stretch of a text from ``begin`` to ``end`` into plain and highlighted pieces.

    Joined, the pieces are the stretch, whatever the highlights are.

    Examples
    --------
    >>> from bayesift.review.engine import Highlight
    >>> from bayesift.review.web.rendering import pieces
    >>> [piece[:3] for piece in pieces("Tin falls", [Highlight(0, 3, 1.5)])]
    [('Tin', 'for', 3), (' falls', None, 0)]
    """
    end = len(text) if end is None else end
    marked = sorted(mark for mark in highlights if text[mark.start : mark.end].lower() not in _UNMARKED)
    heaviest = max((abs(highlight.weight) for highlight in marked), default=0.0)
    found, place = [], begin
    for start, stop, weight in marked:
        share = abs(weight) / heaviest if heaviest else 0.0
        if start < place or stop > end or stop <= start or share < _FAINT:
            continue
        if start > place:
            found.append(Piece(text[place:start]))
        level = 1 + (share > 1 / 3) + (share > 2 / 3)
        found.append(Piece(text[start:stop], "for" if weight > 0 else "against", level, weight))
        place = stop
    if place < end:
        found.append(Piece(text[place:end]))
    return found


def heaviest_words(found: Sequence[Piece], n: int = 6) -> Words:
    """Name the heaviest words of the pieces, each once."""
    weights: dict[str, float] = {}
    for piece in found:
        if piece.side is not None:
            word = piece.text.lower()
            weights[word] = max(weights.get(word, 0.0), piece.weight, key=abs)
    ordered = sorted(weights, key=lambda word: -abs(weights[word]))
    return Words(
        [word for word in ordered if weights[word] > 0][:n],
        [word for word in ordered if weights[word] < 0][:n],
    )
