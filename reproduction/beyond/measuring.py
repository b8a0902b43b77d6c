"""Measuring a system on a task, and which differences from another system are more than chance."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bayesift.evaluate import expected_calibration_error, f_beta, log_loss, macro_sign_test, micro_sign_test
from reproduction.beyond.systems import System
from reproduction.beyond.tasks import Task

_NEXT_TO_ZERO = float(np.finfo(np.float64).eps)
# Fewer categories than this can win or lose by an S-test only if all go one way.
_CATEGORIES_FOR_A_TEST = 5


class Row(NamedTuple):
    """How a system did on a task: F1 and accuracy in per cent, losses in nats, times in processor seconds.

    ``wrong`` are the places of wrong decisions among ``n_decisions``, document by category; ``f1`` is that of each
    category.
    """

    micro_f1: float
    macro_f1: float
    accuracy: float | None
    log_loss: float | None
    calibration_error: float | None
    n_words: float | None
    fit_seconds: float
    documents_per_second: float
    n_decisions: int
    wrong: list[int]
    f1: list[float]


def measure(system: System, tasks: Sequence[Task]) -> Row:
    """Train and test a system on the parts of a task; what they decide and their categories are counted together.

    Log loss and calibration error are those of the single decisions, document by category; probabilities of 0 and 1
    count as the nearest number between them, as in scikit-learn.
    """
    answers, f1, n_words, fit_seconds, answer_seconds = [], [], [], 0.0, 0.0
    for task in tasks:
        begin = time.process_time()
        with warnings.catch_warnings():
            # Tiny categories, and peers that reach their own limit of iterations, are part of the comparison.
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = system.fit(task)
        fit_seconds += time.process_time() - begin
        begin = time.process_time()
        answer = fitted.answer(task.test_texts)
        answer_seconds += time.process_time() - begin
        answers.append(answer)
        f1 += np.atleast_1d(f_beta(task.test, answer.decisions)).tolist()
        n_words.append(fitted.n_words)
    truth = np.concatenate([task.test.ravel() for task in tasks])
    decisions = np.concatenate([answer.decisions.ravel() for answer in answers])
    parts = [answer.probabilities.ravel() for answer in answers if answer.probabilities is not None]
    p = np.clip(np.concatenate(parts), _NEXT_TO_ZERO, 1.0 - _NEXT_TO_ZERO) if parts else None
    right = [np.all(answer.decisions == task.test, axis=1) for answer, task in zip(answers, tasks, strict=True)]
    kept = [number for number in n_words if number is not None]
    return Row(
        micro_f1=100.0 * float(f_beta(truth, decisions)),
        macro_f1=100.0 * float(np.mean(f1)),
        accuracy=100.0 * float(np.mean(np.concatenate(right))) if tasks[0].kind != "sets" else None,
        log_loss=None if p is None else float(log_loss(truth, p)),
        calibration_error=None if p is None else float(expected_calibration_error(truth, p)),
        n_words=float(np.mean(kept)) if kept else None,
        fit_seconds=fit_seconds,
        documents_per_second=sum(len(task.test_texts) for task in tasks) / answer_seconds,
        n_decisions=truth.size,
        wrong=np.flatnonzero(decisions != truth).tolist(),
        f1=f1,
    )


def signs(row: Row, other: Row) -> tuple[str, str]:
    """Say by the s-test and the S-test whether a row is better or worse than another: ≫, >, ~, < or ≪.

    The S-test goes by categories and is left out where there are few.
    """
    errors = np.zeros((2, row.n_decisions), dtype=np.int64)
    errors[0, row.wrong] = errors[1, other.wrong] = 1
    by_category = macro_sign_test(row.f1, other.f1).sign if len(row.f1) >= _CATEGORIES_FOR_A_TEST else ""
    return micro_sign_test(np.zeros(row.n_decisions), errors[0], errors[1]).sign, by_category
