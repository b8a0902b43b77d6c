"""What every threshold would give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesift._typing import FloatArray
from bayesift.decide.cuts import CUTS, CutPlace, check_choice, place_of, ranked_outcomes


class ThresholdOutcomes(NamedTuple):
    """Thresholds, falling, and the outcomes of "accept where score ≥ threshold" (documents or summed weights)."""

    thresholds: FloatArray
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray


def outcomes_by_threshold(
    scores: Any, y: Any, *, cut: CutPlace = "midpoint", sample_weight: Any = None
) -> ThresholdOutcomes:
    """Count the outcomes of every threshold that makes a difference, from rejecting all to accepting all.

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
    check_choice("cut", cut, CUTS)
    distinct, tp, fp = ranked_outcomes(scores, y, sample_weight)
    thresholds = np.array([place_of(distinct, accepted, cut) for accepted in range(len(tp))])
    return ThresholdOutcomes(thresholds, tp, fp, tp[-1] - tp, fp[-1] - fp)
