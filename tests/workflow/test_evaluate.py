"""Figures of evaluations, checks on texts held out, looks at data, comparisons, pages: against computations by hand."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score, precision_recall_fscore_support

from bayesift.datasets import Split, load
from bayesift.evaluate import expected_calibration_error, logistic_recalibration
from bayesift.workflow import (
    TextClassifier,
    compare,
    comparison_dict,
    evaluate,
    evaluate_held_out,
    label_path,
    model_info,
    summarize_data,
    top_words,
    train,
)
from bayesift.workflow._label_sets import assign_folds
from bayesift.workflow.errors import StrangeLabelsError
from bayesift.workflow.report import evaluation_report, explanation_report, training_report

NEWS = load("newsroom")
TEXTS, TEST = NEWS.train.texts, NEWS.test.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TEST_ONE = [labels[0] for labels in NEWS.test.labels]


@pytest.fixture(scope="module")
def classifier():
    return TextClassifier("ridge", variance=5.0).fit(TEXTS, ONE)


def test_figures_of_one_label_each(classifier):
    found = evaluate(classifier, TEST, TEST_ONE)
    said = classifier.predict(TEST)
    assert found.accuracy == pytest.approx(accuracy_score(TEST_ONE, said))
    assert found.macro_f1 == pytest.approx(f1_score(TEST_ONE, said, average="macro"))
    assert found.baseline == pytest.approx(max(map(TEST_ONE.count, TEST_ONE)) / len(TEST_ONE))
    expected = precision_recall_fscore_support(TEST_ONE, said, labels=classifier.classes_)
    for score in found.categories:
        place = classifier.classes_.tolist().index(score.label)
        assert score[3:6] == pytest.approx([part[place] for part in expected[:3]])
        assert score.n_texts == TEST_ONE.count(score.label)
    truth = np.array(TEST_ONE)[:, None] == classifier.classes_
    assert found.brier == pytest.approx(brier_score_loss(truth.ravel(), classifier.predict_proba(TEST).ravel()))
    pairs = [(t, s) for t, s in zip(TEST_ONE, said, strict=True) if t != s]
    assert found.confusions[0].n == max(map(pairs.count, pairs))


def test_figures_of_several_labels():
    classifier = TextClassifier("ridge", variance=5.0, threshold="max_f1").fit(TEXTS, NEWS.train.labels)
    found = evaluate(classifier, TEST, NEWS.test.labels)
    truth, said = NEWS.indicator("test").toarray(), classifier.predictions(TEST).decisions
    assert found.micro_f1 == pytest.approx(f1_score(truth, said, average="micro"))
    assert found.accuracy == pytest.approx(accuracy_score(truth, said))
    assert found.confusions == []


def test_nothing_is_measured_if_no_label_is_known(classifier):
    strange, other = ["chess", "", "chess;sport", "go"], TextClassifier("nb").fit(TEXTS, ONE)
    said = "is known to the model: 'chess', 'chess;sport', 'go'; it gives 'agriculture', .*, …"
    for measure in (
        lambda: evaluate(classifier, TEST[:4], strange),
        lambda: compare(classifier, other, TEST[:4], strange),
        lambda: train(NEWS.train, TextClassifier("nb"), test=Split([(x,) for x in strange], [""] * 4, TEST[:4])),
    ):
        with pytest.raises(StrangeLabelsError, match=said):
            measure()


def test_labels_that_the_classifier_does_not_know_are_errors(classifier):
    found = evaluate(classifier, TEST[:4], [*TEST_ONE[:2], "chess", "chess"])
    assert found.unknown == {"chess": 2}
    assert found.accuracy <= 0.5


def test_a_label_without_texts_has_no_figures(classifier):
    found = evaluate(classifier, TEST[:1], TEST_ONE[:1])
    absent = [score for score in found.categories if score.n_texts == score.n_given == 0]
    assert absent
    assert all(np.isnan(score.f1) for score in absent)
    assert all(row["f1"] is None for row in found.as_dict()["categories"] if row["n_texts"] == row["n_given"] == 0)


def test_held_out_texts_are_judged_by_models_that_did_not_see_them():
    # Labels drawn at random can be learned by heart but not foreseen.
    random = np.random.default_rng(1)
    labels = random.choice(["a", "b"], len(TEXTS)).tolist()
    classifier = TextClassifier("ridge", variance=100.0).fit(TEXTS, labels)
    assert classifier.score(TEXTS, labels) > 0.95
    assert 0.35 < evaluate_held_out(classifier, TEXTS, labels, 5).accuracy < 0.65


def test_the_check_is_what_fitting_by_hand_gives(classifier):
    fold = assign_folds(TEXTS, [(label,) for label in ONE], 5)
    found = evaluate_held_out(classifier, TEXTS, ONE)
    rest, out = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    again = TextClassifier("ridge", variance=5.0).fit([TEXTS[i] for i in rest], [ONE[i] for i in rest])
    assert found.accuracy == pytest.approx(again.score([TEXTS[i] for i in out], [ONE[i] for i in out]))
    assert found.n_texts == out.size


def test_the_check_does_not_search_the_variance_again():
    classifier = TextClassifier("lasso").fit(TEXTS, ONE)
    chosen = classifier.chosen_variance()
    assert set(chosen) == set(classifier.classes_.tolist())
    fixed = TextClassifier("lasso", variance=chosen).fit(TEXTS, ONE)
    np.testing.assert_allclose(fixed.decision_function(TEST), classifier.decision_function(TEST), atol=0.05)
    assert all(result is None for result in fixed.model_.cv_results_)


def test_every_label_is_dealt_to_every_fold():
    fold = assign_folds(TEXTS, [(label,) for label in ONE], 5)
    for label in set(ONE):
        counts = np.bincount(fold[[i for i, other in enumerate(ONE) if other == label]], minlength=5)
        assert counts.max() - counts.min() <= 1


def test_copies_are_held_out_together():
    texts = [*TEXTS, *TEXTS[:50], *TEXTS[20:40]]
    labels = [(label,) for label in [*ONE, *ONE[:30], *reversed(ONE[:40])]]
    fold = assign_folds(texts, labels, 5)
    assert all(len({fold[i] for i, text in enumerate(texts) if text == copy}) == 1 for copy in TEXTS[:50])
    # By heart, every label is known; held out, random ones are not.
    noise = np.random.default_rng(0).choice(["a", "b"], len(TEXTS)).tolist()
    classifier = TextClassifier("ridge", variance=100.0).fit(TEXTS * 3, noise * 3)
    assert 0.35 < evaluate_held_out(classifier, TEXTS * 3, noise * 3, 5).accuracy < 0.65


def test_a_label_with_one_text_is_no_obstacle():
    texts, labels = [*TEXTS[:60], "a lonely xylophone"], [*ONE[:60], "music"]
    trained = train(Split([(label,) for label in labels], [""] * 61, texts), TextClassifier("nb"), validation="cv")
    assert trained.evaluation.n_texts == 61
    assert any("fewer than 5 texts" in warning for warning in trained.data.warnings)


def test_too_few_texts_to_hold_some_out():
    data = Split([("a",), ("b",)], ["1", "2"], ["red", "blue"])
    trained = train(data, TextClassifier("nb"))
    assert trained.evaluation is None
    assert "too few texts" in trained.notes[0]


def test_steps_and_examination_are_told():
    told, seen = [], []
    train(
        NEWS.train,
        TextClassifier("ridge", variance=1.0),
        step=lambda name, done, total: told.append((name, done, total)),
        on_summary=seen.append,
    )
    # Nine topics, each fitted ten times without a fold for its threshold, and once to all texts.
    assert ("learning", 99, 99) in told
    name, done, total = told[-1]
    assert name == "measuring"
    assert done == total > 9
    assert seen[0].n_texts == 316


def test_examination_counts():
    found = summarize_data(["a b", "a b", "a b", "!!", "c", "d"], [("x",), ("x",), ("y",), ("x",), (), ("y", "z")])
    assert (found.n_duplicates, found.n_conflicts, found.n_empty, found.n_unlabelled) == (2, 1, 1, 1)
    assert found.multilabel
    assert found.balance == {"x": 3, "y": 2, "z": 1}


@pytest.mark.parametrize(
    ("labels", "warned"),
    [(["a", "b;c", "b", "c"], True), (["a", "b;c", "d", "e"], False), (["a,b", "b", "a", "a"], True)],
)
def test_labels_in_one_cell_are_noticed(labels, warned):
    found = summarize_data(["t"] * 4, [(label,) for label in labels])
    assert any("look like several" in warning for warning in found.warnings) == warned


def test_comparing_counts_texts(classifier):
    other = TextClassifier("nb").fit(TEXTS, ONE)
    found = compare(classifier, other, TEST, TEST_ONE)
    right = [one.predict(TEST) == np.array(TEST_ONE) for one in (classifier, other)]
    test = found.tests["texts right (sign test)"]
    assert (test.wins, test.losses) == (np.sum(right[0] & ~right[1]), np.sum(right[1] & ~right[0]))


def test_labels_that_are_nowhere_do_not_count_in_comparisons_either(classifier):
    other = TextClassifier("nb").fit(TEXTS, ONE)
    few = [i for i, label in enumerate(TEST_ONE) if label in ("sport", "health")][:6]
    data = [TEST[i] for i in few], [TEST_ONE[i] for i in few]
    found = compare(classifier, other, *data)
    assert found.measures["macro F1"] == tuple(evaluate(one, *data).macro_f1 for one in (classifier, other))
    assert np.isnan(found.f1).any()
    assert comparison_dict(found)["f1"]["culture"] == [None, None]
    wrong = compare(classifier, other, data[0], ["courts"] * 6)
    assert wrong.measures["macro F1"] == (0.0, 0.0)


def test_what_is_not_defined_in_a_comparison_is_null_in_json():
    two = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
    classifier = TextClassifier("nb").fit(TEXTS, two)
    # Of two labels, the second is compared; here it is nowhere.
    found = [text for text, label in zip(TEXTS, classifier.predict(TEXTS), strict=True) if label == "life"][:5]
    compared = compare(classifier, classifier, found, ["life"] * 5)
    differences = comparison_dict(compared)["differences"]
    assert [differences[name]["low"] for name in differences] == [None] * len(differences)
    json.dumps(comparison_dict(compared), allow_nan=False)
    assert "A − B is not defined" in str(compared)


def test_classifiers_of_different_labels_can_be_compared(classifier):
    some = [i for i, label in enumerate(ONE) if label != "sport"]
    other = TextClassifier("ridge", variance=5.0).fit([TEXTS[i] for i in some], [ONE[i] for i in some])
    found = compare(classifier, other, TEST, TEST_ONE)
    assert found.f1[1, found.categories.index("sport")] == 0
    assert found.n_categories == 9


def test_the_path_begins_with_nothing_and_gains_words():
    found = label_path(NEWS.train, "sport", n_steps=6)
    steps = found.steps()
    assert steps[0]["words"] == 0
    assert steps[-1]["words"] > 10
    entered = [word for step in steps for word in step["new"]]
    assert len(entered) == len(set(entered))
    assert found.last(1)[0][0] in entered
    with pytest.raises(ValueError, match="label must name one of"):
        label_path(NEWS.train)


def test_model_info(classifier):
    found = model_info(classifier)
    assert (found.model, found.prior, found.variance_by, found.n_texts) == ("ridge", "Gaussian", "given", 316)
    assert found.gap < 1e-5
    assert found.converged
    assert found.n_terms == len(classifier.words())


@pytest.mark.filterwarnings("ignore:category .*too few documents")
def test_a_variance_that_was_not_searched_for_is_not_said_to_be():
    labels = [*["sport", "energy", "trade"] * 4, "rare"]
    some = model_info(TextClassifier("ridge", variance={"trade": 1.0}).fit(TEXTS[:13], labels))
    assert some.variance_by == "cross-validation, for 1 of 3 labels by the norm of the texts"
    none = model_info(TextClassifier("ridge", variance="cv").fit(TEXTS[:5], ["sport"] * 4 + ["rare"]))
    assert none.variance_by == "the norm of the texts"
    assert dict(none.lines())["prior"].endswith(" by the norm of the texts")


def test_top_words_are_the_largest_weights(classifier):
    words = classifier.words()
    row = np.asarray(classifier.model_.coef_)[classifier.classes_.tolist().index("sport")]
    expected = [words[j] for j in np.argsort(-np.abs(row))[:5]]
    assert [word for word, _ in top_words(classifier, 5)["sport"]] == expected


def test_bars_of_a_page_keep_their_proportions_at_every_width():
    few = Split([("x",)] * 4 + [("y",)] * 3, [""] * 7, TEXTS[:7])
    page = training_report(train(few, TextClassifier("nb")), "few")
    assert re.findall(r'class="bar" style="([^"]+)"', page) == ["--share: 1.000", "--share: 0.750"]
    rules = re.findall(r"\.bar {([^}]+)}", page)
    assert len(rules) == 2
    assert all("* var(--share))" in rule and "max-width" not in rule for rule in rules)


def test_pages_stand_alone_and_escape_what_they_show():
    labels = [("<script>alert(1)</script>",) if label == "sport" else (label,) for label in ONE]
    trained = train(Split(labels, [""] * len(TEXTS), TEXTS), TextClassifier("lasso", variance=5.0))
    pages = [
        training_report(trained, "<b>data</b>"),
        evaluation_report(trained.evaluation, "title"),
        explanation_report(
            trained.top_words, [("<i>text</i>", trained.classifier.explain(["<i>football</i>"])[0])], "title"
        ),
    ]
    for page in pages:
        assert "<script" not in page
        assert "<i>" not in page
        assert not re.search(r"""(src|href)\s*=|url\(|https?://|@import""", page)
        assert page.count("<svg") == page.count("</svg>") > 0
        for tag in ("table", "tr", "td", "th", "div", "p", "h2", "h3", "text"):
            assert len(re.findall(rf"<{tag}[ >]", page)) == page.count(f"</{tag}>"), tag


def test_how_far_probabilities_are_off(classifier):
    found = evaluate(classifier, TEST, TEST_ONE)
    p = classifier.predict_proba(TEST)
    truth = np.array(TEST_ONE)[:, None] == classifier.classes_
    right = classifier.classes_[p.argmax(axis=1)] == np.array(TEST_ONE)
    assert found.top_label.error == pytest.approx(expected_calibration_error(right, p.max(axis=1)))
    assert found.top_label.low <= found.top_label.error <= found.top_label.high
    for score in found.categories:
        place = classifier.classes_.tolist().index(score.label)
        assert score.calibration_error == pytest.approx(expected_calibration_error(truth[:, place], p[:, place]))
        assert score.calibration_low <= score.calibration_high
    assert found.recalibration == logistic_recalibration(truth, p, average="micro")
    assert any(line.startswith("Calibration slope") for line in found.sentences())
    assert found.as_dict()["top_label"]["error"] == found.top_label.error
    assert "calibration error (95 % interval)" in evaluation_report(found, "page")


def test_of_two_labels_the_line_is_that_of_the_second():
    truth = ["yes" if label == "sport" else "no" for label in ONE]
    two = TextClassifier("ridge", variance=5.0).fit(TEXTS, truth)
    found = evaluate(two, TEST, ["yes" if label == "sport" else "no" for label in TEST_ONE])
    sport = np.array(TEST_ONE) == "sport"
    assert found.recalibration == logistic_recalibration(sport, two.predict_proba(TEST)[:, 1])


def test_sets_of_labels_have_no_top_label():
    found = evaluate(TextClassifier("ridge", variance=5.0).fit(TEXTS, NEWS.train.labels), TEST, NEWS.test.labels)
    assert found.top_label is None
    assert found.as_dict()["top_label"] is None
