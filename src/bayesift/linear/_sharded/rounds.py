"""Rounds over all shards, shared by fits that run in parallel: what they ask for together is read once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bayesift._threads import AbandonedError

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Answers questions together, in their order.
Answer = Callable[[Sequence[Any]], list[Any]]


class Rounds:
    """Collects the questions of fits on several threads until all of them wait, and answers them in one round.

    The thread that calls :meth:`map` answers, so that it is the one that talks to workers. Which questions meet in a
    round depends on the fits alone, not on how fast they are: at every round each fit that is under way has asked.
    Outside of :meth:`map` a question is answered at once.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._own = threading.local()

    def ask(self, question: Any) -> Any:
        """Return the answer to a question, when its turn comes."""
        place = getattr(self._own, "place", None)
        if place is None:
            return self._answer([question])[0]
        session, number = place
        return session.ask(number, question)

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], n_together: int) -> list[Result]:
        """Return ``work(item)`` of every item, in their order, a given number at a time."""
        if len(items) <= 1 or n_together <= 1:
            return [work(item) for item in items]
        session = _Session(len(items))
        results: list[Any] = [None] * len(items)

        def run() -> None:
            while (number := session.take()) is not None:
                self._own.place = session, number
                try:
                    results[number] = work(items[number])
                except BaseException as error:
                    session.fail(number, error)
            session.leave()

        threads = [threading.Thread(target=run, daemon=True) for _ in range(min(n_together, len(items)))]
        session.live = len(threads)
        for thread in threads:
            thread.start()
        try:
            session.serve(self._answer)
        finally:
            session.abandon()
            for thread in threads:
                thread.join()
        if session.errors:
            raise session.errors[min(session.errors)]
        return results


class _Session:
    """The questions and answers of one call of ``map``."""

    def __init__(self, n_items: int) -> None:
        self._changed = threading.Condition()
        self._next, self._n_items = 0, n_items
        self._questions: dict[int, Any] = {}
        self._answers: dict[int, Any] = {}
        self._abandoned = False
        self.live = 0
        self.errors: dict[int, BaseException] = {}

    def take(self) -> int | None:
        """Return the number of the next item; None when there is none."""
        with self._changed:
            if self._abandoned or self.errors or self._next == self._n_items:
                return None
            self._next += 1
            return self._next - 1

    def leave(self) -> None:
        with self._changed:
            self.live -= 1
            self._changed.notify_all()

    def fail(self, number: int, error: BaseException) -> None:
        with self._changed:
            if not isinstance(error, AbandonedError):
                self.errors[number] = error

    def abandon(self) -> None:
        """End the work of all threads at their next question."""
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()

    def ask(self, number: int, question: Any) -> Any:
        with self._changed:
            self._questions[number] = question
            self._changed.notify_all()
            self._changed.wait_for(lambda: number in self._answers or self._abandoned)
            if number not in self._answers:
                raise AbandonedError
            return self._answers.pop(number)

    def serve(self, answer: Answer) -> None:
        """Answer rounds until all threads have left."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: len(self._questions) == self.live or bool(self.errors))
                if self.live == 0 or self.errors:
                    return
                numbers = sorted(self._questions)
                questions = [self._questions.pop(number) for number in numbers]
            answers = answer(questions)
            with self._changed:
                self._answers.update(zip(numbers, answers, strict=True))
                self._changed.notify_all()
