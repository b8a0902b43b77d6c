"""Texts in, a tested classifier out, beside scikit-learn: what one does first, timed in its three parts.

Ours is ``TextClassifier("ridge")``, which chooses the variance of its prior by cross-validation; theirs a
``TfidfVectorizer`` and a ``LinearSVC``, whose ``C`` a grid search chooses by cross-validation in five folds. Both leave
out words of a single text and take the same weights of terms. Times are those of the processor, all threads together.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from bayesift.datasets import load
from bayesift.workflow import TextClassifier, suited_vectorizer
from benchmarks.measuring import show

GRID = (0.01, 0.1, 1.0, 10.0)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Run the work; return seconds of the processor and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def run(repeats: int) -> None:
    """Print the times of both on 20 Newsgroups, each once: the longer parts take minutes."""
    data = load("20newsgroups")
    texts, labels = data.train.texts, np.array([label for (label,) in data.train.labels])
    test, truth = data.test.texts, np.array([label for (label,) in data.test.labels])
    warm = TextClassifier("ridge").fit(texts[::30], labels[::30])
    warm.predict(test[:20])
    ours_words = suited_vectorizer("ridge", len(texts))
    ours_count = min(timed(lambda: ours_words.fit_transform(texts))[0] for _ in range(3))
    classifier = TextClassifier("ridge", keep_posterior=False)
    ours_fit = timed(lambda: classifier.fit(texts, labels))[0] - ours_count
    ours_predict, ours_labels = min(
        (timed(lambda: classifier.predict(test)) for _ in range(3)), key=lambda pair: pair[0]
    )
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    theirs_count, X = min((timed(lambda: words.fit_transform(texts)) for _ in range(3)), key=lambda pair: pair[0])
    search = GridSearchCV(LinearSVC(), {"C": GRID}, cv=5)
    theirs_fit, _ = timed(lambda: search.fit(X, labels))
    theirs_predict, theirs_labels = min(
        (timed(lambda: search.predict(words.transform(test))) for _ in range(3)), key=lambda pair: pair[0]
    )
    rows = [
        (name, f"{theirs:.3g}", f"{ours:.3g}", f"{theirs / ours:.1f}")
        for name, theirs, ours in (
            (f"{len(texts):,} texts to a matrix", theirs_count, ours_count),
            ("choose the regularisation and fit", theirs_fit, ours_fit),
            (f"classify {len(test):,} texts", theirs_predict, ours_predict),
        )
    ]
    right = [float(np.mean(found == truth)) for found in (theirs_labels, ours_labels)]
    rows.append(("test texts right", *(f"{share:.1%}" for share in right), ""))
    show("20 Newsgroups, seconds of the processor", ("", "scikit-learn", "Bayesift", "ratio"), rows)
