"""Rules that tell when to stop reading."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bayesift.review.engine import Stopping


class Look(NamedTuple):
    """What a rule sees at one moment: the engine's report, and the judgements since the last relevant document."""

    report: Stopping
    silence: int
    n_documents: int


class Stop(NamedTuple):
    """Where a rule stopped: documents ``read``, their share of all (``effort``), and the ``recall`` really reached.

    A rule that never spoke has read everything.
    """

    rule: str
    read: int
    effort: float
    recall: float


Rule = Callable[[Look], bool]


def bets(look: Look) -> bool:
    """Stop when the bound that holds at every look reaches the target: the engine's verdict."""
    return look.report.verdict == "may stop"


def sample(look: Look) -> bool:
    """Stop when the exact bound of the simple random sample reaches the target; looking often undermines it."""
    return look.report.found > 0 and look.report.by_sample.recall >= look.report.target_recall


def model(look: Look) -> bool:
    """Stop when the recall reaches the target even at the upper end of the model's interval for what is left."""
    report = look.report
    return report.found > 0 and report.found / (report.found + report.model_interval[1]) >= report.target_recall


def expected(look: Look) -> bool:
    """Stop when the model expects the target recall."""
    return look.report.found > 0 and look.report.recall >= look.report.target_recall


def fifty_in_a_row(look: Look) -> bool:
    """Stop after fifty irrelevant documents in a row."""
    return look.report.found > 0 and look.silence >= 50


def tenth_in_a_row(look: Look) -> bool:
    """Stop after irrelevant documents in a row that are a tenth of the pile."""
    return look.report.found > 0 and look.silence >= 0.1 * look.n_documents


#: The rules by name.
RULES: dict[str, Rule] = {
    "bets": bets,
    "sample": sample,
    "model": model,
    "expected": expected,
    "50 in a row": fifty_in_a_row,
    "10 % in a row": tenth_in_a_row,
}
