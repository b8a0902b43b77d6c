"""Running an experiment: from the catalogue to a result."""

from __future__ import annotations

import datetime
import platform
import time
from dataclasses import replace
from importlib.metadata import version

from bayesift._version import __version__
from bayesift.experiments.catalogue.bench import Bench
from bayesift.experiments.catalogue.experiment import Experiment
from bayesift.experiments.catalogue.grid import published
from bayesift.experiments.catalogue.outcome import NotPossibleError
from bayesift.experiments.catalogue.pieces import data_digest
from bayesift.experiments.catalogue.result import Result


def run(experiment: Experiment, bench: Bench | None = None) -> Result:
    """Do an experiment, and judge our numbers by its rule.

    Parameters
    ----------
    experiment : Experiment
        What to do.
    bench : Bench, optional
        Where; by default a new one with the user's cache.

    Returns
    -------
    Result
        With ``skipped`` set where it cannot be done here.
    """
    bench = Bench() if bench is None else bench
    blank = _blank(experiment, bench.quick)
    if excuse := experiment.excuse():
        return replace(blank, skipped=excuse)
    before, started, cpu = bench.spent, time.perf_counter(), time.process_time()
    try:
        outcome = experiment.run(bench)
    except NotPossibleError as error:
        return replace(blank, skipped=str(error))
    other_cpu = bench.spent.kept_cpu - before.kept_cpu + bench.spent.elsewhere_cpu - before.elsewhere_cpu
    judged = not (bench.quick and experiment.quick)
    missing = experiment.missing()
    told = (f"Not in the data root: {', '.join(missing)}.",) if missing else ()
    return replace(
        blank,
        notes=(*blank.notes, *outcome.notes, *told),
        tables=tuple(table.judged(experiment.rule) if judged else table for table in outcome.tables),
        claims=tuple(claim.plain() for claim in outcome.claims),
        figures=outcome.figures,
        seconds=time.perf_counter() - started,
        seconds_kept=bench.spent.kept - before.kept,
        cpu_seconds=time.process_time() - cpu + other_cpu,
        data={name: data_digest(name) for name in experiment.uses if name not in missing},
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
        return published(experiment.family).source
    except FileNotFoundError:
        return ""


def versions() -> dict[str, str]:
    """Tell the versions of Python and the packages that numbers come from."""
    names = ("numpy", "scipy", "scikit-learn", "numba")
    return {"bayesift": __version__, "Python": platform.python_version(), **{name: version(name) for name in names}}
