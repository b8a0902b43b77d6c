"""Which column of a table is which: the usual names, and the one rule for guessing columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from bayesift.datasets.errors import ColumnError, listed_names, probable_delimiter

#: Usual names of columns by what they hold, in lower case, the most usual first.
USUAL_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "text": ("text", "texts", "body", "content", "document", "message", "sentence", "review"),
        "labels": ("label", "labels", "category", "categories", "class", "classes", "topic", "topics", "target"),
        "id": ("id",),
        # The names that literature databases use.
        "abstract": ("abstract", "notes_abstract", "abstract note", "ab", "n2"),
        "title": ("title", "primary_title", "article title", "headline", "subject", "ti", "t1"),
        "record id": ("record_id", "key", "pmid", "pubmedid", "accession number", "doi"),
    }
)


#: The column of the texts, or several, whose cells are joined with a blank line between them.
TextColumns = str | Sequence[str]


class FeaturedText(str):
    """A text with the values of other columns; otherwise an ordinary string.

    Parameters
    ----------
    text : str
    features : mapping from str to object
        The values by column name.

    Examples
    --------
    >>> from bayesift.datasets import FeaturedText
    >>> text = FeaturedText("cold soup", {"price": 4, "shop": "inn"})
    >>> text.upper(), text.features["price"]
    ('COLD SOUP', 4)
    """

    features: Mapping[str, Any]

    def __new__(cls, text: str, features: Mapping[str, Any] = MappingProxyType({})) -> Self:
        made = super().__new__(cls, text)
        made.features = features
        return made


@dataclass(frozen=True)
class Origin:
    """The file or folder that was read, and which of its columns were used.

    Parameters
    ----------
    path : Path
    format : str
        Its format: ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"json"``, ``"parquet"``, ``"xlsx"``, ``"folder"`` or
        ``"svmlight"``.
    text, labels, id : str, optional
        The columns used for each, if the format has columns; ``text`` is a tuple if the cells of several were joined.
    features : tuple of str
        The columns whose values are kept with the texts.
    guessed : tuple of str
        Which of ``"text"``, ``"labels"`` and ``"id"`` the caller did not name; they were found by their
        usual names.
    notes : tuple of str
        What was detected, such as the encoding, and what was missing, a sentence each.
    """

    path: Path
    format: str
    text: str | tuple[str, ...] | None = None
    labels: str | None = None
    id: str | None = None
    guessed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


def text_columns(text: TextColumns | None) -> tuple[str, ...]:
    """Return the names of the text columns; none if they are not given."""
    if text is None:
        return ()
    names = (text,) if isinstance(text, str) else tuple(text) if isinstance(text, Sequence) else ()
    if not names or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"text must name a column, or several different ones, found {text!r}")
    return names


def as_text(names: Sequence[str]) -> str | tuple[str, ...]:
    """Return names of text columns in the form of :attr:`Origin.text`."""
    return names[0] if len(names) == 1 else tuple(names)


def joined(cells: Sequence[str | None]) -> str:
    """Join the cells of the text columns; empty or missing cells leave no gap."""
    return "\n\n".join(cell for cell in cells if cell)


def find_column(columns: Sequence[str], names: Iterable[str]) -> str | None:
    """Return the column with the first of some names, ignoring case; None if there is none.

    Examples
    --------
    >>> from bayesift.datasets import USUAL_NAMES, find_column
    >>> find_column(["ID", "Title", "Abstract"], USUAL_NAMES["title"])
    'Title'
    """
    found = {_plain(name): name for name in reversed(columns)}
    return next((found[name] for name in names if name in found), None)


def check_columns(path: str | Path, columns: Sequence[str], **named: str | None) -> None:
    """Refuse a name that no column has, saying what the column would hold."""
    for role, name in named.items():
        if name is not None and name not in columns:
            raise ColumnError(path, role, columns, name=name)


def choose_columns(
    path: Path,
    format: str,
    columns: Sequence[str],
    *,
    text: TextColumns | None,
    labels: str | Literal[False] | None,
    id: str | None,
    features: Sequence[str] = (),
) -> Origin:
    """Choose the columns of text, labels and identifiers.

    Parameters
    ----------
    path, format
        The file, for messages and for the result.
    columns : sequence of str
        The columns that exist.
    text, labels, id : str, optional
        The names given by the caller; ``labels=False`` means that there are no labels.
    features : sequence of str
        The columns whose values are kept with the texts; these are not guessed to be anything else.

    Returns
    -------
    Origin
        The columns chosen, and which of them were guessed.
    """
    twice = sorted(name for name, count in Counter(columns).items() if count > 1)
    if twice:
        raise ValueError(f"{path} has more than one column named {listed_names(twice)}")
    names = text_columns(text)
    for name in names or (None,):
        check_columns(path, columns, text=name, labels=labels or None, id=id)
    check_features(path, columns, features, (*names, labels))
    if labels in names:
        raise ValueError(f"text and labels must be different columns of {path}, found {labels!r} for both")
    found: dict[str, Any] = {"text": as_text(names) if names else None, "labels": labels, "id": id}
    for role in ("labels", "id", "text"):
        if found[role] is None:
            taken = [*names, *features, *(name for other, name in found.items() if other != role)]
            found[role] = guess_column(path, role, [name for name in columns if name not in taken], columns)
    guessed = tuple(
        role
        for role, given in (("text", text), ("labels", labels), ("id", id))
        if given is None and found[role] is not None
    )
    return Origin(path, format, found["text"], found["labels"] or None, found["id"], guessed, features=tuple(features))


def check_features(
    path: Path, columns: Sequence[str], features: Sequence[str], others: Sequence[str | Literal[False] | None]
) -> None:
    """Refuse a feature that is not a column, or that is named twice or also for something else."""
    for feature in features:
        check_columns(path, columns, feature=feature)
        if feature in others or list(features).count(feature) > 1:
            raise ValueError(f"column {feature!r} of {path} is named twice; expected different columns")


def guess_column(
    path: str | Path, role: str, free: Sequence[str], columns: Sequence[str], problem: str = ""
) -> str | None:
    """Guess a column if there is no doubt: only one has a usual name or, for texts, there is no other.

    Parameters
    ----------
    path : str or Path
        The file, for messages.
    role : {"text", "labels", "id"}
        What the column holds; only the column of identifiers may be missing.
    free, columns : sequence of str
        The candidate columns, and all columns.
    problem : str, optional
        What to say if it cannot be guessed.

    Returns
    -------
    str or None
    """
    usual = [name for name in free if _plain(name) in USUAL_NAMES[role]]
    if len(usual) == 1:
        return usual[0]
    if role == "id":
        return None
    if role == "text" and len(free) == 1 and probable_delimiter(columns) is None:
        return free[0]
    found = f"{listed_names(usual)} could each be it" if usual else "no column has a usual name"
    remedy = "; labels=False reads texts alone" if role == "labels" and not usual else ""
    raise ColumnError(path, role, columns, problem=problem or found, remedy=remedy)


def columns_by_content(
    rows: Sequence[Mapping[str, Any]], text: TextColumns | None, labels: str | None, features: Sequence[str] = ()
) -> tuple[TextColumns | None, str | None]:
    """Guess the columns that are not given from the content of some rows; None if that does not decide it.

    The text column is the one with the longest cells, and the label column the only other one whose values occur at
    least twice on average. A usual name takes precedence.
    """
    if not rows:
        return text, labels
    cells = {name: [_cell(row.get(name)) for row in rows] for name in rows[0] if name not in features}
    free = [name for name in cells if name not in (*text_columns(text), labels)]
    if text is None:
        named = [name for name in free if _plain(name) in USUAL_NAMES["text"]]
        others = [name for name in free if _plain(name) not in (*USUAL_NAMES["labels"], *USUAL_NAMES["id"])]
        longest = max(others, key=lambda name: sum(map(len, cells[name])), default=None)
        text = named[0] if len(named) == 1 else longest
    if labels is None:
        free = [name for name in free if name not in text_columns(text)]
        named = [name for name in free if _plain(name) in USUAL_NAMES["labels"]]
        repeated = [name for name in free if 2 <= len(set(cells[name])) <= len(rows) / 2]
        labels = named[0] if len(named) == 1 else repeated[0] if len(repeated) == 1 else None
    return text, labels


def _plain(name: str) -> str:
    return name.strip().lower()


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
