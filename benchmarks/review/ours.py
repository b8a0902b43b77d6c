"""Our ways of screening the reviews of drug classes, and one line about each review, written from its name alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bayesift._typing import BoolArray
from bayesift.datasets import load
from bayesift.review.engine import Corpus, Knowledge, Mix
from bayesift.review.simulate import RULES, Simulation, simulate, starting_pair

#: In alphabetical order; the first seven served for choosing the model, the others only for measuring.
LINES = {
    "ACEInhibitors": "ACE inhibitors, angiotensin converting enzyme inhibitors",
    "ADHD": "Drugs for attention deficit hyperactivity disorder, ADHD",
    "Antihistamines": "Antihistamines",
    "AtypicalAntipsychotics": "Atypical antipsychotics, antipsychotic drugs",
    "BetaBlockers": "Beta blockers, beta adrenergic blocking drugs",
    "CalciumChannelBlockers": "Calcium channel blockers",
    "Estrogens": "Estrogens, hormone replacement therapy",
    "NSAIDS": "NSAIDs, nonsteroidal anti-inflammatory drugs",
    "Opioids": "Opioids, opioid analgesics",
    "OralHypoglycemics": "Oral hypoglycemics, drugs for diabetes",
    "ProtonPumpInhibitors": "Proton pump inhibitors",
    "SkeletalMuscleRelaxants": "Skeletal muscle relaxants",
    "Triptans": "Triptans",
    "UrinaryIncontinence": "Drugs for urinary incontinence",
}

#: What every review of a drug class is after, whatever the class.
METHOD = "randomized controlled trial, efficacy and safety compared"

REVIEWS = tuple(LINES)
CHOSEN_ON = REVIEWS[:7]


#: Only the most probable document is read, as the peer does.
GREEDY = Mix(1.0, 0.0, 0.0)


class Review(NamedTuple):
    """One review: texts, which of them are part of it in the end, and the corpus."""

    name: str
    texts: list[str]
    relevant: BoolArray
    corpus: Corpus


class Way(NamedTuple):
    """A way to replay a review, and with how many seeds."""

    replay: Callable[[Review, int], Simulation]
    n_seeds: int


def loaded(name: str) -> Review:
    records = load("cohen2006", review=name).train
    relevant = records.indicator(("included",)).toarray().ravel() > 0
    return Review(name, records.texts, relevant, Corpus.build(records.texts))


def from_pair(review: Review, seed: int) -> Simulation:
    """Start from one relevant and one irrelevant record, as the peer does."""
    pair = starting_pair(review.relevant, seed)
    return simulate(review.corpus, review.relevant, start=pair, mix=GREEDY, rules={}, seed=seed)


def mixed(review: Review, seed: int) -> Simulation:
    """The same with the usual mix: a share for information and one for chance."""
    return simulate(review.corpus, review.relevant, start=starting_pair(review.relevant, seed), rules={}, seed=seed)


def from_line(review: Review, seed: int) -> Simulation:
    """Start from the line about the drug class, without a judged record."""
    return _told(review, seed, LINES[review.name])


def from_method(review: Review, seed: int) -> Simulation:
    """The same, with what every such review is after."""
    return _told(review, seed, f"{LINES[review.name]}, {METHOD}")


def pair_and_line(review: Review, seed: int) -> Simulation:
    """Start from both."""
    return _told(review, seed, LINES[review.name], starting_pair(review.relevant, seed))


def _told(review: Review, seed: int, line: str, start: tuple[int, ...] = ()) -> Simulation:
    knowledge = Knowledge(line)
    return simulate(review.corpus, review.relevant, knowledge=knowledge, start=start, mix=GREEDY, rules={}, seed=seed)


def watched(review: Review, seed: int) -> Simulation:
    """The usual mix with a check after every quiet time, watched by the stopping rules."""
    pair = starting_pair(review.relevant, seed)
    return simulate(review.corpus, review.relevant, start=pair, check=True, rules=RULES, look_every=10, seed=seed)


#: Without a pair of records the seed only chooses the stand-ins: it hardly matters.
WAYS = {
    "ours": Way(from_pair, 10),
    "usual mix": Way(mixed, 10),
    "line": Way(from_line, 2),
    "line and method": Way(from_method, 2),
    "pair and line": Way(pair_and_line, 3),
    "watched": Way(watched, 10),
}
