"""Words and vectors in one classifier: learned from a pile of texts without labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from bayesift.datasets import Split
from bayesift.formats import load, save
from bayesift.linear import BayesianLogisticRegression
from bayesift.text import TextScorer, TextVectorizer
from bayesift.vectors import WordVectors
from bayesift.workflow import (
    TextClassifier,
    WordsAndVectors,
    convert,
    evaluate_held_out,
    learning_curve,
    model_info,
    top_words,
    train,
    update,
)
from bayesift.workflow.errors import VectorsError

FARM = ["wheat", "corn", "harvest", "tractor", "barley", "field", "grain", "crop", "soil", "seed"]
SEA = ["ship", "harbour", "sail", "captain", "wave", "anchor", "port", "crew", "vessel", "tide"]


def split(texts, labels):
    return Split(labels, [str(number) for number in range(len(texts))], texts)


def sentences(words, n, seed):
    random = np.random.default_rng(seed)
    common = ["the", "and", "of", "old", "new"]
    return [" ".join([*random.choice(words, 3, replace=False), *random.choice(common, 3)]) for _ in range(n)]


#: Each label is known of a few words only; the pile knows which words go together.
TEXTS = ["the wheat and corn", "old wheat harvest", "new corn harvest", "wheat of old"]
TEXTS += ["the ship and harbour", "old ship sail", "new harbour sail", "ship of old"]
LABELS = ["farm"] * 4 + ["sea"] * 4
PILE = [*sentences(FARM, 200, 0), *sentences(SEA, 200, 1)]
#: Only words that no labelled text has.
NEW = ["barley field", "soil and seed", "tractor crop", "captain crew", "anchor of the vessel", "tide wave"]
TRUTH = ["farm", "farm", "farm", "sea", "sea", "sea"]


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier("ridge", vectors="pile").fit(TEXTS, LABELS, unlabelled=PILE)


def test_words_that_nobody_labelled_count_by_their_company(classifier):
    assert classifier.predict(NEW).tolist() == TRUTH
    words_alone = TextClassifier("ridge").fit(TEXTS, LABELS)
    assert np.ptp(words_alone.decision_function(["barley field", "anchor vessel"])) == 0


@pytest.mark.parametrize("model", ["lasso", "ridge", "polytomous", "polytomous-ridge", "probit", "probit-ridge"])
def test_every_linear_model_takes_vectors(model):
    made = TextClassifier(model, vectors="pile").fit(TEXTS, LABELS, unlabelled=PILE)
    assert isinstance(made.model_, WordsAndVectors)
    assert made.predict(NEW).tolist() == TRUTH
    assert_allclose(made.predict_proba(NEW).sum(axis=1), 1.0)


def test_several_labels_a_text():
    sets = [("farm",)] * 3 + [("farm", "old")] + [("sea",)] * 3 + [("sea", "old")]
    made = TextClassifier("ridge", vectors="pile").fit(TEXTS, sets, unlabelled=PILE)
    found = made.predict(NEW)
    assert all(label in labels for label, labels in zip(TRUTH, found, strict=True))


def test_the_default_compares_and_chooses():
    texts = [*sentences(FARM[:4], 15, 5), *sentences(SEA[:4], 15, 6)]
    made = TextClassifier().fit(texts, ["farm"] * 15 + ["sea"] * 15, unlabelled=PILE)
    names = [model.name for model in made.comparison().models]
    assert "ridge with vectors" in names
    assert "ridge" in names
    named = TextClassifier("lasso").fit(texts, ["farm"] * 15 + ["sea"] * 15, unlabelled=PILE)
    assert [model.name for model in named.comparison().models] == ["lasso with vectors", "lasso"]
    assert named.model_name_ == "lasso"


def test_with_a_handful_of_labels_the_pile_is_used():
    made = TextClassifier().fit(TEXTS, LABELS, unlabelled=PILE)
    assert made.comparison().chosen == "ridge with vectors"
    assert made.predict(NEW).tolist() == TRUTH


def test_with_more_labels_words_alone_come_first():
    texts = [*sentences(FARM, 20, 5), *sentences(SEA, 20, 6)]
    made = TextClassifier("ridge").fit(texts, ["farm"] * 20 + ["sea"] * 20, unlabelled=PILE)
    assert [model.name for model in made.comparison().models] == ["ridge", "ridge with vectors"]


def test_without_a_pile_nothing_is_compared_and_nothing_changes():
    plain = TextClassifier("ridge").fit(TEXTS, LABELS)
    assert plain.comparison() is None
    empty = TextClassifier("ridge").fit(TEXTS, LABELS, unlabelled=[])
    assert_allclose(empty.decision_function(NEW), plain.decision_function(NEW))


def test_none_leaves_the_pile_alone():
    made = TextClassifier("ridge", vectors=None).fit(TEXTS, LABELS, unlabelled=PILE)
    assert not isinstance(made.model_, WordsAndVectors)


def test_the_shares_of_words_add_up_to_the_score(classifier):
    text = "the barley and wheat of the captain"
    X = classifier.matrix([text])
    own, company = classifier.model_.shares(X.indices, X.data)
    score = classifier.decision_function([text])[0]
    assert_allclose((own + company).sum() + classifier.model_.model_.intercept_[0], score, atol=1e-5)
    assert np.any(own)
    assert np.any(company)


def test_reasons_tell_the_part_of_the_company(classifier):
    reason = classifier.explain(["wheat and barley"], k=5)[0][0]
    total, by_company = dict(reason.words), dict(reason.company)
    assert total.keys() == by_company.keys() >= {"wheat", "barley"}
    assert by_company["barley"] == pytest.approx(total["barley"], rel=1e-6)
    assert abs(by_company["wheat"]) < abs(total["wheat"])
    assert TextClassifier("ridge").fit(TEXTS, LABELS).explain(["wheat"])[0][0].company == []


def test_scores_straight_from_the_text_are_those_of_the_matrix(classifier):
    assert TextScorer.supports(classifier.vectorizer_)
    texts = [*NEW, *PILE[:20], "", "unknown words only"]
    assert_allclose(
        classifier.decision_function(texts), classifier.model_.decision_function(classifier.matrix(texts)), atol=1e-5
    )


def test_a_text_without_a_vector_has_the_score_of_its_words(classifier):
    assert_allclose(classifier.decision_function(["zzz"]), classifier.model_.model_.intercept_, atol=1e-12)


def test_a_model_file_keeps_the_vectors(classifier, tmp_path):
    save(classifier, tmp_path / "m.bayesift")
    again = load(tmp_path / "m.bayesift")
    assert_allclose(again.predict_proba(NEW), classifier.predict_proba(NEW), atol=1e-12)
    assert again.similar("wheat", 3) == classifier.similar("wheat", 3)
    assert again.model_.matrix_.dtype == np.float16
    assert again.model_.vectors is None
    save(again, tmp_path / "again.bayesift")
    assert_allclose(load(tmp_path / "again.bayesift").predict_proba(NEW), classifier.predict_proba(NEW), atol=1e-12)


def test_similar_words_keep_the_same_company(classifier):
    assert {word for word, _ in classifier.similar("wheat", 3)} <= set(FARM)
    labelled = {word for text in TEXTS for word in text.split()}
    unseen = next(word for word in FARM if word not in labelled)
    found = classifier.similar(unseen, 2, labelled=True)
    assert found[0][0] in FARM
    assert len({word for word, _ in found} & labelled) == 2
    assert not {word for word, _ in classifier.similar(unseen, 3)} <= labelled
    with pytest.raises(KeyError, match="zzz"):
        classifier.similar("zzz")
    assert TextClassifier("ridge").fit(TEXTS, LABELS).similar("wheat") == []


def test_top_words_have_words_of_the_pile(classifier):
    found = {word for word, _ in top_words(classifier, 8)["farm"]}
    assert found & {"barley", "field", "soil", "seed", "tractor", "crop"}


def test_the_info_names_the_vectors(classifier):
    info = model_info(classifier)
    assert info.vector_rank == classifier.model_.matrix_.shape[1]
    assert info.vector_variance == classifier.chosen_vector_variance() > 0
    assert any(name == "vectors" for name, _ in info.lines())


def test_learning_goes_on_and_new_words_have_no_vector(classifier):
    today = update(
        classifier, ["quinoa barley", "quinoa wheat", "lagoon tide", "lagoon ship"], ["farm", "farm", "sea", "sea"]
    )
    assert today.predict([*NEW, "quinoa", "lagoon"]).tolist() == [*TRUTH, "farm", "sea"]
    assert today.model_.matrix_.shape[0] == classifier.model_.matrix_.shape[0] + 2
    assert not today.model_.matrix_[-2:].any()
    assert today.model_.model_.dense_features == classifier.model_.model_.dense_features
    again = update(today, ["quinoa barley"], ["farm"])
    assert again.predict(["quinoa"]).tolist() == ["farm"]


@pytest.mark.parametrize("model", ["lasso", "polytomous-ridge", "probit"])
def test_other_models_learn_on_too(model):
    made = TextClassifier(model, vectors="pile", keep_posterior=True).fit(TEXTS, LABELS, unlabelled=PILE)
    today = update(
        made, ["quinoa barley", "quinoa wheat", "lagoon tide", "lagoon ship"], ["farm", "farm", "sea", "sea"]
    )
    assert today.predict(NEW).tolist() == TRUTH


def test_given_vectors_are_used_as_they_are():
    words = [*FARM, *SEA]
    given = WordVectors.from_matrix(words, [[1.0, 0.0]] * 10 + [[0.0, 1.0]] * 10)
    made = TextClassifier("ridge", vectors=given).fit(TEXTS, LABELS, unlabelled=[" ".join(words)] * 3)
    assert made.model_.matrix_.shape[1] == 2
    assert made.predict(NEW).tolist() == TRUTH
    copied = clone(TextClassifier("ridge", vectors=given)).fit(TEXTS, LABELS, unlabelled=[" ".join(words)] * 3)
    assert_allclose(copied.decision_function(NEW), made.decision_function(NEW))


def test_given_vectors_of_other_words_are_refused():
    given = WordVectors.from_matrix(["qqq", "zzz"], [[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(VectorsError, match=r"none of the \d+ words of the texts, such as '\w+', but 2 others"):
        TextClassifier("ridge", vectors=given).fit(TEXTS, LABELS, unlabelled=PILE)


def test_the_check_on_texts_held_out_has_the_pile_too(classifier):
    found = evaluate_held_out(classifier, TEXTS, LABELS, 5, unlabelled=PILE)
    assert found.n_texts == 8


def test_the_learning_curve_has_the_pile_too():
    texts = [*sentences(FARM, 40, 7), *sentences(SEA, 40, 8)]
    labels = ["farm"] * 40 + ["sea"] * 40
    made = TextClassifier("ridge", vectors="pile").fit(texts, labels, unlabelled=PILE)
    curve = learning_curve(made, texts, labels, n_repeats=2, unlabelled=PILE)
    assert curve.scores[0].mean() > 0.9


def test_rows_without_a_label_are_the_pile():
    data = split([*TEXTS * 3, *PILE], [*[(label,) for label in LABELS * 3], *[()] * len(PILE)])
    trained = train(data, TextClassifier("ridge", vectors="pile"), validation=None)
    assert any("24 labelled, 400 unlabelled: their words are used" in note for note in trained.data.warnings)
    assert (trained.data.n_texts, trained.data.n_in_pile) == (424, 400)
    assert trained.classifier.predict(NEW).tolist() == TRUTH
    without = train(data, TextClassifier("ridge", vectors=None), validation=None)
    assert any("400 texts without a label left out" in note for note in without.data.warnings)


def test_the_report_tells_by_how_much_the_pile_helps():
    texts = [*sentences(FARM[:4], 15, 5), *sentences(SEA[:4], 15, 6)]
    data = split(texts, [("farm",)] * 15 + [("sea",)] * 15)
    trained = train(data, TextClassifier("ridge"), unlabelled=PILE, validation=None)
    assert any("the unlabelled pile is" in note and "without" in note for note in trained.notes)


def test_a_model_of_ones_own_takes_vectors():
    made = TextClassifier(BayesianLogisticRegression("gaussian", 1.0, dense_variance=5.0), vectors="pile")
    assert made.fit(TEXTS, LABELS, unlabelled=PILE).predict(NEW).tolist() == TRUTH


@pytest.mark.parametrize("model", ["nb", "dcm", "jeffreys", "perceptron"])
def test_a_model_without_vectors_is_named(model):
    with pytest.raises(VectorsError, match=f"vectors is 'pile', but model is '{model}'"):
        TextClassifier(model, vectors="pile").fit(TEXTS, LABELS)


@pytest.mark.parametrize("vectors", ["heap", 3, [[1.0]]])
def test_what_is_no_setting_is_refused(vectors):
    with pytest.raises(ValueError, match="expected 'auto', 'pile', WordVectors or None"):
        TextClassifier("ridge", vectors=vectors).fit(TEXTS, LABELS)


@pytest.mark.parametrize("pile", ["one text", [1, 2], [None]])
def test_a_pile_of_something_else_is_refused(pile):
    with pytest.raises((TypeError, ValueError), match="unlabelled"):
        TextClassifier("ridge").fit(TEXTS, LABELS, unlabelled=pile)


@pytest.mark.parametrize("to", ["bbr", "sklearn"])
def test_other_programs_have_no_vectors(classifier, to, tmp_path):
    with pytest.raises(VectorsError, match=f"to is '{to}', but the model has vectors of words; expected 'onnx'"):
        convert(classifier, to, tmp_path / "model")


@pytest.mark.parametrize("vectors", [np.ones((3, 2)), np.ones(4), np.full((4, 2), np.nan), np.full((4, 2), 1e9)])
def test_vectors_that_do_not_fit_the_words_are_refused(vectors):
    model = WordsAndVectors(BayesianLogisticRegression("gaussian", 1.0, dense_variance=1.0), vectors)
    with pytest.raises(ValueError, match="vectors have shape"):
        model.fit(np.eye(4), [0, 0, 1, 1])


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextClassifier("ridge", vectors="pile").fit(TEXTS * 4, LABELS * 4, unlabelled=PILE)


def test_a_model_that_averages_over_its_posterior_takes_vectors(tmp_path):
    linear = BayesianLogisticRegression("gaussian", 1.0, dense_variance=5.0, posterior="ep")
    made = TextClassifier(linear, vectors="pile").fit(TEXTS, LABELS, unlabelled=PILE)
    assert made.predict(NEW).tolist() == TRUTH
    assert made.explain(["wheat and barley"])[0][0].company
    save(made, tmp_path / "m.bayesift")
    assert_allclose(load(tmp_path / "m.bayesift").predict_proba(NEW), made.predict_proba(NEW), atol=1e-12)


@pytest.mark.parametrize("terms", [{"analyzer": "char"}, TextVectorizer(n_features=64), {"analyzer": "char_wb"}])
def test_terms_that_are_no_words_have_no_vectors(terms):
    with pytest.raises(VectorsError, match="hashed or sequences of characters"):
        TextClassifier("ridge", vectorizer=terms, vectors="pile").fit(TEXTS, LABELS, unlabelled=PILE)
    made = TextClassifier("ridge", vectorizer=terms).fit(TEXTS, LABELS, unlabelled=PILE)
    assert made.comparison() is None


def test_the_pile_is_counted_once(monkeypatch):
    counted, fit = [], TextVectorizer.fit
    monkeypatch.setattr(
        TextVectorizer, "fit", lambda self, texts, *rest: counted.append(texts) or fit(self, texts, *rest)
    )
    texts = [*sentences(FARM[:4], 15, 5), *sentences(SEA[:4], 15, 6)]
    made = TextClassifier("ridge").fit(texts, ["farm"] * 15 + ["sea"] * 15, unlabelled=PILE)
    assert made.comparison() is not None
    assert sum(len(texts) > 400 for texts in counted) == 1
