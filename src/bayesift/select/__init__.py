"""Which terms matter for a category: one score per column, and a selector over the scores."""

from bayesift.select.scores import (
    binormal_separation,
    chi_square,
    likelihood_ratio,
    mutual_information,
    pearson,
    yules_q,
)
from bayesift.select.selector import TermSelector

__all__ = [
    "TermSelector",
    "binormal_separation",
    "chi_square",
    "likelihood_ratio",
    "mutual_information",
    "pearson",
    "yules_q",
]
