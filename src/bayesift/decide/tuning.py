"""Thresholds tuned on labelled scores: the best one, and the outcomes of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from bayesift._checks import one_of
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.decide.utility import BALANCED_ERROR, SUM_OF_ERRORS, T11U, T13U, Utility, f_beta_of

CutPlace = Literal["midpoint", "accepted"]
TieRule = Literal["highest", "median", "lowest"]
Policy = str | Utility | Mapping[str, float]

UTILITIES = {"min_error": SUM_OF_ERRORS, "t11u": T11U, "t13u": T13U, "balanced_error": BALANCED_ERROR}
TUNED = ("max_f1", "max_f1_of_rest", *UTILITIES)
"""Names of the policies that are tuned on training scores."""

CUTS = ("midpoint", "accepted")
TIES = ("highest", "median", "lowest")

# Values nearer than this, relative to the greatest, count as ties, blurred by the rounding of weights or gains.
_TIE = 1e-12


def best_threshold(
    scores: Any,
    y: Any,
    *,
    policy: Policy = "min_error",
    cut: CutPlace = "midpoint",
    ties: TieRule = "highest",
    sample_weight: Any = None,
) -> float:
    """Return the threshold t for which "accept if score ≥ t" is best on these documents, in O(n log n).

    Parameters
    ----------
    scores : array of shape (n_documents,)
        Probabilities, log-odds or any other scores that rise with the belief in the category.
    y : array of shape (n_documents,)
        Labels of two values, of which the greater marks the category. If only one value occurs, it must be a
        number or a boolean, and marks the category if it is greater than 0.
    policy : str, Utility or mapping, default="min_error"
        What is maximised. ``"min_error"``: minus the number of errors. ``"max_f1"``:
        2TP/(2TP+FP+FN), which is 1 if there is nothing to find and nothing is accepted. ``"max_f1_of_rest"``:
        the same for the documents outside the category, 2TN/(2TN+FP+FN). ``"t11u"``,
        ``"t13u"``, ``"balanced_error"``, any :class:`Utility` or a mapping of gains such as
        ``{"tp": 2, "fp": -1}``: the utility.
    cut : {"midpoint", "accepted"}, default="midpoint"
        Where the threshold lies between the last accepted and the first rejected score: half-way, or at the
        last accepted one. A threshold that rejects all is ∞; one that accepts all is −∞ for ``"midpoint"`` and
        the lowest score for ``"accepted"``.
    ties : {"highest", "median", "lowest"}, default="highest"
        Which of several equally good cuts is taken: the highest threshold (Genkin, Lewis & Madigan 2007), the
        middle one (the higher of two middle ones), or the lowest (the BBR program).
    sample_weight : array of shape (n_documents,), optional
        How often each document counts; documents of weight 0 are left out.

    Examples
    --------
    >>> from bayesift.decide import best_threshold
    >>> best_threshold([0.1, 0.4, 0.5, 0.9], [0, 1, 0, 1])
    0.7
    >>> best_threshold([0.1, 0.4, 0.5, 0.9], [0, 1, 0, 1], policy="max_f1", cut="accepted")
    0.4
    """
    measure = measure_of(policy)
    one_of("cut", cut, CUTS)
    one_of("ties", ties, TIES)
    distinct, tp, fp = _ranked_outcomes(scores, y, sample_weight)
    gains = measure(tp, fp, tp[-1] - tp, fp[-1] - fp)
    return _place_of(distinct, _chosen(gains, ties), cut)


class ThresholdOutcomes(NamedTuple):
    """Decreasing thresholds and the outcomes of "accept if score ≥ threshold" (documents or summed weights)."""

    thresholds: FloatArray
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray


def outcomes_by_threshold(
    scores: Any, y: Any, *, cut: CutPlace = "midpoint", sample_weight: Any = None
) -> ThresholdOutcomes:
    """Count the outcomes for every threshold that makes a difference, from rejecting all to accepting all.

    Parameters
    ----------
    scores, y, cut, sample_weight
        As for :func:`best_threshold`, which chooses one of these thresholds.

    Returns
    -------
    ThresholdOutcomes
        Arrays of length n_distinct_scores + 1.

    Examples
    --------
    >>> from bayesift.decide import outcomes_by_threshold
    >>> outcomes = outcomes_by_threshold([0.1, 0.4, 0.5, 0.9], [0, 1, 0, 1], cut="accepted")
    >>> outcomes.thresholds
    array([inf, 0.9, 0.5, 0.4, 0.1])
    >>> outcomes.tp
    array([0., 1., 1., 2., 2.])
    """
    one_of("cut", cut, CUTS)
    distinct, tp, fp = _ranked_outcomes(scores, y, sample_weight)
    thresholds = np.array([_place_of(distinct, accepted, cut) for accepted in range(len(tp))])
    return ThresholdOutcomes(thresholds, tp, fp, tp[-1] - tp, fp[-1] - fp)


def _ranked_outcomes(scores: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct scores, decreasing, and TP and FP after accepting the first 0, 1, … of them."""
    values = checked_scores(scores)
    if values.ndim != 1:
        raise ValueError(f"scores has shape {values.shape}; expected one score per document")
    positive = _positives(y, values)
    weight = _weights(sample_weight, values)
    counted = weight > 0
    return _outcomes(values[counted], positive[counted], weight[counted])


def measure_of(policy: Policy) -> Callable[..., FloatArray]:
    """Return the function of TP, FP, FN and TN that a policy maximises."""
    if isinstance(policy, Mapping):
        policy = Utility.from_gains(policy)
    if isinstance(policy, Utility):
        return policy.value
    one_of("policy", policy, TUNED)
    return _F1[policy] if policy in _F1 else UTILITIES[policy].value


def check_policy(policy: Policy, name: str = "policy", also: Sequence[str] = ()) -> None:
    """Refuse anything but ``"half"``, a policy that can be tuned, and the words in ``also``."""
    if isinstance(policy, Mapping | Utility):
        measure_of(policy)
    else:
        one_of(name, policy, (*also, "half", *TUNED))


def checked_scores(scores: Any, name: str = "scores") -> FloatArray:
    """Return scores as finite float64 of one or two dimensions."""
    if np.ndim(scores) == 0:
        raise ValueError(f"{name} is {scores!r}; expected an array of one or two dimensions")
    return check_array(scores, ensure_2d=False, dtype=np.float64, input_name=name)


def nearly_greatest(gains: FloatArray) -> Int64Array:
    """Return the places of the greatest value and of those that differ from it only by rounding."""
    return np.flatnonzero(gains >= gains.max() - _TIE * np.abs(gains).max())


def f1_of(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the F1 of the category."""
    return f_beta_of(tp, fp, fn)


def f1_of_rest(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the F1 of the documents outside the category."""
    return f_beta_of(tn, fn, fp)


_F1 = {"max_f1": f1_of, "max_f1_of_rest": f1_of_rest}


def _positives(y: Any, scores: FloatArray) -> BoolArray:
    labels = column_or_1d(y)
    check_consistent_length(scores, labels)
    if labels.dtype.kind == "O":
        # Imported here because it takes long, and labels are seldom of mixed types.
        from sklearn.preprocessing import LabelEncoder

        encoder = LabelEncoder()
        codes = encoder.fit_transform(labels)
        classes = encoder.classes_
    else:
        classes, codes = np.unique(labels, return_inverse=True)
    odd = [label for label in classes.tolist() if label is None or (isinstance(label, float) and not isfinite(label))]
    if odd:
        raise ValueError(f"y holds {odd[0]}; expected labels of two finite values")
    if len(classes) > 2:
        raise ValueError(f"y has {len(classes)} classes; expected labels of two values")
    if len(classes) == 2:
        return codes == 1
    if classes.dtype.kind not in "buif":
        raise ValueError(f"y holds only {classes.tolist()[0]!r}, which may or may not be the category; use 0 and 1")
    return np.full(len(labels), bool(classes[0] > 0))


def _weights(sample_weight: Any, scores: FloatArray) -> FloatArray:
    if sample_weight is None:
        return np.ones(len(scores))
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != scores.shape:
        raise ValueError(f"sample_weight has shape {weight.shape}; expected {scores.shape}, one weight per score")
    if np.any(weight < 0) or not np.any(weight):
        raise ValueError("sample_weight has a negative weight or only zeros; expected weights of at least 0")
    return weight


def _outcomes(scores: FloatArray, positive: BoolArray, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)  # last position of each distinct score
    tp = np.cumsum(np.where(positive, weight, 0.0)[order])[last]
    fp = np.cumsum(np.where(positive, 0.0, weight)[order])[last]
    return ranked[last], np.append(0.0, tp), np.append(0.0, fp)


def _chosen(gains: FloatArray, ties: TieRule) -> int:
    """Return how many distinct scores the best cut accepts."""
    best = nearly_greatest(gains)
    position = {"highest": 0, "median": (len(best) - 1) // 2, "lowest": len(best) - 1}[ties]
    return int(best[position])


def _place_of(distinct: FloatArray, accepted: int, cut: CutPlace) -> float:
    """Return the threshold that accepts that many of the distinct, decreasing scores."""
    if accepted == 0:
        return np.inf
    last = float(distinct[accepted - 1])
    if cut == "accepted":
        return last
    if accepted == len(distinct):
        return -np.inf
    first_rejected = float(distinct[accepted])
    middle = last / 2 + first_rejected / 2
    # Between neighbouring floats the middle may round down to the rejected one.
    return middle if first_rejected < middle <= last else last
