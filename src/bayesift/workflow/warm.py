"""Compile in advance what training and classifying need, for container images and clusters."""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from bayesift.datasets import load
from bayesift.workflow._models import AUTO, MODELS, check_model
from bayesift.workflow.classify import classify
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import LINEAR_MODELS


def warm(
    models: Iterable[str] = (AUTO, *MODELS),
    *,
    progress: Callable[[str, int, int], None] = lambda model, done, total: None,
) -> dict[str, float]:
    """Train a small classifier with every model and classify a file with it, so that all they need is compiled.

    Compiled code is kept beside the package, or in the folder that the environment variable ``NUMBA_CACHE_DIR`` names,
    and can be used by processors of the same kind.

    Parameters
    ----------
    models : iterable of str, default=all
        Names of models, see ``MODELS``, or ``"auto"``.
    progress : callable, optional
        Called with the name of a model, how many are done and how many there are.

    Returns
    -------
    dict of str to float
        Seconds of processor time for each model; those of the first include what all models need.

    Examples
    --------
    >>> from bayesift.workflow import warm
    >>> list(warm(["nb"]))
    ['nb']
    """
    wanted = list(models)
    for name in wanted:
        if name != AUTO:
            check_model(name)
    news = load("newsroom").train
    labels = [own[0] for own in news.labels]
    seconds = {}
    with TemporaryDirectory(prefix="bayesift-warm-") as place, warnings.catch_warnings():
        # On such a small sample, fits need not converge.
        warnings.simplefilter("ignore")
        source = Path(place) / "texts.csv"
        with source.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([["text"], *([text] for text in news.texts[:20])])
        for done, name in enumerate(wanted):
            progress(name, done, len(wanted))
            begin = time.process_time()
            classifier = TextClassifier(name).fit(news.texts, labels)
            classify(classifier, source, Path(place) / "labels.csv", proba=True)
            if name in (AUTO, *LINEAR_MODELS):
                linear = "ridge" if name == AUTO else name
                classifier = TextClassifier(linear, variance=1.0, vectors="pile").fit(news.texts, labels)
                classify(classifier, source, Path(place) / "labels.csv", proba=True)
            seconds[name] = time.process_time() - begin
    return seconds
