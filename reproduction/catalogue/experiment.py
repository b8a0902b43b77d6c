"""What an experiment is, what it returns, and all experiments by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from bayesift.datasets import data_root, describe
from reproduction.catalogue.runner import Runner
from reproduction.catalogue.table import Rule, Table


class NotPossibleError(Exception):
    """Raised by an experiment that cannot be done here; the message is the sentence to tell."""


class Claim(NamedTuple):
    """A conclusion of the paper, and whether our numbers support it (None: cannot tell)."""

    text: str
    holds: bool | None
    detail: str = ""

    def plain(self) -> Claim:
        """Return the claim with Python's own truth value, where a comparison of arrays gave numpy's."""
        return self._replace(holds=None if self.holds is None else bool(self.holds))


class Figure(NamedTuple):
    """A picture: a function that returns a matplotlib figure, or the file that it was drawn into."""

    name: str
    caption: str
    draw: Callable[[], Any] | None = None
    file: str = ""


@dataclass(frozen=True)
class Outcome:
    """Our numbers: tables, conclusions and pictures, and notes on what happened in this run."""

    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


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
        Takes a :class:`Runner` and returns our :class:`Outcome`.
    minutes, quick_minutes : float
        How long the whole and the quick run take, alone and with nothing from the cache, on two cores.
    collections : tuple of str
        Collections and word lists that it needs.
    any_of : tuple of str
        Collections of which it needs at least one; those that are missing are told.
    quick : str
        What the quick run leaves out. Its numbers are then not judged; empty if it is the same as the whole one.
    rule : rule or mapping of columns or rows to rules, optional
        When our numbers agree; every printed number beside one of ours needs one.
    conclusions : callable, optional
        Takes the tables of a run and returns claims that follow from their numbers alone, beside those of the outcome:
        they can be judged again without a run.
    notes : tuple of str
        Choices that the paper leaves open, and how they were made.
    """

    name: str
    paper: str
    item: str
    shows: str
    run: Callable[[Runner], Outcome]
    minutes: float
    quick_minutes: float
    collections: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    quick: str = ""
    rule: Rule | Mapping[str, Rule] | None = None
    conclusions: Callable[[tuple[Table, ...]], tuple[Claim, ...]] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name is {self.name!r}; expected paper/item in small letters, like genkin2007/table1")

    @property
    def folder(self) -> str:
        """The part of the name before the slash, which is the folder of the paper."""
        return self.name.partition("/")[0]

    @property
    def uses(self) -> tuple[str, ...]:
        """All collections and word lists that it can use."""
        return (*self.collections, *self.any_of)

    def missing(self) -> tuple[str, ...]:
        """List the collections that are not in the data root."""
        return tuple(name for name in self.uses if not describe(name).present)

    def lacks(self) -> tuple[str, ...]:
        """List the collections without which it cannot be run; if none of ``any_of`` is here, all of them."""
        missing = self.missing()
        lacking = tuple(name for name in self.collections if name in missing)
        return lacking or (self.any_of if set(self.any_of) <= set(missing) else ())

    def reason_to_skip(self) -> str:
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


#: The folders of the papers, in the order in which they are listed and run.
PAPERS = ("genkin2007", "eyheramendy2003", "chai2002", "molchanov2015", "murphy2012", "beyond")


@cache
def every_experiment() -> dict[str, Experiment]:
    """Return all experiments by name.

    Examples
    --------
    >>> from reproduction.catalogue import every_experiment
    >>> "genkin2007/table1" in every_experiment()
    True
    """
    found: dict[str, Experiment] = {}
    for paper in PAPERS:
        for experiment in import_module(f"reproduction.{paper}.experiments").EXPERIMENTS:
            if experiment.folder != paper or experiment.name in found:
                raise ValueError(f"{paper} has an experiment {experiment.name!r}; expected a new name {paper}/...")
            found[experiment.name] = experiment
    return found


def select(names: Sequence[str]) -> list[Experiment]:
    """Look experiments up by name, or all of a paper by the name of the paper.

    Parameters
    ----------
    names : sequence of str
        ``paper/item`` or ``paper``.

    Returns
    -------
    list of Experiment
        In the order of the catalogue, each once.

    Raises
    ------
    ValueError
        A name is not known; names like it are told.
    """
    everything = every_experiment()
    chosen: set[str] = set()
    for name in names:
        matching = [known for known in everything if name in (known, known.partition("/")[0])]
        if not matching:
            near = get_close_matches(name, [*PAPERS, *everything], n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "'python -m reproduction --list' lists them all"
            raise ValueError(f"there is no experiment {name!r}; {hint}")
        chosen.update(matching)
    return [experiment for name, experiment in everything.items() if name in chosen]
