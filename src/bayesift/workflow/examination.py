"""A look at texts and labels before anything is learned from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

#: Labels with fewer texts than this are too rare to learn much.
FEW = 5

_SEPARATORS = (";", "|", ",", "/")


@dataclass(frozen=True)
class Examination:
    """What texts and labels look like.

    Parameters
    ----------
    n_texts : int
        How many there are.
    balance : dict of str to int
        Texts by label, the most frequent first.
    several : bool
        Whether some text has more than one label.
    n_unlabelled, n_empty, n_duplicates, n_conflicts : int
        Texts without a label; without a letter or digit; that occurred before; that occurred before with other labels.
    warnings : list of str
        What a person should look at, a sentence each.
    """

    n_texts: int
    balance: dict[str, int]
    several: bool
    n_unlabelled: int
    n_empty: int
    n_duplicates: int
    n_conflicts: int
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return dict(vars(self))


def examine(texts: Sequence[str], labels: Sequence[tuple[str, ...]]) -> Examination:
    """Count labels, and find what is often wrong: duplicates, empty texts, rare labels, labels that are numbers.

    Parameters
    ----------
    texts : sequence of str
    labels : sequence of tuple of str
        The label set of each text.

    Returns
    -------
    Examination

    Examples
    --------
    >>> from bayesift.workflow import examine
    >>> found = examine(["buy now", "buy now", "hello", ""], [("spam",), ("spam",), ("ham",), ()])
    >>> found.balance, found.n_duplicates, found.n_empty, found.n_unlabelled
    ({'spam': 2, 'ham': 1}, 1, 1, 1)
    """
    balance = dict(Counter(name for found in labels for name in found).most_common())
    seen: dict[str, tuple[str, ...]] = {}
    duplicates = conflicts = 0
    for text, found in zip(texts, labels, strict=True):
        if text in seen:
            duplicates += 1
            conflicts += seen[text] != found
        else:
            seen[text] = found
    result = Examination(
        n_texts=len(texts),
        balance=balance,
        several=any(len(found) > 1 for found in labels),
        n_unlabelled=sum(not found for found in labels),
        n_empty=sum(not any(map(str.isalnum, text)) for text in texts),
        n_duplicates=duplicates,
        n_conflicts=conflicts,
    )
    result.warnings.extend(_warnings(result))
    return result


def _warnings(found: Examination) -> list[str]:
    said = []
    if found.n_empty:
        said.append(
            f"{counted(found.n_empty, 'text')} without a letter or digit: nothing can be learned from such texts"
        )
    if found.n_duplicates:
        extra = f", {found.n_conflicts} of them with other labels" if found.n_conflicts else ""
        said.append(
            f"{counted(found.n_duplicates, 'text')} that occurred before{extra}: copies on both sides of a check make "
            f"the figures look better than they are"
        )
    few = [label for label, count in found.balance.items() if count < FEW]
    if few:
        said.append(f"fewer than {FEW} texts of {_some(few)}: too few to learn or to measure much")
    names = list(found.balance)
    if len(names) > 2 and all(map(_is_number, names)):
        said.append(f"the labels look like numbers ({_some(names)}): they are taken as names, their order is not used")
    if len(names) > 20 and 2 * len(names) > found.n_texts:
        said.append(f"{len(names)} different labels for {found.n_texts} texts: is this the column of labels?")
    return said + _several_in_one(names)


def _several_in_one(names: list[str]) -> list[str]:
    """Notice labels that look like several labels in one cell."""
    known = set(names)
    for mark in _SEPARATORS:
        joined = [name for name in names if mark in name]
        # Parts that are labels of their own elsewhere tell a list from a name with a comma in it.
        if any(part.strip() in known for name in joined for part in name.split(mark)):
            return [f"labels such as {joined[0]!r} look like several in one: name their separator, {mark!r}"]
    return []


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _some(names: list[str], shown: int = 5) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(repr(name) for name in names[:shown]) + more


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
