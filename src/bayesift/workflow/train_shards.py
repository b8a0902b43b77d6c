"""Train a classifier on files of any size, by way of shards on disk: in bounded memory, resumable after a kill."""

from __future__ import annotations

import os
import shutil
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayesift import progress, shards
from bayesift.datasets import Split
from bayesift.shards import Reading, Shards
from bayesift.workflow._label_sets import Targets, check_known_labels, targets_of
from bayesift.workflow._models import MANY_TEXTS, suited_policy, vectorizer_for
from bayesift.workflow.errors import counted
from bayesift.workflow.evaluate import evaluate
from bayesift.workflow.explain import top_words
from bayesift.workflow.info import model_info
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.train import DataSummary, Step, Trained, data_warnings, name_of, threshold_notes

#: The subfolder of the shards in which fits keep their last rounds until all is done.
_ROUNDS = "rounds"


def train_shards(
    files: Sequence[str | os.PathLike[str]],
    classifier: TextClassifier,
    folder: str | os.PathLike[str],
    *,
    memory: int | str = "2G",
    engine: str = "threads",
    reading: Mapping[str, Any] | None = None,
    test: Split | None = None,
    n_words: int = 8,
    step: Step = lambda name, done, total: None,
    on_summary: Callable[[DataSummary], None] = lambda found: None,
    watch: Callable[[Reading], None] | None = None,
) -> Trained:
    r"""Fit a classifier to files of texts and labels that need not fit in memory.

    The texts are written to ``folder`` as shards, unless it already holds shards of the same files with the same
    settings. A killed process leaves its finished shards and the last round of its fit there, and the same call
    continues from them.

    Parameters
    ----------
    files : sequence of paths
        CSV, TSV, JSON, JSONL, Parquet or Excel files with the same columns.
    classifier : TextClassifier
        A classifier with the wanted settings and a model by name. It is fitted in place.
    folder : path
        Where the shards are, or will be.
    memory : int or str, default="2G"
        About how much of the term weights the fit may hold, as in :func:`bayesift.shards.open`.
    engine : str, default="threads"
        Who works on the shards, as in :func:`bayesift.shards.engine`.
    reading : mapping, optional
        How files are read, as in :func:`bayesift.shards.write`.
    test : Split, optional
        Other texts to evaluate on.
    n_words : int, default=8
        How many words to list for each label.
    step, on_summary : callable, optional
        As in :func:`train`.
    watch : callable, optional
        Called with a :class:`bayesift.shards.Reading` after every shard of a round.

    Returns
    -------
    Trained
        The classifier, summaries of data and model, and how good it is on ``test``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.workflow import TextClassifier, train_shards
    >>> with TemporaryDirectory() as place:
    ...     data = Path(place) / "mail.csv"
    ...     _ = data.write_text("text,label\n" + "buy gold now,spam\nsee you at noon,ham\n" * 60)
    ...     trained = train_shards([data], TextClassifier("nb"), Path(place) / "shards")
    >>> trained.classifier.predict(["buy now"]).tolist(), trained.data.n_texts
    (['spam'], 120)
    """
    paths, place = [Path(file) for file in files], Path(folder)
    # Whether there are many texts is not known before they are read; shards suggest that there are.
    vectorizer = vectorizer_for(classifier.vectorizer, classifier.model, MANY_TEXTS, n_jobs=classifier.n_jobs)
    # The engine is checked first, because writing may take hours.
    with warnings.catch_warnings(record=True) as caught, shards.engine(engine, classifier.n_jobs) as client:
        warnings.simplefilter("always")
        step("writing shards", 0, 0)
        with progress.callback(partial(step, "writing shards")):
            shards.write(paths, vectorizer, place, unlabelled="drop", reuse=True, **(reading or {}))
        opened = shards.open(place, memory=memory, client=client, rounds=place / _ROUNDS, watch=watch)
        targets = targets_of(opened)
        if test is not None:
            check_known_labels(targets.classes, test.labels)
        found = _summary(opened, targets, vectorizer.n_documents_)
        on_summary(found)
        step("learning", 0, 0)
        begin = time.perf_counter()
        classifier.fit_shards(opened, vectorizer)
        seconds = time.perf_counter() - begin
    notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    notes += threshold_notes(classifier, found.balance, found.n_texts)
    if classifier.threshold_.policy == "half" != suited_policy(classifier.threshold, targets):
        notes.append(f"thresholds of {classifier.model} are not tuned from shards: labels are given at probability ½")
    evaluation = None
    if test is not None:
        step("measuring", 0, 0)
        evaluation = evaluate(classifier, test.texts, test.labels, on=name_of(test))
    shutil.rmtree(place / _ROUNDS, ignore_errors=True)
    return Trained(
        classifier, found, model_info(classifier), evaluation, top_words(classifier, n_words), notes, seconds
    )


def _summary(opened: Shards, targets: Targets, n_read: int) -> DataSummary:
    """Summarise what is in shards, as far as possible without the texts."""
    counts = dict(zip(map(str, targets.classes.tolist()), targets.counts().tolist(), strict=True))
    multilabel = targets.target_type == "multilabel-indicator"
    with_labels = np.diff(targets.y.indptr) if multilabel else np.ones(len(opened), dtype=np.int64)
    result = DataSummary(
        n_texts=len(opened),
        balance=dict(sorted(counts.items(), key=lambda pair: -pair[1])),
        multilabel=bool(with_labels.max(initial=0) > 1),
        n_unlabelled=int(np.count_nonzero(with_labels == 0)),
        n_empty=opened.count_empty_rows(),
        n_duplicates=None,
        n_conflicts=None,
    )
    result.warnings.extend(data_warnings(result))
    if n_read > len(opened):
        result.warnings.append(
            f"{counted(n_read - len(opened), 'text')} without a label left out: only their words are counted"
        )
    return result
