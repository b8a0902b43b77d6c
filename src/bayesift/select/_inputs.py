"""What the scores work on: a canonical sparse matrix and a sparse 0/1 indicator of the categories."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from bayesift._typing import AnyArray, Int64Array


class Targets(NamedTuple):
    """Categories as columns of a sparse indicator; ``flat`` when they came from one-dimensional labels."""

    indicator: csr_array
    flat: bool


def checked_matrix(X: Any) -> csr_array:
    """Return ``X`` as float64 CSR whose stored entries are exactly its non-zeros, once each.

    The caller's matrix is never altered.
    """
    given = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    # A dense array always gives fresh buffers, a sparse one may share the caller's.
    matrix = csr_array(given)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def binary_targets(y: Any, n_rows: int) -> Targets:
    """Read labels of at most two values (the greater is the category) or a multi-label indicator."""
    labels = _as_array(y)
    if issparse(labels) or labels.ndim == 2:
        return Targets(_indicator(labels, n_rows), flat=False)
    classes, codes = _classes(labels, n_rows)
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes ({_listing(classes)}), but this score compares one category with "
            "the rest: pass labels of two values or a 0/1 indicator with one column per category"
        )
    # One class only: no contrast, whichever way it is coded, so every score is 0.
    return Targets(csr_array((codes == len(classes) - 1).astype(np.float64)[:, None]), flat=True)


def class_targets(y: Any, n_rows: int) -> Targets:
    """Read labels of any number of classes, one indicator column each, or a multi-label indicator."""
    labels = _as_array(y)
    if issparse(labels) or labels.ndim == 2:
        return Targets(_indicator(labels, n_rows), flat=False)
    classes, codes = _classes(labels, n_rows)
    if classes.dtype.kind == "f" and len(classes) > 2 and np.any(classes != np.floor(classes)):
        raise ValueError(
            f"y holds {len(classes)} different real numbers ({_listing(classes)}); class labels are expected"
        )
    rows = np.arange(n_rows + 1)
    return Targets(csr_array((np.ones(n_rows), codes, rows), shape=(n_rows, len(classes))), flat=True)


def refuse_missing(y: Any) -> None:
    """Raise an error if labels, one per row, hold None, NaN or another mark of a missing value.

    It looks at ``y`` as it was given: of a list of strings and a NaN, numpy makes the string "nan".
    """
    if issparse(y):
        return
    labels = np.asarray(y, dtype=None if hasattr(y, "__array__") else object)
    if labels.ndim != 1:
        return
    missing = [_is_missing(label) for label in labels] if labels.dtype.kind == "O" else labels != labels
    if np.any(missing):
        raise ValueError(
            f"y holds missing labels (None or NaN), first in row {np.argmax(missing)} counted from 0; "
            "expected a label for every row"
        )


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:
        # The missing value of pandas is neither equal to itself nor not.
        return True
    except ValueError:
        # An array in place of a label: no label, but not a missing one.
        return False


def _as_array(y: Any) -> Any:
    """Return ``y`` as a sparse matrix or an array of one or two dimensions."""
    if issparse(y):
        return y
    refuse_missing(y)
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            "y is a ragged sequence; expected one label per row or a 0/1 indicator, one column per category"
        ) from error
    if labels.ndim not in (1, 2):
        raise ValueError(f"y has {labels.ndim} dimensions; expected one label per row or a two-dimensional indicator")
    return labels


def _classes(labels: AnyArray, n_rows: int) -> tuple[AnyArray, Int64Array]:
    """Return the sorted distinct labels and each row's position among them."""
    _check_length(len(labels), n_rows)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError("y holds labels of types that cannot be ordered; expected labels of one type") from error
    if classes.dtype.kind == "f" and not np.all(np.isfinite(classes)):
        raise ValueError("y holds an infinite label; expected finite labels")
    return classes, codes


def _indicator(labels: Any, n_rows: int) -> csr_array:
    """Return a two-dimensional 0/1 indicator as float64 CSR."""
    _check_length(labels.shape[0], n_rows)
    if labels.dtype.kind not in "buifO":
        raise ValueError(f"y is a two-dimensional array of {labels.dtype}; expected a 0/1 indicator")
    try:
        indicator = csr_array(labels.astype(np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError("y is a two-dimensional array of objects; expected a 0/1 indicator") from error
    # The conversion above made a copy, so that this is free to work in place.
    indicator.sum_duplicates()
    indicator.eliminate_zeros()
    odd = indicator.data[indicator.data != 1]
    if len(odd):
        raise ValueError(f"y as a two-dimensional indicator must hold only 0 and 1; found {odd[0]:g}")
    return indicator


def _check_length(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(f"y has {n_labels} rows, X has {n_rows}; expected one label (or row of labels) per document")


def _listing(classes: AnyArray) -> str:
    shown = ", ".join(repr(label) for label in classes[:4].tolist())
    return shown + (", …" if len(classes) > 4 else "")
