"""The flow of records through a review, counted and drawn as the PRISMA 2020 statement asks (Page et al. 2021)."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple
from xml.sax.saxutils import escape

from bayesift.review.decisions import Decisions
from bayesift.review.full_text import NOT_RETRIEVED

_NO_REASON = "no reason given"


class Flow(NamedTuple):
    """How many records there are at each step.

    Parameters
    ----------
    identified, duplicates : int
        Records in the files, and those of them that are copies of others.
    screened, excluded : int
        Records decided by title and abstract, and those of them that are irrelevant.
    undecided : int
        Screened records that are unsure or in conflict.
    unread : int
        Records that nobody read, because the review was stopped or is still going on; PRISMA counts those that a model
        ranked last as "marked as ineligible by automation tools".
    sought, not_retrieved, assessed : int
        Records relevant by title and abstract, full texts that could not be retrieved, and full texts judged.
    reports_excluded : mapping
        Number of full texts excluded for each reason, the most frequent first.
    waiting : int
        Full texts not judged yet.
    included : int
        Records included in the end.
    abstracts_excluded : mapping
        Number of records excluded by title and abstract for each reason.
    """

    identified: int
    duplicates: int
    screened: int
    excluded: int
    undecided: int
    unread: int
    sought: int
    not_retrieved: int
    assessed: int
    reports_excluded: Mapping[str, int]
    waiting: int
    included: int
    abstracts_excluded: Mapping[str, int]


def flow(n_documents: int, abstracts: Decisions, full: Decisions | None) -> Flow:
    """Count the records of a topic.

    Parameters
    ----------
    n_documents : int
        Number of documents in the project, including copies.
    abstracts, full : Decisions
        The decisions of the two stages; None if full texts are not judged.

    Returns
    -------
    Flow
        Every record is counted once at each step.
    """
    statuses = abstracts.statuses()
    held = Counter(status for status in statuses.values() if status != "skip")
    wanted = [place for place, status in statuses.items() if status == "relevant"]
    ends = {} if full is None else {place: full.status(place) for place in wanted}
    gone = [place for place, status in ends.items() if status == "irrelevant"]
    reasons = Counter((full.exclusion(place) if full else None) or _NO_REASON for place in gone)
    not_retrieved = reasons.pop(NOT_RETRIEVED, 0)
    included = len(wanted) if full is None else sum(status == "relevant" for status in ends.values())
    assessed = len(wanted) if full is None else included + len(gone) - not_retrieved
    out = (place for place, status in statuses.items() if status == "irrelevant")
    return Flow(
        n_documents,
        len(abstracts.same),
        held.total(),
        held["irrelevant"],
        held["unsure"] + held["conflict"],
        n_documents - len(abstracts.same) - held.total(),
        len(wanted),
        not_retrieved,
        assessed,
        dict(reasons.most_common()),
        len(wanted) - not_retrieved - assessed,
        included,
        dict(Counter(abstracts.exclusion(place) or _NO_REASON for place in out).most_common()),
    )


class _Box(NamedTuple):
    x: int
    y: int
    lines: list[str]

    @property
    def height(self) -> int:
        return 20 + 20 * len(self.lines)


_WIDTH, _LEFT, _RIGHT = 320, 60, 440

#: How many characters fit in a line of a box.
_LINE = 42

#: What a continuation line begins with.
_GOES_ON = "\u2003"


def diagram(numbers: Flow, *, full_text: bool, stopped: bool = False, earlier: int = 0) -> str:
    """Draw the flow diagram as a self-contained SVG.

    Parameters
    ----------
    numbers : Flow
        The counts that :func:`flow` returns.
    full_text : bool
        Whether full texts are judged; otherwise the boxes about them are left out.
    stopped : bool
        Whether the review was stopped; otherwise unread records are called "not read yet".
    earlier : int
        Number of relevant records in the earlier review that this one updates.

    Returns
    -------
    str
        An SVG document.
    """
    rows = [
        ("Identification", [f"Records identified: n = {numbers.identified}"],
         ["Records removed before screening:", f"Duplicates: n = {numbers.duplicates}",
          f"{'Not read, ranked last by the model' if stopped else 'Not read yet'}: n = {numbers.unread}"]),
        ("Screening", [f"Records screened: n = {numbers.screened}"],
         [f"Records excluded: n = {numbers.excluded}", *_listed(numbers.abstracts_excluded)]
         + ([f"Undecided: n = {numbers.undecided}"] if numbers.undecided else [])),
    ]  # fmt: skip
    if full_text:
        rows += [
            ("Screening", [f"Reports sought for retrieval: n = {numbers.sought}"],
             [f"Reports not retrieved: n = {numbers.not_retrieved}"]),
            ("Screening", [f"Reports assessed for eligibility: n = {numbers.assessed}"],
             [f"Reports excluded: n = {sum(numbers.reports_excluded.values())}", *_listed(numbers.reports_excluded)]
             + ([f"Not assessed yet: n = {numbers.waiting}"] if numbers.waiting else [])),
        ]  # fmt: skip
    before = f"Relevant in the earlier review: n = {earlier}" if earlier else ""
    rows.append(("Included", [f"Records included: n = {numbers.included}", before], []))
    parts: list[str] = []
    places: list[tuple[str, int, int]] = []
    y, above = 16, None
    for phase, left, right in rows:
        main, side = _Box(_LEFT, y, left), _Box(_RIGHT, y, right)
        height = max(main.height, side.height if right else 0)
        places.append((phase, y, height))
        parts.append(_drawn(main))
        if right:
            parts.append(_drawn(side))
            middle = y + main.height / 2
            parts.append(_arrow(_LEFT + _WIDTH, middle, _RIGHT, middle))
        if above is not None:
            parts.append(_arrow(_LEFT + _WIDTH / 2, above, _LEFT + _WIDTH / 2, y))
        above = y + main.height
        y += height + 30
    parts.extend(_phases(places))
    words = "; ".join(line for _, left, right in rows for line in (*left, *right)).replace(f"; {_GOES_ON}", " ")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_RIGHT + _WIDTH + 16} {y - 14}" role="img" '
        f'aria-label="{_escaped("PRISMA 2020 flow diagram. " + words)}" font-family="sans-serif" font-size="13">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _listed(reasons: Mapping[str, int]) -> list[str]:
    shown = list(reasons.items())
    if len(shown) == 1 and shown[0][0] == _NO_REASON:
        return []
    # No line break within "n = 12".
    lines = (textwrap.wrap(f"{reason}: n\xa0=\xa0{n}", _LINE, subsequent_indent=_GOES_ON) for reason, n in shown)
    return [line.replace("\xa0", " ") for some in lines for line in some]


def _escaped(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def _drawn(box: _Box) -> str:
    text = "".join(
        f'<text x="{box.x + 14}" y="{box.y + 24 + 20 * number}" fill="#111111">{_escaped(line)}</text>'
        for number, line in enumerate(box.lines)
    )
    size = f'x="{box.x}" y="{box.y}" width="{_WIDTH}" height="{box.height}"'
    return f'<rect {size} rx="4" fill="#ffffff" stroke="#555"/>{text}'


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#555" marker-end="url(#tip)"/>'


def _phases(places: list[tuple[str, int, int]]) -> list[str]:
    """Draw the names of the phases, rotated, at the left."""
    drawn = []
    for name in dict.fromkeys(phase for phase, _, _ in places):
        spans = [(y, y + height) for phase, y, height in places if phase == name]
        top, bottom = spans[0][0], spans[-1][1]
        middle = (top + bottom) / 2
        drawn.append(
            f'<rect x="10" y="{top}" width="30" height="{bottom - top}" rx="4" fill="#d5e6e9"/>'
            f'<text transform="translate(30 {middle:g}) rotate(-90)" text-anchor="middle" font-size="11" '
            f'fill="#111111">{name}</text>'
        )
    return drawn
