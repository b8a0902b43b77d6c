"""Every estimator on matrices that are hard on it: right numbers or a clear error, in bounded time and memory.

    python -m tools.fuzz.estimators --matrices 4000 --seed 0

Every matrix is given to every estimator that learns from matrices, each time with another of its settings, and all
methods are called. What comes back must be finite, probabilities must add up to one, and a refusal must be a ValueError
that says what is wrong. Warnings of the arithmetic (overflow, invalid values, division by zero) count as failures.
``--only NUMBER`` repeats one matrix and shows what each estimator does.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from bayesift._registry import estimators
from bayesift.ard import RelevanceTaggingMachine, RelevanceVectorMachine, RelevanceVectorRegressor
from bayesift.generative import (
    BernoulliNB,
    CategoricalNB,
    DirichletCompoundMultinomial,
    GaussianNB,
    MixedNB,
    MultinomialNB,
)
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.online import BayesianPerceptron, OnlineGaussianProcess
from bayesift.select import TermSelector
from bayesift.workflow import BinaryRelevance
from tools.fuzz.matrices import Problem, problem
from tools.fuzz.watching import Report, joined, limit_memory, watch

#: Settings of every estimator; a matrix meets one of each.
SETTINGS: list[list[Any]] = [
    [
        RelevanceTaggingMachine(binarize=0.0, max_iter=60),
        RelevanceTaggingMachine(binarize=0.0, solver="em", max_iter=60),
        RelevanceTaggingMachine(max_iter=60),
    ],
    [
        RelevanceVectorMachine(max_iter=60),
        RelevanceVectorMachine(kernel="rbf", max_iter=60),
        RelevanceVectorMachine(solver="mackay", max_iter=60),
    ],
    [
        RelevanceVectorRegressor(max_iter=60),
        RelevanceVectorRegressor(kernel="rbf", max_iter=60),
        RelevanceVectorRegressor(solver="mackay", max_iter=60),
    ],
    [BernoulliNB(), BernoulliNB(estimate="map", alpha=1.5)],
    [CategoricalNB(), CategoricalNB(min_categories=4)],
    [
        DirichletCompoundMultinomial(n_jobs=1),
        DirichletCompoundMultinomial(solver="edcm", n_jobs=1),
        DirichletCompoundMultinomial(solver="fixed_point", n_jobs=1),
    ],
    [GaussianNB(), GaussianNB(estimate="map")],
    [MixedNB()],
    [MultinomialNB(n_jobs=1), MultinomialNB(estimate="map", alpha=1.5, n_jobs=1)],
    [
        BayesianLogisticRegression(variance=1.0, n_jobs=1),
        BayesianLogisticRegression("gaussian", variance=1.0, n_jobs=1),
        BayesianLogisticRegression("gaussian", variance=1e6, n_jobs=1),
        BayesianLogisticRegression("gaussian", variance="cv", n_jobs=1),
        BayesianLogisticRegression(n_jobs=1),
    ],
    [
        BayesianMultinomialRegression(variance=1.0, n_jobs=1),
        BayesianMultinomialRegression("gaussian", variance=1.0, n_jobs=1),
        BayesianMultinomialRegression("gaussian", variance="cv", n_jobs=1),
    ],
    [
        BayesianProbitRegression(variance=1.0, n_jobs=1),
        BayesianProbitRegression("gaussian", variance=1.0, n_jobs=1),
        BayesianProbitRegression("jeffreys", n_jobs=1),
    ],
    [
        BayesianPerceptron(n_jobs=1),
        BayesianPerceptron("flip", n_jobs=1),
        BayesianPerceptron("flip", covariance="diagonal", n_jobs=1),
        BayesianPerceptron(covariance="low-rank", rank=2, n_jobs=1),
        BayesianPerceptron("flip", covariance="low-rank", rank=3, kappa=0.0, n_jobs=1),
        BayesianPerceptron(forgetting=0.9, n_jobs=1),
    ],
    [
        OnlineGaussianProcess(n_jobs=1),
        OnlineGaussianProcess("rbf", budget=4, n_jobs=1),
        OnlineGaussianProcess("polynomial", budget=6, removal="kl", n_jobs=1),
        OnlineGaussianProcess("cosine", likelihood="flip", n_jobs=1),
    ],
    [TermSelector(k=2), TermSelector("chi_square", k=2), TermSelector("mutual_information", k=2)],
    [BinaryRelevance(RelevanceVectorMachine(max_iter=60)), BinaryRelevance(BayesianPerceptron(n_jobs=1))],
]

#: Estimators of texts or of scores, which take no matrix of documents, and one that has a vector for each column.
OTHERS = {"TextVectorizer", "TextClassifier", "Threshold", "WordVectors", "WordsAndVectors"}

#: A refusal speaks of what was given.
NAMES_WHAT = re.compile(
    r"\b(X|y|sample_weight|classes|class|labels?|documents|samples|features?|values?|weights?|counts?|tags?|columns?)\b"
)
ARITHMETIC = ("overflow", "invalid value", "divide by zero", "underflow")


def uncovered() -> set[str]:
    """Return the estimators of the package that no setting is for."""
    covered = {type(settings[0]).__name__ for settings in SETTINGS}
    return {name.rpartition(".")[2] for name in estimators()} - covered - OTHERS


def attempt(number: int, given: Problem, which: int) -> tuple[str, str]:
    """Give a matrix to an estimator; return how that went, and of a failure what."""
    settings = SETTINGS[which]
    model, step = clone(settings[number % len(settings)]), "fit"
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            try:
                for step in _steps(model, given):  # noqa: B007
                    pass
            finally:
                odd = [str(entry.message) for entry in noted if _is_arithmetic(entry)]
    except ValueError as error:
        if isinstance(error, np.linalg.LinAlgError) or not NAMES_WHAT.search(str(error)):
            return "failed", f"{step}: {type(error).__name__}: {error}"
        return ("warned", f"{step}: {odd[0]}") if odd else ("refused", str(error))
    except Exception as error:
        return "failed", f"{step}: {type(error).__name__}: {error}"
    return ("warned", f"{step}: {odd[0]}") if odd else ("answered", "")


def _is_arithmetic(entry: Any) -> bool:
    return issubclass(entry.category, RuntimeWarning) and any(word in str(entry.message) for word in ARITHMETIC)


class WrongAnswerError(Exception):
    """Numbers that are none, or probabilities that do not add up."""


def form_for(model: Any, matrix: Any) -> Any:
    """Return a matrix in a form that the model takes."""
    dense = sp.issparse(matrix) and not get_tags(model).input_tags.sparse
    return matrix.toarray() if dense else matrix


def _steps(model: Any, given: Problem) -> Iterator[str]:
    """Call all methods; each step is named before it is taken."""
    y = given.numbers if is_regressor(model) else given.y
    weighted = "sample_weight" in inspect.signature(model.fit).parameters and given.weights is not None
    options = {"sample_weight": given.weights} if weighted else {}
    X, others = (form_for(model, matrix) for matrix in (given.X, given.others))
    yield "fit"
    refusal = None
    try:
        model.fit(X, y, **options)
    except ValueError as error:
        refusal = error
    else:
        yield from _answers(model, X, "fitted documents")
        try:
            yield from _answers(model, others, "other documents")
        except ValueError as error:
            refusal = error
    if hasattr(model, "partial_fit"):
        fresh = clone(model)
        classes = {} if np.ndim(y) == 2 else {"classes": np.unique(np.append(y, y[0]))}
        yield "partial_fit"
        fresh.partial_fit(X, y, **classes, **options)
        yield "partial_fit again"
        fresh.partial_fit(others, y, **options)
        yield from _answers(fresh, X, "after partial_fit")
    if refusal is not None:
        yield "fit or predict"
        raise refusal


def _answers(model: Any, X: Any, of: str) -> Iterator[str]:
    if not is_classifier(model):
        for name in ("predict", "transform"):
            if hasattr(model, name):
                yield f"{name} of {of}"
                found = getattr(model, name)(X)
                _check_finite(found.data if sp.issparse(found) else found)
        return
    n, flat = X.shape[0], model.target_type_ != "multilabel-indicator"
    yield f"decision_function of {of}"
    scores = model.decision_function(X)
    if np.isnan(scores).any():
        raise WrongAnswerError(f"{np.isnan(scores).sum()} of {scores.size} scores are NaN")
    yield f"predict_proba of {of}"
    found = model.predict_proba(X)
    if found.shape != (n, len(model.classes_)):
        raise WrongAnswerError(f"probabilities of the shape {found.shape}")
    _check_finite(found)
    if found.min(initial=0.0) < 0 or found.max(initial=0.0) > 1 + 1e-9:
        raise WrongAnswerError(f"probabilities from {found.min()} to {found.max()}")
    if flat and not np.allclose(found.sum(axis=1), 1.0, atol=1e-9):
        raise WrongAnswerError("probabilities do not add up to one")
    yield f"predict_log_proba of {of}"
    if np.isnan(model.predict_log_proba(X)).any():
        raise WrongAnswerError("log probabilities are NaN")
    yield f"predict of {of}"
    decisions = model.predict(X)
    if flat and not np.isin(decisions, model.classes_).all():
        raise WrongAnswerError("a label that is none of the classes")
    for name in ("information_gain", "word_weights"):
        if hasattr(model, name):
            yield f"{name} of {of}"
            value = getattr(model, name)(*((X,) if name == "information_gain" else ()))
            if value is not None:
                _check_no_nan(value.data if sp.issparse(value) else value)


def _check_finite(values: Any) -> None:
    bad = ~np.isfinite(np.asarray(values, dtype=np.float64))
    if bad.any():
        raise WrongAnswerError(f"{bad.sum()} of {bad.size} numbers are not finite")


def _check_no_nan(values: Any) -> None:
    if np.isnan(np.asarray(values)).any():
        raise WrongAnswerError("a NaN")


def _work(seed: int, first: int, limit: int, start: int) -> None:
    """Try matrices one after the other, each on all estimators; tell about each try on standard output."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for which in range(len(SETTINGS)):
        for number in range(max(map(len, SETTINGS))):
            attempt(number, problem(0, 3), which)
    limit_memory()
    for number in range(first, limit):
        given = problem(seed, number)
        for which in range(start if number == first else 0, len(SETTINGS)):
            place = {"number": number, "which": which}
            print(json.dumps(place), file=out)
            begin = time.process_time()
            outcome, what = attempt(number, given, which)
            told = {"outcome": outcome, "what": what[:300], "seconds": time.process_time() - begin}
            print(json.dumps({**place, **told}), file=out)


def _repeat(seed: int, number: int) -> int:
    given = problem(seed, number)
    print(", ".join(given.oddities))
    failed = False
    for which, settings in enumerate(SETTINGS):
        outcome, what = attempt(number, given, which)
        failed |= outcome in ("failed", "warned")
        print(f"{settings[number % len(settings)]}: {outcome} {what}".replace("\n", " "))
    return int(failed)


def run(seed: int, first: int, limit: int, jobs: int, tell: Callable[[str], None]) -> Report:
    """Try all matrices from a number up to another, on workers that are watched."""
    names = [type(settings[0]).__name__ for settings in SETTINGS]
    ends = np.linspace(first, limit, jobs + 1).astype(int).tolist()

    def part(begin: int, end: int) -> Report:
        def command(number: int, which: int) -> list[str]:
            return [sys.executable, "-m", "tools.fuzz.estimators", "--work", *map(str, (seed, number, end, which))]

        return watch(command, names, begin, end, tell)

    with ThreadPoolExecutor(jobs) as pool:
        reports = list(pool.map(part, ends[:-1], ends[1:]))
    return joined(reports)


def main() -> int:
    """Run as the one who watches, as a worker, or for one matrix."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.estimators", description=__doc__.split("\n")[0])
    parser.add_argument("--matrices", type=int, default=400, metavar="N", help="how many")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="number of the first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="workers")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat one matrix and show what it does")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write table and failures there as well")
    parser.add_argument("--work", type=int, nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        _work(*options.work)
        return 0
    if options.only is not None:
        return _repeat(options.seed, options.only)
    limit = options.first + options.matrices
    report = run(options.seed, options.first, limit, options.jobs, lambda line: print(line, flush=True))
    text = report.text()
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
