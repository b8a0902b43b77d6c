"""Train a classifier: a look at the data, the fit, and how good it is."""

from __future__ import annotations

import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from bayesift import progress
from bayesift._checks import reads_as_number
from bayesift.datasets import Split
from bayesift.formats import save
from bayesift.text import TextVectorizer, has_unspaced_letters
from bayesift.workflow._label_sets import N_FOLDS, check_known_labels
from bayesift.workflow._models import AUTO, RARE
from bayesift.workflow.curve import LearningCurve, learning_curve
from bayesift.workflow.errors import NoLabelsError, OneLabelError, counted, training_texts_without_words
from bayesift.workflow.evaluate import Evaluation, evaluate, evaluate_held_out
from bayesift.workflow.explain import WeightedWords, top_words
from bayesift.workflow.features import check_features
from bayesift.workflow.info import ModelInfo, model_info
from bayesift.workflow.model_comparison import MEASURES, candidate_named
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import LEAST_PILE, can_use_pile, check_vectors

#: Labels with fewer texts than this are too rare to learn much.
FEW = 5

_SEPARATORS = (";", "|", ",", "/")

#: Called with the name of a step, the number of its parts done, and their total; 0 and 0 if that is not known.
Step = Callable[[str, int, int], None]

#: How to evaluate without test texts: on a held-out fifth, on all fifths in turn, or not at all.
Validation = Literal["held-out", "cv"] | None


@dataclass(frozen=True)
class DataSummary:
    """What texts and labels look like.

    Parameters
    ----------
    n_texts : int
    balance : dict of str to int
        Number of texts with each label, the most frequent first.
    multilabel : bool
        Whether some text has more than one label.
    n_unlabelled, n_empty, n_duplicates, n_conflicts : int
        Numbers of texts without a label, without a letter or digit, that occurred before, and that occurred before with
        other labels. For texts in shards the last two are None, as nobody has looked, and a text without a known word
        counts as empty.
    warnings : list of str
        What a person should check, a sentence each.
    """

    n_texts: int
    balance: dict[str, int]
    multilabel: bool
    n_unlabelled: int
    n_empty: int
    n_duplicates: int | None
    n_conflicts: int | None
    warnings: list[str] = field(default_factory=list)

    @property
    def n_in_pile(self) -> int:
        """Number of texts without a label whose words are used; 0 if having no label is an answer like any other."""
        return 0 if self.multilabel or len(self.balance) < 2 else self.n_unlabelled

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return dict(vars(self))


@dataclass(frozen=True)
class Trained:
    """A trained classifier and a report about it.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted to all texts.
    data : DataSummary
        Summary of the texts and labels.
    info : ModelInfo
        The model, its prior and its certificate.
    evaluation : Evaluation or None
        How good it is.
    top_words : dict of str to list of (str, float)
        For every label, the words with the largest weights.
    notes : list of str
        Warnings from the fit.
    seconds : float
        Time taken by the fit.
    curve : LearningCurve or None
        How good it is with fewer texts, and what more of them would gain.
    """

    classifier: TextClassifier
    data: DataSummary
    info: ModelInfo
    evaluation: Evaluation | None
    top_words: dict[str, WeightedWords]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    curve: LearningCurve | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return {
            "data": self.data.as_dict(),
            "model": self.info.as_dict(),
            "evaluation": None if self.evaluation is None else self.evaluation.as_dict(),
            "top_words": self.top_words,
            "notes": self.notes,
            "seconds": round(self.seconds, 3),
            **({} if self.curve is None else {"curve": self.curve.as_dict()}),
        }

    def save(self, path: str | os.PathLike[str], provenance: Mapping[str, Any] | None = None) -> None:
        """Write the classifier to a model file, with a note of where it comes from and how good it is.

        Parameters
        ----------
        path : path
            Where to write; an existing file is replaced.
        provenance : mapping, optional
            Where the texts come from, as :func:`provenance_of` returns it.
        """
        note = dict(provenance or {})
        if self.evaluation is not None:
            measures = self.evaluation.as_dict()
            note["evaluation"] = {name: measures[name] for name in ("on", "n_texts", "accuracy", "macro_f1")}
        save(self.classifier, path, provenance=note)


def train(
    data: Split,
    classifier: TextClassifier | None = None,
    *,
    test: Split | None = None,
    unlabelled: Sequence[str] = (),
    validation: Validation = "held-out",
    curve: bool = False,
    n_words: int = 8,
    step: Step = lambda name, done, total: None,
    on_summary: Callable[[DataSummary], None] = lambda found: None,
) -> Trained:
    """Fit a classifier to all texts, and evaluate it on other texts or on parts of these.

    If all texts with labels have exactly one, of two or more, then texts without a label are not used for the fit, but
    their words may be: see the parameter ``vectors`` of :class:`TextClassifier`.

    Parameters
    ----------
    data : Split
        Texts and label sets, as :func:`bayesift.datasets.read_texts` and :func:`bayesift.datasets.read` return them.
    classifier : TextClassifier, optional
        A classifier with the wanted settings; by default the model is chosen. It is fitted in place.
    test : Split, optional
        Other texts to evaluate on.
    unlabelled : sequence of str, optional
        More texts without labels.
    validation : {"held-out", "cv"} or None, default="held-out"
        Without ``test``: fit again without a fifth of the texts and evaluate on that fifth; do so for every fifth in
        turn; or do not evaluate.
    curve : bool, default=False
        Also fit to growing numbers of texts, to see what more of them would gain.
    n_words : int, default=8
        How many words to list for each label.
    step : callable, optional
        Called with the name of each step, the number of parts done, and their total.
    on_summary : callable, optional
        Called with the summary of the data before the fit.

    Returns
    -------
    Trained
        The classifier, summaries of data and model, and how good it is.

    Examples
    --------
    >>> from bayesift.datasets import load
    >>> from bayesift.workflow import TextClassifier, train
    >>> trained = train(load("newsroom").train, TextClassifier("nb"))
    >>> trained.evaluation.n_texts, trained.classifier.target_type_
    (64, 'multilabel-indicator')
    """
    classifier = TextClassifier() if classifier is None else classifier
    check_vectors(classifier.vectors, classifier.model, classifier.vectorizer)
    if classifier.features is not None:
        check_features(classifier)
    pile = list(unlabelled)
    step("looking at the texts", 0, 0)
    texts, labels = data.texts, data.labels
    found = summarize_data(texts, labels)
    if not found.balance:
        raise NoLabelsError("no text has a label; expected a column of labels to learn from")
    if test is not None:
        check_known_labels(found.balance, test.labels)
    if found.n_in_pile:
        pile += [text for text, label in zip(texts, labels, strict=True) if not label]
        texts, labels = [text for text, label in zip(texts, labels, strict=True) if label], list(filter(None, labels))
    helps = " if that helps" if classifier.vectors == AUTO else ""
    if pile and can_use_pile(classifier) and not (helps and len(pile) < LEAST_PILE):
        found.warnings.append(f"{len(texts):,} labelled, {len(pile):,} unlabelled: their words are used{helps}")
    elif pile:
        found.warnings.append(f"{counted(len(pile), 'text')} without a label left out")
    on_summary(found)
    step("learning", 0, 0)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, progress.callback(partial(step, "learning")):
        warnings.simplefilter("always")
        classifier.fit(texts, labels, unlabelled=pile)
    seconds = time.perf_counter() - begin
    notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    # The summary has already mentioned those without a letter.
    if found.n_empty and (told := training_texts_without_words(found.n_empty)) in notes:
        notes.remove(told)
    notes += threshold_notes(classifier, found.balance, len(texts))
    notes += _unspaced_note(classifier.vectorizer_, texts)
    notes += _pile_note(classifier, len(pile))
    evaluation = None
    if test is not None:
        step("measuring", 0, 0)
        evaluation = evaluate(classifier, test.texts, test.labels, on=name_of(test))
    elif validation is not None:
        step("measuring", 0, 0)
        try:
            with progress.callback(partial(step, "measuring")):
                evaluation = evaluate_held_out(
                    classifier, texts, labels, N_FOLDS if validation == "cv" else 1, unlabelled=pile
                )
        except ValueError as error:
            problem = "the others have only one label" if isinstance(error, OneLabelError) else error
            notes.append(f"not evaluated, as there are too few texts to hold some out: {problem}")
    grown = None
    if curve:
        step("learning from fewer texts", 0, 0)
        try:
            with progress.callback(partial(step, "learning from fewer texts")):
                grown = learning_curve(classifier, texts, labels, unlabelled=pile)
        except ValueError as error:
            notes.append(f"no learning curve: {error}")
    words = top_words(classifier, n_words)
    return Trained(classifier, found, model_info(classifier), evaluation, words, notes, seconds, grown)


def threshold_notes(classifier: TextClassifier, balance: Mapping[str, int], n_texts: int) -> list[str]:
    """Say which thresholds are not at one half because labels are rare."""
    if classifier.threshold != "auto" or classifier.threshold_.policy == "half":
        return []
    rare = [label for label, count in balance.items() if count < RARE * n_texts]
    return [f"rare labels ({_some(rare)}): thresholds are set for the greatest F1 on held-out texts, not at ½"]


def _pile_note(classifier: TextClassifier, n_unlabelled: int) -> list[str]:
    """Say whether texts without labels helped, and by how much."""
    compared = classifier.comparison()
    if not n_unlabelled or compared is None:
        return []
    scores: dict[bool, list[float]] = {True: [], False: []}
    for model in compared.models:
        candidate = candidate_named(model.name)
        scores[candidate is not None and candidate.vectors].append(model.score)
    if not all(scores.values()):
        return []
    used = "is used" if compared.candidate.vectors else "is not used"
    return [
        f"the unlabelled pile {used}: on held-out texts, {MEASURES[compared.measure]} {max(scores[True]):.3f} with "
        f"vectors of its words and {max(scores[False]):.3f} without"
    ]


def _unspaced_note(vectorizer: Any, texts: Sequence[str]) -> list[str]:
    """Say how many texts are in languages without spaces, if that changes what words are."""
    if not (isinstance(vectorizer, TextVectorizer) and vectorizer.cuts_pairs):
        return []
    found = sum(map(has_unspaced_letters, texts))
    if not found:
        return []
    return [
        f"{counted(found, 'text')} of {len(texts):,} with letters of languages written without spaces, such "
        "as Chinese, Japanese or Thai: these are cut into pairs of characters"
    ]


def name_of(split: Split) -> str:
    """Return the name of the texts to evaluate on."""
    name = "the test texts" if split.origin is None else split.origin.path.name
    return f"{counted(len(split), 'text')} of {name}" if split.origin is not None else name


def summarize_data(texts: Sequence[str], labels: Sequence[tuple[str, ...]]) -> DataSummary:
    """Return a :class:`DataSummary`: how frequent labels are, and common problems of texts and labels.

    These are duplicates, empty texts, rare labels, and labels that are numbers.

    Parameters
    ----------
    texts : sequence of str
    labels : sequence of tuple of str
        The label set of each text.

    Examples
    --------
    >>> from bayesift.workflow import summarize_data
    >>> found = summarize_data(["buy now", "buy now", "hello", ""], [("spam",), ("spam",), ("ham",), ()])
    >>> found.balance, found.n_duplicates, found.n_empty, found.n_unlabelled
    ({'spam': 2, 'ham': 1}, 1, 1, 1)
    """
    balance = dict(Counter(name for found in labels for name in found).most_common())
    seen: dict[str, tuple[str, ...]] = {}
    duplicates = conflicts = 0
    for text, found in zip(texts, labels, strict=True):
        if text in seen:
            duplicates += 1
            conflicts += seen[text] != found
        else:
            seen[text] = found
    result = DataSummary(
        n_texts=len(texts),
        balance=balance,
        multilabel=any(len(found) > 1 for found in labels),
        n_unlabelled=sum(not found for found in labels),
        n_empty=sum(not any(map(str.isalnum, text)) for text in texts),
        n_duplicates=duplicates,
        n_conflicts=conflicts,
    )
    result.warnings.extend(data_warnings(result))
    return result


def data_warnings(found: DataSummary) -> list[str]:
    """Say what a person should check, a sentence each."""
    said = []
    if found.n_empty:
        said.append(
            f"{counted(found.n_empty, 'text')} without a letter or digit: nothing can be learned from such texts"
        )
    if found.n_duplicates:
        extra = f", {found.n_conflicts} of them with other labels" if found.n_conflicts else ""
        said.append(f"{counted(found.n_duplicates, 'text')} that occurred before{extra}; copies are held out together")
    few = [label for label, count in found.balance.items() if count < FEW]
    if few:
        said.append(f"fewer than {FEW} texts of {_some(few)}: too few to learn or to measure much")
    names = list(found.balance)
    if len(names) > 2 and all(map(reads_as_number, names)):
        said.append(
            f"the labels look like numbers ({_some(names)}): they are taken as names, and their order is not used"
        )
    if len(names) > 20 and 2 * len(names) > found.n_texts:
        said.append(f"{len(names)} different labels for {found.n_texts} texts: is this the column of labels?")
    return said + several_in_one(names)


def several_in_one(names: list[str]) -> list[str]:
    """Find labels that look like several labels in one cell."""
    known = set(names)
    for mark in _SEPARATORS:
        joined = [name for name in names if mark in name]
        # A list, unlike a name with a comma in it, has parts that are labels of their own elsewhere.
        if any(part.strip() in known for name in joined for part in name.split(mark)):
            return [f"labels such as {joined[0]!r} look like several in one: give their separator, {mark!r}"]
    return []


def _some(names: list[str], shown: int = 5) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(repr(name) for name in names[:shown]) + more
