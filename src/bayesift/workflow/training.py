"""Train a classifier and say how good it is."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bayesift.datasets import Split
from bayesift.workflow._reasons import WeightedWords, telling_words
from bayesift.workflow.checking import N_FOLDS, check
from bayesift.workflow.evaluation import Evaluation, evaluate
from bayesift.workflow.examination import Examination, counted, examine
from bayesift.workflow.facts import Facts, facts
from bayesift.workflow.text_classifier import TextClassifier

#: Told what is done next, and how many parts of it are done of how many; 0 of 0 where that is not known.
Step = Callable[[str, int, int], None]

How = Literal["held-out", "cv", "none"]


@dataclass(frozen=True)
class Trained:
    """A classifier and what there is to say about it.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted to all texts.
    examination : Examination
        What the texts and labels look like.
    facts : Facts
        The model, its prior and its proof.
    evaluation : Evaluation or None
        How good it is.
    telling : dict of str to list of (str, float)
        For every label the words of the largest weights.
    notes : list of str
        What the fit had to remark.
    seconds : float
        Time for the fit.
    """

    classifier: TextClassifier
    examination: Examination
    facts: Facts
    evaluation: Evaluation | None
    telling: dict[str, WeightedWords]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return {
            "data": self.examination.as_dict(),
            "model": self.facts.as_dict(),
            "evaluation": None if self.evaluation is None else self.evaluation.as_dict(),
            "telling_words": self.telling,
            "notes": self.notes,
            "seconds": round(self.seconds, 3),
        }


def train(
    data: Split,
    classifier: TextClassifier | None = None,
    *,
    test: Split | None = None,
    how: How = "held-out",
    n_words: int = 8,
    step: Step = lambda name, done, total: None,
    seen: Callable[[Examination], None] = lambda found: None,
) -> Trained:
    """Fit a classifier to all texts, and measure it on other texts or on parts of these.

    Texts without a label are left out where every other text has exactly one of two or more labels.

    Parameters
    ----------
    data : Split
        Texts and label sets, as :func:`bayesift.datasets.read_texts` and :func:`bayesift.datasets.read` return them.
    classifier : TextClassifier, optional
        With the settings wanted; a lasso by default. It is fitted in place.
    test : Split, optional
        Other texts to measure on.
    how : {"held-out", "cv", "none"}, default="held-out"
        Without ``test``: fit again without a fifth of the texts and measure on that; do that for every fifth; or
        measure nothing.
    n_words : int, default=8
        How many telling words to list for each label.
    step : callable, optional
        Told what is done.
    seen : callable, optional
        Told what the texts look like, before anything is learned.

    Returns
    -------
    Trained

    Examples
    --------
    >>> from bayesift.datasets import load
    >>> from bayesift.workflow import TextClassifier, train
    >>> trained = train(load("newsroom").train, TextClassifier("nb"))
    >>> trained.evaluation.n_texts, trained.classifier.kind_
    (64, 'multilabel')
    """
    step("looking at the texts", 0, 0)
    texts, labels = data.texts, data.labels
    found = examine(texts, labels)
    if not found.balance:
        raise ValueError("no text has a label; expected a column of labels to learn from")
    if found.n_unlabelled and not found.several and len(found.balance) > 1:
        kept = [place for place, label in enumerate(labels) if label]
        texts, labels = [texts[place] for place in kept], [labels[place] for place in kept]
        found.warnings.append(f"{counted(found.n_unlabelled, 'text')} without a label left out")
    seen(found)
    classifier = TextClassifier() if classifier is None else classifier
    classifier.set_params(progress=lambda done, total: step("learning", done, total))
    step("learning", 0, 0)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.fit(texts, labels)
    seconds = time.perf_counter() - begin
    classifier.set_params(progress=None)
    notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    evaluation = None
    if test is not None:
        step("measuring", 0, 0)
        evaluation = evaluate(classifier, test.texts, test.labels, on=_named(test))
    elif how != "none":
        step("measuring", 0, 0)
        try:
            evaluation = check(
                classifier,
                texts,
                labels,
                folds=N_FOLDS if how == "cv" else 1,
                progress=lambda done, total: step("measuring", done, total),
            )
        except ValueError as error:
            notes.append(f"too few texts to hold some out for a check: {error}")
    return Trained(classifier, found, facts(classifier), evaluation, telling_words(classifier, n_words), notes, seconds)


def _named(split: Split) -> str:
    name = "the test texts" if split.origin is None else split.origin.path.name
    return f"{len(split):,} texts of {name}" if split.origin is not None else name
