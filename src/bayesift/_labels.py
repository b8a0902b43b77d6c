"""Labels of any kind as categories: one column of −1 and +1 for each classifier to train."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from bayesift._typing import AnyArray, FloatArray, Int64Array

#: What labels are, in scikit-learn's words: one of two, one of several, or any number of them.
TargetType = Literal["binary", "multiclass", "multilabel-indicator"]


class Categories(NamedTuple):
    """What was found in ``y``.

    ``classes`` are the labels (column numbers for an indicator matrix); ``members`` lists for each category to train
    the documents in it: one for two classes (the greater label), else one for each class.
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
    """Refuse strings among labels of another type, which numpy would turn into strings without a word."""
    kind = getattr(getattr(y, "dtype", None), "kind", None)
    if isinstance(y, (list, tuple)) or (kind == "O" and getattr(y, "ndim", 0) == 1):
        kinds = {type(label).__name__: isinstance(label, str) for label in y}
        if len(set(kinds.values())) == 2:
            raise ValueError(f"y mixes labels of the types {', '.join(sorted(kinds))}; expected labels of one type")


def validate_documents(
    estimator: Any, X: Any, y: Any, *, accept_sparse: Any = ("csr", "csc"), reset: bool = True, **options: Any
) -> tuple[Any, Any]:
    """Check documents and their labels together; return both, a single column of labels as a flat array.

    ``options`` are those of scikit-learn's ``validate_data``.
    """
    check_label_types(y)
    X, y = validate_data(
        estimator, X, y, accept_sparse=accept_sparse, dtype=np.float64, multi_output=True, reset=reset, **options
    )
    return X, flat_labels(y)


def flat_labels(y: Any) -> Any:
    """Return a single column of labels as a flat array, with scikit-learn's warning; anything else as it is."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        return y.toarray().ravel() if sp.issparse(y) else column_or_1d(y, warn=True)
    return y


def two_classes(y: Any, name: str) -> tuple[AnyArray, FloatArray]:
    """Read labels of two values; return these in order, and −1 and +1 for them."""
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
        indicator = sp.csc_matrix(y)
        indicator.eliminate_zeros()
        members = [
            np.sort(indicator.indices[begin:end]).astype(np.int64)
            for begin, end in zip(indicator.indptr[:-1], indicator.indptr[1:], strict=True)
        ]
        return Categories("multilabel-indicator", np.arange(indicator.shape[1]), members, indicator.shape[0])
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size < 2:
        raise ValueError(f"{name} needs samples of at least two classes, but y has one class only: {classes[0]!r}")
    if classes.size == 2:
        return Categories("binary", classes, [np.flatnonzero(codes == 1)], codes.size)
    members = [np.flatnonzero(codes == code) for code in range(classes.size)]
    return Categories("multiclass", classes, members, codes.size)


def batch_categories(y: Any, classes: Any, target_type: TargetType | None, name: str) -> Categories:
    """Read the labels of one batch of documents, in which some classes may be missing.

    ``classes`` are all labels that can occur and ``target_type`` is what earlier batches were, if there were any.
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
        raise ValueError(f"{name} needs at least two classes, but classes has one only: {known[0]!r}")
    unknown = np.setdiff1d(y, known)
    if unknown.size:
        raise ValueError(f"y holds {unknown[0]!r}, which is none of the classes {known.tolist()}")
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
