"""The model that suits the texts: what is compared, by which numbers, which one is chosen and what is told."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score

from bayesift import progress
from bayesift.datasets import Split, load
from bayesift.formats import ModelFileError, save
from bayesift.formats import load as load_model
from bayesift.generative import MultinomialNB
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from bayesift.workflow import (
    CANDIDATES,
    MODELS,
    ModelComparison,
    TextClassifier,
    model_choice,
    model_comparison,
    model_info,
    train,
    warm,
)
from bayesift.workflow._label_sets import assign_folds, read_targets
from bayesift.workflow.report import training_report

NEWS = load("newsroom")
TEXTS, TEST = NEWS.train.texts, NEWS.test.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TWO = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
KINDS = {"binary": TWO, "multiclass": ONE, "multilabel-indicator": NEWS.train.labels}


@cache
def chosen_by_default(kind):
    """The classifier of all texts and labels of a kind, which several tests read; none changes it."""
    return TextClassifier().fit(TEXTS, KINDS[kind])


def drawn(n, speak, seed=0, noise=40):
    """Texts of two labels with words that say nothing, and what ``speak`` says of a label."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        label = "yes" if number % 2 else "no"
        words = [f"filler{k}" for k in random.integers(0, 300, noise)] + speak(random, label)
        texts.append(" ".join(random.permutation(words).tolist()))
        labels.append(label)
    return texts, labels


def few_words(random, label):
    """One of three words that tell everything."""
    return [f"{label}{random.integers(3)}"] if random.random() < 0.95 else []


def many_words(random, label):
    """Words of which none tells much."""
    own = "yes" if random.random() < 0.5 else "no"
    return [f"weak{(label if random.random() < 0.65 else own)}{random.integers(600)}" for _ in range(40)]


@pytest.mark.parametrize(("speak", "chosen"), [(few_words, "lasso"), (many_words, ("ridge", "nb"))])
def test_few_strong_words_are_for_the_lasso_and_many_weak_ones_are_not(speak, chosen):
    texts, labels = drawn(600, speak)
    found = TextClassifier(measure="log_likelihood", threshold="half").fit(texts, labels)
    assert found.model_name_ in chosen
    assert found.comparison_["chosen"] == found.comparison().candidate.name


@pytest.mark.filterwarnings("ignore:the model keeps no word")
def test_pairs_are_chosen_where_they_tell():
    random = np.random.default_rng(0)
    texts, labels = [], []
    for number in range(400):
        good = bool(number % 2)
        said = ["was not bad", "was good indeed"] if good else ["was not good", "was bad indeed"]
        texts.append(f"it {said[random.integers(2)]} {random.integers(50)}")
        labels.append("yes" if good else "no")
    found = TextClassifier().fit(texts, labels)
    assert found.comparison().candidate.pairs
    assert found.vectorizer_.ngram_range == (1, 2)
    assert "not bad" in found.words()
    assert found.score(texts, labels) > 0.95
    told = TextClassifier(vectorizer={"ngram_range": (1, 1)}, variance=1.0).fit(texts, labels).comparison()
    assert not any(model.pairs for model in told.models)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_chosen_model_is_the_one_of_that_name(kind, tmp_path):
    labels = KINDS[kind]
    found = chosen_by_default(kind)
    told = found.comparison()
    pairs = {"ngram_range": (1, 2)} if told.candidate.pairs else None
    named = TextClassifier(found.model_name_, vectorizer=pairs).fit(TEXTS, labels)
    np.testing.assert_array_equal(found.predict_proba(TEST), named.predict_proba(TEST))
    assert named.comparison_ is None
    assert named.model_name_ == found.model_name_ == told.candidate.model
    if kind == "multilabel-indicator":
        # Of the other kinds another test fits the same again.
        assert found.comparison_ == TextClassifier().fit(TEXTS, labels).comparison_
    save(found, tmp_path / "model.bayesift")
    again = load_model(tmp_path / "model.bayesift")
    assert again.comparison() == told
    assert again.model_name_ == found.model_name_
    settled = found.settled()
    assert settled.model == found.model_name_
    np.testing.assert_allclose(settled.fit(TEXTS, labels).predict_proba(TEST), found.predict_proba(TEST), atol=2e-3)


def test_the_numbers_of_a_candidate_are_those_of_models_fitted_without_the_folds():
    found = TextClassifier(vectorizer={"min_df": 1}, variance=1.0).fit(TEXTS, ONE).comparison()
    told = next(model for model in found.models if model.name == "nb")
    X = TextVectorizer("nnn").fit_transform(TEXTS)
    y = np.array(ONE)
    fold = assign_folds(TEXTS, read_targets(ONE).sets(), 5)
    right, likelihood = [], []
    for turn in range(5):
        model = MultinomialNB().fit(X[fold != turn], y[fold != turn])
        out = fold == turn
        right += (model.predict(X[out]) == y[out]).tolist()
        logs = model.predict_log_proba(X[out])
        likelihood += logs[np.arange(out.sum()), np.searchsorted(model.classes_, y[out])].tolist()
    assert (found.measure, found.n_texts, found.n_held_out) == ("accuracy", len(TEXTS), len(TEXTS))
    assert told.score == pytest.approx(np.mean(right))
    assert told.log_likelihood == pytest.approx(np.mean(np.maximum(likelihood, np.log(1e-15))))
    assert told.n_words == X.shape[1]
    scores = np.empty((len(TEXTS), len(set(ONE))))
    for turn in range(5):
        scores[fold == turn] = MultinomialNB().fit(X[fold != turn], y[fold != turn]).decision_function(X[fold == turn])
    truth = y[:, None] == np.unique(y)
    assert told.average_precision == pytest.approx(average_precision_score(truth, scores, average="macro"))


def test_f1_by_text_is_f1_with_its_standard_error():
    random = np.random.default_rng(0)
    truth = random.random((400, 3)) < [0.1, 0.3, 0.5]
    decisions = truth ^ (random.random((400, 3)) < 0.1)
    weights = random.integers(1, 4, 400).astype(float)
    parts = model_choice.f1_by_text(truth, decisions, np.ones(400))
    assert parts.mean() == pytest.approx(f1_score(truth, decisions, average="macro"))
    weighted = np.average(model_choice.f1_by_text(truth, decisions, weights), weights=weights)
    assert weighted == pytest.approx(f1_score(truth, decisions, average="macro", sample_weight=weights))
    rows = random.integers(0, 400, (500, 400))
    given = truth[rows].sum(axis=1) + decisions[rows].sum(axis=1)
    bootstrap = np.std(np.mean(2.0 * (truth & decisions)[rows].sum(axis=1) / given, axis=1))
    _, error = model_comparison.difference(parts, np.zeros(400), np.ones(400))
    assert error == pytest.approx(bootstrap, rel=0.15)


def test_of_equals_the_most_likely_and_then_the_first():
    rows = np.zeros(100)
    better, worse = rows + 0.1, rows - 0.1
    noise = np.random.default_rng(0).normal(0, 1, 100)
    ones = np.ones(100)
    assert model_comparison.as_good([rows, better], ones, [0, 1], "log_likelihood") == [1]
    assert model_comparison.as_good([noise - noise.mean(), rows + 0.01], ones, [0, 1], "log_likelihood") == [0, 1]
    candidates = CANDIDATES[:3]

    def chosen(parts, logs):
        found = [model_comparison.Performance(*one, 0.5, 9) for one in zip(candidates, parts, logs, strict=True)]
        return model_comparison.chosen_place(found, ones, "accuracy")

    assert chosen([rows, rows, worse], [rows, better, better]) == 1
    assert chosen([rows, rows, rows], [rows, rows, worse]) == 0
    assert chosen([rows, rows + 0.001, rows], [rows, rows + 0.005, rows + 0.006]) == 0
    assert chosen([rows, rows, better], [better, better, worse]) == 2

    def chosen_by_f1(means, precisions):
        found = [
            model_comparison.Performance(candidate, rows + mean, rows, precision, 9)
            for candidate, mean, precision in zip(candidates, means, precisions, strict=True)
        ]
        return model_comparison.chosen_place(found, ones, "f1")

    assert chosen_by_f1([0.5, 0.6, 0.4], [0.7, 0.5, 0.9]) == 2
    assert chosen_by_f1([0.5, 0.501, 0.4], [0.7, 0.7, 0.5]) == 0


@pytest.mark.slow
def test_what_can_be_compared_depends_on_what_is_asked(monkeypatch):
    def told(classifier):
        return {model.model for model in classifier.comparison().models}

    def names(labels=ONE, **options):
        return told(TextClassifier(variance=1.0, **options).fit(TEXTS[:160], labels[:160]))

    assert told(chosen_by_default("multiclass")) == {"ridge", "nb"}
    assert told(chosen_by_default("multilabel-indicator")) == {"ridge"}
    # Of the 160 texts, half of the nine topics have at least 18.
    few = [one._replace(least_texts=160, least_of_a_label=19 * (one.model == "nb")) for one in CANDIDATES]
    monkeypatch.setattr(model_comparison, "CANDIDATES", few)
    assert names() == {"ridge", "lasso"}
    enough = [one._replace(least_texts=160, least_of_a_label=18 * (one.model == "nb")) for one in CANDIDATES]
    monkeypatch.setattr(model_comparison, "CANDIDATES", enough)
    assert names() == {"ridge", "lasso", "nb"}
    assert names(NEWS.train.labels) == {"ridge", "lasso"}
    assert names(prior_knowledge={"sport": "match and team"}) == {"ridge", "lasso"}
    assert names(threshold="max_f1") == {"ridge", "lasso"}
    parts = {"vectorizer": TextVectorizer("bnn"), "selector": TermSelector("chi_square", k=50)}
    given = TextClassifier(variance=1.0, **parts).fit(TEXTS, TWO)
    assert {model.pairs for model in given.comparison().models} == {False}
    assert {model.n_words for model in given.comparison().models} == {given.vectorizer_.document_frequency_.size}
    assert given.vectorizer_.weighting == "bnn"


def test_the_measure_asked_for():
    for measure in ("log_likelihood", "accuracy", "f1"):
        told = TextClassifier(measure=measure, variance=1.0).fit(TEXTS, TWO).comparison()
        assert told.measure == measure
        assert all(model.behind >= 0 for model in told.models)
    rare = ["sport" if label == "sport" else "other" for label in ONE]
    assert TextClassifier(variance=1.0).fit(TEXTS, rare).comparison().measure == "f1"
    with pytest.raises(ValueError, match="measure is 'auc'; expected"):
        TextClassifier(measure="auc").fit(TEXTS, TWO)


def test_many_texts_and_many_labels_are_compared_by_a_sample(monkeypatch):
    monkeypatch.setattr(model_choice, "MOST_TEXTS", 200)
    monkeypatch.setattr(model_choice, "ENOUGH_HELD_OUT", 70)
    monkeypatch.setattr(model_choice, "MOST_LABELS", 4)
    told = TextClassifier(variance=1.0).fit(TEXTS, NEWS.train.labels).comparison()
    assert told.n_texts == 200
    assert 70 <= told.n_held_out < 100
    other = TextClassifier(variance=1.0, random_state=1).fit(TEXTS, NEWS.train.labels).comparison()
    assert other.models != told.models


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["wheat", "sea"] * 20, ["farm", "ship"] * 20),
        (TEXTS[:30], ["a"] * 29 + ["b"]),
        (TEXTS[:12], TWO[:12]),
        (TEXTS[:8], NEWS.train.labels[:8]),
    ],
)
def test_too_few_texts_to_compare(texts, labels):
    found = TextClassifier(variance=1.0, threshold="half").fit(texts, labels)
    told = found.comparison()
    assert (told.chosen, told.models, told.n_held_out) == ("ridge", [], 0)
    assert "too few texts to compare" in told.reason


@pytest.mark.parametrize("n_texts", [20, 40, 2000])
def test_one_text_of_a_difference_is_no_difference(n_texts):
    ones, right = np.ones(n_texts), np.zeros(n_texts)
    for n_better, kept in ((1, [0, 1]), (5, [1])):
        better = right.copy()
        better[:n_better] = 1.0
        expected = [0, 1] if n_better / n_texts <= model_comparison.LEAST_DIFFERENCE["accuracy"] + 1e-12 else kept
        assert model_comparison.as_good([right, better], ones, [0, 1], "accuracy") == expected
        behind, error = model_comparison.difference(better, right, ones, one_text=1.0)
        # As if half a text more were better, and half a text worse, while there are n texts still.
        assert error == pytest.approx(np.sqrt(n_better + 1 - n_better**2 / n_texts) / n_texts)
        weighted = model_comparison.difference(better, right, 3 * ones, one_text=1.0)
        assert weighted == pytest.approx((behind, error))


def test_few_texts_of_a_label_are_not_compared_on():
    """With two texts of each of 20 groups a single text decided for a model that was right in 9 % instead of 60."""
    labels = np.array(ONE)
    drawn_of_each = [np.flatnonzero(labels == label)[:5] for label in np.unique(ONE)]
    for n_each, models in ((3, set()), (5, {"ridge", "ridge with pairs", "ridge with vectors"})):
        rows = np.concatenate([own[:n_each] for own in drawn_of_each])
        pile = [TEXTS[row] for row in np.setdiff1d(np.arange(len(TEXTS)), rows)]
        found = TextClassifier().fit([TEXTS[row] for row in rows], labels[rows].tolist(), unlabelled=pile)
        told = found.comparison()
        assert told.chosen == "ridge with vectors"
        assert {model.name for model in told.models} == models


def test_a_label_of_one_text_stays_a_label():
    labels = ["single", *ONE[1:]]
    found = TextClassifier(variance=1.0).fit(TEXTS, labels)
    assert "single" in found.classes_
    assert found.comparison().n_texts == len(TEXTS) - 1


def test_weights_count_in_the_comparison():
    weights = np.where(np.arange(len(TEXTS)) < 200, 1.0, 0.0)
    found = TextClassifier(variance=1.0).fit(TEXTS, ONE, sample_weight=weights).comparison()
    part = TextClassifier(variance=1.0).fit(TEXTS[:200], ONE[:200]).comparison()
    assert found.n_texts == part.n_texts == 200
    assert [model.score for model in found.models] == [model.score for model in part.models]


def test_what_is_told(tmp_path):
    trained = train(Split([(label,) for label in TWO], NEWS.train.ids, TEXTS), TextClassifier())
    told = trained.info.comparison
    # The same texts are compared with the same result.
    assert told == chosen_by_default("binary").comparison()
    assert trained.info.model in MODELS
    assert trained.as_dict()["model"]["comparison"]["reason"] == told.reason
    assert told.reason.startswith(f"{told.chosen}, because its held-out share of texts that are right is 0.")
    assert ("chosen", told.reason) in trained.info.lines()
    page = training_report(trained, "news")
    assert f"{told.chosen} (chosen)" in page
    assert told.about() in page
    assert model_info(TextClassifier("nb").fit(TEXTS, TWO)).comparison is None


def test_forged_comparisons_are_refused(tmp_path):
    classifier = TextClassifier(variance=1.0).fit(TEXTS, TWO)
    told = classifier.comparison()
    row = told.as_dict()["models"][0]
    for changes in (
        {"chosen": "magic"},
        {"measure": "magic"},
        {"n_texts": -1},
        {"n_texts": True},
        {"reason": 3},
        {"models": [{**row, "score": float("nan")}]},
        {"models": [{**row, "model": "magic"}]},
        {"models": [{**row, "more": 1}]},
        {"models": 3},
        {"more": 1},
    ):
        with pytest.raises(ValueError, match="comparison of models is damaged"):
            ModelComparison.from_dict({**told.as_dict(), **changes})
    classifier.comparison_ = {**told.as_dict(), "chosen": "magic"}
    with pytest.raises((ValueError, ModelFileError), match="comparison of models is damaged"):
        save(classifier, tmp_path / "model.bayesift")
    classifier.comparison_ = None
    with pytest.raises((ValueError, ModelFileError), match="model and comparison"):
        save(classifier, tmp_path / "model.bayesift")


def test_reasons_read_well():
    rows = [
        model_comparison.ComparedModel("ridge", "ridge", False, 0.9, 0.0, 0.0, -0.31, 0.8, 10),
        model_comparison.ComparedModel("lasso", "lasso", False, 0.8, 0.1, 0.01, -0.40, 0.7, 10),
    ]
    said = "ridge, because its held-out share of texts that are right is 0.900 against 0.800 for lasso"
    assert model_comparison._reason(rows, 0, [0], "accuracy") == said
    said = "is 0.900 against 0.800 for lasso, and its average precision is 0.800 against 0.700"
    assert model_comparison._reason(rows, 0, [0], "f1").endswith(said)
    near = [rows[0], replace(rows[1], behind=0.001)]
    assert model_comparison._reason(near, 0, [0, 1], "accuracy").endswith(
        "log likelihood per text is -0.310 against -0.400 for lasso"
    )
    even = [rows[0], replace(rows[1], log_likelihood=-0.30)]
    assert model_comparison._reason(even, 0, [0, 1], "accuracy").endswith("and it is the simplest of those")


@pytest.mark.slow
@pytest.mark.parametrize("variance", ["cv", 1.0])
def test_the_comparison_tells_how_far_it_has_come(variance):
    told = []
    with progress.callback(lambda *numbers: told.append(numbers)):
        classifier = TextClassifier(variance=variance).fit(TEXTS, ONE)
    done, totals = zip(*told, strict=True)
    assert set(totals) == {1000}
    assert sorted(done) == list(done)
    assert done[-1] == 1000
    # Three candidates in five turns, one of them with pairs, and the model itself.
    assert len(set(done)) > (100 if variance == "cv" else 15)
    assert len(classifier.comparison_["models"]) == 3
    # The same whether anybody listens or not.
    assert (classifier.comparison_ == chosen_by_default("multiclass").comparison_) == (variance == "cv")


@pytest.mark.slow
def test_steps_of_a_training_are_told():
    told = {}
    part = Split(NEWS.train.labels[:100], NEWS.train.ids[:100], TEXTS[:100])
    train(
        part,
        TextClassifier("ridge", variance=1.0),
        curve=True,
        step=lambda name, done, total: told.setdefault(name, []).append((done, total)),
    )
    for name in ("learning", "measuring", "learning from fewer texts"):
        shares = [done / total for done, total in told[name] if total]
        assert sorted(shares) == shares
        assert shares[-1] == 1.0
        assert len(shares) > 2


def test_a_part_within_a_part():
    told = []
    with progress.callback(lambda *numbers: told.append(numbers)), progress.part(0.5, 1.0):
        progress.report(1, 2)
        with progress.part(0.5, 0.9):
            progress.report(0, 0)
            progress.report(1, 4)
    assert told == [(750, 1000), (750, 1000), (800, 1000), (950, 1000), (1000, 1000)]
    with progress.callback(None), progress.part(0.0, 0.5):
        progress.report(1, 1)


@pytest.mark.slow
def test_everything_that_is_compared_can_be_compiled_ahead():
    assert list(warm(["auto"])) == ["auto"]
