"""Decisions about a batch of documents from their probabilities alone: by expected F, or by expected utility."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesift._checks import one_of
from bayesift._typing import BoolArray, FloatArray
from bayesift.decide._expectations import f_curve, nodes_and_weights, shares
from bayesift.decide.tuning import UTILITIES, Policy, checked_scores, nearly_greatest
from bayesift.decide.utility import Utility, check_beta


class ExpectedF(NamedTuple):
    """How many documents to accept, and the expected F_β."""

    n_accepted: int
    value: float


def expected_f1(p: Any, beta: float = 1.0) -> ExpectedF:
    """Choose how many of the most probable documents to accept by the ratio of expectations (Lewis 1995).

    Maximises (1+β²) Σ_{i≤m} pᵢ / (m + β² Σᵢ pᵢ) over m = 1…n; accepting none is worth ∏(1−pᵢ).

    Parameters
    ----------
    p : array of shape (n_documents,)
        Probabilities of the documents that are decided on together, in any order.
    beta : float, default=1.0
        Weight of recall against precision.

    Returns
    -------
    ExpectedF
        ``n_accepted`` and ``value``; of equally good numbers the smallest is taken.

    See Also
    --------
    exact_expected_f1 : The expectation itself, which differs if few positives are expected.

    Examples
    --------
    >>> from bayesift.decide import exact_expected_f1, expected_f1
    >>> n_accepted, value = expected_f1([0.4, 0.4, 0.1])
    >>> n_accepted, round(value, 4)
    (2, 0.5517)
    >>> n_accepted, value = exact_expected_f1([0.4, 0.4, 0.1])
    >>> n_accepted, round(value, 4)
    (2, 0.4688)
    """
    return _greatest(expected_f_curve(p, beta=beta, exact=False))


def exact_expected_f1(p: Any, beta: float = 1.0) -> ExpectedF:
    """Choose how many of the most probable documents to accept by the expectation of F_β itself.

    Maximises E[(1+β²)TP / ((1+β²)TP + FP + β²FN)], with 0/0 = 1, for documents that are in the category independently
    of each other. Up to rounding this is the value of the dynamic programmes of Chai (2005) and Ye et al. (2012), but
    for any β and in time proportional to the number of documents. No other set of documents has a greater expectation
    than the best set of most probable ones. Parameters and result are those of :func:`expected_f1`.

    Examples
    --------
    >>> from bayesift.decide import exact_expected_f1
    >>> exact_expected_f1([0.9, 0.5, 0.5]).n_accepted
    3
    """
    return _greatest(expected_f_curve(p, beta=beta))


def expected_f_curve(p: Any, *, beta: float = 1.0, exact: bool = True) -> FloatArray:
    """Return the expected F_β of accepting the 0, 1, …, n most probable documents.

    Parameters
    ----------
    p : array of shape (n_documents,)
        Probabilities, in any order.
    beta : float, default=1.0
        Weight of recall against precision.
    exact : bool, default=True
        The expectation of the ratio; otherwise the ratio of the expectations.

    Returns
    -------
    array of shape (n_documents + 1,)

    Examples
    --------
    >>> from bayesift.decide import expected_f_curve
    >>> expected_f_curve([0.5, 0.5]).round(4), expected_f_curve([0.5, 0.5], exact=False).round(4)
    (array([0.25  , 0.4167, 0.5833]), array([0.25  , 0.5   , 0.6667]))
    """
    check_beta(beta)
    probabilities = checked_probabilities(p)
    if probabilities.ndim != 1:
        raise ValueError(f"p has shape {probabilities.shape}; expected one probability per document")
    ranked = -np.sort(-probabilities)
    n, squared = len(ranked), float(beta) ** 2
    if exact:
        return f_curve(ranked, squared, *nodes_and_weights(1 + squared, (1 + squared) * n))
    accepted = np.arange(1, n + 1)
    values = (1 + squared) * np.cumsum(ranked) / (accepted + squared * ranked.sum())
    return np.append(np.prod(1 - ranked), values)


def checked_probabilities(p: Any, name: str = "p") -> FloatArray:
    """Return numbers between 0 and 1 as float64 of one or two dimensions."""
    values = checked_scores(p, name)
    if values.min() < 0 or values.max() > 1:
        raise ValueError(
            f"{name} has values from {values.min():g} to {values.max():g}; expected probabilities from 0 to 1"
        )
    return values


def _greatest(curve: FloatArray) -> ExpectedF:
    best = int(nearly_greatest(curve)[0])
    return ExpectedF(best, float(curve[best]))


_BY_NUMBER = {"expected_f1": expected_f1, "exact_expected_f1": exact_expected_f1}


class BatchDecision(NamedTuple):
    """Which documents to accept, and the expected value (one for each category)."""

    mask: BoolArray
    expected_value: float | FloatArray


def decide(probabilities: Any, policy: Policy = "exact_expected_f1", *, beta: float = 1.0) -> BatchDecision:
    """Accept the set of documents with the greatest expected value, given their probabilities.

    No labels are needed, but the probabilities must be calibrated, and documents are assumed to be in the category
    independently of each other.

    Parameters
    ----------
    probabilities : array of shape (n_documents,) or (n_documents, n_categories)
        The whole batch: under the two policies about F, whether a document is accepted depends on the others.
    policy : str, Utility or mapping, default="exact_expected_f1"
        ``"exact_expected_f1"`` or ``"expected_f1"``: as the functions of these names; of equally probable documents
        the earlier ones are accepted first. ``"min_error"``, ``"t11u"``, ``"t13u"``, ``"balanced_error"``, a
        :class:`Utility` or a mapping of gains such as ``{"tp": 2, "fp": -1}``: the greatest expected utility; a
        document is also accepted if accepting and rejecting it have the same value.
    beta : float, default=1.0
        Weight of recall against precision, for the two policies about F.

    Returns
    -------
    BatchDecision
        ``mask`` has the shape of the probabilities; ``expected_value`` is a number, or one for each category.

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
