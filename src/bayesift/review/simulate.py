"""Replay a review with known judgements, without a person: how much work it takes, and where rules would stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesift import progress
from bayesift._typing import BoolArray, Int64Array
from bayesift.evaluate import RecallCurve, average_time_to_discovery, recall_at_effort, recall_curve, wss
from bayesift.review.engine import Corpus, Earlier, Knowledge, Mix, ReviewEngine, Stopping
from bayesift.review.engine.recall import QUIET

if TYPE_CHECKING:
    from bayesift.review.importing import Columns

#: All judgements are fitted again when this share of them is new.
_NEW_SHARE = 0.03

#: During a check, every card is a random draw.
_CHECK = Mix(0.0, 0.0, 1.0)

NOTHING, USUAL = Knowledge(), Mix()


class Look(NamedTuple):
    """What a rule sees when it looks: the engine's report, and the judgements since the last relevant document."""

    report: Stopping
    silence: int
    n_documents: int


class Stop(NamedTuple):
    """Where a rule stopped: documents ``read``, their share of all (``effort``), and the ``recall`` actually reached.

    A rule that never said stop has read everything.
    """

    rule: str
    read: int
    effort: float
    recall: float


Rule = Callable[[Look], bool]


def verdict(look: Look) -> bool:
    """Stop when the engine allows it, by statement A, B or C."""
    return look.report.verdict == "may stop"


def bets(look: Look) -> bool:
    """Stop when statement A allows it: the bound that assumes nothing and holds at every look."""
    return look.report.unjudged == 0 or look.report.statements[0].allows


def queue(look: Look) -> bool:
    """Stop when statement B allows it: the same bound if the queue is no worse than chance."""
    return look.report.unjudged == 0 or look.report.statements[1].allows


def sample(look: Look) -> bool:
    """Stop when the exact bound of the simple random sample reaches the target; repeated looks undermine it."""
    return look.report.found > 0 and look.report.by_sample.recall >= look.report.target_recall


def model(look: Look) -> bool:
    """Stop when recall reaches the target even at the upper end of the model's interval for what is left."""
    report = look.report
    return report.found > 0 and report.found / (report.found + report.model_interval[1]) >= report.target_recall


def expected(look: Look) -> bool:
    """Stop when the model expects the target recall."""
    return look.report.found > 0 and look.report.recall >= look.report.target_recall


def fifty_in_a_row(look: Look) -> bool:
    """Stop after fifty irrelevant documents in a row."""
    return look.report.found > 0 and look.silence >= 50


def tenth_in_a_row(look: Look) -> bool:
    """Stop after as many irrelevant documents in a row as a tenth of all documents."""
    return look.report.found > 0 and look.silence >= 0.1 * look.n_documents


#: The rules by name.
RULES: dict[str, Rule] = {
    "verdict": verdict,
    "bets": bets,
    "queue": queue,
    "sample": sample,
    "model": model,
    "expected": expected,
    "50 in a row": fifty_in_a_row,
    "10 % in a row": tenth_in_a_row,
}


@dataclass(frozen=True, eq=False)
class Simulation:
    """The order in which a replay read the documents, and where rules would have stopped.

    Parameters
    ----------
    order : array of shape (n_read,)
        The documents in the order in which they were read, without those known from the start.
    relevant : array of shape (n_read,)
        Which of them are relevant.
    reasons : list of str
        Why each was shown; "rest" for those that were not shown, because all relevant ones had been found.
    start : tuple of int
        The documents whose judgements were known.
    stops : dict
        Where each rule would have stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.review.simulate import Simulation
    >>> run = Simulation(np.arange(4), np.array([True, False, True, False]), ["probable"] * 4)
    >>> run.average_time_to_discovery, run.recall_at(0.5)
    (0.5, 0.5)
    """

    order: Int64Array
    relevant: BoolArray
    reasons: list[str]
    start: tuple[int, ...] = ()
    stops: dict[str, Stop] = field(default_factory=dict)

    @property
    def curve(self) -> RecallCurve:
        """Recall after each document read."""
        return recall_curve(self.relevant)

    @property
    def wss95(self) -> float:
        """Work saved over sampling at a recall of 95 %."""
        return float(wss(self.relevant))

    @property
    def average_time_to_discovery(self) -> float:
        """Mean position of the relevant documents, as a share of all documents."""
        return float(average_time_to_discovery(self.relevant))

    def recall_at(self, effort: float = 0.1) -> float:
        """Return the recall after reading a share of the documents.

        Parameters
        ----------
        effort : float, default=0.1
            The share.

        Returns
        -------
        float
        """
        return float(recall_at_effort(self.relevant, effort=effort))


def simulate(
    corpus: Corpus | Sequence[str],
    relevant: Any,
    *,
    knowledge: Knowledge = NOTHING,
    start: Iterable[int] = (),
    mix: Mix = USUAL,
    check: bool = False,
    rules: Mapping[str, Rule] | None = None,
    target_recall: float = 0.95,
    confidence: float = 0.95,
    look_every: int = 5,
    seed: int = 0,
    earlier: Earlier | None = None,
) -> Simulation:
    """Replay a review whose judgements are known.

    Parameters
    ----------
    corpus : Corpus or sequence of str
        The documents.
    relevant : array of shape (n_documents,)
        The judgements.
    knowledge : Knowledge
        What is known about the topic before any judgement.
    start : iterable of int
        Documents whose judgements are known from the start; measures leave them out.
    mix : Mix
        Shares of the reasons for which documents are read.
    check : bool, default=False
        Read at random, to tighten the bound, from a quiet time on (see :mod:`bayesift.review.engine.recall`) until a
        relevant document turns up.
    rules : mapping from name to rule, optional
        Rules to watch; :data:`RULES` by default. Without any, the replay is faster.
    target_recall, confidence : float, default=0.95
        The target of the rules.
    look_every : int, default=5
        How many documents are read between looks of the rules.
    seed : int, default=0
        Fixes the random draws.
    earlier : Earlier, optional
        Records of an earlier review to learn from.

    Returns
    -------
    Simulation
        It ends when every relevant document is found and every rule has stopped.

    Examples
    --------
    >>> from bayesift.review.engine import Knowledge
    >>> from bayesift.review.simulate import simulate
    >>> texts = ["wheat harvest", "corn", "gold", "wheat", "iron ore", "tin"]
    >>> run = simulate(texts, [1, 0, 0, 1, 0, 0], knowledge=Knowledge("wheat"))
    >>> run.order[:2].tolist(), round(run.wss95, 2)
    ([3, 0], 0.62)
    """
    corpus = corpus if isinstance(corpus, Corpus) else Corpus.build(corpus)
    truth = _checked(relevant, len(corpus))
    known = tuple(int(document) for document in start)
    engine = ReviewEngine(corpus, knowledge, mix=mix, seed=seed, earlier=earlier)
    for document in known:
        engine.label(document, bool(truth[document]), why="known")
    watch = _RuleWatch(dict(RULES if rules is None else rules), truth, known, (target_recall, confidence))
    schedule = _Schedule(mix, check)
    order: list[int] = []
    reasons: list[str] = []
    fitted = 0
    while len(order) + len(known) < len(corpus) and not watch.over:
        n_judged = len(order) + len(known)
        if n_judged - fitted >= max(1.0, _NEW_SHARE * n_judged):
            engine.adopt(engine.refit())
            fitted = n_judged
        engine.mix = schedule.mix
        card = engine.next()[0]
        engine.label(card.document, bool(truth[card.document]), why=card.why)
        order.append(card.document)
        reasons.append(card.why)
        schedule.judged(bool(truth[card.document]))
        watch.judged(bool(truth[card.document]))
        if watch.pending and len(order) % look_every == 0:
            watch.look(engine)
    rest = [document for document in range(len(corpus)) if document not in {*order, *known}]
    reading = np.array(order + rest, dtype=np.int64)
    return Simulation(reading, truth[reading], reasons + ["rest"] * len(rest), known, watch.stops())


def starting_pair(relevant: Any, seed: int) -> tuple[int, int]:
    """Draw one relevant and one irrelevant document to start from.

    Parameters
    ----------
    relevant : array of shape (n_documents,)
        The judgements.
    seed : int
        Fixes the draw.

    Examples
    --------
    >>> from bayesift.review.simulate import starting_pair
    >>> starting_pair([0, 1, 0], seed=0)
    (1, 2)
    """
    truth = np.asarray(relevant, dtype=bool)
    random = np.random.default_rng(seed)
    return int(random.choice(np.flatnonzero(truth))), int(random.choice(np.flatnonzero(~truth)))


class Replays(NamedTuple):
    """Replays of a review with different seeds, and how many documents and relevant documents it has."""

    runs: list[Simulation]
    n_documents: int
    n_relevant: int


def read_review(
    data: Path,
    columns: Columns,
    encoding: str | None = None,
    label: str | None = None,
    tell: Callable[[str], None] = lambda note: None,
) -> tuple[Corpus, list[bool]]:
    """Read a file of documents with labels; :mod:`bayesift.progress` reports progress.

    Parameters
    ----------
    data : Path
        The file.
    columns : Columns
        Which columns hold what.
    encoding : str, optional
        Encoding of the file; detected by default.
    label : str, optional
        Column of the labels; guessed by its name if not given.
    tell : callable, optional
        Called, when all documents have been read, with each sentence about what was detected, such as the encoding.

    Returns
    -------
    corpus : Corpus
        The documents.
    relevant : list of bool
        Their labels.
    """
    # Simulations with texts in memory need no database, and its package may not be installed.
    from bayesift.review.importing import import_documents, relevance
    from bayesift.review.storage import reading_text

    documents = list(import_documents(data, columns, encoding, tell))
    relevant = relevance(documents, label)
    return Corpus.build([reading_text(document.title, document.text) for document in documents]), relevant


def replay(
    corpus: Corpus,
    relevant: Sequence[bool],
    *,
    description: str = "",
    seeds: int = 3,
    earlier: Earlier | None = None,
) -> Replays:
    """Replay a review several times, the way the page works; :mod:`bayesift.progress` reports progress.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    relevant : sequence of bool
        The judgements.
    description : str
        What is relevant, in words.
    seeds : int, default=3
        How often to replay, with different random draws each time.
    earlier : Earlier, optional
        Records of an earlier review to learn from. Without these and without a description, one relevant and one
        irrelevant document are known from the start.

    Returns
    -------
    Replays
    """
    runs = []
    for seed in range(seeds):
        progress.report(seed, seeds)
        known = () if description or earlier else starting_pair(relevant, seed)
        knowledge = Knowledge(description)
        runs.append(
            simulate(corpus, relevant, knowledge=knowledge, start=known, check=True, seed=seed, earlier=earlier)
        )
    return Replays(runs, len(corpus), sum(relevant))


class _Schedule:
    """Which mix is due: the usual one, or only random draws after a quiet time."""

    def __init__(self, mix: Mix, check: bool) -> None:
        self.mix, self._usual, self._check = mix, mix, check
        self._silence, self._patience, self._found = 0, QUIET, False

    def judged(self, relevant: bool) -> None:
        self._found = self._found or relevant
        self._silence = 0 if relevant else self._silence + 1
        if not self._check:
            return
        if relevant and self.mix is _CHECK:
            self.mix = self._usual
        elif self.mix is not _CHECK and self._found and self._silence >= self._patience:
            self.mix, self._patience = _CHECK, 2 * self._patience


class _RuleWatch:
    """Keeps the score and asks the rules."""

    def __init__(
        self, rules: dict[str, Rule], truth: BoolArray, known: tuple[int, ...], aim: tuple[float, float]
    ) -> None:
        self.pending = rules
        self._names = list(rules)
        self._aim, self._n = aim, len(truth)
        self._total, self._found = int(truth.sum()), int(truth[list(known)].sum())
        self._n_known, self._read, self._silence = len(known), 0, 0
        self._stops: dict[str, Stop] = {}

    @property
    def over(self) -> bool:
        return not self.pending and self._found == self._total

    def judged(self, relevant: bool) -> None:
        self._read += 1
        self._found += relevant
        self._silence = 0 if relevant else self._silence + 1

    def look(self, engine: ReviewEngine) -> None:
        look = Look(engine.stopping(*self._aim), self._silence, self._n)
        for name in [name for name, rule in self.pending.items() if rule(look)]:
            del self.pending[name]
            self._stops[name] = self._stop(name)

    def stops(self) -> dict[str, Stop]:
        everything = {name: Stop(name, self._n - self._n_known, 1.0, 1.0) for name in self.pending}
        found = {**self._stops, **everything}
        return {name: found[name] for name in self._names}

    def _stop(self, name: str) -> Stop:
        recall = self._found / self._total if self._total else 1.0
        return Stop(name, self._read, self._read / (self._n - self._n_known), recall)


def _checked(relevant: Any, n: int) -> BoolArray:
    truth = np.asarray(relevant)
    if truth.shape != (n,) or not np.isin(truth, (0, 1)).all():
        raise ValueError(f"relevant has shape {truth.shape}; expected {n} booleans, one for each document")
    if not truth.any():
        raise ValueError("relevant has no relevant document; expected at least one")
    return truth.astype(bool)


def synthetic_corpus(
    n_documents: int = 1000, share: float = 0.03, *, clearness: float = 0.3, length: int = 40, seed: int = 0
) -> tuple[list[str], BoolArray]:
    """Generate texts, some of which are relevant.

    All texts draw words from the same long-tailed vocabulary. A relevant text draws some of its words from a topic of
    thirty words, and an irrelevant text a quarter as many.

    Parameters
    ----------
    n_documents : int, default=1000
        Number of texts.
    share : float, default=0.03
        Share of relevant texts; their number is rounded, and at least one.
    clearness : float, default=0.3
        Mean share of topic words in a relevant text; it varies from text to text, so that some are hard to find.
    length : int, default=40
        Number of words in a text.
    seed : int, default=0
        Fixes the draw.

    Returns
    -------
    texts : list of str
    relevant : array of shape (n_documents,)

    Examples
    --------
    >>> from bayesift.review.simulate import synthetic_corpus
    >>> texts, relevant = synthetic_corpus(100, 0.05)
    >>> len(texts), int(relevant.sum())
    (100, 5)
    """
    random = np.random.default_rng(seed)
    relevant = np.zeros(n_documents, dtype=bool)
    relevant[random.choice(n_documents, max(1, round(share * n_documents)), replace=False)] = True
    common = 1.0 / np.arange(1, 2001)
    topic = 1.0 / np.arange(1, 31)
    texts = []
    for is_relevant in relevant:
        mean = clearness * (1.0 if is_relevant else 0.25)
        n_topic = random.binomial(length, random.beta(2 * mean, 2 * (1 - mean)))
        words = [f"topic{word}" for word in random.choice(30, n_topic, p=topic / topic.sum())]
        words += [f"word{word}" for word in random.choice(2000, length - n_topic, p=common / common.sum())]
        texts.append(" ".join(words))
    return texts, relevant
