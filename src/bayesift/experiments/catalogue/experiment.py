"""One published table or figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bayesift.datasets import data_root
from bayesift.datasets._registry import holding
from bayesift.experiments.catalogue.bench import Bench
from bayesift.experiments.catalogue.outcome import Outcome
from bayesift.experiments.catalogue.rules import Rule

_NAME = re.compile(r"[a-z0-9]+/[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A published table or figure that can be done again.

    Parameters
    ----------
    name : str
        ``paper/item``, such as ``genkin2007/table1``.
    paper : str
        Authors and year.
    item : str
        The table or figure of the paper.
    shows : str
        What it shows, in one sentence.
    run : callable
        Takes a :class:`Bench` and returns our :class:`Outcome`.
    minutes, quick_minutes : float
        How long the whole and the quick run take, alone and with nothing from the cache, on two cores.
    collections : tuple of str
        Collections and word lists that it needs.
    any_of : tuple of str
        Collections of which it needs at least one; those that are missing are told.
    quick : str
        What the quick run leaves out. Its numbers are then not judged; empty if it is the same as the whole one.
    rule : rule or mapping of columns or rows to rules, optional
        When our numbers agree.
    notes : tuple of str
        Choices that the paper leaves open, and how they were made.
    """

    name: str
    paper: str
    item: str
    shows: str
    run: Callable[[Bench], Outcome]
    minutes: float
    quick_minutes: float
    collections: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    quick: str = ""
    rule: Rule | Mapping[str, Rule] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name is {self.name!r}; expected paper/item in small letters, like genkin2007/table1")

    @property
    def family(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]

    @property
    def uses(self) -> tuple[str, ...]:
        """All collections and word lists that it can use."""
        return (*self.collections, *self.any_of)

    def missing(self) -> tuple[str, ...]:
        """List the collections that are not in the data root."""
        return tuple(name for name in self.uses if not holding(name).present(data_root()))

    def lacks(self) -> tuple[str, ...]:
        """List the collections without which it cannot be run; if none of ``any_of`` is here, all of them."""
        missing = self.missing()
        lacking = tuple(name for name in self.collections if name in missing)
        return lacking or (self.any_of if set(self.any_of) <= set(missing) else ())

    def excuse(self) -> str:
        """Say in a sentence why this cannot be run; empty if it can."""
        lacking = self.lacks()
        if not lacking:
            return ""
        needs = f"{'one of ' if lacking == self.any_of else ''}{', '.join(lacking)}"
        fetch = " or ".join(f"bayesift data fetch {name}" for name in lacking)
        return f"needs {needs}, not found in {data_root()} (see: {fetch})"

    def agreement(self) -> str:
        """Say what the rule asks for."""
        if self.rule is None:
            return ""
        if isinstance(self.rule, Mapping):
            return "; ".join(f"{column}: {rule}" for column, rule in self.rule.items())
        return str(self.rule)
