"""How files mark decisions: in a column, or in the notes of a record, as this program, ASReview and Rayyan write them.

All decisions in files are read here: labels of the documents of a project, earlier reviews, replays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bayesift.datasets import find_column
from bayesift.review.storage import Decision

#: Columns that hold a decision, the most specific names first. The last is the RIS tag for a label.
DECISIONS = (
    "decision", "asreview_label", "included", "label_included", "final_included", "relevant", "label", "labels",
    "label_abstract_screening", "include", "lb",
)  # fmt: skip

#: Values of such columns, and what they mean.
MEANINGS: dict[str, Decision] = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "relevant", "include", "included"), "relevant"),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "irrelevant", "exclude", "excluded"), "irrelevant"),
    **dict.fromkeys(("unsure", "maybe", "?"), "unsure"),
}

#: Values that mean that nothing is decided, or not yet by all.
UNDECIDED = ("", "-1", "-1.0", "nan", "none", "skip", "conflict")

#: Columns that hold the reason for exclusion.
REASONS = ("reason for exclusion", "exclusion reason", "exclusion_reason", "exclusion reasons", "reason")

#: Fields that hold notes in RIS, BibTeX, PubMed, EndNote XML and tables, and keywords, in which reference managers keep
#: tags.
NOTES = ("N1", "note", "notes", "research notes", "asreview_note", "keywords")

#: The longest reason that is kept.
_LONGEST = 120

_OURS = re.compile(r"\bBayesift decision: (\w+)(\W+Bayesift probability: [\d.]+)?")
_OUR_REASON = re.compile(r"\W+Bayesift reason: (.+?)(?=[;\n]? ?Bayesift (?:tags|notes|duplicate of): |\n|$)")
_ASREVIEW = re.compile(r"\bASReview_(relevant|irrelevant|not_seen)\b", re.IGNORECASE)
_ASREVIEW_REASON = re.compile(r"^reason: (.+?)(?=; (?:tags|notes): |$)")
_RAYYAN = re.compile(r"\bRAYYAN-INCLUSION: *\{([^}\n]*)")
_RAYYAN_DECISION = re.compile(r'=> *"(Included|Excluded|Maybe)"', re.IGNORECASE)
_RAYYAN_REASON = re.compile(r"\bRAYYAN-EXCLUSION-REASONS:([^\n]*)")
_NEXT_OF_RAYYAN = re.compile(r"\| |;? RAYYAN-")


class NoMarksError(ValueError):
    """A file has no decisions."""


class Mark(NamedTuple):
    """What a file says about a record: the decision, None if there is none, and the reason for exclusion."""

    decision: Decision | None
    reason: str = ""


def marks(
    records: Sequence[Mapping[str, Any]],
    source: str,
    where: Callable[[int], str] = lambda place: f"record {place + 1}",
    *,
    notes_first: bool = False,
) -> list[Mark]:
    """Return the decision of a file about each of its records.

    Parameters
    ----------
    records : sequence of mapping
        The content of each record, by the names of columns or fields.
    source : str
        Name of the file, for messages.
    where : callable
        Returns the name of a record, by its place, for messages.
    notes_first : bool
        Whether notes take precedence over a column, as in formats of reference managers, where a field called *label*
        may hold something else. In tables it is the other way round.

    Returns
    -------
    list of Mark
        One for each record.

    Raises
    ------
    NoMarksError
        If nothing of the file holds decisions.
    ValueError
        If a decision is not understood.

    Examples
    --------
    >>> from bayesift.review.marks import marks
    >>> marks([{"included": "1"}, {"included": "no"}, {"included": ""}], "old.csv")
    [Mark(decision='relevant', reason=''), Mark(decision='irrelevant', reason=''), Mark(decision=None, reason='')]
    >>> marks([{"N1": "ASReview_relevant"}, {"N1": "Bayesift decision: irrelevant; Bayesift reason: mice"}], "old.ris")
    [Mark(decision='relevant', reason=''), Mark(decision='irrelevant', reason='mice')]
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    column, reasons = find_column(names, DECISIONS), find_column(names, REASONS)
    if column is not None and notes_first and not _is_decisive(records, column):
        column = None
    noted = [_noted(record) for record in records] if notes_first or column is None else []
    if any(noted):
        return [mark or Mark(None) for mark in noted]
    if column is None:
        raise NoMarksError(
            f"no column of {source} holds decisions; expected one named {', '.join(DECISIONS[:4])}, …, or notes such "
            "as 'Bayesift decision: relevant', 'ASReview_relevant' or 'RAYYAN-INCLUSION: …'"
        )
    return [_of_column(record, column, reasons, source, where(n)) for n, record in enumerate(records)]


def _is_decisive(records: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Tell whether all values of a field are decisions."""
    said = {_word(record.get(column)) for record in records}
    return said <= {*MEANINGS, *UNDECIDED}


def _word(value: Any) -> str:
    return "" if value is None else str(value).strip().lower()


def _of_column(record: Mapping[str, Any], column: str, reasons: str | None, source: str, where: str) -> Mark:
    said = _word(record.get(column))
    if said in UNDECIDED:
        return Mark(None)
    if said not in MEANINGS:
        expected = "expected 1 or 0, yes or no, or unsure"
        raise ValueError(f"{where} of {source} has the decision {said[:40]!r}; {expected}")
    reason = str(record.get(reasons) or "") if reasons else ""
    found = _ASREVIEW_REASON.search(str(record.get("asreview_note") or ""))
    return _mark(MEANINGS[said], reason or (found[1] if found else ""))


def _noted(record: Mapping[str, Any]) -> Mark | None:
    """Return the decision among the notes of a record: the last by this program, or else one by another."""
    notes = "\n".join(str(record[name]) for name in NOTES if record.get(name) is not None)
    # A project made from an export may have been exported again, and a person may have written such a note.
    ours = max(_OURS.finditer(notes), key=lambda found: (found[2] is not None, found.start()), default=None)
    if ours is not None:
        reason = _OUR_REASON.match(notes, ours.end())
        return _mark(MEANINGS.get(ours[1].lower()), reason[1] if reason else "")
    said = {word.lower() for word in _ASREVIEW.findall(notes)}
    if said:
        return _mark(MEANINGS.get(said.pop()) if len(said) == 1 else None)
    found = _RAYYAN.search(notes)
    if found is None:
        return None
    given = {MEANINGS[word.lower()] for word in _RAYYAN_DECISION.findall(found[1])}
    if {"relevant", "irrelevant"} <= given:
        return Mark(None)
    reason = _RAYYAN_REASON.search(notes)
    order: tuple[Decision, ...] = ("relevant", "irrelevant", "unsure")
    said_why = _NEXT_OF_RAYYAN.split(reason[1], maxsplit=1)[0] if reason else ""
    return _mark(next((each for each in order if each in given), None), said_why)


def _mark(decision: Decision | None, reason: str = "") -> Mark:
    """Return a mark; only an excluded record has a reason."""
    return Mark(decision, " ".join(reason.split())[:_LONGEST].strip() if decision == "irrelevant" else "")
