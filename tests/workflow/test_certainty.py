"""Classifiers of texts that keep their posterior: intervals, sure decisions, reasons, calibration, files."""

from __future__ import annotations

import csv
import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

from bayesift.datasets import load
from bayesift.formats import load as load_model
from bayesift.formats import save
from bayesift.workflow import (
    TextClassifier,
    classify,
    evaluate,
    evaluate_held_out,
    model_info,
    top_word_intervals,
    top_words,
    unsure_labels,
    update,
)
from bayesift.workflow.certainty import mode_probabilities

NEWS = load("newsroom")
TEXTS, TEST = NEWS.train.texts[:120], NEWS.test.texts[:60]
ONE = [labels[0] for labels in NEWS.train.labels[:120]]
TWO = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
KINDS = {"binary": TWO, "multiclass": ONE, "multilabel-indicator": NEWS.train.labels[:120]}


@cache
def averaged(kind="binary", **options):
    """A classifier that several tests read; none changes it."""
    options = {"variance": 5.0, "posterior": "ep", "vectors": None, **options}
    return TextClassifier("ridge", **options).fit(TEXTS, KINDS[kind], unlabelled=NEWS.train.texts[120:])


@pytest.fixture(scope="module", params=[None, "pile"])
def vectors(request):
    return {} if request.param is None else {"vectors": "pile", "vector_variance": 2.0}


@pytest.fixture(scope="module", params=list(KINDS))
def classifier(request, vectors):
    return averaged(request.param, **vectors)


@pytest.mark.slow
def test_intervals_surround_the_averaged_probabilities(classifier, tmp_path):
    probabilities, ends = classifier.predict_proba(TEST), classifier.predict_interval(TEST, 0.95)
    assert ends.shape == (*probabilities.shape, 2)
    inside = (ends[..., 0] <= probabilities) & (probabilities <= ends[..., 1])
    # The mean of a skewed distribution may lie outside its central interval.
    assert inside.mean() > 0.95
    narrower = classifier.predict_interval(TEST, 0.5)
    assert np.all(ends[..., 0] <= narrower[..., 0])
    assert np.all(narrower[..., 1] <= ends[..., 1])
    assert classifier.predict_interval([]).shape == (0, len(classifier.classes_), 2)
    save(classifier, tmp_path / "model.bayesift")
    again = load_model(tmp_path / "model.bayesift")
    np.testing.assert_array_equal(again.predict_interval(TEST, 0.95), ends)
    np.testing.assert_array_equal(again.predict_proba(TEST), probabilities)


def test_probabilities_are_averaged_with_vectors_too(classifier):
    at_mode, probabilities = mode_probabilities(classifier, TEST), classifier.predict_proba(TEST)
    assert np.max(np.abs(at_mode - probabilities)) > 0.01
    plain = TextClassifier(**{**classifier.get_params(deep=False), "posterior": None, "calibration": None})
    plain.fit(TEXTS, KINDS[classifier.target_type_], unlabelled=NEWS.train.texts[120:])
    np.testing.assert_allclose(plain.predict_proba(TEST), at_mode, atol=1e-5)
    assert not hasattr(plain, "predict_interval")


def test_thresholds_are_tuned_on_averaged_scores():
    tuned = averaged("multilabel-indicator")
    assert tuned.threshold_.policy == "max_f1"
    thresholds = tuned.threshold_.thresholds_
    assert np.all(thresholds < 0)
    np.testing.assert_array_equal(tuned.model_.threshold_.thresholds_, thresholds)
    given = tuned.predictions(TEST).decisions
    np.testing.assert_array_equal(given, tuned.model_.predict(tuned.matrix(TEST)) > 0)


@pytest.mark.parametrize("rare", ["a", "z"])
def test_a_class_of_a_single_text_cannot_be_held_out(rare):
    """The rare one may be the category or the other class; its interval says how little is known."""
    labels = [rare, *["m"] * 39]
    classifier = TextClassifier("ridge", variance=5.0, posterior="ep", vectors=None, threshold="max_f1")
    classifier.fit(TEXTS[:40], labels)
    assert classifier.predict(TEXTS[:1])[0] == rare
    assert np.ptp(classifier.predict_interval(TEXTS[:1])[0, 0]) > 0.2


def test_reasons_have_intervals(classifier):
    for text, reasons in zip(TEST[:5], classifier.explain(TEST[:5], k=4), strict=True):
        ends = classifier.predict_interval([text])[0]
        for reason in reasons:
            column = [str(label) for label in classifier.classes_].index(reason.label)
            assert reason.interval == pytest.approx(tuple(ends[column]))
            assert len(reason.word_intervals) == len(reason.words)
            pairs = zip(reason.words, reason.word_intervals, strict=True)
            inside = [low <= weight <= high for (_, weight), (low, high) in pairs]
            assert np.mean(inside) > 0.7
    words = top_words(classifier, 3)
    spans = top_word_intervals(classifier, words)
    for label, weighted in words.items():
        assert len(spans[label]) == len(weighted)
        assert all(low <= weight <= high for (_, weight), (low, high) in zip(weighted, spans[label], strict=True))


def test_a_text_without_a_known_word_has_a_reason_without_words(classifier):
    for reasons in classifier.explain(["", "qqqq", TEXTS[0]], k=4)[:2]:
        assert reasons
        assert all(reason.words == reason.word_intervals == [] for reason in reasons)
        assert all(reason.interval[0] < reason.interval[1] for reason in reasons)
    assert top_word_intervals(classifier, {str(classifier.classes_[0]): []}) == {str(classifier.classes_[0]): []}


def test_intervals_of_weights_are_those_of_the_coefficients():
    classifier = averaged()
    words = top_words(classifier, 3)
    columns = [classifier.words().tolist().index(word) for word, _ in words["money"]]
    expected = classifier.model_.coef_interval(0.9, columns)[:-1]
    np.testing.assert_allclose(top_word_intervals(classifier, words)["money"], expected)


def test_what_is_sure_is_right_more_often():
    classifier = averaged("multiclass", variance=20.0)
    decisions = classifier.predictions(NEWS.test.texts).decisions
    left = unsure_labels(classifier, NEWS.test.texts, decisions, 0.6)
    truth = np.array([[label in labels for label in classifier.classes_] for labels in NEWS.test.labels])
    right, sure = (truth & decisions).any(axis=1), ~left.any(axis=1)
    assert 0.1 < sure.mean() < 0.9
    assert right[sure].mean() > right[~sure].mean()
    stricter = unsure_labels(classifier, NEWS.test.texts, decisions, 0.8)
    assert np.all(left <= stricter)


@pytest.mark.parametrize("kind", list(KINDS))
def test_classify_adds_intervals_and_leaves_some_to_a_person(kind, tmp_path):
    classifier = averaged(kind)
    data, out = tmp_path / "new.csv", tmp_path / "out.csv"
    with data.open("w", newline="") as stream:
        csv.writer(stream).writerows([["text"], *([text] for text in TEST)])
    found = classify(classifier, data, out, interval=0.8, abstain=True, certainty=0.7)
    labels = [str(label) for label in classifier.classes_]
    expected = [name for label in labels for name in (f"p({label})", f"p({label}) low", f"p({label}) high")]
    assert found.added == ["predicted", "unsure", *expected]
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    decisions = classifier.predictions(TEST).decisions
    left = unsure_labels(classifier, TEST, decisions, 0.7)
    assert found.n_unsure == left.any(axis=1).sum() == sum(bool(row["unsure"]) for row in rows) > 0
    ends = classifier.predict_interval(TEST, 0.8)
    for row, given, open_ones, own in zip(rows, decisions, left, ends, strict=True):
        assert row["predicted"] == ";".join(np.array(labels)[given & ~open_ones])
        assert row["unsure"] == ";".join(np.array(labels)[open_ones])
        assert [float(row[f"p({labels[0]}) {end}"]) for end in ("low", "high")] == pytest.approx(own[0], abs=1e-6)
    classify(classifier, data, tmp_path / "out.jsonl", interval=0.8, abstain=True, certainty=0.7)
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert first["intervals"][labels[0]] == pytest.approx(ends[0, 0].tolist(), abs=1e-6)
    assert first["unsure"] == np.array(labels)[left[0]].tolist()


def test_calibration_with_and_without_averaging():
    classifier = averaged()
    truth = ["money" if labels[0] in ("economy", "energy", "agriculture") else "life" for labels in NEWS.test.labels]
    found = evaluate(classifier, NEWS.test.texts, truth)
    plain = TextClassifier("ridge", variance=5.0, vectors=None, calibration=None).fit(TEXTS, TWO)
    expected = evaluate(plain, NEWS.test.texts, truth)
    assert found.at_mode is not None
    assert found.at_mode.log_loss == pytest.approx(expected.log_loss, abs=1e-4)
    assert found.log_loss != pytest.approx(expected.log_loss, abs=1e-3)
    assert expected.at_mode is None
    assert any("averaged over the posterior" in line for line in found.sentences())
    assert json.loads(json.dumps(found.as_dict()))["at_mode"]["log_loss"] == found.at_mode.log_loss
    assert evaluate_held_out(classifier, TEXTS, TWO).at_mode is not None
    assert ("posterior", "probabilities are averaged over it (ep)") in model_info(classifier).lines()


def test_a_chosen_model_keeps_its_posterior():
    chosen = TextClassifier(posterior="auto", variance="evidence").fit(TEXTS, TWO)
    assert chosen.model_name_ == "ridge"
    assert hasattr(chosen, "predict_interval")
    assert chosen.model_.variance == "evidence"


def test_further_texts_are_learnt_with_the_posterior():
    yesterday = averaged(threshold="half")
    today = update(yesterday, NEWS.train.texts[120:160], ["money", "life"] * 20)
    assert today.predict_interval(TEST).shape == (60, 2, 2)
    assert np.max(np.abs(today.predict_proba(TEST) - yesterday.predict_proba(TEST))) > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"posterior": "vb"}, "posterior is 'vb'; expected one of"),
        ({"model": "nb", "posterior": "ep"}, "model is 'nb'; expected None, or one of ridge, probit-ridge"),
        ({"model": "lasso", "posterior": "ep"}, "posterior is 'ep', but model is 'lasso'"),
        ({"model": "polytomous", "posterior": "auto"}, "posterior is 'auto', but model is 'polytomous'"),
    ],
)
def test_what_has_no_posterior_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TextClassifier(**options).fit(TEXTS, TWO)


def test_a_model_at_its_mode_has_no_intervals(tmp_path):
    plain = TextClassifier("nb").fit(TEXTS, TWO)
    (tmp_path / "new.csv").write_text("text\nwheat\n")
    for asked in ({"interval": 0.9}, {"abstain": True}):
        with pytest.raises(ValueError, match="needs the posterior, but the model has only its mode"):
            classify(plain, tmp_path / "new.csv", tmp_path / "out.csv", **asked)
    assert not (tmp_path / "out.csv").exists()


def test_numbers_beside_the_texts_count_in_intervals():
    frame = pd.DataFrame({"text": TEXTS[:40], "price": np.arange(40.0)})
    options = {"variance": 1.0, "features": ["price"], "feature_variance": 1.0, "posterior": "ep"}
    classifier = TextClassifier("ridge", **options).fit(frame, ["low"] * 20 + ["high"] * 20)
    ends = classifier.predict_interval(frame)
    assert ends.shape == (40, 2, 2)
    assert ends[0, 1, 0] > ends[-1, 1, 1]
    [reason] = classifier.explain(frame[:1], k=1)[0]
    assert reason.words[0][0] == "price=0"
    low, high = reason.word_intervals[0]
    assert 0 < low < reason.words[0][1] < high
