"""All experiments by name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from bayesift.experiments.catalogue.experiment import Experiment

#: Modules of :mod:`bayesift.experiments` with a tuple ``EXPERIMENTS``, in the order in which they are listed and run.
PAPERS = ("genkin2007", "eyheramendy2003", "chai2002", "molchanov2015", "murphy2012", "beyond")


@cache
def every_experiment() -> dict[str, Experiment]:
    """Return all experiments by name.

    Examples
    --------
    >>> from bayesift.experiments.catalogue import every_experiment
    >>> "genkin2007/table1" in every_experiment()
    True
    """
    found: dict[str, Experiment] = {}
    for paper in PAPERS:
        for experiment in import_module(f"bayesift.experiments.{paper}").EXPERIMENTS:
            if experiment.family != paper or experiment.name in found:
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
            hint = f"did you mean {' or '.join(near)}?" if near else "'bayesift reproduce --list' lists them all"
            raise ValueError(f"there is no experiment {name!r}; {hint}")
        chosen.update(matching)
    return [experiment for name, experiment in everything.items() if name in chosen]
