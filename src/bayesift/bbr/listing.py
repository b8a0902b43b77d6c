"""The lines that ``bxrclassify`` writes for each document and model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, logsumexp

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.bbr.data import Data
from bayesift.bbr.estimators import linear_scores
from bayesift.bbr.models import AnyModel, as_polytomous, threshold_of
from bayesift.bbr.results import ALL_OTHER_MODELS, UNKNOWN, DenseResult, ScoreResult

#: In the order of ``-s all``.
SCALES = ("prob", "logprob", "odds", "logodds", "linear")

TrueClasses = Mapping[tuple[str, str], str] | None


@dataclass(frozen=True)
class Listing:
    """Which classes are listed for a document, and with what; see the options of ``bxrclassify``."""

    criterion: str = "predicted"
    threshold: float | None = None
    scale: str = "linear"
    omit: tuple[str, ...] = ()
    integer_names: bool = False
    print_true: bool = False
    print_predicted: bool = False

    def name(self, text: str) -> str:
        """Return a name in the form for comparison: ignoring case, and with whole numbers alike if meant as such."""
        if self.integer_names and text.lstrip("+-").isdigit() and text.isascii():
            return str(int(text))
        return text.upper()


class Scored(NamedTuple):
    """The documents under one model: five scores by class, and the predicted class."""

    model: str
    class_names: list[str]
    scores: dict[str, FloatArray]
    predicted: Int64Array


def score_results(data: Data, models: Iterable[AnyModel], labels: TrueClasses, listing: Listing) -> list[ScoreResult]:
    """Return the lines of a result file, by document and then by model.

    Parameters
    ----------
    data : Data
    models : iterable of BinaryModel or PolytomousModel
    labels : mapping from (document, model) to class, or None
        The truth; None for the labels of the documents.
    listing : Listing

    Returns
    -------
    list of ScoreResult
    """
    scored = [_scored(data, model, listing) for model in models]
    wanted = [_wanted(found, listing) for found in scored]
    scales = SCALES if listing.scale == "all" else (listing.scale,)
    results = []
    for row in range(data.X.shape[0]):
        for found, chosen in zip(scored, wanted, strict=True):
            truth = _truth(data, row, found.model, labels, listing) if listing.print_true else None
            predicted = found.class_names[found.predicted[row]] if listing.print_predicted else None
            for code in np.flatnonzero(chosen[row]).tolist():
                scores = tuple(float(found.scores[scale][row, code]) for scale in scales)
                name = found.class_names[code]
                results.append(ScoreResult(_document(data, row), found.model, name, scores, predicted, truth))
    return results


def dense_results(data: Data, model: AnyModel, labels: TrueClasses, listing: Listing) -> Iterator[DenseResult]:
    """Return a line for each document: its label, the probabilities of all classes, the predicted class.

    Parameters
    ----------
    data : Data
    model : BinaryModel or PolytomousModel
    labels : mapping from (document, model) to class, or None
    listing : Listing

    Yields
    ------
    DenseResult
    """
    found = _scored(data, model, listing)
    for row, chances in enumerate(found.scores["prob"].tolist()):
        truth = _truth(data, row, found.model, labels, listing)
        yield DenseResult(truth, tuple(chances), found.class_names[found.predicted[row]])


def _scored(data: Data, model: AnyModel, listing: Listing) -> Scored:
    polytomous = as_polytomous(model)
    linear = linear_scores(polytomous, data)
    log_chances = log_softmax(linear, axis=1)
    # The log probability of all other classes together, exact even if the class has nearly all of it.
    rest = [logsumexp(np.delete(log_chances, code, axis=1), axis=1) for code in range(linear.shape[1])]
    log_odds = log_chances - np.stack(rest, axis=1)
    scores = {
        "prob": np.exp(log_chances),
        "logprob": log_chances,
        "odds": np.exp(log_odds),
        "logodds": log_odds,
        "linear": linear,
    }
    names = [listing.name(name) for name in polytomous.class_names]
    threshold = threshold_of(model)
    predicted = _first_greatest(linear, names) if threshold is None else np.where(linear[:, 0] >= threshold, 0, 1)
    return Scored(listing.name(polytomous.name) or "@UNNAMED", names, scores, predicted)


def _first_greatest(scores: FloatArray, names: list[str]) -> Int64Array:
    """Return the class with the greatest score, or the first of several in the order of names."""
    order = np.array(sorted(range(len(names)), key=lambda code: names[code]))
    return order[np.argmax(scores[:, order], axis=1)]


def _wanted(found: Scored, listing: Listing) -> BoolArray:
    """Mark the classes to list for each document."""
    linear = found.scores["linear"]
    criterion = listing.criterion
    if criterion in SCALES:
        least = _least(criterion, linear.shape[1]) if listing.threshold is None else listing.threshold
        wanted = found.scores[criterion] >= least
    elif criterion == "all":
        wanted = np.ones(linear.shape, dtype=bool)
    elif criterion in ("maxlinearall", "maxproball"):
        scores = found.scores["linear" if criterion == "maxlinearall" else "prob"]
        wanted = scores == scores.max(axis=1, keepdims=True)
    else:
        best = _first_greatest(linear, found.class_names) if criterion == "maxlinear" else found.predicted
        wanted = np.arange(linear.shape[1]) == best[:, None]
    omitted = {listing.name(name) for name in listing.omit}
    return wanted & np.array([name not in omitted for name in found.class_names])


def _least(criterion: str, n_classes: int) -> float:
    """Return the score that a class has when all have the same."""
    others = max(n_classes - 1, 1)
    return {
        "prob": 1 / n_classes,
        "logprob": float(-np.log(n_classes)),
        "odds": 1 / others,
        "logodds": float(-np.log(others)),
        "linear": 0.0,
    }[criterion]


def _document(data: Data, row: int) -> str:
    return "" if data.row_ids is None else data.row_ids[row]


def _truth(data: Data, row: int, model: str, labels: TrueClasses, listing: Listing) -> str:
    if labels is None:
        return listing.name(data.labels[row])
    document = _document(data, row).upper()
    found = labels.get((document, model), labels.get((document, ALL_OTHER_MODELS.upper())))
    return UNKNOWN if found is None else listing.name(found)
