"""Scoring in turns: texts of requests that arrive together are scored together, and long requests wait for short ones.

One thread scores. Meanwhile other requests gather, and all of them, up to a bound, are its next batch; nobody waits for
a batch to fill. A request that is longer than a batch continues after those that have come meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from bayesift.serving.metrics import Metrics
from bayesift.workflow import Explainer, Predictions, Reason, TextClassifier
from bayesift.workflow.certainty import USUAL_MASS, check_posterior, intervals_of
from bayesift.workflow.words_and_vectors import keeps_posterior

#: What a batch may cost, in characters, and what a text costs in addition to its characters, alone and with reasons.
BATCH, TEXT, REASONS = 200_000, 500, 6_000


class Question(NamedTuple):
    """Texts, and what is asked about them: probabilities or not, the words of a reason (0 for none), the mass.

    The mass is that of the intervals of probabilities, if the model keeps its posterior.
    """

    texts: Sequence[str]
    probabilities: bool = True
    words: int = 0
    mass: float = USUAL_MASS

    def cost(self, place: int) -> int:
        """Return the approximate cost of a text, in characters."""
        return len(self.texts[place]) + TEXT + (REASONS if self.words else 0)


class BusyError(Exception):
    """Too much is waiting; ``of_one`` tells whether a single address asks for that much."""

    def __init__(self, of_one: bool) -> None:
        super().__init__("too many texts are waiting")
        self.of_one = of_one


class Scorer:
    """Turns texts into answers, each as JSON.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.

    Examples
    --------
    >>> from bayesift.serving.scoring import Question, Scorer
    >>> from bayesift.workflow import TextClassifier
    >>> classifier = TextClassifier("nb").fit(["wheat", "sea"] * 3, ["farm", "sea"] * 3)
    >>> Scorer(classifier).score([Question(["wheat"], probabilities=False)])[0]
    ['{"labels":["farm"]}']
    """

    def __init__(self, classifier: TextClassifier) -> None:
        self._classifier = classifier
        self._explainer = Explainer(classifier)
        self._averages = keeps_posterior(classifier)
        self.labels = [str(label) for label in classifier.classes_]
        self.counts: Counter[str] = Counter()

    def check_intervals(self) -> None:
        """Refuse a question that asks for intervals of a model that has none."""
        check_posterior(self._classifier, "an interval")

    def score(self, questions: Sequence[Question]) -> list[list[str]]:
        """Return, for every question, the answers about its texts."""
        texts = [text for question in questions for text in question.texts]
        proba = any(question.probabilities or question.words for question in questions)
        found = self._classifier.predictions(texts, proba=proba)
        given = [self._given(row) for row in found.decisions.tolist()]
        self.counts.update(label for row in given for label in row)
        shares = found.probabilities.round(6).tolist()
        ends = self._intervals(questions) if self._averages else []
        answers, place = [], 0
        why = iter(self._reasons(questions, found))
        for question in questions:
            own = []
            for _ in question.texts:
                answer: dict[str, Any] = {"labels": given[place]}
                if question.probabilities:
                    answer["probabilities"] = dict(zip(self.labels, shares[place], strict=True))
                    if self._averages:
                        answer["intervals"] = dict(zip(self.labels, ends[place], strict=True))
                if question.words:
                    answer["reasons"] = [_as_dict(reason, question.words) for reason in next(why)]
                own.append(json.dumps(answer, separators=(",", ":"), allow_nan=False))
                place += 1
            answers.append(own)
        return answers

    def _given(self, decisions: list[bool]) -> list[str]:
        return [label for label, is_given in zip(self.labels, decisions, strict=True) if is_given]

    def _intervals(self, questions: Sequence[Question]) -> list[Any]:
        """Return the intervals of texts that ask for them; those of the same mass are computed together."""
        masses = {question.mass for question in questions if question.probabilities}
        texts = [text for question in questions for text in question.texts]
        found: list[Any] = [None] * len(texts)
        own = np.repeat([q.mass if q.probabilities else np.nan for q in questions], [len(q.texts) for q in questions])
        for mass in masses:
            places = np.flatnonzero(own == mass).tolist()
            ends = intervals_of(self._classifier, [texts[place] for place in places], mass).round(6).tolist()
            for place, values in zip(places, ends, strict=True):
                found[place] = values
        return found

    def _reasons(self, questions: Sequence[Question], found: Predictions) -> list[list[Reason]]:
        """Explain the texts of questions that ask for reasons, with the most words that any of them wants."""
        most = max(question.words for question in questions)
        if not most:
            return []
        texts = [text for question in questions if question.words for text in question.texts]
        asked = np.repeat([question.words > 0 for question in questions], [len(q.texts) for q in questions])
        own = Predictions(found.decisions[asked], found.probabilities[asked])
        return self._explainer.reasons(texts, most, own)


def _weighted(words: list[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"word": word, "weight": round(weight, 6)} for word, weight in words]


def _as_dict(reason: Reason, n_words: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "label": reason.label,
        "accepted": reason.accepted,
        "probability": round(reason.probability, 6),
        "words": _weighted(reason.words[:n_words]),
    }
    # Models without vectors of words have none.
    if reason.company:
        found["company"] = _weighted(reason.company[:n_words])
    if reason.interval is not None:
        found["word_intervals"] = [[round(end, 6) for end in ends] for ends in reason.word_intervals[:n_words]]
    return found


class _Job:
    """A waiting question: where to continue, the answers so far, and whom to tell."""

    def __init__(self, question: Question, future: asyncio.Future[list[str]]) -> None:
        self.question = question
        self.future = future
        self.done: list[str] = []
        self.begun = 0

    def take(self, budget: int) -> tuple[Question, int]:
        """Return the next texts, as many as the budget allows but at least one, and their cost."""
        last, cost = self.begun, 0
        while last < len(self.question.texts) and (last == self.begun or cost + self.question.cost(last) <= budget):
            cost += self.question.cost(last)
            last += 1
        piece = self.question._replace(texts=self.question.texts[self.begun : last])
        self.begun = last
        return piece, cost

    @property
    def is_taken(self) -> bool:
        """Whether all texts are taken."""
        return self.begun >= len(self.question.texts)


class Turns:
    """Answers questions batch by batch.

    Parameters
    ----------
    scorer : Scorer
        Used by one thread at a time.
    metrics : Metrics
        They count every batch.
    waiting, of_one_address : int
        The most characters that may wait, in all and from one address.
    """

    def __init__(self, scorer: Scorer, metrics: Metrics, waiting: int, of_one_address: int) -> None:
        self._scorer = scorer
        self._metrics = metrics
        self._most, self._most_of_one = waiting, of_one_address
        self._jobs: deque[_Job] = deque()
        self._of: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="scoring")
        self._working: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Number of characters that are waiting or being scored."""
        return self._of.total()

    def close(self) -> None:
        """End the thread after its present batch."""
        self._pool.shutdown(cancel_futures=True)

    async def answer(self, question: Question, address: str, *, shared: bool = False) -> list[str]:
        """Return the answers to the texts of a question, each as JSON.

        Parameters
        ----------
        question : Question
            What is asked.
        address : str
            Who asks.
        shared : bool
            Whether many people share the address, which then has no limit of its own.

        Raises
        ------
        BusyError
            If too much is waiting already.
        """
        if not question.texts:
            return []
        size = sum(map(len, question.texts)) + len(question.texts)
        # A single question is always taken, however long it may be.
        if self._of and self.waiting + size > self._most:
            raise BusyError(of_one=False)
        if not shared and self._of[address] and self._of[address] + size > self._most_of_one:
            raise BusyError(of_one=True)
        loop = asyncio.get_running_loop()
        job = _Job(question, loop.create_future())
        self._of[address] += size
        try:
            self._jobs.append(job)
            if self._working is None:
                self._working = loop.create_task(self._work())
            return await job.future
        finally:
            self._of[address] -= size
            if not self._of[address]:
                del self._of[address]

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while batch := self._next_batch():
                pieces = [piece for _, piece in batch]
                try:
                    found = await loop.run_in_executor(self._pool, self._scorer.score, pieces)
                except Exception as error:
                    if len(batch) == 1:
                        self._fail(batch[0][0], error)
                        continue
                    # One of them is to blame; the others should not suffer.
                    for job, piece in batch:
                        try:
                            (answers,) = await loop.run_in_executor(self._pool, self._scorer.score, [piece])
                        except Exception as own:
                            self._fail(job, own)
                        else:
                            self._hand_out(job, answers)
                    continue
                self._metrics.batches.observe(sum(len(piece.texts) for piece in pieces))
                for (job, _), answers in zip(batch, found, strict=True):
                    self._hand_out(job, answers)
        finally:
            self._working = None

    def _next_batch(self) -> list[tuple[_Job, Question]]:
        """Take texts from the waiting questions, the oldest first, until the batch is full."""
        batch = []
        budget = BATCH
        for _ in range(len(self._jobs)):
            job = self._jobs.popleft()
            if job.future.done():
                continue
            piece, cost = job.take(budget)
            batch.append((job, piece))
            budget -= cost
            if not job.is_taken:
                self._jobs.append(job)
            if budget <= 0:
                break
        return batch

    def _hand_out(self, job: _Job, answers: list[str]) -> None:
        job.done += answers
        if len(job.done) == len(job.question.texts) and not job.future.done():
            job.future.set_result(job.done)

    def _fail(self, job: _Job, error: Exception) -> None:
        if not job.future.done():
            job.future.set_exception(error)
