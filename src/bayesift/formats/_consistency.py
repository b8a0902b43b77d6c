"""Whether the parts of a loaded model fit together.

Compiled kernels do not ask whether an index lies within an array. What they get from a fitted model is therefore
looked at once here: shapes, and numbers that serve as indices. Only shapes are looked at, so it takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

#: No machine has more cores; a file must not be able to start threads without end.
_THREADS = 4096

Shape = tuple[int | None, ...]


def check_model(model: Any) -> None:
    """Refuse a model whose parts do not fit together, with a ValueError."""
    for part in _parts(model, set()):
        _check_attributes(part)
        if isinstance(part, BaseEstimator):
            missing = [name for name in type(part)._get_param_names() if not _has(part, name)]
            if missing:
                raise ValueError(f"{type(part).__name__} has no {missing[0]}")
        elif is_dataclass(part):
            # The constructor has its own rules.
            replace(part)  # type: ignore[type-var]
        check = _CHECKS.get(type(part).__name__)
        if check is not None:
            try:
                check(part)
            except (AttributeError, IndexError, TypeError) as error:
                raise ValueError(f"{type(part).__name__} has parts that do not fit together: {error}") from error


def _check_attributes(part: Any) -> None:
    """Refuse attributes that take the place of a method, and so of what a method would have checked."""
    for name in vars(part) if hasattr(part, "__dict__") else ():
        if callable(getattr(type(part), name, None)):
            raise ValueError(f"{type(part).__name__} has an attribute in place of its method {name}")
    n_jobs: Any = getattr(part, "n_jobs", None)
    if n_jobs is not None and not (isinstance(n_jobs, (int, np.integer)) and abs(int(n_jobs)) <= _THREADS):
        raise ValueError(f"n_jobs of {type(part).__name__} is {n_jobs!r}; expected at most {_THREADS}")


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """List all objects within an object, the innermost first, each once."""
    if isinstance(value, dict):
        inner = [*value, *value.values()]
    elif isinstance(value, (list, tuple)):
        inner = list(value)
    elif type(value).__module__.startswith(("bayesift.", "sklearn.")) and hasattr(value, "__dict__"):
        inner = list(vars(value).values())
    elif isinstance(value, np.ndarray) and value.dtype == object:
        inner = value.ravel().tolist()
    else:
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    for part in inner:
        yield from _parts(part, seen)
    yield value


def _has(part: Any, name: str) -> bool:
    # A parameter may be kept under a private name, where scikit-learn would take it for a method.
    return name in vars(part) or f"_{name}" in vars(part)


def _shaped(part: Any, name: str, shape: Shape, kinds: str = "f") -> None:
    """Refuse an attribute that is no array of this shape (None: any length) and kind of numbers."""
    array: Any = getattr(part, name, None)
    fits = (
        (isinstance(array, np.ndarray) or sp.issparse(array))
        and array.dtype.kind in kinds
        and array.ndim == len(shape)
        and all(expected in (None, found) for expected, found in zip(shape, array.shape, strict=True))
    )
    if not fits:
        found = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"{name} of {type(part).__name__} is {found}; expected {list(shape)}")


def _demand(holds: bool, part: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"{type(part).__name__} has {what} that do not fit together")


def _count(part: Any, name: str) -> int:
    value = getattr(part, name, None)
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} of {type(part).__name__} is {value!r}; expected a number of things")
    return int(value)


def _vectorizer(part: Any) -> None:
    if not hasattr(part, "n_documents_"):
        return
    _count(part, "n_documents_")
    if part.n_features is not None:
        _shaped(part, "document_frequency_", (_count(part, "n_features"),), "iu")
        return
    terms = part.vocabulary_
    _demand(isinstance(terms, dict) and all(isinstance(term, str) for term in terms), part, "terms")
    columns = np.fromiter(terms.values(), dtype=np.int64, count=len(terms))
    _demand(np.array_equal(np.sort(columns), np.arange(len(terms))), part, "terms and columns")
    _shaped(part, "document_frequency_", (len(terms),), "iu")
    _demand(isinstance(part.stop_words_, frozenset), part, "stop words")


def _selector(part: Any) -> None:
    if hasattr(part, "scores_"):
        _shaped(part, "scores_", (_count(part, "n_features_in_"),))


def _threshold(part: Any) -> None:
    if hasattr(part, "thresholds_"):
        _shaped(part, "thresholds_", (None,))


def _linear(part: Any) -> None:
    if not hasattr(part, "coef_"):
        return
    _shaped(part, "classes_", (None,), "biufUSO")
    _shaped(part, "coef_", (None, _count(part, "n_features_in_")))
    n_rows = part.coef_.shape[0]
    _shaped(part, "intercept_", (n_rows,))
    kind = getattr(part, "target_type_", "softmax")
    expected = {"binary": (2, 1), "softmax": (part.classes_.size, part.classes_.size)}
    _demand((part.classes_.size, n_rows) == expected.get(kind, (n_rows, n_rows)), part, "classes and coefficients")


def _relevance(part: Any) -> None:
    if not hasattr(part, "coef_"):
        return
    _shaped(part, "relevant_", (part.coef_.shape[-1],), "b")
    if getattr(part, "kernel", None) is None:
        _demand(part.coef_.shape[-1] == _count(part, "n_features_in_"), part, "coefficients and features")
    elif sp.issparse(getattr(part, "relevance_vectors_", None)):
        _demand(part.relevance_vectors_.shape[1] == _count(part, "n_features_in_"), part, "vectors and features")


def _layout(part: Any) -> None:
    _demand(isinstance(part.multilabel, bool) and _count(part, "n") > 0, part, "groups")


def _words(part: Any) -> None:
    n = _count(part, "n_features")
    _shaped(part, "alpha", (n,))
    _shaped(part, "words", (n, part.layout.n_sums))
    _shaped(part, "sizes", (2, part.layout.n_sums))


def _presence(part: Any) -> None:
    n = _count(part, "n_features")
    for name in ("a", "b"):
        _shaped(part, name, (n,))
    _shaped(part, "present", (n, part.layout.n_sums))
    _shaped(part, "documents", (part.layout.n_sums,))
    if part.missing is not None:
        _shaped(part, "missing", (n, part.layout.n_sums))


def _values(part: Any) -> None:
    n = _count(part, "n_features")
    _shaped(part, "alpha", (n,))
    shapes = [np.shape(table)[1:] for table in part.counts]
    _demand(shapes == [(part.layout.n_sums,)] * n, part, "counts")


def _numbers(part: Any) -> None:
    n = _count(part, "n_features")
    for name in ("count", "mean", "squares"):
        _shaped(part, name, (part.layout.n_groups, n))
    _demand([np.shape(table) for table in part.overall] == [(1, n)] * 3, part, "sums")


def _side_by_side(part: Any) -> None:
    for model, likelihood, columns in zip(part.models, part.parts, part.columns, strict=True):
        _demand(type(likelihood).__name__ == _LIKELIHOODS.get(type(model).__name__), part, "parts")
        _demand(
            _are_columns(columns, _count(part, "n_features")) and likelihood.n_features == columns.size, part, "columns"
        )
        _demand(likelihood.layout == part.layout, part, "groups")


def _naive_bayes(part: Any) -> None:
    if not hasattr(part, "_likelihood"):
        return
    own = part._likelihood
    _demand(type(own).__name__ == _LIKELIHOODS[type(part).__name__], part, "parts")
    _demand(own.n_features == _count(part, "n_features_in_") and own.layout == part._layout, part, "features")
    _shaped(part, "_weights", (part._layout.n_sums,))
    _groups(part)


def _dcm(part: Any) -> None:
    if not hasattr(part, "_alpha"):
        return
    _shaped(part, "_alpha", (_count(part, "n_features_in_"), part._layout.n_groups))
    _shaped(part, "_mean_lengths", (part._layout.n_groups,))
    _demand(np.shape(part._bounds) == (2,), part, "bounds")
    _groups(part)


def _groups(part: Any) -> None:
    _shaped(part, "classes_", (part._layout.n,), "biufUSO")
    n_tasks, n_classes = part._layout.tasks
    _shaped(part, "class_count_", (n_tasks, n_classes) if part._layout.multilabel else (n_classes,))
    _demand(part.target_type_ == part._layout.target_type, part, "targets and classes")


def _perceptron(part: Any) -> None:
    for columns, belief in _beliefs(part, "Belief"):
        size = (part.n_features_in_ if columns is None else columns.size) + bool(part.bias)
        _shaped(belief, "mean", (size,))
        C = belief.covariance
        if type(C).__name__ == "LowRank":
            _shaped(C, "precision", (size,))
            _shaped(C, "factor", (size, None))
            width = C.factor.shape[1]
            _shaped(C, "cholesky", (width, width))
            _demand(_count(C, "used") <= width, C, "columns")
            continue
        _demand(np.shape(C) in ((size,), (size, size)) and C.dtype.kind == "f", belief, "weights")
        if belief.drift is not None:
            _shaped(belief.drift, "mean", (size,))
            _shaped(belief.drift, "covariance", C.shape)


def _process(part: Any) -> None:
    for columns, belief in _beliefs(part, "ProcessBelief"):
        _shaped(belief, "mean", (None,))
        size = belief.mean.size
        for name in ("cholesky", "inverse", "covariance"):
            _shaped(belief, name, (size, size))
        width = part.n_features_in_ if columns is None else columns.size
        _demand(sp.issparse(belief.basis) and belief.basis.shape == (size, width), belief, "inputs")


def _beliefs(part: Any, kind: str) -> Iterator[tuple[Any, Any]]:
    """List the columns of each category with the belief about it."""
    if not hasattr(part, "states_"):
        return
    n = _count(part, "n_features_in_")
    _shaped(part, "classes_", (None,), "biufUSO")
    expected = 1 if part.target_type_ == "binary" else part.classes_.size
    _demand(len(part.columns_) == len(part.states_) == expected, part, "classes and beliefs")
    for columns, belief in zip(part.columns_, part.states_, strict=True):
        _demand(type(belief).__name__ == kind and (columns is None or _are_columns(columns, n)), part, "columns")
        yield columns, belief


def _are_columns(columns: Any, n_features: int) -> bool:
    """Tell whether an array lists different columns."""
    if not isinstance(columns, np.ndarray) or columns.ndim != 1 or columns.dtype.kind not in "iu":
        return False
    distinct = np.unique(columns)
    return distinct.size == columns.size and bool(np.all((distinct >= 0) & (distinct < n_features)))


_LIKELIHOODS = {
    "BernoulliNB": "BernoulliLikelihood",
    "CategoricalNB": "CategoricalLikelihood",
    "GaussianNB": "GaussianLikelihood",
    "MixedNB": "MixedLikelihood",
    "MultinomialNB": "MultinomialLikelihood",
}

_CHECKS: dict[str, Callable[[Any], None]] = {
    "BayesianLogisticRegression": _linear,
    "BayesianMultinomialRegression": _linear,
    "BayesianPerceptron": _perceptron,
    "BayesianProbitRegression": _linear,
    "BernoulliLikelihood": _presence,
    "CategoricalLikelihood": _values,
    "DirichletCompoundMultinomial": _dcm,
    "GaussianLikelihood": _numbers,
    "Layout": _layout,
    "MixedLikelihood": _side_by_side,
    "MultinomialLikelihood": _words,
    "OnlineGaussianProcess": _process,
    "RelevanceTaggingMachine": _relevance,
    "RelevanceVectorMachine": _relevance,
    "RelevanceVectorRegressor": _relevance,
    "TermSelector": _selector,
    "TextVectorizer": _vectorizer,
    "Threshold": _threshold,
} | dict.fromkeys(_LIKELIHOODS, _naive_bayes)
