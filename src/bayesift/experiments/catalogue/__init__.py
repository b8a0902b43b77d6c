"""The catalogue of published experiments: what each shows, its printed numbers, how to do it again and to judge it.

A module of :mod:`bayesift.experiments` describes its tables and figures by a tuple ``EXPERIMENTS`` of
:class:`Experiment`, and is named in :data:`PAPERS`. The function of an experiment gets a :class:`Bench`, which keeps
finished pieces of work, and returns an :class:`Outcome`; :func:`run` makes a :class:`Result` of it.
"""

from bayesift.experiments.catalogue.bench import Bench
from bayesift.experiments.catalogue.cell import Cell
from bayesift.experiments.catalogue.experiment import Experiment
from bayesift.experiments.catalogue.folder import read_results, write_folder, write_page
from bayesift.experiments.catalogue.grid import Grid, Published, published
from bayesift.experiments.catalogue.outcome import Claim, Figure, NotPossibleError, Outcome
from bayesift.experiments.catalogue.pieces import Family, PieceCache
from bayesift.experiments.catalogue.registry import PAPERS, every_experiment, select
from bayesift.experiments.catalogue.result import Result
from bayesift.experiments.catalogue.rules import Rule, SameDecision, Within
from bayesift.experiments.catalogue.running import run
from bayesift.experiments.catalogue.table import Table

__all__ = [
    "PAPERS",
    "Bench",
    "Cell",
    "Claim",
    "Experiment",
    "Family",
    "Figure",
    "Grid",
    "NotPossibleError",
    "Outcome",
    "PieceCache",
    "Published",
    "Result",
    "Rule",
    "SameDecision",
    "Table",
    "Within",
    "every_experiment",
    "published",
    "read_results",
    "run",
    "select",
    "write_folder",
    "write_page",
]
