"""The estimator: kinds of labels, thresholds, knowledge, reasons, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict

from bayesift.ard import RelevanceTaggingMachine, RelevanceVectorMachine
from bayesift.datasets import Split, load
from bayesift.decide import best_threshold
from bayesift.formats import load as load_model
from bayesift.formats import save
from bayesift.linear import BayesianLogisticRegression
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from bayesift.workflow import MODELS, BinaryRelevance, Explainer, TextClassifier, model_info, top_words, train
from bayesift.workflow._label_sets import assign_folds, read_targets

NEWS = load("newsroom")
TEXTS, TEST = NEWS.train.texts, NEWS.test.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TWO = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
KINDS = {"binary": TWO, "multiclass": ONE, "multilabel-indicator": NEWS.train.labels}
QUICK = [name for name in MODELS if name not in ("rtm", "rvm")]


def small(model, kind, **options):
    options.setdefault("variance", 5.0)
    return TextClassifier(model, **options).fit(TEXTS[:120], KINDS[kind][:120])


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("model", QUICK)
def test_every_model_and_kind_of_labels(model, kind, tmp_path):
    if MODELS[model].one_label and kind == "multilabel-indicator":
        with pytest.raises(ValueError, match="gives every text exactly one label"):
            small(model, kind)
        return
    classifier = small(model, kind, threshold="half")
    probabilities = classifier.predict_proba(TEST)
    assert probabilities.shape == (len(TEST), len(classifier.classes_))
    assert np.all((probabilities >= 0) & (probabilities <= 1))
    if kind != "multilabel-indicator":
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    X = classifier.matrix(TEST)
    np.testing.assert_allclose(probabilities, classifier.model_.predict_proba(X), atol=1e-9)
    own = classifier.model_.predict(X)
    expected = own > 0 if kind == "multilabel-indicator" else own[:, None] == classifier.classes_
    assert np.mean(classifier.predictions(TEST).decisions == expected) > 0.999
    save(classifier, tmp_path / "model.bayesift")
    again = load_model(tmp_path / "model.bayesift")
    np.testing.assert_array_equal(again.predict_proba(TEST), probabilities)
    assert [str(label) for label in again.predict(TEST)] == [str(label) for label in classifier.predict(TEST)]


@pytest.mark.parametrize("kind", ["multiclass", "multilabel-indicator"])
def test_models_of_two_classes_take_each_label_against_the_rest(kind, tmp_path):
    labels = [min(label[0], "d") for label in ONE[:60]]
    labels = labels if kind == "multiclass" else [(one, two) for one, two in zip(labels, TWO, strict=False)]
    machine = BinaryRelevance(RelevanceTaggingMachine(max_iter=1, inner_iter=2, n_nodes=20))
    vectorizer = TextVectorizer("bnn", max_features=12)
    classifier = TextClassifier(machine, vectorizer=vectorizer).fit(TEXTS[:60], labels)
    save(classifier, tmp_path / "model.bayesift")
    again = load_model(tmp_path / "model.bayesift")
    np.testing.assert_array_equal(again.predict_proba(TEST), classifier.predict_proba(TEST))
    X = classifier.matrix(TEST)
    for place, one in enumerate(classifier.model_.models_):
        np.testing.assert_allclose(classifier.decision_function(TEST)[:, place], one.decision_function(X))
    assert sum(map(len, top_words(classifier, 5).values())) > 0


def test_relevance_machines_by_name():
    assert isinstance(MODELS["rtm"].build("binary", {"n_jobs": 1}), RelevanceTaggingMachine)
    assert isinstance(MODELS["rvm"].build("multilabel-indicator", {}).estimator, RelevanceVectorMachine)


def test_label_sets_of_one_are_labels():
    as_sets = TextClassifier("nb").fit(TEXTS, [{label} for label in ONE])
    as_labels = TextClassifier("nb").fit(TEXTS, ONE)
    assert as_sets.target_type_ == "multiclass"
    np.testing.assert_array_equal(as_sets.predict(TEST), as_labels.predict(TEST))
    told = TextClassifier("nb", multilabel=True).fit(TEXTS, [{label} for label in ONE])
    assert told.target_type_ == "multilabel-indicator"


def test_one_category_or_nothing():
    labels = [("sport",) if label == "sport" else () for label in ONE]
    classifier = TextClassifier("ridge", variance=5.0).fit(TEXTS, labels)
    assert classifier.target_type_ == "multilabel-indicator"
    assert set(classifier.predict(TEST)) == {(), ("sport",)}


def test_labels_of_other_types():
    classifier = TextClassifier("nb").fit(TEXTS, [len(label) for label in ONE])
    assert classifier.classes_.dtype.kind == "i"
    assert classifier.predict(TEST).dtype.kind == "i"


def test_thresholds_are_tuned_for_models_that_have_none():
    half = small("nb", "multilabel-indicator", threshold="half")
    tuned = small("nb", "multilabel-indicator", threshold={"tp": 1, "fp": -5}, threshold_on="train")
    truth = NEWS.indicator("train").toarray()[:120] > 0
    gains = []
    for classifier in (half, tuned):
        decisions = classifier.predictions(TEXTS[:120]).decisions
        gains.append(np.sum(decisions & truth) - 5 * np.sum(decisions & ~truth))
    assert gains[1] >= gains[0]
    assert not np.array_equal(tuned.threshold_.thresholds_, half.threshold_.thresholds_)
    with pytest.raises(ValueError, match="gives every text its most probable label"):
        small("nb", "multiclass", threshold="max_f1")


@pytest.mark.parametrize("model", ["nb", "perceptron"])
@pytest.mark.parametrize("kind", ["binary", "multilabel-indicator"])
def test_thresholds_of_any_model_are_tuned_on_texts_it_has_not_seen(model, kind):
    labels = [label == "sport" for label in ONE] if kind == "binary" else list(NEWS.train.labels)
    classifier = TextClassifier(model, threshold="max_f1").fit(TEXTS, labels)
    targets = read_targets(labels)
    X, truth = classifier.matrix(TEXTS), targets.indicator()
    fold = assign_folds(TEXTS, targets.sets(), 5)
    scores = np.empty((len(TEXTS), len(classifier.threshold_.thresholds_)))
    for turn in range(5):
        out = np.flatnonzero(fold == turn)
        part = clone(classifier.model_).fit(X[fold != turn], targets.y[fold != turn])
        scores[out] = part.decision_function(X[out]).reshape(out.size, -1)
    truth = truth[:, -scores.shape[1] :]
    expected = [best_threshold(*columns, policy="max_f1") for columns in zip(scores.T, truth.T, strict=True)]
    np.testing.assert_allclose(classifier.threshold_.thresholds_, expected)


def test_rare_labels_have_their_thresholds_tuned():
    rare = [("sport",) if label == "sport" and place % 2 else () for place, label in enumerate(ONE)]
    assert np.mean([bool(found) for found in rare]) < 0.1
    assert TextClassifier("nb").fit(TEXTS, rare).threshold_.policy == "max_f1"
    assert TextClassifier("nb").fit(TEXTS, ONE).threshold_.policy == "half"
    assert TextClassifier("nb", threshold="half").fit(TEXTS, rare).threshold_.policy == "half"
    halves = np.where(np.arange(len(TEXTS)) % 2, "odd", "even").tolist()
    assert TextClassifier("nb").fit(TEXTS, halves).threshold_.policy == "half"
    trained = train(Split(rare, [""] * len(rare), TEXTS), TextClassifier("nb"), validation=None)
    assert any("rare labels ('sport')" in note and "held-out" in note for note in trained.notes)


@pytest.mark.parametrize("model", ["nb", "ridge"])
@pytest.mark.parametrize("names", [("a rare one", "usual"), ("usual", "very rare")])
def test_of_two_labels_the_rarer_one_is_tuned_for(model, names):
    rare = min(names, key=lambda name: "rare" not in name)
    labels = [rare if label == "sport" and place % 2 else "usual" for place, label in enumerate(ONE)]
    found = TextClassifier(model, variance=1.0).fit(TEXTS, labels)
    half = TextClassifier(model, variance=1.0, threshold="half").fit(TEXTS, labels)
    assert found.threshold_.policy == ("max_f1" if rare == names[1] else "max_f1_of_rest")
    given, given_by_half = (int(np.sum(classifier.predict(TEXTS) == rare)) for classifier in (found, half))
    # The prior of ridge is too strong for a rare label at one half.
    assert given >= given_by_half
    assert 0 < given < len(TEXTS) / 4


def test_knowledge_moves_the_words_it_names():
    told = {"economy": {"keywords": {"shares": 3.0}}, "sport": "the championships"}
    plain, knowing = (
        small("ridge", "multiclass", variance=0.01),
        small("ridge", "multiclass", variance=0.01, prior_knowledge=told),
    )
    weights = [
        dict(zip(c.words(), np.asarray(c.model_.coef_)[c.classes_ == "sport"][0], strict=True))
        for c in (plain, knowing)
    ]
    assert abs(weights[1]["championships"]) > abs(weights[0]["championships"])


def test_knowledge_of_two_labels_pulls_in_two_directions():
    told = {"money": {"keywords": {"shares": 2.0}}, "life": {"keywords": {"music": 2.0}}}
    classifier = small("ridge", "binary", variance=1e-4, prior_knowledge=told)
    weights = dict(zip(classifier.words(), np.asarray(classifier.model_.coef_)[0], strict=True))
    assert weights["shares"] == pytest.approx(2.0, abs=0.1)
    assert weights["music"] == pytest.approx(-2.0, abs=0.1)


def test_knowledge_that_names_no_word_of_the_texts_is_remarked_upon():
    with pytest.warns(UserWarning, match="no word of what is known about 'sport' occurs"):
        small("ridge", "multiclass", prior_knowledge={"sport": "xylophones"})


@pytest.mark.parametrize("model", ["lasso", "polytomous", "nb", "bernoulli", "dcm", "perceptron"])
def test_reasons_are_weight_times_value(model):
    classifier = small(model, "multiclass")
    weights = classifier.model_.word_weights()
    dense = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights)
    words = classifier.words().tolist()
    for text, reasons in zip(TEST[:5], classifier.explain(TEST[:5], 4), strict=True):
        x = classifier.matrix([text]).toarray()[0]
        row = classifier.classes_.tolist().index(reasons[0].label)
        expected = dense[row] * x
        for word, added in reasons[0].words:
            assert added == pytest.approx(expected[words.index(word)])
        assert max((abs(added) for _, added in reasons[0].words), default=0.0) == pytest.approx(np.abs(expected).max())


def test_reasons_of_a_linear_model_add_up_to_its_score():
    classifier = small("ridge", "binary")
    for text, reasons in zip(TEST[:5], classifier.explain(TEST[:5], 10_000), strict=True):
        sign = 1 if reasons[0].label == "money" else -1
        total = sum(added for _, added in reasons[0].words)
        score = classifier.decision_function([text])[0] - classifier.model_.linear_scores()[1][0]
        assert sign * total == pytest.approx(score)


def test_reasons_of_a_process_are_what_a_word_changes():
    classifier = small("process", "binary")
    [reason] = classifier.explain(["football club wins the cup"], 3)[0]
    word, added = reason.words[0]
    x = classifier.matrix(["football club wins the cup"])
    without = x.copy()
    without.data[x.indices == classifier.words().tolist().index(word)] = 0.0
    change = classifier.model_.decision_function(x) - classifier.model_.decision_function(without)
    assert added == pytest.approx((1 if reason.label == "money" else -1) * change[0])


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_process_has_no_word_to_name_where_it_knows_none(kind):
    classifier = small("process", kind)
    found = classifier.predictions(["", "qqqq"])
    given = found._replace(decisions=np.ones_like(found.decisions))
    for reasons in Explainer(classifier).reasons(["", "qqqq"], 3, given):
        assert [reason.words for reason in reasons] == [[]] * len(classifier.classes_)


def test_a_text_that_gets_no_label_is_explained_by_the_most_probable():
    classifier = small("lasso", "multilabel-indicator")
    [reason] = classifier.explain(["nothing to see"])[0]
    assert not reason.accepted


def test_known_predictions_are_explained_as_they_are():
    classifier = small("nb", "multiclass")
    explainer, found = Explainer(classifier), classifier.predictions(TEST[:5])
    assert explainer.reasons(TEST[:5], 3, found) == classifier.explain(TEST[:5], 3)
    others = found._replace(decisions=np.roll(found.decisions, 1, axis=1))
    labels = np.roll(classifier.classes_, -1)[classifier.predictions(TEST[:5]).decisions.argmax(axis=1)]
    assert [reasons[0].label for reasons in explainer.reasons(TEST[:5], 3, others)] == labels.tolist()


def test_it_is_a_scikit_learn_estimator():
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=TextVectorizer(min_df=2))
    assert clone(classifier).get_params()["variance"] == 1.0
    search = GridSearchCV(classifier, {"variance": [0.001, 1.0]}, cv=2).fit(
        np.array(TEXTS, dtype=object), np.array(TWO)
    )
    assert search.best_params_ == {"variance": 1.0}
    found = cross_val_predict(classifier, np.array(TEXTS, dtype=object), np.array(TWO), cv=2)
    assert np.mean(found == np.array(TWO)) > 0.7


@pytest.mark.filterwarnings("ignore::bayesift.workflow.errors.NoWordsWarning")
@pytest.mark.parametrize("model", ["ridge", "polytomous", "nb", "dcm"])
def test_a_weight_of_two_is_a_text_twice(model):
    # With a fixed vocabulary and without document frequencies, words do not depend on how often a text is there.
    vectorizer = TextVectorizer("nnc", vocabulary=TextVectorizer().fit(TEXTS).vocabulary_)
    texts, labels = TEXTS[:60], ONE[:60]
    options = {"variance": 1.0, "vectorizer": vectorizer}
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    weighted = TextClassifier(model, **options).fit(texts, labels, sample_weight=weights)
    twice = TextClassifier(model, **options).fit([*texts, *texts[:20]], [*labels, *labels[:20]])
    np.testing.assert_allclose(weighted.predict_proba(TEST), twice.predict_proba(TEST), atol=1e-4)
    plain = TextClassifier(model, **options).fit(texts, labels)
    assert not np.allclose(weighted.predict_proba(TEST), plain.predict_proba(TEST), atol=1e-3)


def test_weights_of_texts_can_be_routed():
    weights = np.linspace(0.5, 2.0, len(TEXTS))
    with config_context(enable_metadata_routing=True):
        classifier = TextClassifier("nb").set_fit_request(sample_weight=True)
        found = cross_val_predict(
            classifier, np.array(TEXTS, dtype=object), np.array(TWO), cv=2, params={"sample_weight": weights}
        )
    assert np.mean(found == np.array(TWO)) > 0.7


def test_an_estimator_as_the_model():
    model = BayesianLogisticRegression(prior="gaussian", variance=1.0)
    classifier = TextClassifier(model).fit(TEXTS, ONE)
    assert classifier.model_ is not model
    by_name = TextClassifier("ridge", variance=1.0, calibration=None).fit(TEXTS, ONE)
    np.testing.assert_allclose(classifier.predict_proba(TEST), by_name.predict_proba(TEST))
    assert model_info(classifier).model == "BayesianLogisticRegression"


def test_the_fingerprint_tells_texts_apart():
    prints = {
        TextClassifier("nb").fit(texts, labels).training_["fingerprint"]
        for texts, labels in ((TEXTS, ONE), (TEXTS[::-1], ONE[::-1]), (TEXTS, TWO), ([*TEXTS[:-1], "other words"], ONE))
    }
    assert len(prints) == 4
    assert TextClassifier("nb").fit(TEXTS, ONE).training_["fingerprint"] in prints


@pytest.mark.parametrize(
    ("texts", "labels", "options", "message"),
    [
        (TEXTS, ONE[:-1], {}, "texts and y must have the same length"),
        ([], [], {}, "y is empty"),
        (TEXTS, ["a"] * len(TEXTS), {}, "only one label, 'a'"),
        (TEXTS, [*ONE[:-1], 3], {}, "mixes labels of the types int, str"),
        (TEXTS, [*ONE[:-1], ("a", "b")], {}, "mixes sets of labels and single labels"),
        (TEXTS, [()] * len(TEXTS), {}, "no label at all"),
        (TEXTS, NEWS.train.labels, {"multilabel": False}, "expected exactly one label"),
        (TEXTS, ONE, {"model": "magic"}, "model is 'magic'; expected 'auto' or one of lasso"),
        (TEXTS, ONE, {"threshold": "best"}, "threshold is 'best'; expected one of 'auto', 'half'"),
        (TEXTS, ONE, {"prior_knowledge": {"eggs": "x"}}, "prior_knowledge names the category 'eggs'"),
        (TEXTS, ONE, {"prior_knowledge": {"sport": {"words": 1}}}, "sport has the key 'words'"),
        (TEXTS, ONE, {"model": "nb", "prior_knowledge": {"sport": "x"}}, "needs a model with priors"),
        (
            TEXTS,
            ONE,
            {"model": BayesianLogisticRegression(), "prior_knowledge": {"sport": "x"}},
            "needs a model by name",
        ),
        (TEXTS, ONE, {"selector": TermSelector(threshold=1e9)}, "keeps no word"),
    ],
)
def test_bad_input(texts, labels, options, message):
    with pytest.raises(ValueError, match=message):
        TextClassifier(**options).fit(texts, labels)


def test_what_reads_a_classifier_says_that_it_is_not_fitted():
    for read in (top_words, Explainer):
        with pytest.raises(NotFittedError):
            read(TextClassifier())


@pytest.mark.parametrize(
    ("label", "problem"), [("b\0", "ends in a NUL"), ("b" * 1001, "a label has more than 1,000 characters")]
)
def test_labels_that_numpy_would_change_or_spread_are_refused(label, problem):
    with pytest.raises(ValueError, match=problem):
        TextClassifier("ridge").fit(["one text", "two texts"] * 4, ["b", label] * 4)
    if "NUL" in problem:
        with pytest.raises(ValueError, match=problem):
            BayesianLogisticRegression().fit(np.eye(4), ["b", label] * 2)
