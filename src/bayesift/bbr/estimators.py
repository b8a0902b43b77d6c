"""Convert the content of a model file to a fitted estimator, and back, without loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from bayesift._typing import FloatArray
from bayesift.bbr.binary_model import BinaryModel
from bayesift.bbr.data import Data
from bayesift.bbr.polytomous_model import ClassCoefficients, Feature, PolytomousModel
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression

Estimator = BayesianLogisticRegression | BayesianMultinomialRegression


@overload
def to_estimator(model: BinaryModel, n_features: int | None = ...) -> BayesianLogisticRegression: ...
@overload
def to_estimator(model: PolytomousModel, n_features: int | None = ...) -> BayesianMultinomialRegression: ...
def to_estimator(model: BinaryModel | PolytomousModel, n_features: int | None = None) -> Estimator:
    """Make a fitted estimator with the coefficients (and threshold) of a model file.

    Feature ``id`` becomes column ``id - 1``; the words of a symbolic model become columns in the order of
    ``model.features``. If ``cosine_normalize`` is set, documents must be scaled to
    length 1 before they are passed to the estimator, as :func:`model_matrix` does.

    Parameters
    ----------
    model : BinaryModel or PolytomousModel
        The classes of a binary model are -1 and 1.
    n_features : int, optional
        Number of columns; by default up to the largest id that the model names.

    Returns
    -------
    BayesianLogisticRegression or BayesianMultinomialRegression
        Without the attributes that describe how it was fitted, such as ``certificate_``.

    Examples
    --------
    >>> from bayesift.bbr import BinaryModel, to_estimator
    >>> estimator = to_estimator(BinaryModel(features=(2,), coefficients=(1.5,), intercept=-1.0))
    >>> estimator.predict([[0.0, 1.0], [0.0, 0.0]]).tolist()
    [1, -1]
    """
    columns, width = _columns(model, n_features)
    if isinstance(model, BinaryModel):
        coef = np.zeros((1, width))
        coef[0, [columns[feature] for feature in model.features]] = model.coefficients
        return BayesianLogisticRegression.from_coefficients(
            coef, [model.intercept], classes=[-1, 1], thresholds=model.log_odds_threshold, variance=1.0
        )
    reference = None if model.reference_class is None else _label(model.reference_class, model.class_names)
    found = {_label(one.class_name, model.class_names): one for one in model.classes}
    classes = np.unique(np.array(list(found)))
    coef = np.zeros((classes.size, width))
    for row, label in zip(coef, classes.tolist(), strict=True):
        row[[columns[feature] for feature in found[label].features]] = found[label].coefficients
    intercepts = [found[label].intercept for label in classes.tolist()]
    return BayesianMultinomialRegression.from_coefficients(
        coef, intercepts, classes=classes, variance=1.0, reference_class=reference
    )


@overload
def from_estimator(
    estimator: BayesianLogisticRegression, template: BinaryModel | None = ..., feature_names: None = ...
) -> BinaryModel: ...
@overload
def from_estimator(
    estimator: BayesianMultinomialRegression,
    template: PolytomousModel | None = ...,
    feature_names: Sequence[str] | None = ...,
) -> PolytomousModel: ...
def from_estimator(
    estimator: Any, template: Any = None, feature_names: Sequence[str] | None = None
) -> BinaryModel | PolytomousModel:
    """Return the content of a model file for a fitted estimator.

    Parameters
    ----------
    estimator : BayesianLogisticRegression or BayesianMultinomialRegression
        Fitted; the former to two classes, of which the greater is the topic.
    template : BinaryModel or PolytomousModel, optional
        Source of what an estimator does not have: names, codes, the order of classes and features. With the model that
        :func:`to_estimator` was given, that model is returned unchanged.
    feature_names : sequence of str, optional
        The words of the columns of a BayesianMultinomialRegression; by default those of a template with words,
        otherwise columns are numbered.

    Returns
    -------
    BinaryModel or PolytomousModel
        The former for a BayesianLogisticRegression.
    """
    if isinstance(estimator, BayesianLogisticRegression):
        return _binary(estimator, template or BinaryModel((), (), 0.0))
    if isinstance(estimator, BayesianMultinomialRegression):
        return _polytomous(estimator, template or PolytomousModel(()), feature_names)
    raise TypeError(
        f"estimator is a {type(estimator).__name__}; expected BayesianLogisticRegression or "
        "BayesianMultinomialRegression"
    )


def model_matrix(model: BinaryModel | PolytomousModel, data: Data) -> sp.csr_matrix:
    """Arrange documents in the columns of :func:`to_estimator`, scaled to length 1 if the model asks for that.

    Parameters
    ----------
    model : BinaryModel or PolytomousModel
    data : Data

    Returns
    -------
    csr_matrix
        Features that the model was not trained on are left out before documents are scaled.
    """
    features, compact = _compact(model, data)
    if _is_symbolic(model):
        return compact
    columns = np.array(features, dtype=np.int64) - 1
    width = _columns(model, None)[1]
    return sp.csr_matrix((compact.data, columns[compact.indices], compact.indptr), shape=(compact.shape[0], width))


def linear_scores(model: BinaryModel | PolytomousModel, data: Data) -> FloatArray:
    """Score documents: constant plus coefficients times values.

    Parameters
    ----------
    model, data : BinaryModel or PolytomousModel, and Data

    Returns
    -------
    array of shape (n_documents,) for a binary model, else (n_documents, n_classes)
        Classes in the order of the model.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import BinaryModel, linear_scores, read_data
    >>> model = BinaryModel(features=(2,), coefficients=(1.5,), intercept=-1.0)
    >>> linear_scores(model, read_data(BytesIO(b"1 2:3")))
    array([3.5])
    """
    features, matrix = _compact(model, data)
    place = {feature: number for number, feature in enumerate(features)}
    rows: list[Any] = [model] if isinstance(model, BinaryModel) else list(model.classes)
    coef = np.zeros((len(features), len(rows)))
    for number, row in enumerate(rows):
        coef[[place[feature] for feature in row.features], number] = row.coefficients
    scores = matrix @ coef + np.array([row.intercept for row in rows])
    return scores[:, 0] if isinstance(model, BinaryModel) else scores


def _compact(model: BinaryModel | PolytomousModel, data: Data) -> tuple[list[Any], sp.csr_matrix]:
    """Return the features that a model was trained on and the documents in these columns, scaled if it asks for it."""
    features = _trained_on(model)
    X = data.X
    if data.names is None and not _is_symbolic(model):
        ids = np.array(features, dtype=np.int64)
        place = np.searchsorted(ids, X.indices + np.int64(1))
        known = np.append(ids, 0)[place] == X.indices + np.int64(1)
    else:
        names = data.names if data.names is not None else map(str, range(1, X.shape[1] + 1))
        column_of = {str(feature): column for column, feature in enumerate(features)}
        place = np.array([column_of.get(name, -1) for name in names], dtype=np.int64)[X.indices]
        known = place >= 0
    indptr = np.append(0, np.cumsum(known))[X.indptr]
    matrix = sp.csr_matrix((X.data[known], place[known], indptr), shape=(X.shape[0], len(features)))
    header = model if isinstance(model, BinaryModel) else model.header
    return features, normalize(matrix) if header is not None and header.cosine_normalize else matrix


def _trained_on(model: BinaryModel | PolytomousModel) -> list[Any]:
    """List the features that a model was trained on or has coefficients for; ids are ascending."""
    listed: tuple[Any, ...] = model.features
    if isinstance(model, BinaryModel):
        listed += model.restricted_to or ()
    elif model.header is not None:
        listed += model.header.trained_on
    return list(dict.fromkeys(listed)) if _is_symbolic(model) else sorted(set(listed))


def _is_symbolic(model: BinaryModel | PolytomousModel) -> bool:
    return isinstance(model, PolytomousModel) and model.symbolic


def _columns(model: BinaryModel | PolytomousModel, n_features: int | None) -> tuple[dict[Feature, int], int]:
    """Return the column of each feature that the model was trained on, and the number of columns."""
    features = _trained_on(model)
    if _is_symbolic(model):
        return {feature: column for column, feature in enumerate(features)}, len(features)
    needed = features[-1] if features else 0
    if n_features is not None and n_features < needed:
        raise ValueError(f"n_features is {n_features}; expected at least {needed}, the greatest feature of the model")
    # There is no estimator without columns.
    width = max(1, needed) if n_features is None else n_features
    return {feature: feature - 1 for feature in features}, width


def _label(name: str, names: tuple[str, ...]) -> int | str:
    """Return the label of a class: an integer if all classes are whole numbers as Python writes them."""
    return int(name) if all(_is_whole(other) for other in names) else name


def _is_whole(name: str) -> bool:
    return name.lstrip("-").isascii() and name.lstrip("-").isdigit() and str(int(name)) == name


def _dense(coef: Any) -> FloatArray:
    return coef.toarray() if sp.issparse(coef) else coef


def _binary(estimator: BayesianLogisticRegression, template: BinaryModel) -> BinaryModel:
    weights, intercept = estimator.linear_scores() or (estimator.coef_, estimator.intercept_)
    coef = _dense(weights)
    if coef.shape[0] != 1:
        raise ValueError(f"estimator has {coef.shape[0]} categories; expected two classes, for which there is one")
    kept = _listed(coef[0], [feature - 1 for feature in template.features])
    threshold = float(estimator.threshold_.thresholds_[0])
    model = replace(
        template,
        features=tuple(column + 1 for column in kept),
        coefficients=tuple(coef[0, kept].tolist()),
        intercept=float(intercept[0]),
    )
    if threshold == template.log_odds_threshold:
        return model
    return replace(model, threshold=threshold, threshold_unit="log_odds")


def _polytomous(
    estimator: BayesianMultinomialRegression, template: PolytomousModel, names: Sequence[str] | None
) -> PolytomousModel:
    # A calibrated softmax has one factor for all classes.
    factor = getattr(estimator, "calibration_", np.ones((1, 2)))[0, 0]
    coef, intercept = factor * _dense(estimator.class_coef_), factor * estimator.class_intercept_
    if names is None and template.symbolic:
        names = [str(feature) for feature in _trained_on(template)]
    labels = [str(label) for label in estimator.classes_.tolist()]
    before = {found.class_name: found for found in template.classes}
    order = [name for name in before if name in labels] + [label for label in labels if label not in before]
    features: list[Any] = list(range(1, coef.shape[1] + 1)) if names is None else list(names)
    column_of = {feature: column for column, feature in enumerate(features)}
    classes = []
    for name in order:
        row = labels.index(name)
        known = before[name].features if name in before else ()
        kept = _listed(coef[row], [column_of[feature] for feature in known], in_order=True)
        chosen = tuple(features[column] for column in kept)
        classes.append(ClassCoefficients(name, chosen, tuple(coef[row, kept].tolist()), float(intercept[row])))
    reference = None if estimator.reference_class is None else str(estimator.reference_class)
    return replace(template, classes=tuple(classes), symbolic=names is not None, reference_class=reference)


def _listed(coef: FloatArray, before: list[int], in_order: bool = False) -> list[int]:
    """Return the columns to list: non-zero ones and those that were listed before."""
    others = sorted(set(np.flatnonzero(coef).tolist()) - set(before))
    return [*before, *others] if in_order else sorted([*before, *others])
