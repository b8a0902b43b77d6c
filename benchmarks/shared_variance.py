"""One prior variance for all categories, or one for each: a ridge on words of 20 Newsgroups, few labels and all."""

from __future__ import annotations

import time

import numpy as np

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.text import TextVectorizer
from benchmarks.measuring import show

#: Labels of each group; None is all of them.
LABELS_A_GROUP = (5, 10, 20, 50, 200, None)


def run(repeats: int) -> None:
    """Print test accuracy and processor time of both, of one draw of labels."""
    corpus = load("20newsgroups")
    y, truth = (np.array([labels[0] for labels in split.labels]) for split in (corpus.train, corpus.test))
    vectorizer = TextVectorizer(min_df=3)
    train, test = vectorizer.fit_transform(corpus.train.texts), vectorizer.transform(corpus.test.texts)
    rows = []
    for n in LABELS_A_GROUP:
        random, groups = np.random.default_rng(0), [np.flatnonzero(y == group) for group in np.unique(y)]
        labelled = np.concatenate([group if n is None else random.choice(group, n, replace=False) for group in groups])
        found = []
        for variance in ("cv", "shared"):
            begin = time.process_time()
            model = BayesianLogisticRegression("gaussian", variance).fit(train[labelled], y[labelled])
            seconds = time.process_time() - begin
            found += [f"{100 * model.score(test, truth):.1f}", f"{seconds:.1f} s"]
        rows.append(("all" if n is None else str(n), *found))
    header = ("labels a group", "each its own", "processor", "shared", "processor")
    show("20 Newsgroups, test accuracy of a ridge on words", header, rows)
