"""Check labels of any kind, and turn them into what models learn from (members of categories, signs, indicators)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from bayesift._documents import validated
from bayesift._typing import AnyArray, FloatArray, Int64Array

#: Kinds of labels, in scikit-learn's terms: one of two, one of several, or any number of them.
TargetType = Literal["binary", "multiclass", "multilabel-indicator"]


class Categories(NamedTuple):
    """What was found in ``y``.

    ``classes`` are the labels (column numbers for an indicator matrix); ``members`` lists, for each category to train,
    the documents in it: a single category for two classes (the greater label), else one for each class.
    """

    target_type: TargetType
    classes: AnyArray
    members: list[Int64Array]
    n_documents: int

    def target(self, category: int) -> FloatArray:
        """Return +1 for the documents of a category and −1 for the others."""
        y = np.full(self.n_documents, -1.0)
        y[self.members[category]] = 1.0
        return y


def check_label_types(y: Any) -> None:
    """Refuse strings among labels of another type, and strings that end in NUL: numpy would silently change them."""
    kind = getattr(getattr(y, "dtype", None), "kind", None)
    if isinstance(y, (list, tuple)) or (kind == "O" and getattr(y, "ndim", 0) == 1):
        kinds = {type(label).__name__: isinstance(label, str) for label in y}
        if len(set(kinds.values())) == 2:
            raise ValueError(f"y mixes labels of the types {', '.join(sorted(kinds))}; expected labels of one type")
        if any(isinstance(label, str) and label.endswith("\0") for label in y):
            raise ValueError("a label ends in a NUL, which numpy leaves out; expected labels without")


def validate_documents(
    estimator: Any, X: Any, y: Any, *, accept_sparse: Any = ("csr", "csc"), reset: bool = True, **options: Any
) -> tuple[Any, Any]:
    """Check documents and their labels together; return both, a single column of labels as a flat array.

    ``options`` are those of :func:`bayesift._documents.validated`.
    """
    check_label_types(y)
    X, y = validated(estimator, X, y, accept_sparse=accept_sparse, multi_output=True, reset=reset, **options)
    return X, flat_labels(y)


def validate_labels(estimator: Any, X: Any, y: Any) -> Any:
    """Check the labels of documents in shards, and store the number of features."""
    labels = labels_of_shards(X, y)
    estimator.n_features_in_ = X.shape[1]
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return labels


def labels_of_shards(X: Any, y: Any) -> Any:
    """Check the labels of documents in shards that were already checked; by default those stored with the rows."""
    if y is None:
        y = X.labels
        if y is None:
            raise ValueError(f"y is None, and {X!r} has no labels beside its rows; expected labels")
    check_label_types(y)
    labels = flat_labels(_as_array(y))
    if labels.shape[0] != X.shape[0] or X.shape[0] == 0:
        raise ValueError(f"X has {X.shape[0]} rows and y {labels.shape[0]} labels; expected one for each of some rows")
    return labels


def flat_labels(y: Any) -> Any:
    """Return a single column of labels as a flat array, with scikit-learn's warning; return anything else as it is."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        return y.toarray().ravel() if sp.issparse(y) else column_or_1d(y, warn=True)
    return y


def labels_or_indicator(y: Any) -> tuple[TargetType, Any]:
    """Return the kind of labels, and a flat array of them or an indicator in compressed rows of zeros and ones."""
    y = flat_labels(y)
    kind = type_of_target(y, input_name="y")
    if kind not in ("binary", "multiclass", "multilabel-indicator", "multiclass-multioutput"):
        check_classification_targets(y)
    if kind == "multiclass-multioutput":
        raise ValueError("y has several columns with values other than 0 and 1; expected an indicator matrix")
    if kind != "multilabel-indicator":
        return kind, np.asarray(y)
    indicator = sp.csr_matrix(y, dtype=np.float64, copy=True)
    indicator.sum_duplicates()
    indicator.eliminate_zeros()
    return kind, indicator


def two_classes(y: Any, name: str) -> tuple[AnyArray, FloatArray]:
    """Read labels with two values; return the values in order, and −1 and +1 for the labels."""
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind.startswith("multilabel") or kind.endswith("multioutput"):
        raise ValueError(
            f"Only binary classification is supported by {name}, but y has several columns; "
            f"wrap it in sklearn.multiclass.OneVsRestClassifier or sklearn.multioutput.MultiOutputClassifier"
        )
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size > 2:
        raise ValueError(
            f"Only binary classification is supported by {name}. The type of the target is {kind}: "
            f"y has {classes.size} labels; wrap it in sklearn.multiclass.OneVsRestClassifier"
        )
    if classes.size < 2:
        raise ValueError(f"{name} needs samples of two classes, but y has one class only: {classes.tolist()[0]!r}")
    return classes, np.where(codes == 1, 1.0, -1.0)


def categories_of(y: Any, name: str) -> Categories:
    """Read labels of any type, or an indicator matrix; ``name`` is the estimator's, for error messages."""
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind == "multiclass-multioutput":
        raise ValueError("y has several columns with values other than 0 and 1; expected an indicator matrix")
    if kind == "multilabel-indicator":
        indicator = sp.csc_matrix(y, copy=True)
        indicator.eliminate_zeros()
        members = [
            np.sort(indicator.indices[begin:end]).astype(np.int64)
            for begin, end in zip(indicator.indptr[:-1], indicator.indptr[1:], strict=True)
        ]
        return Categories("multilabel-indicator", np.arange(indicator.shape[1]), members, indicator.shape[0])
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"{name} needs samples of at least two classes, but y has one class only: {classes.tolist()[0]!r}"
        )
    if classes.size == 2:
        return Categories("binary", classes, [np.flatnonzero(codes == 1)], codes.size)
    members = [np.flatnonzero(codes == code) for code in range(classes.size)]
    return Categories("multiclass", classes, members, codes.size)


def batch_categories(y: Any, classes: Any, target_type: TargetType | None, name: str) -> Categories:
    """Read the labels of one batch of documents, in which some classes may be missing.

    ``classes`` are all labels that can occur, and ``target_type`` is the kind of labels in earlier batches, if any.
    """
    multilabel = sp.issparse(y) or y.ndim == 2
    if target_type is not None and multilabel != (target_type == "multilabel-indicator"):
        raise ValueError(f"y has {y.ndim} dimensions, unlike that of earlier calls")
    if multilabel:
        found = categories_of(y, name)
        if target_type is not None and len(found.classes) != len(classes):
            raise ValueError(f"y has {len(found.classes)} columns; expected {len(classes)} as in earlier calls")
        return found
    if classes is None:
        raise ValueError("classes must be given at the first call of partial_fit")
    check_classification_targets(y)
    known = np.unique(classes)
    if known.size < 2:
        raise ValueError(f"{name} needs at least two classes, but classes has one only: {known.tolist()[0]!r}")
    unknown = np.setdiff1d(y, known)
    if unknown.size:
        raise ValueError(f"y holds {unknown.tolist()[0]!r}, which is none of the classes {known.tolist()}")
    members = [np.flatnonzero(y == label) for label in known]
    return (
        Categories("binary", known, members[1:], len(y))
        if known.size == 2
        else Categories("multiclass", known, members, len(y))
    )


def class_factors(class_weight: Any, labels: AnyArray, weights: FloatArray) -> FloatArray:
    """Return the factor of each document's class; "balanced" gives all classes the same total weight.

    The weights of the documents count, so that a weight of 2 is two documents here as well.
    """
    if not isinstance(class_weight, str):
        return compute_sample_weight(class_weight, labels)
    _, codes = np.unique(labels, return_inverse=True)
    total = np.bincount(codes, weights)
    share = weights.sum() / np.count_nonzero(total)
    return np.divide(share, total, out=np.zeros_like(total), where=total > 0)[codes]


class Indicator(NamedTuple):
    """Categories as columns of a sparse 0/1 matrix; ``flat`` when they came from one-dimensional labels."""

    matrix: sp.csr_array
    flat: bool


def category_indicator(y: Any, n_rows: int) -> Indicator:
    """Read labels of at most two values (the greater is the category) or a multi-label indicator."""
    labels = _as_array(y)
    if sp.issparse(labels) or labels.ndim == 2:
        return Indicator(_indicator(labels, n_rows), flat=False)
    classes, codes = _classes(labels, n_rows)
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes ({_listing(classes)}), but this score compares one category with "
            "the rest: pass labels of two values or a 0/1 indicator with one column per category"
        )
    # One class only: no contrast, whichever way it is coded, so every score is 0.
    return Indicator(sp.csr_array((codes == len(classes) - 1).astype(np.float64)[:, None]), flat=True)


def class_indicator(y: Any, n_rows: int) -> Indicator:
    """Read labels of any number of classes, one indicator column each, or a multi-label indicator."""
    labels = _as_array(y)
    if sp.issparse(labels) or labels.ndim == 2:
        return Indicator(_indicator(labels, n_rows), flat=False)
    classes, codes = _classes(labels, n_rows)
    if classes.dtype.kind == "f" and len(classes) > 2 and np.any(classes != np.floor(classes)):
        raise ValueError(
            f"y holds {len(classes)} different real numbers ({_listing(classes)}); class labels are expected"
        )
    rows = np.arange(n_rows + 1)
    return Indicator(sp.csr_array((np.ones(n_rows), codes, rows), shape=(n_rows, len(classes))), flat=True)


def refuse_missing(y: Any) -> None:
    """Raise an error if labels, one per row, hold None, NaN or another mark of a missing value.

    It looks at ``y`` as it was given: of a list of strings and a NaN, numpy makes the string "nan".
    """
    if sp.issparse(y):
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
    if sp.issparse(y):
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


def _indicator(labels: Any, n_rows: int) -> sp.csr_array:
    """Return a two-dimensional 0/1 indicator as float64 CSR."""
    _check_length(labels.shape[0], n_rows)
    if labels.dtype.kind not in "buifO":
        raise ValueError(f"y is a two-dimensional array of {labels.dtype}; expected a 0/1 indicator")
    try:
        indicator = sp.csr_array(labels.astype(np.float64))
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
