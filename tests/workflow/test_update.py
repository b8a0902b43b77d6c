"""Learning on: against learning from everything at once, and what must not happen."""

from __future__ import annotations

import numpy as np
import pytest

from bayesift.datasets import load
from bayesift.linear import BayesianProbitRegression
from bayesift.priors import Jeffreys
from bayesift.text import TextVectorizer
from bayesift.workflow import TextClassifier, model_info, update

NEWS = load("newsroom")
TEXTS = NEWS.train.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TWO = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
KINDS = {"binary": TWO, "multiclass": ONE, "multilabel-indicator": NEWS.train.labels}


def fitted(model, y, n, **options):
    return TextClassifier(model, variance=1.0, **options).fit(TEXTS[:n], y[:n])


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["lasso", "ridge", "polytomous", "probit", "nb", "bernoulli", "perceptron", "process"]
)
@pytest.mark.parametrize("kind", list(KINDS))
def test_more_texts_make_it_better(model, kind):
    y = KINDS[kind]
    if (model, kind) == ("polytomous", "multilabel-indicator"):
        pytest.skip("gives one label a text")
    before = fitted(model, y, 150)
    after = update(before, TEXTS[150:], y[150:])
    test = {"binary": None, "multiclass": None, "multilabel-indicator": NEWS.test.labels}[kind]
    if test is None:
        single = [labels[0] for labels in NEWS.test.labels]
        test = (
            single
            if kind == "multiclass"
            else ["money" if label in ("economy", "energy", "agriculture") else "life" for label in single]
        )
    assert after.score(NEWS.test.texts, test) > before.score(NEWS.test.texts, test) - 0.05
    assert after.training_["n_texts"] == len(TEXTS)
    assert before.training_["n_texts"] == 150


def test_naive_bayes_ends_where_learning_at_once_does():
    vectorizer = TextVectorizer("nnn").fit(TEXTS)
    fixed = TextVectorizer("nnn", vocabulary=vectorizer.vocabulary_)
    before = fitted("nb", ONE, 200, vectorizer=fixed)
    after = update(before, TEXTS[200:], ONE[200:])
    at_once = TextClassifier("nb", vectorizer=fixed).fit(TEXTS, ONE)
    np.testing.assert_allclose(after.predict_proba(NEWS.test.texts), at_once.predict_proba(NEWS.test.texts), atol=1e-9)


def test_a_ridge_is_nearer_to_learning_at_once_than_either_half():
    # The posterior is kept as independent Gaussians, so the two need not be the same.
    vectorizer = TextVectorizer("nnc").fit(TEXTS)
    fixed = TextVectorizer("nnc", vocabulary=vectorizer.vocabulary_)
    options = {"vectorizer": fixed, "calibration": None}
    first = fitted("ridge", TWO, 160, **options)
    second = TextClassifier("ridge", variance=1.0, **options).fit(TEXTS[160:], TWO[160:])
    both = update(first, TEXTS[160:], TWO[160:])
    at_once = TextClassifier("ridge", variance=1.0, **options).fit(TEXTS, TWO)
    target = at_once.decision_function(NEWS.test.texts)
    distance = [np.mean((one.decision_function(NEWS.test.texts) - target) ** 2) for one in (both, first, second)]
    assert distance[0] < min(distance[1:])


def test_how_the_variance_was_chosen_is_still_known():
    first = TextClassifier("ridge", variance="cv").fit(TEXTS[:160], TWO[:160])
    both = update(first, TEXTS[160:], TWO[160:])
    assert model_info(both).variance_by == model_info(first).variance_by == "cross-validation"


def test_the_precision_of_a_ridge_adds_up():
    first = fitted("ridge", TWO, 160)
    again = update(first, TEXTS[160:], TWO[160:], new_words=False)
    assert np.all(again.model_.precision_ >= first.model_.precision_ - 1e-9)
    assert np.any(again.model_.precision_ > first.model_.precision_ + 1e-3)


def test_a_lasso_stays_sparse_and_its_precision_grows():
    first = fitted("lasso", TWO, 160)
    again = update(first, TEXTS[160:], TWO[160:], new_words=False)
    kept = [one.model_.n_nonzero_.sum() for one in (first, again)]
    assert kept[1] < 3 * kept[0]
    assert np.all(again.model_.precision_[:, :-1] >= first.model_.precision_[:, :-1])


@pytest.mark.parametrize("model", ["lasso", "ridge", "polytomous", "probit"])
def test_a_batch_of_one_label_does_not_wipe_out_what_was_known(model):
    first = fitted(model, TWO, 200)
    money = [i for i in range(200, len(TEXTS)) if TWO[i] == "money"][:5]
    again = update(first, [TEXTS[i] for i in money], ["money"] * 5)
    before, after = (one.predict_proba(NEWS.test.texts)[:, 1] for one in (first, again))
    assert np.corrcoef(before, after)[0, 1] > 0.9
    assert after.mean() > before.mean()


def test_strength_says_how_much_the_past_counts():
    first = fitted("ridge", TWO, 200)
    flipped = ["life" if label == "money" else "money" for label in TWO[:40]]
    moved = [
        np.abs(
            update(first, TEXTS[:40], flipped, strength=strength).decision_function(TEXTS[:200])
            - first.decision_function(TEXTS[:200])
        ).mean()
        for strength in (0.1, 1.0, 10.0)
    ]
    assert moved[0] > moved[1] > moved[2]


def test_new_words_come_in_if_two_texts_have_them():
    first = fitted("ridge", TWO, 200)
    texts = ["zebras and money zebras", "zebras again", "a single quagga"]
    again = update(first, texts, ["life", "life", "money"])
    assert "zebras" in again.words()
    assert "quagga" not in again.words()
    assert len(update(first, texts, ["life", "life", "money"], new_words=False).words()) == len(first.words())
    place = again.words().tolist().index("zebras")
    assert again.model_.coef_[0, place] < 0  # speaks for "life"


@pytest.mark.parametrize(
    ("model", "labels", "message"),
    [
        ("ridge", ["money", "sea"], "label 'sea' is new to the model, which knows 'life', 'money'"),
        ("dcm", ["money", "life"], "model 'dcm' cannot be updated; train again on all texts"),
        ("ridge", [("money", "life"), ("life",)], "several labels or none; expected exactly one label"),
        ("ridge", ["money"], "must have the same length"),
    ],
)
def test_what_can_not_be(model, labels, message):
    with pytest.raises(ValueError, match=message):
        update(fitted(model, TWO, 60), TEXTS[:2], labels)


def test_without_a_posterior_there_is_nothing_to_go_on_from():
    with pytest.raises(ValueError, match="has no posterior to start from"):
        update(fitted("ridge", TWO, 60, keep_posterior=False), TEXTS[:2], TWO[:2])


@pytest.mark.filterwarnings("ignore::bayesift.workflow.errors.NoWordsWarning")
@pytest.mark.parametrize("prior", ["jeffreys", Jeffreys(), [Jeffreys()]])
def test_jeffreys_priors_are_refused_however_they_are_given(prior):
    model = BayesianProbitRegression(prior=prior)
    classifier = TextClassifier(model).fit(TEXTS[:60], TWO[:60])
    with pytest.raises(ValueError, match="Jeffreys priors cannot be updated"):
        update(classifier, TEXTS[60:70], TWO[60:70])
