"""Scores that say which terms matter for a category, and a selector that uses them."""

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
