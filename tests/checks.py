"""What every estimator promises, as checks that take an estimator and its data; ``test_checks`` tries all on all.

They add to scikit-learn's own checks what this package promises beyond them: one protocol of scores and probabilities,
weights that are repetitions, the same model from sparse, dense, narrow and framed data, from any number of threads and
after a stay in a file.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

import bayesift

#: How far apart two fits of the same problem may end, given how tightly the cases make solvers stop.
CLOSE = {"rtol": 1e-4, "atol": 1e-6}


@dataclass(frozen=True)
class Case:
    """An estimator with data it can learn from.

    ``in_order``: where the order of the documents matters; ``by_folds``: where documents are held out, and are put
    into folds by the numbers of their features.
    """

    name: str
    estimator: BaseEstimator
    X: Any
    y: Any
    in_order: bool = False
    by_folds: bool = False

    def fitted(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Return a fitted copy, of other data where given."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clone(self.estimator).fit(self.X if X is None else X, self.y if y is None else y, **options)

    @property
    def takes_sparse(self) -> bool:
        return bool(get_tags(self.estimator).input_tags.sparse)


def answers(model: Any, X: Any) -> np.ndarray:
    """Return what a model says of documents: probabilities, predictions of numbers, or selected columns."""
    for method in ("predict_proba", "predict", "transform"):
        if hasattr(model, method):
            found = getattr(model, method)(X)
            return found.toarray() if sp.issparse(found) else np.asarray(found)
    raise AssertionError(f"{type(model).__name__} says nothing")


def check_parameters_stay_as_they_were_given(case: Case) -> None:
    before = dict(case.estimator.get_params(deep=False).items())
    model = case.fitted()
    for name, value in model.get_params(deep=False).items():
        assert value is before[name] or repr(value) == repr(before[name]), name
    assert repr(clone(case.estimator)) == repr(case.estimator)


def check_input_is_not_altered(case: Case) -> None:
    for convert in (np.array, sp.csr_matrix) if case.takes_sparse else (np.array,):
        X, y = convert(case.X), np.array(case.y)
        kept = X.copy()
        answers(case.fitted(X, y), X)
        assert (abs(X - kept).max() if sp.issparse(X) else np.abs(X - kept).max()) == 0
        assert_array_equal(y, case.y)


def check_sparse_equals_dense(case: Case) -> None:
    if not case.takes_sparse:
        return
    expected = answers(case.fitted(), case.X)
    for form in (sp.csr_matrix, sp.csc_matrix, sp.csr_array):
        assert_allclose(answers(case.fitted(form(case.X)), form(case.X)), expected, **CLOSE)


def check_repeated_entries_are_summed_elsewhere(case: Case) -> None:
    """Half an entry twice, in no order, and zeros that are stored: all in arrays that nobody can write to."""
    if not case.takes_sparse:
        return
    n_rows, n_columns = case.X.shape
    halves = np.hstack([case.X, case.X])[:, ::-1] / 2
    columns = np.tile(np.arange(n_columns)[::-1], 2 * n_rows)
    for number in (np.int32, np.int64):
        form = sp.csr_matrix(case.X.shape)
        form.data, form.indices = halves.ravel(), columns.astype(number)
        form.indptr = (2 * n_columns * np.arange(n_rows + 1)).astype(number)
        for array in (form.data, form.indices, form.indptr):
            array.flags.writeable = False
        assert_allclose(answers(case.fitted(form), form), answers(case.fitted(), case.X), **CLOSE)


def check_stored_zeros_of_an_indicator_matrix_stay(case: Case) -> None:
    if np.ndim(case.y) != 2:
        return
    stored = sp.csr_matrix(np.ones_like(case.y))
    stored.data = case.y.astype(float).ravel()
    for y in (stored, stored.tocsc()):
        for array in (y.data, y.indices, y.indptr):
            array.flags.writeable = False
        assert_allclose(answers(case.fitted(y=y), case.X), answers(case.fitted(), case.X), **CLOSE)


def check_a_weight_of_two_is_two_documents(case: Case) -> None:
    weight = np.where(np.arange(len(case.y)) % 3 == 0, 2, 1)
    twice = case.fitted(np.repeat(case.X, weight, axis=0), np.repeat(case.y, weight, axis=0))
    weighted = case.fitted(sample_weight=weight.astype(float))
    assert_allclose(answers(weighted, case.X), answers(twice, case.X), **CLOSE)


def check_a_weight_of_zero_is_no_document(case: Case) -> None:
    weight = np.where(np.arange(len(case.y)) % 4 == 0, 0.0, 1.0)
    without = case.fitted(case.X[weight > 0], case.y[weight > 0])
    weighted = case.fitted(sample_weight=weight)
    assert_allclose(answers(weighted, case.X), answers(without, case.X), **CLOSE)


def check_order_of_documents_does_not_matter(case: Case) -> None:
    if case.in_order:
        return
    order = np.random.default_rng(3).permutation(len(case.y))
    shuffled = case.fitted(case.X[order], case.y[order])
    assert_allclose(answers(shuffled, case.X), answers(case.fitted(), case.X), **CLOSE)


def check_order_of_features_does_not_matter(case: Case) -> None:
    order = np.random.default_rng(4).permutation(case.X.shape[1])
    if case.by_folds or hasattr(case.estimator, "parts"):
        return  # folds go by them, parts name them
    shuffled, expected = answers(case.fitted(case.X[:, order]), case.X[:, order]), answers(case.fitted(), case.X)
    if not hasattr(case.estimator, "predict"):
        shuffled, expected = np.sort(shuffled, axis=1), np.sort(expected, axis=1)
    assert_allclose(shuffled, expected, **CLOSE)


def check_a_stay_in_a_file_changes_nothing(case: Case, folder: Any) -> None:
    model = case.fitted()
    bayesift.save(model, folder / "model.bayesift")
    loaded = bayesift.load(folder / "model.bayesift")
    assert type(loaded) is type(model)
    assert_array_equal(answers(loaded, case.X), answers(model, case.X))


def check_a_fit_that_fails_changes_nothing(case: Case) -> None:
    """Or else weights for some columns would be used with as many as the other documents have."""
    model = case.fitted()
    before, expected = dict(vars(model)), answers(model, case.X)
    wider = sp.hstack([case.X, case.X]).tocsr() if sp.issparse(case.X) else np.hstack([case.X, case.X])
    # Columns are counted before weights are looked at.
    takes_weights = "sample_weight" in inspect.signature(model.fit).parameters
    bad = {"sample_weight": np.full(wider.shape[0], -1.0)} if takes_weights else {"y": case.y[:-1]}
    with pytest.raises(ValueError, match=r".+"):
        model.fit(wider, **{"y": case.y} | bad)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert_array_equal(answers(model, case.X), expected)


def check_narrow_numbers(case: Case) -> None:
    narrow = case.X.astype(np.float32)
    model = case.fitted(narrow)
    assert_allclose(answers(model, narrow), answers(case.fitted(), case.X), **CLOSE)
    assert answers(model, narrow).dtype != np.float32 or not hasattr(model, "predict")


def check_data_frames(case: Case) -> None:
    names = [f"term {j}" for j in range(case.X.shape[1])]
    expected = answers(case.fitted(), case.X)
    for frame in (pd.DataFrame(case.X, columns=names), pl.DataFrame(case.X, schema=names)):
        if case.y.ndim == 1:
            model = case.fitted(frame)
            assert_allclose(answers(model, frame), expected, **CLOSE)
            assert list(model.feature_names_in_) == names


def check_the_same_bits_again(case: Case) -> None:
    assert_array_equal(answers(case.fitted(), case.X), answers(case.fitted(), case.X))


def check_threads_do_not_matter(case: Case) -> None:
    if "n_jobs" not in case.estimator.get_params():
        return
    one, two = (clone(case.estimator).set_params(n_jobs=n).fit(case.X, case.y) for n in (1, 2))
    assert_array_equal(answers(one, case.X), answers(two, case.X))


def check_the_protocol_of_a_classifier(case: Case) -> None:
    if not is_classifier(case.estimator):
        return
    model = case.fitted()
    flat, n_classes = case.y.ndim == 1, len(model.classes_)
    expected = ("binary" if n_classes == 2 else "multiclass") if flat else "multilabel-indicator"
    assert model.target_type_ == expected
    scores, probabilities = model.decision_function(case.X), model.predict_proba(case.X)
    n = len(case.X)
    assert scores.shape == ((n,) if expected == "binary" else (n, n_classes))
    assert probabilities.shape == (n, n_classes)
    if flat:
        assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_allclose(model.scores_to_log_proba(scores), model.predict_log_proba(case.X), rtol=1e-9, atol=1e-12)
    assert_allclose(np.exp(model.predict_log_proba(case.X)), probabilities)
    weights = model.word_weights()
    assert weights is None or weights.shape == (1 if expected == "binary" else n_classes, case.X.shape[1])


def check_ties_are_a_yes(case: Case) -> None:
    if not is_classifier(case.estimator) or len(np.unique(case.y)) > 2:
        return  # of several classes the first wins, by argmax
    model = case.fitted()
    level = model.threshold_.thresholds_ if hasattr(model, "threshold_") else 0.0
    shape = model.decision_function(case.X).shape
    model.decision_function = lambda X: np.broadcast_to(level, shape).astype(float)
    assert np.all(model.predict(case.X) == (1 if case.y.ndim == 2 else model.classes_[1]))


def check_the_certificate(case: Case) -> None:
    model = case.fitted()
    if not hasattr(model, "certificate_"):
        assert not {"solver", "tol"} & set(case.estimator.get_params()), "an iterative fit without a certificate"
        return
    certificate = model.certificate_
    assert np.all(np.isfinite(certificate.objective))
    assert np.all(certificate.converged)
    assert np.all(np.asarray(certificate.seconds) >= 0)


def check_weights_are_routed(case: Case) -> None:
    if "sample_weight" not in inspect.signature(case.estimator.fit).parameters or case.y.ndim == 2:
        return
    weight = np.ones(len(case.y))
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = clone(case.estimator).set_fit_request(sample_weight=True)
        if hasattr(asked, "score"):
            asked = asked.set_score_request(sample_weight=False)
            GridSearchCV(asked, {}, cv=2, error_score="raise").fit(case.X, case.y, sample_weight=weight)
        pipeline = Pipeline([("same", FunctionTransformer(accept_sparse=True)), ("model", asked)])
        pipeline.fit(case.X, case.y, sample_weight=weight)


#: Words that other estimators say otherwise, and what they say.
RETIRED = {
    "method": "solver",
    "epsilon": "tol",
    "tolerance": "tol, or a name that says of what",
    "progress": "bayesift.progress.callback",
    "feature_names": "fit(X, y, feature_names=…)",
    "bias": "fit_intercept",
    "score": "score_func",
    "several": "a word of scikit-learn's",
}


def check_the_language(case: Case) -> None:
    for name in case.estimator.get_params(deep=False):
        assert name not in RETIRED, f"{name}: say {RETIRED[name]}"


CHECKS: list[Callable[..., None]] = [
    function for name, function in sorted(globals().items()) if name.startswith("check_")
]
