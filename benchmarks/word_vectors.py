"""Word vectors of 20 Newsgroups: processor time, and what document vectors alone are worth with few labels."""

from __future__ import annotations

import time

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from bayesift._typing import AnyArray
from bayesift.datasets import load
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors
from benchmarks.measuring import peak_beyond_now, show

LABELS_A_GROUP = (5, 50)


def accuracies(train: AnyArray, test: AnyArray, y: AnyArray, truth: AnyArray, repeats: int) -> list[str]:
    """Return the mean test accuracy of a ridge with few labels a group, labels drawn anew in each repetition."""
    means = []
    for n in LABELS_A_GROUP:
        found = []
        for repeat in range(repeats):
            random = np.random.default_rng(repeat)
            groups = [np.flatnonzero(y == group) for group in np.unique(y)]
            labelled = np.concatenate([random.choice(group, n, replace=False) for group in groups])
            model = LogisticRegression(C=3.0, tol=1e-3, max_iter=300).fit(train[labelled], y[labelled])
            found.append(model.score(test, truth))
        means.append(f"{np.mean(found):.3f}")
    return means


def _measured(texts: list[str], names: AnyArray, window: int | None) -> tuple[AnyArray, float, int]:
    """Return the vectors of words, and the processor time and memory that they took."""
    WordVectors(2, window=window, n_jobs=1).fit(texts[:50])
    begin = time.process_time()
    memory, vectors = peak_beyond_now(lambda: WordVectors(window=window, n_jobs=1).fit(texts))
    return vectors.matrix(names), time.process_time() - begin, memory


def run(repeats: int) -> None:
    """Print processor time, memory and accuracies of our vectors, of rows of length one, and of LSA."""
    repeats = min(repeats, 5)
    corpus = load("20newsgroups")
    y, truth = (np.array([labels[0] for labels in split.labels]) for split in (corpus.train, corpus.test))
    vectorizer = TextVectorizer(min_df=3)
    train, test = vectorizer.fit_transform(corpus.train.texts), vectorizer.transform(corpus.test.texts)
    names = vectorizer.get_feature_names_out()
    E, ours, memory = _measured(corpus.train.texts, names, None)
    near = _measured(corpus.train.texts, names, 15)
    begin = time.process_time()
    with threadpool_limits(1):
        lsa = TruncatedSVD(200, random_state=0).fit(train)
    theirs = time.process_time() - begin
    rows = [
        ("words alone", "", "", *accuracies(train, test, y, truth, repeats)),
    ]
    for name, seconds, peak, matrix in (
        ("word vectors", ours, memory, E),
        ("word vectors of windows of 15 words", near[1], near[2], near[0]),
        ("word vectors, rows of length one", ours, memory, normalize(E)),
        ("LSA (TruncatedSVD)", theirs, 0, lsa.components_.T),
    ):
        vectors_of = (normalize(train @ matrix), normalize(test @ matrix))
        measured = accuracies(*vectors_of, y, truth, repeats)
        rows.append((name, f"{seconds:.1f} s", f"{peak / 1e6:,.0f} MB" if peak else "", *measured))
    header = ("features", "processor", "memory", *(f"{n} labels a group" for n in LABELS_A_GROUP))
    show(f"20 Newsgroups, test accuracy of a ridge, mean of {repeats} draws", header, rows)
