"""Whether terms that no training document holds should count in the length of a text: two rules, the same models."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesift.datasets import describe
from bayesift.evaluate import expected_calibration_error, f_beta, log_loss
from bayesift.linear import BayesianLogisticRegression
from bayesift.text import TextVectorizer
from reproduction.beyond.tasks import TASKS, Task, tasks_of
from reproduction.catalogue import Claim, Family, Outcome, Runner, Table

Rule = Literal["ignore", "normalize"]
RULES: tuple[Rule, ...] = ("ignore", "normalize")
PRIORS = {"lasso": "laplace", "ridge": "gaussian"}
#: What is measured, with its digits, and whether more is better.
MEASURES = {
    "micro F1": (2, True),
    "macro F1": (2, True),
    "log loss": (4, False),
    "calibration error": (4, False),
}
#: The collections of a quick run.
QUICK = ("newsroom", "sms", "si650")

_MODULES = ("reproduction.beyond.unknown_terms", "reproduction.beyond.tasks", "bayesift.linear", "bayesift.text")


def unknown_terms(runner: Runner) -> Outcome:
    """Measure both rules on all collections, with lasso and ridge on all words, decisions at one half."""
    collections = [name for name in (QUICK if runner.quick else TASKS) if describe(name).present]
    rows: dict[str, dict[str, float]] = {}
    for collection in collections:
        family = Family(f"unknown-terms-{collection}", _MODULES, (collection,))
        compute = partial(measured, collection, n_jobs=runner.n_jobs)
        found = runner.pieces(family, [{"model": model} for model in PRIORS], compute)
        rows |= {f"{collection}, {model}": values for model, values in zip(PRIORS, found, strict=True)}
    decimals = {f"{name}, {rule}": digits for name, (digits, _) in MEASURES.items() for rule in RULES}
    title = "Unknown terms ignored, or counted in the length of a text"
    return Outcome((Table.of(title, rows, decimals=decimals, corner="collection, model"),))


def measured(collection: str, setting: Mapping[str, Any], n_jobs: int) -> dict[str, float]:
    """Fit one model to each part of a task and measure it on the test texts by both rules; parts count together."""
    parts = [_said(task, setting["model"], n_jobs) for task in tasks_of(collection)]
    found: dict[str, float] = {}
    for rule in RULES:
        columns = [pair for part in parts for pair in zip(*(decided.T for decided in part[rule]), strict=True)]
        truth, p = (np.concatenate(side) for side in zip(*columns, strict=True))
        values = {
            "micro F1": 100.0 * float(f_beta(truth, p >= 0.5)),
            "macro F1": 100.0 * float(np.mean([f_beta(own, inside >= 0.5) for own, inside in columns])),
            "log loss": float(log_loss(truth, p)),
            "calibration error": float(expected_calibration_error(truth, p)),
        }
        found |= {f"{name}, {rule}": value for name, value in values.items()}
    return found


def _said(task: Task, model: str, n_jobs: int) -> dict[Rule, tuple[NDArray[Any], NDArray[np.float64]]]:
    """Return the truth and the probabilities of every label and test text, by both rules.

    Training texts have no unknown terms, so that the model is the same.
    """
    vectorizers = {rule: TextVectorizer("lsc", unknown_terms=rule).fit(task.train_texts) for rule in RULES}
    fitted = BayesianLogisticRegression(PRIORS[model], n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted.fit(vectorizers["ignore"].transform(task.train_texts), task.train)
    found = {}
    for rule, vectorizer in vectorizers.items():
        p = np.asarray(fitted.predict_proba(vectorizer.transform(task.test_texts)))
        p = p[:, 1:] if task.train.shape[1] == 1 and p.shape[1] == 2 else p
        found[rule] = task.test.reshape(p.shape), np.clip(p, 1e-15, 1 - 1e-15)
    return found


def better_rule(tables: tuple[Table, ...]) -> tuple[Claim, ...]:
    """Say for each measure whether the default, to ignore unknown terms, wins at least as often as it loses."""
    [table] = tables
    claims = []
    for name, (digits, more) in MEASURES.items():
        gains = []
        for row in table.rows:
            ignore, normalize = (table.ours(row, f"{name}, {rule}") or 0.0 for rule in RULES)
            gains.append((ignore - normalize) * (1 if more else -1))
        wins, losses = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
        detail = f"better {wins} times, worse {losses} times, by {np.mean(gains):+.{digits}f} in the mean"
        text = f"{name}: to ignore unknown terms, the default, is at least as good as to count them"
        claims.append(Claim(text, wins >= losses, detail))
    return tuple(claims)
