r"""Three statements about the relevant documents that are left: what each assumes, what it says, and whether it holds.

All three use the same cards: their outcomes, which of them were drawn at random, and how probable each had been.

**A** assumes nothing. Only the random draws count, and the bound is that of :mod:`bayesift.review.engine.recall`.

**B** assumes that the queue is no worse than chance: at every card, the document that the queue chose was at least as
probably relevant as one drawn at random from the unread documents, so that the unread part is nowhere denser than what
was just read. Then every card of the queue counts as a draw. If a card is relevant with probability q ≥ p = (N − f)/u,
the wealth of a bet against N is multiplied by λ q + (1 − q)(1 − λp)/(1 − p) on average, which falls with q and is 1 at
q = p: it is a supermartingale, and the bound holds at all times under the assumption. The random draws test it: if they
include significantly more relevant documents than the cards near them, B is withdrawn.

**C** assumes that the model's probabilities are right for the unread documents up to one unknown factor r, the same for
all of them. In the last quarter of the cards (random draws among them), K were relevant where the model had predicted
E. With a Gamma(½, ½) prior, r has the posterior Gamma(½ + K, ½ + E). Given r, the number left is Poisson with mean
r·S, where S is the sum of the probabilities of the unread documents, so the number left is negative binomial. In
replays of reviews this posterior is overconfident. How sure C has to be comes from those replays, by conformal risk
control (Angelopoulos et al. 2024, arXiv 2208.02814): if a share R of m reviews misses the aim at some risk of C, then
another review that is like them misses it with probability at most (mR + 1)/(m + 1). For a confidence of 95 %, C states
its 97.5 % quantile. If the random draws included significantly more relevant documents than predicted, C is withdrawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.stats import binom, nbinom, poisson

from bayesift.review.decisions import Judgement
from bayesift.review.engine.choosing import REASONS
from bayesift.review.engine.recall import Bound, Draws, bound, bound_by_bets, draws_of

Letter = Literal["A", "B", "C"]

#: The cards that tell how far the model and the queue can be trusted now: this share of all, but at least this many.
RECENT, LEAST_RECENT = 0.25, 30

#: Shape and rate of the prior of the factor by which the model's probabilities are wrong.
FACTOR_PRIOR = 0.5

#: The risk of C's own posterior that is taken, by allowed risk. For each, (19 R + 1)/20 is at most the allowed risk,
#: where R is the share of replays of 19 reviews that miss (``python -m benchmarks.review.stopping``). Less than
#: 1 in 20 cannot be shown with 19 reviews; below that, C takes half.
MODEL_RISKS = ((0.05, 0.025), (0.10, 0.03), (0.15, 0.08), (0.20, 0.15))

#: A statement is withdrawn if the outcome of the random draws would be this improbable under its assumption.
SIGNIFICANCE = 0.05

#: What each statement assumes, in words.
ASSUMES: dict[Letter, str] = {
    "A": "nothing: only documents drawn at random count",
    "B": "that the queue is no worse than chance: unread documents are not relevant more often than those read last",
    "C": "that the model's probabilities are wrong by the same factor for unread documents as for those read last",
}


#: In how many of how many replays of 19 reviews each statement missed a recall of 95 % at a confidence of 95 %; for C,
#: on reviews that were not used to set it (``python -m benchmarks.review.stopping``).
MISSES: dict[Letter, tuple[int, int]] = {"A": (0, 380), "B": (0, 380), "C": (7, 380)}


def percent(share: float, digits: int = 0) -> str:
    """Write a share in per cent, with so many digits."""
    return f"{100 * share:.{digits}f}\u00a0%"


class Phrase(str):
    """A sentence made of a template and values; pages show it in another language by translating the template.

    Examples
    --------
    >>> from bayesift.review.engine import Phrase
    >>> found = Phrase("{n} relevant found.", n=3)
    >>> found, found.template, found.values
    ('3 relevant found.', '{n} relevant found.', {'n': 3})
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, **values: Any) -> Phrase:
        """Make the sentence; values may be phrases themselves."""
        made = super().__new__(cls, template.format(**values))
        made.template, made.values = template, values
        return made


class Statement(NamedTuple):
    """What can be said about the documents left, under one assumption.

    Parameters
    ----------
    letter : {"A", "B", "C"}
    assumes : str
        The assumption in words.
    bound : Bound
        The bound that holds with the confidence asked for.
    holds : bool
        Whether the random draws are compatible with the assumption.
    allows : bool
        Whether it allows stopping: it holds, and its bound reaches the aim.
    sentence : str
        All of this in words.
    """

    letter: Letter
    assumes: str
    bound: Bound
    holds: bool
    allows: bool
    sentence: str


Statements = tuple[Statement, Statement, Statement]


class Aim(NamedTuple):
    """What should be reached with what confidence: a recall, or at most this many relevant documents ``left``.

    Examples
    --------
    >>> from bayesift.review.engine import Aim
    >>> Aim(0.95).allowed(40), Aim(0.95, left=5).allowed(40)
    (2, 5)
    """

    recall: float = 0.95
    confidence: float = 0.95
    left: int = 0

    def checked(self) -> Aim:
        """Return the aim, or raise an error if it is invalid."""
        if not 0 < self.recall <= 1:
            raise ValueError(f"target_recall is {self.recall!r}; expected a number between 0 and 1")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence is {self.confidence!r}; expected a number between 0 and 1")
        if self.left < 0:
            raise ValueError(f"at_most is {self.left!r}; expected a number of documents, 0 or more")
        return self

    def allowed(self, found: int) -> int:
        """Return how many relevant documents may be left when this many are found."""
        return max(int(found / self.recall + 1e-9) - found, self.left)


class Cards(NamedTuple):
    """The judgements that count, in order: relevant or not, shown by the queue, drawn at random, foreseen.

    ``foreseen`` is the probability that a document had before it was judged, or nan if it is unknown.
    """

    relevant: np.ndarray
    queued: np.ndarray
    random: np.ndarray
    foreseen: np.ndarray

    @classmethod
    def of(cls, judgements: Sequence[Judgement]) -> Cards:
        """Collect the cards from judgements; unsure ones do not count."""
        said = [judgement for judgement in judgements if judgement.relevant is not None]
        return cls(
            np.array([judgement.relevant for judgement in said], dtype=bool),
            np.array([judgement.why in REASONS for judgement in said], dtype=bool),
            np.array([judgement.why == "random" for judgement in said], dtype=bool),
            np.array([judgement.probability for judgement in said], dtype=np.float64),
        )

    @property
    def found(self) -> int:
        """Number of relevant documents among them."""
        return int(self.relevant.sum())

    def draws(self, n: int, letter: Literal["A", "B"]) -> Draws:
        """Return the draws among the cards of n documents: the random ones, or all that the queue showed."""
        drawn = self.random if letter == "A" else self.queued
        return draws_of(zip(self.relevant.tolist(), drawn.tolist(), strict=True), n)

    def recent(self) -> Cards:
        """Return the latest cards that the queue showed and whose earlier probability is known."""
        places = np.flatnonzero(self.queued & ~np.isnan(self.foreseen))
        size = max(LEAST_RECENT, int(RECENT * len(places)))
        return Cards(*(column[places[-size:]] for column in self))


def statements(cards: Cards, n: int, expected_left: float, aim: Aim) -> Statements:
    """Make the three statements.

    Parameters
    ----------
    cards : Cards
        All judgements.
    n : int
        Number of documents in the collection, without unsure ones.
    expected_left : float
        Sum of the model's probabilities of the documents without a judgement.
    aim : Aim
        What is asked for.

    Returns
    -------
    tuple of Statement
        A, B and C.
    """
    found, unjudged = cards.found, n - len(cards.relevant)
    recent = cards.recent()
    bounds: dict[Letter, Bound] = {
        "A": bound_by_bets(cards.draws(n, "A"), found, unjudged, aim.confidence),
        "B": bound_by_bets(cards.draws(n, "B"), found, unjudged, aim.confidence),
        "C": bound_by_model(recent, expected_left, found, unjudged, 1 - model_risk(1 - aim.confidence)),
    }
    chances: dict[Letter, float] = {"A": 1.0, "B": chance_of_denser_draws(recent), "C": chance_of_surprise(cards)}
    a, b, c = (_statement(letter, bounds[letter], chances[letter], found, aim) for letter in ("A", "B", "C"))
    return a, b, c


def model_risk(allowed: float) -> float:
    """Return the risk of its own posterior that C takes where a risk is allowed.

    Examples
    --------
    >>> from bayesift.review.engine.statements import model_risk
    >>> model_risk(0.05), model_risk(0.01), model_risk(0.12)
    (0.025, 0.005, 0.03)
    """
    shown = [own for risk, own in MODEL_RISKS if risk <= allowed + 1e-9]
    return shown[-1] if shown else allowed / 2


def bound_by_model(recent: Cards, expected_left: float, found: int, unjudged: int, confidence: float) -> Bound:
    """Bound the number left by its negative binomial posterior: the model's probabilities times an unknown factor."""
    if unjudged == 0 or expected_left <= 0:
        return bound(found, found)
    left = nbinom.ppf(confidence, *left_by_model(recent, expected_left))
    return bound(found + min(int(left), unjudged), found)


def left_by_model(recent: Cards, expected_left: float) -> tuple[float, float]:
    """Return the posterior of the number left: shape and probability of a negative binomial distribution."""
    shape, rate = FACTOR_PRIOR + recent.relevant.sum(), FACTOR_PRIOR + np.nansum(recent.foreseen)
    return float(shape), float(rate / (rate + expected_left))


def chance_of_denser_draws(recent: Cards) -> float:
    """Return the probability of so many relevant random draws if the other cards are as often relevant or more."""
    hits, drawn = int(recent.relevant.sum()), int(recent.random.sum())
    if not hits or not 0 < drawn < len(recent.random):
        return 1.0
    return float(binom.sf((recent.relevant & recent.random).sum() - 1, hits, drawn / len(recent.random)))


def chance_of_surprise(cards: Cards) -> float:
    """Return the probability of so many relevant random draws if their probabilities were right."""
    drawn = cards.random & ~np.isnan(cards.foreseen)
    return float(poisson.sf(cards.relevant[drawn].sum() - 1, cards.foreseen[drawn].sum())) if drawn.any() else 1.0


def _statement(letter: Letter, said: Bound, chance: float, found: int, aim: Aim) -> Statement:
    holds = chance >= SIGNIFICANCE
    allows = holds and found > 0 and said.left <= aim.allowed(found)
    sentence = (
        f"{letter}: at most {said.left} left, so at least {percent(said.recall)} found, with "
        f"{percent(aim.confidence)} confidence. It assumes {ASSUMES[letter]}."
    )
    if not holds:
        sentence += " Withdrawn: documents drawn at random were relevant more often than that allows."
    return Statement(letter, ASSUMES[letter], said, holds, allows, sentence)
