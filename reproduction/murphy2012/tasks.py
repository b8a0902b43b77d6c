"""Counts and labels of the collections on which the models of chapter 3 of Murphy (2012) are compared."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bayesift.datasets import load
from bayesift.text import TextVectorizer

#: Tokens of the comparisons.
LETTERS = r"[a-z]{2,}"
TOP_TEN = ("acq", "corn", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade", "wheat")


class Task(NamedTuple):
    """Counts and single labels of training and test documents."""

    X_train: sp.csr_matrix
    y_train: NDArray[Any]
    X_test: sp.csr_matrix
    y_test: NDArray[Any]


def newsgroups_task(headers: str = "all") -> Task:
    """Read 20 Newsgroups by date: words of two or more letters, in at least two training documents."""
    data = load("20newsgroups", headers=headers)
    return _task(*((split.texts, [labels[0] for labels in split.labels]) for split in (data.train, data.test)))


def reuters_task() -> Task:
    """Read the ModApte documents with one topic only, one of the ten largest."""
    data = load("reuters21578")
    parts = []
    for split in (data.train, data.test):
        rows = [i for i, labels in enumerate(split.labels) if len(labels) == 1 and labels[0] in TOP_TEN]
        parts.append(([split.texts[i] for i in rows], [split.labels[i][0] for i in rows]))
    return _task(*parts)


def _task(train: tuple[list[str], list[str]], test: tuple[list[str], list[str]]) -> Task:
    vectorizer = TextVectorizer("nnn", token_pattern=LETTERS, min_df=2)
    X_train, X_test = vectorizer.fit_transform(train[0]), vectorizer.transform(test[0])
    return Task(sp.csr_matrix(X_train), np.array(train[1]), sp.csr_matrix(X_test), np.array(test[1]))


@lru_cache(maxsize=1)
def task_named(name: str) -> Task:
    """Read one of the tasks: ``newsgroups``, ``subjects`` (no headers but the subject) or ``reuters``."""
    if name == "reuters":
        return reuters_task()
    return newsgroups_task("subject" if name == "subjects" else "all")
