"""What a classifier is worth on texts that it has not seen, from the training texts alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from bayesift._typing import Int64Array
from bayesift.workflow._targets import label_sets
from bayesift.workflow.evaluation import Evaluation, figures
from bayesift.workflow.text_classifier import TextClassifier

#: Parts that the texts are dealt into.
N_FOLDS = 5


def check(
    classifier: TextClassifier,
    texts: Sequence[str],
    y: Sequence[Any],
    *,
    folds: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Fit again without a part of the texts and evaluate on that part; the classifier itself is not changed.

    The prior variance is the one that the classifier chose, so that nothing is searched again.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted to these texts.
    texts : sequence of str
    y : sequence of labels or sets of labels
    folds : int, default=1
        How many of five parts to leave out in turn; with 5 every text is judged once.
    progress : callable, optional
        Called with the number of fits done and their total.

    Returns
    -------
    Evaluation
    """
    if not 1 <= folds <= N_FOLDS:
        raise ValueError(f"folds is {folds!r}; expected 1 to {N_FOLDS}")
    sets = label_sets(y)
    fold = deal(sets, N_FOLDS)
    classes = classifier.classes_.tolist()
    place = {label: column for column, label in enumerate(classes)}
    decisions = np.zeros((len(texts), len(classes)), dtype=bool)
    probabilities = np.zeros((len(texts), len(classes)))
    several = classifier.kind_ == "multilabel"
    again = clone(classifier).set_params(
        variance=classifier.chosen_variance(), several=several, posterior=False, progress=None
    )
    for turn in range(folds):
        out = np.flatnonzero(fold == turn)
        rest = np.flatnonzero(fold != turn)
        labels = [sets[i] for i in rest.tolist()]
        with warnings.catch_warnings():
            # What is to be said of the fits was said of the first.
            warnings.simplefilter("ignore")
            part = again.fit([texts[i] for i in rest.tolist()], labels)
        found = part.judge([texts[i] for i in out.tolist()])
        columns = np.array([place[label] for label in part.classes_.tolist()])
        decisions[np.ix_(out, columns)], probabilities[np.ix_(out, columns)] = found
        if progress is not None:
            progress(turn + 1, folds)
    seen = np.flatnonzero(fold < folds)
    on = f"{seen.size:,} texts held out" if folds == 1 else f"all {len(texts):,} texts, each held out once"
    return figures(
        classes, classifier.kind_, [sets[i] for i in seen.tolist()], decisions[seen], probabilities[seen], on
    )


def deal(sets: Sequence[tuple[Any, ...]], n_folds: int) -> Int64Array:
    """Deal texts into folds so that each has about the same share of every label set; always in the same way."""
    order = np.random.default_rng(0).permutation(len(sets))
    ranked = sorted(order.tolist(), key=lambda i: tuple(map(str, sets[i])))
    fold = np.empty(len(sets), dtype=np.int64)
    fold[ranked] = np.arange(len(sets)) % n_folds
    return fold
