"""The catalogue of published experiments: what each shows, its printed numbers, how to do it again and to judge it.

A paper has a folder in :mod:`reproduction`, named in :data:`PAPERS`. Its module ``experiments`` describes its tables
and figures by a tuple ``EXPERIMENTS`` of :class:`Experiment`, and ``published.toml`` holds the printed numbers. The
function of an experiment gets a :class:`Runner`, which keeps finished pieces of work, and returns an :class:`Outcome`;
:func:`run` makes a :class:`Result` of it.
"""

from reproduction.catalogue.cache import Family, PieceCache
from reproduction.catalogue.experiment import (
    PAPERS,
    Claim,
    Experiment,
    Figure,
    NotPossibleError,
    Outcome,
    every_experiment,
    select,
)
from reproduction.catalogue.published import Grid, Published, published
from reproduction.catalogue.report import joined, read_results, require_pyplot, write_folder, write_page
from reproduction.catalogue.result import Result, judged_again, run
from reproduction.catalogue.runner import Runner
from reproduction.catalogue.table import Cell, Rule, SameDecision, Table, Within

__all__ = [
    "PAPERS",
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
    "Runner",
    "SameDecision",
    "Table",
    "Within",
    "every_experiment",
    "joined",
    "judged_again",
    "published",
    "read_results",
    "require_pyplot",
    "run",
    "select",
    "write_folder",
    "write_page",
]
