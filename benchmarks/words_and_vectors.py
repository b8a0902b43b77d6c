"""What vectors beside words cost, on 20 Newsgroups with all labels: a fit, the search for variances, classifying.

Times are those of the processor on one thread; words alone and words with vectors take turns, and the vectors are the
same in all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors, document_vectors
from bayesift.workflow import TextClassifier
from benchmarks.measuring import show

#: Variances of words and of vectors, about those that are chosen with all labels.
VARIANCES = (100.0, 3.0)


def in_turns(repeats: int, *work: Callable[[], Any]) -> list[float]:
    """Return the median processor time of each, after one call that is not counted."""
    times: list[list[float]] = [[] for _ in work]
    for turn in range(repeats + 1):
        for place, call in enumerate(work):
            begin = time.process_time()
            call()
            if turn:
                times[place].append(time.process_time() - begin)
    return [median(found) for found in times]


def run(repeats: int) -> None:
    """Print the times of words alone and of words with vectors, and their ratios."""
    corpus = load("20newsgroups")
    y = np.array([labels[0] for labels in corpus.train.labels])
    words = TextVectorizer(min_df=2, n_jobs=1)
    X = words.fit_transform(corpus.train.texts)
    vectors = WordVectors(n_jobs=1).fit(corpus.train.texts)
    matrix = vectors.matrix(words.get_feature_names_out())
    both = sp.hstack([X, sp.csr_matrix(document_vectors(X, matrix).directions)], format="csr")
    own, company = VARIANCES
    rows = []

    def add(name: str, alone: Callable[[], Any], together: Callable[[], Any], turns: int) -> None:
        first, second = in_turns(turns, alone, together)
        rows.append((name, f"{first:.2f} s", f"{second:.2f} s", f"{second / first:.2f}"))

    for name, model, prior in (
        ("ridge, one fit", BayesianLogisticRegression, "gaussian"),
        ("lasso, one fit", BayesianLogisticRegression, "laplace"),
        ("softmax ridge, one fit", BayesianMultinomialRegression, "gaussian"),
    ):
        given = {"dense_features": vectors.vectors_.shape[1], "dense_variance": company, "n_jobs": 1}
        add(
            name,
            lambda model=model, prior=prior: model(prior, own, n_jobs=1).fit(X, y),
            lambda model=model, prior=prior, given=given: model(prior, own, **given).fit(both, y),
            min(repeats, 3),
        )
    texts, options = corpus.train.texts, {"vectorizer": words, "n_jobs": 1, "keep_posterior": False}
    alone = TextClassifier("ridge", variance=own, vectors=None, **options).fit(texts, y)
    together = TextClassifier("ridge", variance=own, vector_variance=company, vectors=vectors, **options).fit(texts, y)
    test = corpus.test.texts
    add("classify 7,532 texts", lambda: alone.predictions(test), lambda: together.predictions(test), repeats)
    show("20 Newsgroups, 11,314 texts", ("", "words", "words and vectors", "ratio"), rows)
