"""How good a classifier is on labelled texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bayesift._typing import BoolArray, FloatArray
from bayesift.evaluate import (
    Results,
    brier,
    expected_calibration_error,
    f_beta,
    log_loss,
    precision,
    recall,
    reliability_curve,
)
from bayesift.workflow._targets import Kind, indicator, label_sets
from bayesift.workflow.text_classifier import TextClassifier


class CategoryScore(NamedTuple):
    """How well one label is found: texts that have it, texts that got it; NaN where there is nothing to divide."""

    label: str
    n_texts: int
    n_given: int
    precision: float
    recall: float
    f1: float


class ProbabilityGroup(NamedTuple):
    """Decisions of similar probability: how many, the mean probability, the share that was right."""

    n: int
    predicted: float
    observed: float


class Confusion(NamedTuple):
    """How many texts of one label got another."""

    label: str
    given: str
    n: int


@dataclass(frozen=True)
class Evaluation:
    """What a classifier did on labelled texts.

    Parameters
    ----------
    on : str
        Which texts.
    kind : {"binary", "multiclass", "multilabel"}
        Whether texts have one label or several.
    n_texts : int
        How many.
    accuracy : float
        Share of texts whose label, or whole set of labels, is right.
    baseline : float
        The same of a classifier that always says what is most frequent here.
    micro_f1, macro_f1 : float
        F1 of all decisions together, and the mean F1 of the labels that occur or were given.
    brier, log_loss, calibration_error : float
        Of the probabilities: mean squared error, mean minus log probability of the truth, and mean distance of
        probability and observed share.
    categories : list of CategoryScore
        By label, the most frequent first.
    reliability : list of ProbabilityGroup
        Probabilities beside what was observed.
    confusions : list of Confusion
        The most frequent, where labels exclude each other.
    unknown : dict of str to int
        Labels of these texts that the classifier does not know, which count as errors.
    results : Results
        Truth, decisions and probabilities, texts × labels.
    """

    on: str
    kind: Kind
    n_texts: int
    accuracy: float
    baseline: float
    micro_f1: float
    macro_f1: float
    brier: float
    log_loss: float
    calibration_error: float
    categories: list[CategoryScore]
    reliability: list[ProbabilityGroup]
    confusions: list[Confusion]
    unknown: dict[str, int]
    results: Results = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as values that JSON can hold; what cannot be computed is None."""
        found = {name: _plain(value) for name, value in vars(self).items() if name != "results"}
        for name in ("categories", "reliability", "confusions"):
            found[name] = [{key: _plain(value) for key, value in row._asdict().items()} for row in found[name]]
        return found


def evaluate(classifier: TextClassifier, texts: Iterable[str], y: Iterable[Any], *, on: str = "") -> Evaluation:
    """Compare what a classifier says with the labels.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    texts : iterable of str
    y : iterable of labels or sets of labels
        The truth.
    on : str
        What to call these texts.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from bayesift.workflow import TextClassifier, evaluate
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3
    >>> classifier = TextClassifier("nb").fit(texts, labels)
    >>> evaluate(classifier, ["wheat and corn", "a ship", "a sea of wheat"], ["farm", "sea", "farm"]).n_texts
    3
    """
    documents, sets = list(texts), label_sets(y)
    if len(documents) != len(sets):
        raise ValueError(f"texts and y must have one length, found {len(documents)} and {len(sets)}")
    if not documents:
        raise ValueError("texts is empty; expected some to evaluate on")
    decisions, probabilities = classifier.judge(documents)
    return figures(classifier.classes_.tolist(), classifier.kind_, sets, decisions, probabilities, on)


def figures(
    classes: Sequence[Any],
    kind: Kind,
    sets: Sequence[tuple[Any, ...]],
    decisions: BoolArray,
    probabilities: FloatArray,
    on: str,
) -> Evaluation:
    """Compute all figures from label sets, decisions and probabilities, texts × classes."""
    names = [str(label) for label in classes]
    known = set(names)
    sets = [tuple(map(str, found)) for found in sets]
    truth = indicator(sets, names).toarray() > 0
    results = Results(truth, decisions, np.clip(probabilities, 0.0, 1.0), categories=names)
    scored = [measure(results.outcomes, empty=np.nan) for measure in (precision, recall, f_beta)]
    scores = [
        CategoryScore(name, int(truth[:, k].sum()), int(decisions[:, k].sum()), *(float(row[k]) for row in scored))
        for k, name in enumerate(names)
    ]
    unknown = Counter(label for found in sets for label in found if label not in known)
    curve = reliability_curve(truth, results.probabilities)
    f1 = scored[2][np.isfinite(scored[2])]
    return Evaluation(
        on=on,
        kind=kind,
        n_texts=len(sets),
        accuracy=float(np.mean(np.all(truth == decisions, axis=1) & ~_beyond(sets, known))),
        baseline=Counter(tuple(sorted(found)) for found in sets).most_common(1)[0][1] / len(sets),
        micro_f1=float(f_beta(results.outcomes, average="micro")),
        macro_f1=float(np.mean(f1)) if f1.size else float("nan"),
        brier=float(brier(truth, results.probabilities, average="micro")),
        log_loss=float(log_loss(truth, np.clip(probabilities, 1e-15, 1 - 1e-15), average="micro")),
        calibration_error=float(expected_calibration_error(truth, results.probabilities, average="micro")),
        categories=sorted(scores, key=lambda score: (-score.n_texts, score.label)),
        reliability=[ProbabilityGroup(int(n), float(p), float(o)) for n, p, o in zip(*curve, strict=True)],
        confusions=[] if kind == "multilabel" else _confusions(names, sets, decisions),
        unknown=dict(unknown.most_common()),
        results=results,
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
