"""Whether enough has been found."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import gamma

from bayesift._typing import Int64Array
from bayesift.review.decisions import Judgements
from bayesift.review.engine import recall as recalls
from bayesift.review.engine.recall import Bound

Verdict = Literal["go on", "may stop", "not enough evidence"]


class Stopping(NamedTuple):
    """What has been found, what may be left, and whether one may stop.

    Parameters
    ----------
    found, irrelevant, unsure, unjudged : int
        Documents judged relevant, judged irrelevant, put aside as unsure, and without a judgement. Unsure ones are no
        part of the recall.
    expected_left : float
        Relevant documents among the unjudged, expected by the model.
    model_interval : tuple of float
        Between these lies the number left, with the confidence asked for, by the model's own posterior.
    sample_size, sample_relevant : int
        The simple random sample: how many documents of the random order have all been judged, and the relevant ones.
    by_sample : Bound
        Exact hypergeometric bound from that sample; holds for one look.
    by_bets : Bound
        Bound from all random draws; holds however often one looks. The verdict uses this one.
    recall : float
        Expected recall: found/(found + expected_left).
    check : int or None
        If so many further documents of the random share hold no relevant one, one may stop; None if no number would do.
    target_recall, confidence : float
        What was asked for.
    verdict : {"go on", "may stop", "not enough evidence"}
    sentence : str
        The verdict in words.
    """

    found: int
    irrelevant: int
    unsure: int
    unjudged: int
    expected_left: float
    model_interval: tuple[float, float]
    sample_size: int
    sample_relevant: int
    by_sample: Bound
    by_bets: Bound
    recall: float
    check: int | None
    target_recall: float
    confidence: float
    verdict: Verdict
    sentence: str


def greatest_total(found: int, target_recall: float) -> int:
    """Return the greatest number of relevant documents of which ``found`` are the recall asked for."""
    return int(found / target_recall + 1e-9) if target_recall > 0 else np.iinfo(np.int64).max


def posterior_interval(mean: float, variance: float, confidence: float) -> tuple[float, float]:
    """Return the interval of a count with this mean and variance, by a gamma distribution; tails of equal weight."""
    if mean <= 0 or variance <= 0:
        return (mean, mean)
    shape, tail = mean**2 / variance, (1 - confidence) / 2
    low, high = gamma.ppf([tail, 1 - tail], shape, scale=variance / mean)
    return float(low), float(high)


class Advice(NamedTuple):
    """The verdict in a word and in a sentence, and what could show that one may stop; as in :class:`Stopping`."""

    verdict: Verdict
    sentence: str
    check: int | None


def advice(judgements: Judgements, n: int, left: float, target: float, confidence: float) -> tuple[Advice, Bound]:
    """Judge whether one may stop, of n documents and with what the model expects to be left, by the bound by bets."""
    found, unjudged = judgements.found, judgements.unjudged
    outcomes = ((relevant, why == "random") for _, relevant, why in judgements if relevant is not None)
    # Unsure documents do not count as documents of the collection.
    draws = recalls.draws_of(outcomes, n - judgements.unsure)
    by_bets = recalls.bound_by_bets(draws, found, unjudged, confidence)
    total = greatest_total(found, target) + 1
    check = recalls.quiet_draws_needed(draws, found, unjudged, total, confidence)
    verdict, sentence = verdict_of(found, unjudged, expected_recall(found, left), by_bets, check, target, confidence)
    return Advice(verdict, sentence, check), by_bets


def expected_recall(found: int, left: float) -> float:
    """Return the recall if so many relevant documents are left as expected."""
    return found / (found + left) if found else 0.0


def report(
    judgements: Judgements,
    order: Int64Array,
    left: float,
    interval: tuple[float, float],
    target: float,
    confidence: float,
) -> Stopping:
    """Put the report together from the judgements, the random order, and what the model expects to be left."""
    found = judgements.found
    said, by_bets = advice(judgements, len(order), left, target, confidence)
    size, in_sample = random_sample(judgements, order)
    by_sample = recalls.bound_by_sample(len(order) - judgements.unsure, size, in_sample, found, confidence)
    return Stopping(
        found, judgements.irrelevant, judgements.unsure, judgements.unjudged, left, interval, size, in_sample,
        by_sample, by_bets, expected_recall(found, left), said.check, target, confidence, said.verdict, said.sentence,
    )  # fmt: skip


def random_sample(judgements: Judgements, order: Int64Array) -> tuple[int, int]:
    """Return size and relevant documents of the simple random sample: a random order up to the first unjudged."""
    size = relevant = 0
    for document in order:
        judgement = judgements.get(int(document))
        if judgement is None:
            break
        if judgement.relevant is not None:
            size, relevant = size + 1, relevant + judgement.relevant
    return size, relevant


def verdict_of(
    found: int, unjudged: int, recall: float, by_bets: Bound, check: int | None, target: float, confidence: float
) -> tuple[Verdict, str]:
    """Judge, and say it in a sentence."""
    if unjudged == 0:
        return "may stop", f"You may stop: every document has been judged, {found} are relevant."
    if found and by_bets.recall >= target:
        return "may stop", (
            f"You may stop: with {_percent(confidence)} confidence at least {_percent(by_bets.recall, 1)} of the "
            f"relevant documents are found ({found} found, at most {by_bets.left} left among {unjudged})."
        )
    if recall < target:
        return "go on", (
            f"Keep going: {found} relevant found, and the model expects a recall of {_percent(recall)} so far; "
            f"{unjudged} documents are not judged yet."
        )
    need = (
        f" If none of the next {check} random documents is relevant, you may stop."
        if check is not None
        else " Only reading nearly all of the rest could show it."
    )
    return "not enough evidence", (
        f"Not enough evidence yet: the model expects a recall of {_percent(recall)}, but the random sample shows only "
        f"{_percent(by_bets.recall)} with {_percent(confidence)} confidence.{need}"
    )


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f}\u00a0%"
