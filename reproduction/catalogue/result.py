"""Running an experiment, and what came of it: the verdict."""

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, Self

from bayesift import __version__
from reproduction.catalogue.cache import data_digest
from reproduction.catalogue.experiment import Claim, Experiment, Figure, NotPossibleError
from reproduction.catalogue.published import published
from reproduction.catalogue.runner import Runner
from reproduction.catalogue.table import Table


@dataclass(frozen=True)
class Result:
    """An experiment with our numbers, or the reason why there are none.

    Parameters
    ----------
    name, paper, item, shows, source, agreement, quick : str
        As in the experiment; ``source`` is where the printed numbers come from, ``quick`` what was left out.
    notes : tuple of str
        Choices, and what happened in this run.
    tables, claims, figures
        As in :class:`Outcome`, cells judged.
    skipped : str
        Why it was not run; empty if it was.
    seconds : float
        Time of this run.
    seconds_kept : float
        Time of the pieces that an earlier run had made; those that several experiments use count for the first.
    cpu_seconds : float
        Processor time of this run and of those pieces.
    date : str
        Day of the run.
    versions : mapping
        Versions of Python and the packages.
    data : mapping
        Which copy of each collection was used.
    """

    name: str
    paper: str
    item: str
    shows: str
    source: str = ""
    agreement: str = ""
    quick: str = ""
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    skipped: str = ""
    seconds: float = 0.0
    seconds_kept: float = 0.0
    cpu_seconds: float = 0.0
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> list[bool]:
        """Whether each judged cell agrees."""
        found = (cell.agrees for table in self.tables for row in table.cells for cell in row)
        return [agrees for agrees in found if agrees is not None]

    @property
    def conclusions(self) -> list[bool]:
        """Whether each claim that can be judged holds."""
        return [claim.holds for claim in self.claims if claim.holds is not None]

    @property
    def judgements(self) -> list[bool]:
        """Whether each judged cell agrees, then whether each claim holds."""
        return self.cells + self.conclusions

    @property
    def verdict(self) -> str:
        """``agrees``, ``partly``, ``differs``, ``shown`` where there is nothing to judge, ``quick`` or ``skipped``."""
        if self.skipped or self.quick:
            return "skipped" if self.skipped else "quick"
        judged = self.judgements
        if not judged:
            return "shown"
        return "agrees" if all(judged) else "partly" if any(judged) else "differs"

    @property
    def summary(self) -> str:
        """The verdict in a sentence with the counts."""
        if self.skipped:
            return self.skipped
        cells, claims = self.cells, self.conclusions
        parts = []
        if cells:
            parts.append(f"{sum(cells)} of {len(cells)} numbers agree ({self.agreement})")
        if claims:
            parts.append(f"{sum(claims)} of {len(claims)} conclusions hold")
        return "; ".join(parts) or (
            "part of the work only, not judged" if self.quick else "nothing printed to judge by"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON; pictures by their files."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return plain | {
            "verdict": self.verdict,
            "notes": [*self.notes],
            "tables": [table.as_dict() for table in self.tables],
            "claims": [claim._asdict() for claim in self.claims],
            "figures": [{"name": f.name, "caption": f.caption, "file": f.file} for f in self.figures],
            "versions": dict(self.versions),
            "data": dict(self.data),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make the result of what :meth:`as_dict` gave."""
        return cls(
            **{name: values[name] for name in _PLAIN},
            notes=tuple(values["notes"]),
            tables=tuple(Table.from_dict(table) for table in values["tables"]),
            claims=tuple(Claim(**claim) for claim in values["claims"]),
            figures=tuple(Figure(**figure) for figure in values["figures"]),
            versions=values["versions"],
            data=values["data"],
        )


_PLAIN = (
    *("name", "paper", "item", "shows", "source", "agreement", "quick", "skipped"),
    *("seconds", "seconds_kept", "cpu_seconds", "date"),
)


def run(experiment: Experiment, runner: Runner | None = None) -> Result:
    """Do an experiment, and judge our numbers by its rule.

    Parameters
    ----------
    experiment : Experiment
        What to do.
    runner : Runner, optional
        Where; by default a new one with the user's cache.

    Returns
    -------
    Result
        With ``skipped`` set where it cannot be done here.
    """
    runner = Runner() if runner is None else runner
    blank = _blank(experiment, runner.quick)
    if reason_to_skip := experiment.reason_to_skip():
        return replace(blank, skipped=reason_to_skip)
    before, started, cpu = runner.spent, time.perf_counter(), time.process_time()
    try:
        outcome = experiment.run(runner)
    except NotPossibleError as error:
        return replace(blank, skipped=str(error))
    other_cpu = runner.spent.kept_cpu - before.kept_cpu + runner.spent.elsewhere_cpu - before.elsewhere_cpu
    judged = not (runner.quick and experiment.quick)
    missing = experiment.missing()
    told = (f"Not in the data root: {', '.join(missing)}.",) if missing else ()
    return replace(
        blank,
        notes=(*blank.notes, *outcome.notes, *told),
        tables=tuple(table.judged(experiment.rule) if judged else table for table in outcome.tables),
        claims=tuple(claim.plain() for claim in (*outcome.claims, *_from_tables(experiment, outcome.tables))),
        figures=outcome.figures,
        seconds=time.perf_counter() - started,
        seconds_kept=runner.spent.kept - before.kept,
        cpu_seconds=time.process_time() - cpu + other_cpu,
        data={name: data_digest(name) for name in experiment.uses if name not in missing},
    )


def _from_tables(experiment: Experiment, tables: tuple[Table, ...]) -> tuple[Claim, ...]:
    return () if experiment.conclusions is None else experiment.conclusions(tables)


def judged_again(result: Result, experiment: Experiment) -> Result:
    """Judge the numbers of an earlier run by the rules of today.

    Parameters
    ----------
    result : Result
        What an earlier run gave.
    experiment : Experiment
        The experiment as it is now.

    Returns
    -------
    Result
        With cells judged and conclusions drawn anew where they follow from the tables; other claims stay.
    """
    if result.skipped or result.quick:
        return result
    known = {claim.text: claim for claim in result.claims}
    drawn = {claim.text: claim.plain() for claim in _from_tables(experiment, result.tables)}
    return replace(
        result,
        agreement=experiment.agreement(),
        tables=tuple(table.judged(experiment.rule) for table in result.tables),
        claims=tuple((known | drawn).values()),
    )


def _blank(experiment: Experiment, quick: bool) -> Result:
    return Result(
        name=experiment.name,
        paper=experiment.paper,
        item=experiment.item,
        shows=experiment.shows,
        source=_source(experiment),
        agreement=experiment.agreement(),
        quick=experiment.quick if quick else "",
        notes=experiment.notes,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        versions=versions(),
    )


def _source(experiment: Experiment) -> str:
    try:
        return published(experiment.folder).source
    except FileNotFoundError:
        return ""


def versions() -> dict[str, str]:
    """Tell the versions of Python and the packages that numbers come from."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    return {"bayesift": __version__, "Python": platform.python_version(), **{name: version(name) for name in names}}
