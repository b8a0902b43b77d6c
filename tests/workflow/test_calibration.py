"""Calibrated classifiers of texts: one line through scores, reasons, files, updates, conversions and services."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayesift
from bayesift.bbr import to_estimator
from bayesift.bbr.estimators import from_estimator
from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.workflow import TextClassifier, evaluate, model_info, update
from bayesift.workflow._plain_pipeline import plain_pipeline

NEWS = load("newsroom")
TEXTS, TEST = NEWS.train.texts, NEWS.test.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TWO = ["yes" if label == "sport" else "no" for label in ONE]
LABELS = {"two": TWO, "one of many": ONE, "sets": NEWS.train.labels}


@cache
def fitted(model="ridge", labels="one of many", **options):
    """A classifier, which no test changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TextClassifier(model, variance=5.0, **{"calibration": "auto", **options}).fit(TEXTS, LABELS[labels])


@pytest.fixture(scope="module", params=LABELS)
def classifier(request):
    return fitted(labels=request.param)


def test_auto_calibrates_models_of_all_words_by_many_texts(classifier):
    assert classifier.model_.calibration == "sigmoid"
    plain = fitted(labels="sets", calibration=None)
    assert not hasattr(plain.model_, "calibration_")
    assert fitted("nb").model_.get_params().get("calibration") is None
    few = TextClassifier("ridge", variance=5.0, calibration="auto").fit(TEXTS[:60], ONE[:60])
    assert few.model_.calibration is None


@pytest.mark.parametrize("model", ["lasso", "polytomous", "probit"])
def test_models_of_few_words_are_calibrated_on_request(model):
    assert not hasattr(fitted(model).model_, "calibration_")
    assert hasattr(fitted(model, calibration="sigmoid").model_, "calibration_")


def test_probabilities_of_other_texts_are_better():
    found = [evaluate(fitted(labels="sets", calibration=way), TEST, NEWS.test.labels) for way in ("sigmoid", None)]
    assert found[0].log_loss < found[1].log_loss - 0.02
    assert abs(found[0].recalibration.slope - 1) < abs(found[1].recalibration.slope - 1)


def test_the_quick_scores_are_those_of_the_model(classifier):
    X = classifier.matrix(TEST)
    assert_allclose(classifier.decision_function(TEST), classifier.model_.decision_function(X), rtol=1e-9, atol=1e-9)
    assert_allclose(classifier.predict_proba(TEST), np.exp(classifier.model_.predict_log_proba(X)), atol=1e-9)


def test_reasons_add_up_to_calibrated_scores():
    classifier = fitted(labels="two")
    for text, reasons in zip(TEST[:20], classifier.explain(TEST[:20], k=10_000), strict=True):
        [score] = classifier.decision_function([text])
        _, intercept = classifier.model_.linear_scores()
        towards = 1 if reasons[0].label == "yes" else -1
        assert towards * sum(amount for _, amount in reasons[0].words) + intercept[0] == pytest.approx(score)


def test_info_tells_the_line(classifier):
    info = model_info(classifier)
    lines = classifier.model_.calibration_
    assert list(info.calibration.values()) == [tuple(line) for line in lines.tolist()]
    assert dict(info.lines())["calibration"].endswith("from held-out texts (Platt)")
    assert model_info(fitted(labels="two", calibration=None)).calibration is None


def test_a_stay_in_a_file(classifier, tmp_path):
    bayesift.save(classifier, tmp_path / "model")
    assert_array_equal(bayesift.load(tmp_path / "model").predict_proba(TEST), classifier.predict_proba(TEST))


@pytest.mark.slow
def test_an_update_keeps_the_line(classifier):
    labels = LABELS["sets"] if classifier.target_type_ == "multilabel-indicator" else ONE
    labels = TWO if classifier.target_type_ == "binary" else labels
    today = update(classifier, TEXTS[:40], labels[:40])
    assert_array_equal(today.model_.calibration_, classifier.model_.calibration_)
    again = update(today, TEXTS[40:60], labels[40:60])
    assert again.model_.calibration == "sigmoid"
    X = again.matrix(TEST)
    assert_allclose(again.decision_function(TEST), again.model_.decision_function(X), rtol=1e-9, atol=1e-9)


def test_a_plain_pipeline_says_the_same(classifier):
    found = plain_pipeline(classifier).predict_proba(TEST)
    if classifier.target_type_ == "multilabel-indicator":
        found = np.column_stack([part[:, 1] for part in found])
    assert_allclose(found, classifier.predict_proba(TEST), atol=1e-9)


def test_files_of_bbr_hold_calibrated_scores():
    model = fitted(labels="two").model_
    other = to_estimator(from_estimator(model), n_features=model.n_features_in_)
    X = np.eye(3, model.n_features_in_)
    assert_allclose(other.decision_function(X), model.decision_function(X), rtol=1e-9)
    softmax = fitted("polytomous-ridge").model_
    other = to_estimator(from_estimator(softmax), n_features=softmax.n_features_in_)
    X = np.eye(3, softmax.n_features_in_)
    assert_allclose(other.predict_proba(X), softmax.predict_proba(X), rtol=1e-9)
    assert softmax.calibration_[0, 0] != 1


def test_with_vectors_of_words():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = TextClassifier("ridge", variance=5.0, vectors="pile", vector_variance=1.0, calibration="auto").fit(
            TEXTS, ONE
        )
    assert hasattr(found.model_.model_, "calibration_")
    X = found.matrix(TEST)
    assert_allclose(found.decision_function(TEST), found.model_.decision_function(X), rtol=1e-4, atol=1e-4)


def test_with_features_beside_the_texts():
    import pandas as pd

    frame = pd.DataFrame({"text": TEXTS, "length": [len(text) for text in TEXTS]})
    found = TextClassifier("ridge", variance=5.0, features=["length"], feature_variance=1.0, calibration="auto").fit(
        frame, TWO
    )
    assert hasattr(found.model_, "calibration_")
    assert_allclose(found.decision_function(frame), found.model_.decision_function(found.matrix(frame)), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"calibration": "isotonic"}, "calibration is 'isotonic'; expected one of"),
        (
            {"calibration": "sigmoid", "posterior": "ep"},
            "calibration is 'sigmoid'; expected None where posterior is 'ep'",
        ),
        ({"calibration": "sigmoid", "model": "nb"}, "calibration is 'sigmoid', but model is 'nb'; expected None, or"),
        ({"calibration": "sigmoid", "model": BayesianLogisticRegression()}, "calibration needs a model by name"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TextClassifier(**{"model": "ridge", **options}).fit(TEXTS[:20], TWO[:20])


def test_auto_does_not_calibrate_averaged_probabilities():
    found = TextClassifier("ridge", variance=5.0, posterior="laplace", calibration="auto").fit(TEXTS[:60], TWO[:60])
    assert not hasattr(found.model_, "calibration_")
