"""Decisions about a batch of documents from their probabilities alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesift._checks import one_of
from bayesift._typing import BoolArray, FloatArray
from bayesift.decide._expectations import nodes_and_weights, shares
from bayesift.decide.expected import checked_probabilities, exact_expected_f1, expected_f1
from bayesift.decide.tuning import UTILITIES, Policy
from bayesift.decide.utility import Utility, check_beta

_BY_NUMBER = {"expected_f1": expected_f1, "exact_expected_f1": exact_expected_f1}


class BatchDecision(NamedTuple):
    """Which documents to accept, and the expected value (one for each category)."""

    mask: BoolArray
    expected_value: float | FloatArray


def decide(probabilities: Any, policy: Policy = "exact_expected_f1", *, beta: float = 1.0) -> BatchDecision:
    """Accept the documents whose acceptance has the greatest expected value, given their probabilities.

    No labels are needed, but the probabilities must be calibrated, and documents are assumed to be in the category
    independently of each other.

    Parameters
    ----------
    probabilities : array of shape (n_documents,) or (n_documents, n_categories)
        The whole batch: for the two policies about F, whether a document is accepted depends on the others.
    policy : str, Utility or mapping, default="exact_expected_f1"
        ``"exact_expected_f1"`` or ``"expected_f1"``: as the functions of these names; of equally probable documents
        the earlier are accepted first. ``"min_error"``, ``"t11u"``, ``"t13u"``, ``"balanced_error"``, a
        :class:`Utility` or a mapping of gains such as ``{"tp": 2, "fp": -1}``: the greatest expected utility; a
        document whose acceptance gains nothing and loses nothing is accepted.
    beta : float, default=1.0
        Weight of recall against precision, for the two policies about F.

    Returns
    -------
    BatchDecision
        ``mask`` of the shape of the probabilities and ``expected_value``, a number or one for each category.

    Examples
    --------
    >>> from bayesift.decide import decide
    >>> mask, value = decide([0.1, 0.9, 0.4, 0.3])
    >>> mask, round(value, 3)
    (array([False,  True, False, False]), 0.687)
    >>> decide([0.1, 0.9, 0.4, 0.3], {"tp": 2, "fp": -1}).mask
    array([False,  True,  True, False])
    """
    check_beta(beta)
    if isinstance(policy, Mapping):
        policy = Utility.from_gains(policy)
    elif not isinstance(policy, Utility):
        one_of("policy", policy, (*_BY_NUMBER, *UTILITIES))
    values = checked_probabilities(probabilities, "probabilities")
    if values.ndim == 1:
        return _decide(values, policy, beta)
    columns = [_decide(column, policy, beta) for column in values.T]
    masks, expected = zip(*columns, strict=True)
    return BatchDecision(np.column_stack(masks), np.array(expected))


def _decide(p: FloatArray, policy: str | Utility, beta: float) -> BatchDecision:
    if isinstance(policy, str) and policy in _BY_NUMBER:
        n_accepted, value = _BY_NUMBER[policy](p, beta)
        mask = np.zeros(len(p), dtype=bool)
        mask[np.argsort(-p, kind="stable")[:n_accepted]] = True
        return BatchDecision(mask, value)
    utility = UTILITIES[policy] if isinstance(policy, str) else policy
    inside, outside = (_expected_shares(p), _expected_shares(1 - p)) if utility.per_class else (p, 1 - p)
    accepting = utility.tp * inside + utility.fp * outside
    rejecting = utility.fn * inside + utility.tn * outside
    mask = accepting >= rejecting
    return BatchDecision(mask, float(np.where(mask, accepting, rejecting).sum()))


def _expected_shares(p: FloatArray) -> FloatArray:
    return shares(np.ascontiguousarray(p), *nodes_and_weights(1.0, float(len(p))))
