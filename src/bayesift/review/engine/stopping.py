"""Whether enough has been found."""

from __future__ import annotations

from typing import Literal, NamedTuple

from scipy.stats import gamma

from bayesift._typing import Int64Array
from bayesift.review.decisions import Judgements
from bayesift.review.engine import recall as recalls
from bayesift.review.engine.recall import Bound
from bayesift.review.engine.statements import Aim, Cards, Letter, Phrase, Statements, percent, statements

Verdict = Literal["go on", "may stop", "not enough evidence"]


class Stopping(NamedTuple):
    """What has been found, what may be left, and whether one may stop.

    Parameters
    ----------
    found, irrelevant, unsure, unjudged : int
        Numbers of documents judged relevant, judged irrelevant, put aside as unsure, and without a judgement. Unsure
        ones do not count for recall.
    expected_left : float
        Number of relevant documents among the unjudged that the model expects.
    model_interval : tuple of float
        Interval of the number left, at the given confidence, by the model's own posterior.
    sample_size, sample_relevant : int
        The simple random sample: how many documents at the front of the random order are judged, and how many of them
        are relevant.
    by_sample : Bound
        Exact hypergeometric bound from that sample; valid for a single look.
    by_bets : Bound
        Bound from all random draws, that of statement A; valid however often one looks.
    recall : float
        Expected recall: found/(found + expected_left).
    check : int or None
        If this many more random documents include no relevant one, one may stop by statement A; None if no number is
        enough.
    target_recall, confidence : float
        What was asked for.
    verdict : {"go on", "may stop", "not enough evidence"}
    sentence : Phrase
        The verdict in words.
    statements : tuple of Statement
        A, B and C: what each assumes and says.
    allowed_by : {"A", "B", "C"} or None
        The statement with the weakest assumption that allows stopping.
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
    sentence: Phrase
    statements: Statements
    allowed_by: Letter | None


def posterior_interval(mean: float, variance: float, confidence: float) -> tuple[float, float]:
    """Return the interval of a count with this mean and variance, by a gamma distribution; tails of equal weight."""
    if mean <= 0 or variance <= 0:
        return (mean, mean)
    shape, tail = mean**2 / variance, (1 - confidence) / 2
    low, high = gamma.ppf([tail, 1 - tail], shape, scale=variance / mean)
    return float(low), float(high)


class Advice(NamedTuple):
    """The verdict in a word and in a sentence, and the draws that could allow stopping, as in :class:`Stopping`."""

    verdict: Verdict
    sentence: Phrase
    check: int | None


def advice(judgements: Judgements, n: int, left: float, aim: Aim) -> tuple[Advice, Statements]:
    """Judge whether one may stop, given the number n of documents and what the model expects to be left."""
    # Unsure documents do not count as documents of the collection.
    cards, n = Cards.of(judgements.in_order()), n - judgements.unsure
    said = statements(cards, n, left, aim)
    found, unjudged = judgements.found, judgements.unjudged
    beyond = found + aim.allowed(found) + 1
    check = recalls.quiet_draws_needed(cards.draws(n, "A"), found, unjudged, beyond, aim.confidence)
    return Advice(*verdict_of(found, unjudged, left, said, check, aim, judgements.unsure), check), said


def expected_recall(found: int, left: float) -> float:
    """Return the recall if as many relevant documents are left as expected."""
    return found / (found + left) if found else 0.0


def report(judgements: Judgements, order: Int64Array, left: float, interval: tuple[float, float], aim: Aim) -> Stopping:
    """Put the report together from the judgements, the random order, and what the model expects to be left."""
    found = judgements.found
    judged, said = advice(judgements, len(order), left, aim)
    size, in_sample = random_sample(judgements, order)
    by_sample = recalls.bound_by_sample(len(order) - judgements.unsure, size, in_sample, found, aim.confidence)
    return Stopping(
        found, judgements.irrelevant, judgements.unsure, judgements.unjudged, left, interval, size, in_sample,
        by_sample, said[0].bound, expected_recall(found, left), judged.check, aim.recall, aim.confidence,
        judged.verdict, judged.sentence, said, allowing(said),
    )  # fmt: skip


def allowing(said: Statements) -> Letter | None:
    """Return the first statement that allows stopping, which has the weakest assumption."""
    return next((statement.letter for statement in said if statement.allows), None)


def random_sample(judgements: Judgements, order: Int64Array) -> tuple[int, int]:
    """Return the size and relevant documents of the simple random sample: the random order up to the first unjudged."""
    size = relevant = 0
    for document in order:
        judgement = judgements.get(int(document))
        if judgement is None:
            break
        if judgement.relevant is not None:
            size, relevant = size + 1, relevant + judgement.relevant
    return size, relevant


#: The verdicts in words, by their grounds.
SENTENCES = {
    "all judged": "You may stop: every document has been judged, {found} are relevant.",
    "all but unsure": (
        "You may stop: every document has been read, {found} are relevant. This leaves {unsure} out that you were "
        "unsure of."
    ),
    "allowed": (
        "You may stop by statement {letter}: with {confidence} confidence at least {recall} of the relevant documents "
        "are found ({found} found, at most {left} left among {unjudged}). It assumes {assumption}."
    ),
    "nothing found": "Keep going: nothing relevant has been found yet; {unjudged} documents are not judged.",
    "go on": (
        "Keep going: {found} relevant found, and the model expects a recall of {recall} so far; {unjudged} documents "
        "are not judged yet."
    ),
    "not enough": (
        "Not enough evidence yet: the model expects a recall of {recall}, but statement {letter} shows only {shown} "
        "with {confidence} confidence. {need}"
    ),
    "check": "If none of the next {check} random documents is relevant, you may stop, whatever you assume.",
    "no check": "Without an assumption, only reading nearly all of the rest could show it.",
}


def verdict_of(
    found: int, unjudged: int, left: float, said: Statements, check: int | None, aim: Aim, unsure: int = 0
) -> tuple[Verdict, Phrase]:
    """Return the verdict with a sentence: which statement allows stopping, at what confidence, on what assumption."""
    if unjudged == 0 and unsure:
        return "may stop", Phrase(SENTENCES["all but unsure"], found=found, unsure=unsure)
    if unjudged == 0:
        return "may stop", Phrase(SENTENCES["all judged"], found=found)
    letter, confidence = allowing(said), percent(aim.confidence)
    if letter is not None:
        statement = next(each for each in said if each.letter == letter)
        return "may stop", Phrase(
            SENTENCES["allowed"],
            letter=letter, confidence=confidence, recall=percent(statement.bound.recall, 1), found=found,
            left=statement.bound.left, unjudged=unjudged, assumption=statement.assumes,
        )  # fmt: skip
    if not found:
        return "go on", Phrase(SENTENCES["nothing found"], unjudged=unjudged)
    recall = expected_recall(found, left)
    if recall < aim.recall and left > aim.left:
        return "go on", Phrase(SENTENCES["go on"], found=found, recall=percent(recall), unjudged=unjudged)
    need = Phrase(SENTENCES["no check"]) if check is None else Phrase(SENTENCES["check"], check=check)
    best = max((each for each in said if each.holds), key=lambda each: each.bound.recall)
    return "not enough evidence", Phrase(
        SENTENCES["not enough"],
        recall=percent(recall), letter=best.letter, shown=percent(best.bound.recall), confidence=confidence, need=need,
    )  # fmt: skip
