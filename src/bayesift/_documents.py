"""Documents and their weights, checked in one place for all estimators.

Estimators square and multiply numbers, so these must not only be finite: their squares and products must be finite
too. Numbers so small that their squares would vanish count as 0.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import _check_sample_weight, validate_data

from bayesift._kernel import kernel
from bayesift._typing import FloatArray

#: The largest absolute value that documents may have, and the least; smaller ones count as 0.
LARGEST, LEAST = 1e110, 1e-110
#: The largest and the least weight of a document, except 0.
LARGEST_WEIGHT, LEAST_WEIGHT = 1e50, 1e-50
#: scikit-learn from 1.9 on refuses weights that are all 0 unless it is told not to; earlier versions never do.
_ALL_ZERO = "allow_all_zero_weights"
_ZEROS_ARE_CHECKED_HERE = {_ALL_ZERO: True} if _ALL_ZERO in signature(_check_sample_weight).parameters else {}


@kernel
def _count_odd(values: FloatArray, least: float, largest: float) -> tuple[int, int]:
    """Count the numbers that are not from −largest to largest (NaN is not), and those below least but not 0."""
    beyond, small = 0, 0
    for i in range(values.shape[0]):
        size = abs(values[i])
        beyond += not size <= largest
        small += 0.0 < size < least
    return beyond, small


def usable_values(X: Any, name: str = "X", *, estimator: Any = None, missing: bool = False) -> Any:
    """Return numbers that are safe to compute with; those too small to be squared become 0. ``X`` is not changed.

    Numbers that are too large, infinite or, unless ``missing`` values are allowed, NaN are refused.

    Parameters
    ----------
    X : array or sparse matrix of float64
    name : str, default="X"
        Its name in messages.
    estimator : object, optional
        The estimator that messages name.
    missing : bool, default=False

    Returns
    -------
    X : as given
    """
    values = X.data if sp.issparse(X) else X
    beyond, small = _count_odd(values.ravel(order="K"), LEAST, LARGEST)
    if beyond:
        _refuse_large(X, values, name, "" if estimator is None else type(estimator).__name__, missing)
    if small:
        X = X.copy()
        values = X.data if sp.issparse(X) else X
        values[np.abs(values) < LEAST] = 0.0
    return X


def _refuse_large(X: Any, values: FloatArray, name: str, estimator_name: str, missing: bool) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        assert_all_finite(X, allow_nan=missing, estimator_name=estimator_name, input_name=name)
    large = np.abs(values) > LARGEST
    if large.any():
        raise ValueError(
            f"{name} holds {values[large][0]:g}; expected numbers from {-LARGEST:g} to {LARGEST:g}, whose squares and "
            f"products can be computed: scale the values"
        )


def validated(estimator: Any, X: Any, y: Any = "no_validation", *, missing: bool = False, **options: Any) -> Any:
    """Check documents, and labels if given; return them as scikit-learn's ``validate_data`` does.

    Parameters
    ----------
    estimator : estimator
        The estimator that gets them; the number and names of features are stored or compared.
    X, y
        Documents and labels.
    missing : bool, default=False
        Whether NaN is allowed, as a missing value.
    options
        Those of ``validate_data``.
    """
    if isinstance(y, str) and y == "no_validation" and _are_known_rows(estimator, X, **options):
        return usable_values(X, estimator=estimator, missing=missing)
    # The sums that scikit-learn uses to look for non-finite numbers may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        found = validate_data(estimator, X, y, dtype=np.float64, ensure_all_finite=False, **options)
    if isinstance(y, str) and y == "no_validation":
        return usable_values(found, estimator=estimator, missing=missing)
    return usable_values(found[0], estimator=estimator, missing=missing), *found[1:]


def _are_known_rows(estimator: Any, X: Any, *, reset: bool = True, accept_sparse: Any = False, **others: Any) -> bool:
    """Tell whether an estimator can use documents as they are: scikit-learn's checks take longer than its work."""
    return (
        not reset
        and not others
        and accept_sparse
        and "csr" in accept_sparse
        and type(X) is sp.csr_matrix
        and X.dtype == np.float64
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", -1)
        and not hasattr(estimator, "feature_names_in_")
    )


def checked_weights(sample_weight: Any, X: Any, *, may_be_zero: bool = False) -> FloatArray:
    """Return the weights of the documents, 1 if none are given; ``may_be_zero`` says whether all may be 0.

    A class whose documents all have weight 0 is still a class: estimators treat it like one that was never seen.
    """
    rules = {"ensure_non_negative": True, **_ZEROS_ARE_CHECKED_HERE}
    weights: FloatArray = _check_sample_weight(sample_weight, X, dtype=np.float64, **rules)
    if not may_be_zero and not weights.any():
        raise ValueError("sample_weight is 0 for every document; expected at least one non-zero weight")
    odd = (weights > LARGEST_WEIGHT) | ((weights < LEAST_WEIGHT) & (weights > 0))
    if odd.any():
        raise ValueError(
            f"sample_weight is {weights[odd][0]:g} at {np.argmax(odd)}; expected 0 or a number from {LEAST_WEIGHT:g} "
            f"to {LARGEST_WEIGHT:g}"
        )
    return weights
