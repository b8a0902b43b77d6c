"""Naive Bayes beside scikit-learn's on the counts of 20 Newsgroups, and bursts beside naive Bayes."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.naive_bayes as peers
from threadpoolctl import threadpool_limits

from bayesift.generative import BernoulliNB, DirichletCompoundMultinomial, MultinomialNB
from benchmarks.measuring import ratio, show, take_turns
from reproduction.murphy2012.tasks import Task, newsgroups_task

#: A name, our model and theirs; the definitions of the first two pairs coincide.
PAIRS = (
    ("multinomial, plugged in", partial(MultinomialNB, 1.01, estimate="map"), peers.MultinomialNB(alpha=0.01)),
    ("Bernoulli", partial(BernoulliNB, 0.01, class_prior=None), peers.BernoulliNB(alpha=0.01)),
    ("multinomial, integrated", partial(MultinomialNB, 0.01), peers.MultinomialNB(alpha=0.01)),
)


def compare(task: Task, name: str, make: Any, theirs: Any, repeats: int) -> tuple[str, ...]:
    """Time fit and predict_proba, on one thread and on two."""
    ours = {n: make(n_jobs=n) for n in (1, 2)}
    fit = {"peer": partial(theirs.fit, task.X_train, task.y_train)}
    fit["ours"] = partial(ours[1].fit, task.X_train, task.y_train)
    fitted = take_turns(fit, repeats, name)
    ours[2].fit(task.X_train, task.y_train)
    if name != "multinomial, integrated":
        difference = np.abs(ours[1].predict_proba(task.X_test) - theirs.predict_proba(task.X_test)).max()
        if difference > 1e-8:
            raise AssertionError(f"the two disagree by {difference}")
    predict = {"peer": partial(theirs.predict_proba, task.X_test)}
    predict |= {f"ours {n}": partial(model.predict_proba, task.X_test) for n, model in ours.items()}
    predicted = take_turns(predict, repeats, name)
    return (
        name,
        f"{1e3 * median(fitted['ours']):.1f}",
        f"{ratio(fitted, 'peer', 'ours'):.1f}",
        f"{1e3 * median(predicted['ours 1']):.1f}",
        f"{ratio(predicted, 'peer', 'ours 1'):.1f}",
        f"{ratio(predicted, 'peer', 'ours 2'):.1f}",
    )


def one_document(task: Task, repeats: int) -> list[tuple[str, ...]]:
    """Time partial_fit of one document for vocabularies of different sizes: most of it is the check of arguments."""
    rows = []
    document, label = task.X_train[:1], task.y_train[:1]
    for extra in (0, 1_000_000):
        wide = sp.csr_matrix((document.data, document.indices, document.indptr), shape=(1, document.shape[1] + extra))
        cells = []
        for make in (MultinomialNB, peers.MultinomialNB):
            model = make().partial_fit(wide, label, classes=np.unique(task.y_train))
            seconds = take_turns({"": partial(model.partial_fit, wide, label)}, repeats, "one document")
            cells.append(f"{1e6 * median(seconds['']):.0f}")
        rows.append((f"{wide.shape[1]:,}", *cells))
    return rows


def bursts(task: Task, repeats: int) -> list[tuple[str, ...]]:
    """Time fits of the compound model beside that of MultinomialNB, in one round each."""
    candidates = {"MultinomialNB": partial(MultinomialNB().fit, task.X_train, task.y_train)}
    for solver in ("newton", "edcm", "fixed_point"):
        for n in (1, 2):
            model = DirichletCompoundMultinomial(solver=solver, n_jobs=n)
            candidates[f"{solver}, {n} thread{'s' * (n > 1)}"] = partial(model.fit, task.X_train, task.y_train)
    seconds = take_turns(candidates, repeats, "bursts")
    return [
        (name, f"{1e3 * median(turns):.0f}", f"{1 / ratio(seconds, 'MultinomialNB', name):.1f}")
        for name, turns in seconds.items()
    ]


def run(repeats: int) -> None:
    """Print the tables."""
    task = newsgroups_task()
    n_documents, n_words = task.X_train.shape
    with threadpool_limits(1):
        show(
            f"20 Newsgroups, {n_documents:,} × {n_words:,}: milliseconds, and how many times as fast as scikit-learn",
            ("model", "fit, ms", "fit ×", "predict_proba, ms", "×1", "×2 threads"),
            [compare(task, *pair, repeats) for pair in PAIRS],
        )
        show("partial_fit of one document, µs", ("features", "bayesift", "sklearn"), one_document(task, repeats))
        show("DCM, 20 classes", ("fit", "ms", "× MultinomialNB.fit"), bursts(task, repeats))
