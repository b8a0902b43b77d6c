"""Rows without labels, texts without words, models without words: left out or warned of, the same in every function."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bayesift.datasets import Split
from bayesift.workflow import TextClassifier, classify, compare, evaluate, train, update
from bayesift.workflow.errors import NoLabelsError, NoWordsWarning

TEXTS = ["wheat harvest", "wheat and corn", "ships at sea", "the sea was calm"] * 5
LABELS = ["farm", "farm", "sea", "sea"] * 5


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier("ridge", variance=1.0).fit(TEXTS, LABELS)


@pytest.mark.parametrize("missing", [(), "", None, float("nan")], ids=repr)
def test_unlabelled_texts_are_left_out(classifier, missing):
    texts, labels = ["wheat", "sea", "corn", "ships"], [("farm",), ("sea",), ("sea",), ("sea",)]
    if missing != ():
        labels = [label for (label,) in labels]
    mixed = [text for pair in zip(texts, ["wheat"] * 4, strict=True) for text in pair]
    truth = [label for one in labels for label in (one, missing)]
    whole, found = evaluate(classifier, texts, labels), evaluate(classifier, mixed, truth)
    assert (found.n_texts, found.n_unlabelled, whole.n_unlabelled) == (4, 4, 0)
    assert (found.accuracy, found.log_loss) == (whole.accuracy, whole.log_loss)
    assert "! 4 texts without a label left out" in found.sentences()
    assert found.as_dict()["n_unlabelled"] == 4
    other = TextClassifier("nb").fit(TEXTS, LABELS)
    assert compare(classifier, other, mixed, truth).n_documents == 4
    assert compare(classifier, other, mixed, truth).measures == compare(classifier, other, texts, labels).measures
    np.testing.assert_allclose(
        update(classifier, mixed, truth).predict_proba(TEXTS), update(classifier, texts, labels).predict_proba(TEXTS)
    )
    for function in (evaluate, update):
        with pytest.raises(NoLabelsError, match="no text has a label"):
            function(classifier, texts, [missing] * 4)


def test_a_text_may_have_no_label_where_the_model_may_give_none():
    classifier = TextClassifier("ridge", variance=1.0, multilabel=True).fit(TEXTS, [(label,) for label in LABELS])
    found = evaluate(classifier, ["wheat", "sea"], [("farm",), ()])
    assert (found.n_texts, found.n_unlabelled) == (2, 0)


@pytest.mark.parametrize("nothing", ["", " ", "…?!", "a b"])
def test_texts_without_words_are_warned_of(classifier, nothing, tmp_path):
    asked = ["wheat", nothing, "sea", nothing]
    for method in (classifier.predict, classifier.predict_proba):
        with pytest.warns(NoWordsWarning, match="2 texts without a word get the label"):
            method(asked)
        with pytest.warns(NoWordsWarning, match="1 text without a word gets"):
            method(iter(asked[:2]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            method(["wheat", "unknown words"])
    found = evaluate(classifier, asked, ["farm", "farm", "sea", "sea"])
    assert (found.n_without_words, found.n_texts) == (2, 4)
    assert any(line.startswith("! 2 texts without a word") for line in found.sentences())
    (tmp_path / "a.csv").write_text("text\n" + "".join(f'"{text}"\n' for text in asked))
    assert classify(classifier, tmp_path / "a.csv", tmp_path / "b.csv").notes == [
        "2 texts without a word get the label that is most probable for any text"
    ]
    with pytest.warns(NoWordsWarning, match="2 texts without a word: nothing can be learned"):
        TextClassifier("nb").fit([*TEXTS, nothing, nothing], [*LABELS, "farm", "sea"])


def test_training_tells_of_texts_without_words_once():
    data = Split([(label,) for label in [*LABELS, "sea", "sea"]], list(map(str, range(22))), [*TEXTS, "…", "…"])
    trained = train(data, TextClassifier("nb"), validation=None)
    assert [line for line in trained.data.warnings if "without a letter" in line]
    assert trained.notes == []
    data = Split([(label,) for label in [*LABELS, "sea", "sea"]], list(map(str, range(22))), [*TEXTS, "…", "a b"])
    assert train(data, TextClassifier("nb"), validation=None).notes == [
        "2 texts without a word: nothing can be learned from such texts"
    ]


def test_a_model_without_words_is_warned_of():
    with pytest.warns(NoWordsWarning, match="keeps no word, so it gives every text the same probabilities"):
        found = TextClassifier("lasso", variance=1e-8).fit(TEXTS, LABELS)
    assert np.ptp(found.predict_proba(TEXTS)[:, 0]) == 0.0
    data = Split([(label,) for label in LABELS], list(map(str, range(20))), TEXTS)
    [note] = train(data, TextClassifier("lasso", variance=1e-8), validation=None).notes
    assert note.startswith("the model keeps no word")
