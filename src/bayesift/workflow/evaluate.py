"""How good a classifier is: on labelled texts, or on held-out training texts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from bayesift import progress
from bayesift._labels import TargetType
from bayesift._typing import BoolArray, FloatArray
from bayesift.evaluate import (
    CalibrationError,
    Recalibration,
    Results,
    brier,
    calibration_interval,
    expected_calibration_error,
    f_beta,
    log_loss,
    logistic_recalibration,
    precision,
    recall,
    reliability_curve,
    top_label,
)
from bayesift.workflow._label_sets import (
    N_FOLDS,
    assign_folds,
    check_known_labels,
    indicator,
    label_sets,
    rows_of,
    without_unlabelled,
)
from bayesift.workflow.certainty import mode_probabilities
from bayesift.workflow.errors import counted, texts_without_words
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import keeps_posterior

#: Bootstrap samples for an interval of a calibration error: enough for its second digit.
_DRAWS = 300


class CategoryScore(NamedTuple):
    """How well one label is found: texts that have it, texts that got it; a ratio is NaN if its denominator is 0.

    ``calibration_error`` is that of the label's probabilities, with the ends of a 95 % interval.
    """

    label: str
    n_texts: int
    n_given: int
    precision: float
    recall: float
    f1: float
    calibration_error: float
    calibration_low: float
    calibration_high: float


class ProbabilityGroup(NamedTuple):
    """Decisions of similar probability: how many, their mean probability, and the share that was right."""

    n: int
    predicted: float
    observed: float


class Calibration(NamedTuple):
    """How good probabilities are; the fields are those of :class:`Evaluation`."""

    brier: float
    log_loss: float
    calibration_error: float


class Confusion(NamedTuple):
    """How many texts with one label got another."""

    label: str
    given: str
    n: int


@dataclass(frozen=True)
class Evaluation:
    """How good a classifier is on labelled texts.

    Parameters
    ----------
    on : str
        Which texts.
    target_type : {"binary", "multiclass", "multilabel-indicator"}
        Whether texts have one label or several.
    n_texts : int
        Number of texts.
    accuracy : float
        Share of texts whose label, or whole set of labels, is right.
    baseline : float
        The same for a classifier that always gives the most frequent answer.
    micro_f1, macro_f1 : float
        F1 of all decisions together, and mean F1 of the labels that occur or were given.
    brier, log_loss, calibration_error : float
        Of the probabilities: mean squared error, mean negative log probability of the truth, and mean distance between
        probability and observed share.
    top_label : CalibrationError or None
        The calibration error of the most probable label of each text, if labels exclude each other.
    recalibration : Recalibration
        Slope and intercept of the log odds, of all labels together (with two labels, of the second): 1 and 0 if
        probabilities are right.
    categories : list of CategoryScore
        The labels, the most frequent first.
    reliability : list of ProbabilityGroup
        Probabilities compared with what was observed.
    confusions : list of Confusion
        The most frequent ones, if labels exclude each other.
    unknown : dict of str to int
        Labels of these texts that the classifier does not know, which count as errors.
    results : Results
        Truth, decisions and probabilities, texts × labels.
    n_unlabelled : int
        Number of texts left out because they have no label, if every text must have one.
    n_without_words : int
        Number of texts without words, which get the label that is most probable for any text.
    feature_notes : list of str
        Which values of features are missing or unknown, a sentence each.
    at_mode : Calibration or None
        How good the probabilities at the mode are, if those of the classifier are averaged over the posterior.
    """

    on: str
    target_type: TargetType
    n_texts: int
    accuracy: float
    baseline: float
    micro_f1: float
    macro_f1: float
    brier: float
    log_loss: float
    calibration_error: float
    top_label: CalibrationError | None
    recalibration: Recalibration
    categories: list[CategoryScore]
    reliability: list[ProbabilityGroup]
    confusions: list[Confusion]
    unknown: dict[str, int]
    results: Results = field(repr=False)
    n_unlabelled: int = 0
    n_without_words: int = 0
    feature_notes: list[str] = field(default_factory=list)
    at_mode: Calibration | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all measures as values that JSON can hold; what cannot be computed is None."""
        found = {name: _plain(value) for name, value in vars(self).items() if name != "results"}
        for name in ("categories", "reliability", "confusions"):
            found[name] = [{key: _plain(value) for key, value in row._asdict().items()} for row in found[name]]
        for name in ("top_label", "recalibration", "at_mode"):
            part = found[name]
            found[name] = None if part is None else {key: _plain(value) for key, value in part._asdict().items()}
        return found

    def sentences(self) -> list[str]:
        """Return the measures of all labels together, a sentence each."""
        what = "All labels right" if self.target_type == "multilabel-indicator" else "Right"
        macro = f"{self.macro_f1:.3f}" if isfinite(self.macro_f1) else "–"
        lines = [
            f"{what}: {self.accuracy:.1%} of texts (always the most frequent: {self.baseline:.1%}). "
            f"F1: micro {self.micro_f1:.3f}, macro {macro}.",
            f"Probabilities are {self.calibration_error:.3f} off on average (calibration error); "
            f"Brier score {self.brier:.4f}, log loss {self.log_loss:.4f}.",
            *self._calibration_sentences(),
        ]
        if self.at_mode is not None:
            lines.append(
                f"They are averaged over the posterior; at its mode they would be {self.at_mode.calibration_error:.3f} "
                f"off, Brier score {self.at_mode.brier:.4f}, log loss {self.at_mode.log_loss:.4f}."
            )
        if self.confusions:
            pairs = ", ".join(f"{row.label} as {row.given} ({row.n})" for row in self.confusions[:3])
            lines.append(f"Most often confused: {pairs}.")
        if self.unknown:
            number = sum(self.unknown.values())
            names = ", ".join(repr(label) for label in list(self.unknown)[:5])
            what = counted(len(self.unknown), "label")
            lines.append(f"! {what} that the model does not know, counted as {counted(number, 'error')}: {names}")
        if self.n_unlabelled:
            lines.append(f"! {counted(self.n_unlabelled, 'text')} without a label left out")
        if self.n_without_words:
            lines.append(f"! {texts_without_words(self.n_without_words)}")
        lines += [f"! {note}" for note in self.feature_notes]
        return lines

    def _calibration_sentences(self) -> list[str]:
        """Return more about the probabilities: of the labels that are given, and the line that would correct them."""
        lines = []
        if (top := self.top_label) is not None:
            lines.append(
                f"Those of the most probable labels are {top.error:.3f} off (95 % interval {top.low:.3f} to "
                f"{top.high:.3f}; {top.by_chance:.3f} by chance alone)."
            )
        slope, intercept, slope_error, intercept_error = self.recalibration
        if isfinite(intercept):
            lines.append(
                f"Calibration slope {slope:.2f} ± {slope_error:.2f} and intercept {intercept:+.2f} ± "
                f"{intercept_error:.2f}: 1 and 0 would be right."
            )
        return lines


def evaluate(classifier: TextClassifier, texts: Iterable[str], y: Iterable[Any], *, on: str = "") -> Evaluation:
    """Return an :class:`Evaluation` of a classifier on labelled texts.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    texts : iterable of str
    y : iterable of labels or sets of labels
        The truth. Texts without a label are left out, unless the classifier itself may give a text none.
    on : str
        What to call these texts.

    Examples
    --------
    >>> from bayesift.workflow import TextClassifier, evaluate
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3
    >>> classifier = TextClassifier("nb").fit(texts, labels)
    >>> evaluate(classifier, ["wheat and corn", "a ship", "a sea of wheat"], ["farm", "sea", "farm"]).n_texts
    3
    """
    documents, sets = rows_of(texts, classifier.features), label_sets(y)
    if len(documents) != len(sets):
        raise ValueError(f"texts and y must have the same length, found {len(documents)} and {len(sets)}")
    if not documents:
        raise ValueError("texts is empty; expected some texts to evaluate on")
    n_texts = len(documents)
    if classifier.target_type_ != "multilabel-indicator":
        documents, sets = without_unlabelled(documents, sets)
    if on and len(documents) < n_texts:
        on = f"{on}, {len(documents):,} with a label"
    check_known_labels(classifier.classes_, sets)
    decisions, probabilities = classifier.predictions(documents)
    found = _measured(classifier.classes_.tolist(), classifier.target_type_, sets, decisions, probabilities, on)
    at_mode = None
    if keeps_posterior(classifier):
        at_mode = _calibration(found.results.truth, mode_probabilities(classifier, documents))
    return replace(
        found,
        n_unlabelled=n_texts - len(documents),
        n_without_words=classifier.count_without_words(documents),
        feature_notes=classifier.feature_notes(documents),
        at_mode=at_mode,
    )


def evaluate_held_out(
    classifier: TextClassifier,
    texts: Sequence[str],
    y: Sequence[Any],
    n_held_out: int = 1,
    unlabelled: Sequence[str] | None = None,
) -> Evaluation:
    """Fit again without a part of the texts and evaluate on that part; the classifier itself is not changed.

    Model and prior variance are those that the classifier chose; they are not searched for again.
    :func:`bayesift.progress.callback` reports the progress of the fits.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted to these texts.
    texts : sequence of str
    y : sequence of labels or sets of labels
    n_held_out : int, default=1
        How many of five parts to hold out in turn; with 5, every text is classified once.
    unlabelled : sequence of str, optional
        The texts without labels that the classifier had.

    Returns
    -------
    Evaluation
    """
    if not 1 <= n_held_out <= N_FOLDS:
        raise ValueError(f"n_held_out is {n_held_out!r}; expected 1 to {N_FOLDS}")
    texts, sets = rows_of(texts, classifier.features), label_sets(y)
    fold = assign_folds(texts, sets, N_FOLDS)
    classes = classifier.classes_.tolist()
    place = {label: column for column, label in enumerate(classes)}
    decisions = np.zeros((len(texts), len(classes)), dtype=bool)
    probabilities = np.zeros((len(texts), len(classes)))
    averages = keeps_posterior(classifier)
    at_mode = np.zeros_like(probabilities)
    again = as_chosen(classifier)
    for turn in range(n_held_out):
        out = np.flatnonzero(fold == turn)
        rest = np.flatnonzero(fold != turn)
        labels = [sets[i] for i in rest.tolist()]
        with warnings.catch_warnings():
            # The fit to all texts has already warned.
            warnings.simplefilter("ignore")
            with progress.part(turn / n_held_out, (turn + 1) / n_held_out):
                part = again.fit([texts[i] for i in rest.tolist()], labels, unlabelled=unlabelled)
        held_out = [texts[i] for i in out.tolist()]
        found = part.predictions(held_out)
        columns = np.array([place[label] for label in part.classes_.tolist()])
        decisions[np.ix_(out, columns)], probabilities[np.ix_(out, columns)] = found
        if averages:
            at_mode[np.ix_(out, columns)] = mode_probabilities(part, held_out)
    seen = np.flatnonzero(fold < n_held_out)
    on = (
        f"{counted(seen.size, 'text')} held out" if n_held_out == 1 else f"all {len(texts):,} texts, each held out once"
    )
    truth = [sets[i] for i in seen.tolist()]
    measured = _measured(classes, classifier.target_type_, truth, decisions[seen], probabilities[seen], on)
    return replace(measured, at_mode=_calibration(measured.results.truth, at_mode[seen])) if averages else measured


def as_chosen(classifier: TextClassifier) -> TextClassifier:
    """Return a classifier, not fitted, for parts of the same texts, with what a search has chosen as given."""
    multilabel = classifier.target_type_ == "multilabel-indicator"
    return classifier.settled().set_params(multilabel=multilabel, keep_posterior=False)


def _measured(
    classes: Sequence[Any],
    target_type: TargetType,
    sets: Sequence[tuple[Any, ...]],
    decisions: BoolArray,
    probabilities: FloatArray,
    on: str,
) -> Evaluation:
    """Compute all measures from label sets, decisions and probabilities, texts × classes."""
    names = [str(label) for label in classes]
    known = set(names)
    sets = [tuple(map(str, found)) for found in sets]
    truth = indicator(sets, names).toarray() > 0
    inside = np.clip(probabilities, 0.0, 1.0)
    results = Results(truth, decisions, inside, categories=names)
    scored = [measure(results.outcomes, empty=np.nan) for measure in (precision, recall, f_beta)]
    scored += calibration_interval(truth, inside, n_resamples=_DRAWS)[:3]
    scores = [
        CategoryScore(name, int(truth[:, k].sum()), int(decisions[:, k].sum()), *(float(row[k]) for row in scored))
        for k, name in enumerate(names)
    ]
    exclusive = target_type != "multilabel-indicator"
    top = calibration_interval(*top_label(truth, inside), n_resamples=_DRAWS) if exclusive else None
    # With two labels, the first says the same as the second.
    wanted = slice(1, None) if target_type == "binary" else slice(None)
    unknown = Counter(label for found in sets for label in found if label not in known)
    curve = reliability_curve(truth, inside)
    f1 = scored[2][np.isfinite(scored[2])]
    return Evaluation(
        on=on,
        target_type=target_type,
        n_texts=len(sets),
        accuracy=float(np.mean(np.all(truth == decisions, axis=1) & ~_beyond(sets, known))),
        baseline=Counter(tuple(sorted(found)) for found in sets).most_common(1)[0][1] / len(sets),
        micro_f1=float(f_beta(results.outcomes, average="micro")),
        macro_f1=float(np.mean(f1)) if f1.size else float("nan"),
        **_calibration(truth, probabilities)._asdict(),
        top_label=top,
        recalibration=logistic_recalibration(truth[:, wanted], inside[:, wanted], average="micro"),
        categories=sorted(scores, key=lambda score: (-score.n_texts, score.label)),
        reliability=[ProbabilityGroup(int(n), float(p), float(o)) for n, p, o in zip(*curve, strict=True)],
        confusions=[] if target_type == "multilabel-indicator" else _confusions(names, sets, decisions),
        unknown=dict(unknown.most_common()),
        results=results,
    )


def _calibration(truth: BoolArray, probabilities: FloatArray) -> Calibration:
    inside = np.clip(probabilities, 0.0, 1.0)
    return Calibration(
        brier=float(brier(truth, inside, average="micro")),
        log_loss=float(log_loss(truth, np.clip(probabilities, 1e-15, 1 - 1e-15), average="micro")),
        calibration_error=float(expected_calibration_error(truth, inside, average="micro")),
    )


def _beyond(sets: Sequence[tuple[str, ...]], known: set[str]) -> BoolArray:
    """Mark the texts with a label that the classifier does not know."""
    return np.array([any(label not in known for label in found) for found in sets], dtype=bool)


def _confusions(names: list[str], sets: Sequence[tuple[str, ...]], decisions: BoolArray) -> list[Confusion]:
    given = [names[k] for k in np.argmax(decisions, axis=1)]
    pairs = Counter((found[0], label) for found, label in zip(sets, given, strict=True) if found and found[0] != label)
    return [Confusion(label, other, n) for (label, other), n in pairs.most_common(10)]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
