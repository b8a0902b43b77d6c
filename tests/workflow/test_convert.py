"""Models for other programs say the same as ours."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bayesift.bbr import linear_scores, read_binary_model, read_data, read_polytomous_model
from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors
from bayesift.workflow import TextClassifier, convert
from bayesift.workflow._plain_pipeline import plain_pipeline

NEWS = load("newsroom")
TEXTS, TEST = NEWS.train.texts, NEWS.test.texts
ONE = [labels[0] for labels in NEWS.train.labels]
TWO = ["money" if label in ("economy", "energy", "agriculture") else "life" for label in ONE]
KINDS = {"binary": TWO, "multiclass": ONE, "multilabel-indicator": NEWS.train.labels}


def fitted(model, kind, **options):
    return TextClassifier(model, variance=5.0, **options).fit(TEXTS, KINDS[kind])


def vectors(classifier, tmp_path):
    """The test texts as a data file for BBR."""
    X = classifier.matrix(TEST)
    lines = (
        " ".join(["1", *(f"{j + 1}:{v!r}" for j, v in zip(x.indices.tolist(), x.data.tolist(), strict=True))])
        for x in X
    )
    (tmp_path / "test.dat").write_text("\n".join(lines) + "\n")
    return read_data(tmp_path / "test.dat")


@pytest.mark.parametrize("threshold", ["half", "max_f1"])
def test_bbr(tmp_path, threshold):
    classifier = fitted("lasso", "binary", threshold=threshold)
    written = convert(classifier, "bbr", tmp_path / "news.bbr")
    model = read_binary_model(written[0], threshold_unit="log_odds")
    scores = linear_scores(model, vectors(classifier, tmp_path))
    np.testing.assert_allclose(scores, classifier.decision_function(TEST), atol=1e-9)
    np.testing.assert_array_equal(scores >= model.threshold, classifier.predict(TEST) == "money")
    words = [line.split("\t")[1] for line in written[1].read_text().splitlines()[1:]]
    assert words == classifier.words().tolist()


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
def test_characters(tmp_path, analyzer):
    words = TextVectorizer(analyzer=analyzer, ngram_range=(2, 3), min_df=5)
    classifier = fitted("lasso", "binary", threshold="half", vectorizer=words)
    plain = plain_pipeline(classifier)
    np.testing.assert_allclose(plain.decision_function(TEST), classifier.decision_function(TEST), atol=1e-9)
    with pytest.raises(ValueError, match=r"terms are sequences of characters .* convert to 'sklearn'"):
        convert(classifier, "onnx", tmp_path / "a.onnx")
    assert not any(tmp_path.iterdir())
    if any("\n" in word for word in classifier.words()):
        with pytest.raises(ValueError, match="does not fit in a list with a word per line"):
            convert(classifier, "bbr", tmp_path / "a.bbr")


@pytest.mark.parametrize("to", ["bmr", "bxr"])
def test_bmr_and_bxr(tmp_path, to):
    classifier = fitted("polytomous", "multiclass")
    written = convert(classifier, to, tmp_path / "news.model")
    model = read_polytomous_model(written[0])
    assert model.symbolic == (to == "bxr")
    assert sorted(model.class_names) == classifier.classes_.tolist()
    words = classifier.words().tolist()
    for found in model.classes:
        row = classifier.classes_.tolist().index(found.class_name)
        coef = np.asarray(classifier.model_.word_weights()[[row]].todense()).ravel()
        columns = [words.index(name) if to == "bxr" else name - 1 for name in found.features]
        np.testing.assert_allclose(coef[columns], found.coefficients)
        assert np.count_nonzero(coef) == len(columns)


def plain_answers(classifier, tmp_path):
    """Decisions and probabilities, texts × labels, by the scikit-learn pipeline that was written."""
    from skops.io import load as load_skops

    [path] = convert(classifier, "sklearn", tmp_path / "news.skops")
    plain = load_skops(path, trusted=[])
    found, probabilities = plain.predict(TEST), plain.predict_proba(TEST)
    assert plain.classes_.tolist() == classifier.classes_.tolist()
    if classifier.target_type_ == "multilabel-indicator":
        return found == 1, np.column_stack([with_label for _, with_label in np.moveaxis(probabilities, 2, 1)])
    return found[:, None] == classifier.classes_, probabilities


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("model", ["lasso", "polytomous"])
@pytest.mark.parametrize(
    "vectorizer",
    [None, TextVectorizer("btn"), TextVectorizer("nnc", stop_words="english", ngram_range=(1, 2))],
    ids=["lsc", "btn", "nnc"],
)
def test_scikit_learn(tmp_path, model, kind, vectorizer):
    if (model, kind) == ("polytomous", "multilabel-indicator"):
        pytest.skip("gives one label a text")
    classifier = fitted(model, kind, vectorizer=vectorizer, threshold="half")
    decisions, probabilities = plain_answers(classifier, tmp_path)
    np.testing.assert_allclose(probabilities, classifier.predict_proba(TEST), atol=1e-9)
    np.testing.assert_array_equal(decisions, classifier.predictions(TEST).decisions)


@pytest.mark.parametrize(
    ("kind", "threshold"), [("binary", "t11u"), ("multilabel-indicator", "auto"), ("multilabel-indicator", "t11u")]
)
def test_scikit_learn_with_thresholds(tmp_path, kind, threshold):
    classifier = fitted("ridge", kind, threshold=threshold)
    ours = classifier.predictions(TEST)
    decisions, probabilities = plain_answers(classifier, tmp_path)
    np.testing.assert_allclose(probabilities, ours.probabilities, atol=1e-9)
    np.testing.assert_array_equal(decisions, ours.decisions)
    # One half would not do.
    assert np.any(decisions != (probabilities >= 0.5))


def onnx_answers(classifier, tmp_path, texts=TEST):
    """Labels and probabilities by the ONNX graph that was written."""
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    [path] = convert(classifier, "onnx", tmp_path / "news.onnx")
    session = runtime.InferenceSession(path.read_bytes())
    assert json.loads(session.get_modelmeta().custom_metadata_map["labels"]) == classifier.classes_.tolist()
    return session.run(["label", "probabilities"], {"text": np.array(texts)})


@pytest.mark.parametrize("threshold", ["half", "t11u"])
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("model", ["ridge", "polytomous"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_onnx(tmp_path, kind, model, threshold):
    if model == "polytomous" and (kind == "multilabel-indicator" or (kind, threshold) == ("multiclass", "t11u")):
        pytest.skip("gives every text its most probable label")
    classifier = fitted(model, kind, threshold=threshold)
    assert hasattr(classifier.model_, "calibration_") == (model == "ridge")
    labels, probabilities = onnx_answers(classifier, tmp_path)
    ours = classifier.predictions(TEST)
    np.testing.assert_allclose(probabilities, ours.probabilities, atol=1e-4)
    decisions = labels == 1 if kind == "multilabel-indicator" else labels[:, None] == classifier.classes_
    # The graph computes in single precision.
    above = np.sort(classifier.decision_function(TEST).reshape(len(TEST), -1) - classifier.threshold_.thresholds_)
    distance = above[:, -1] - above[:, -2] if kind == "multiclass" else np.min(np.abs(above), axis=1)
    certain = distance > 1e-4
    assert certain.mean() > 0.95
    np.testing.assert_array_equal(decisions[certain], ours.decisions[certain])
    if threshold != "half":
        cut = probabilities.max(axis=1, keepdims=True) if kind == "multiclass" else 0.5
        assert np.any(decisions != (probabilities >= cut))


@pytest.mark.parametrize("model", ["ridge", "polytomous-ridge"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_onnx_with_vectors_of_words(tmp_path, model):
    given = WordVectors(rank=6).fit(TEXTS)
    few = slice(0, 60)
    classifier = TextClassifier(model, variance=5.0, vectors=given, vector_variance=50.0).fit(TEXTS[few], TWO[few])
    labels, probabilities = onnx_answers(classifier, tmp_path, [*TEST, "", "unheardof"])
    ours = classifier.predictions([*TEST, "", "unheardof"])
    np.testing.assert_allclose(probabilities, ours.probabilities, atol=1e-4)
    assert np.mean(labels == classifier.predict([*TEST, "", "unheardof"])) > 0.99
    # Vectors count.
    words = TextClassifier(model, variance=5.0, vectors=None).fit(TEXTS[few], TWO[few])
    assert np.abs(ours.probabilities[:-2] - words.predictions(TEST).probabilities).max() > 0.05


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_onnx_of_labels_beyond_ascii(tmp_path):
    names = {"money": "Geld €", "life": "жизнь"}
    classifier = TextClassifier("lasso", variance=5.0).fit(TEXTS, [names[label] for label in TWO])
    labels, _ = onnx_answers(classifier, tmp_path)
    assert set(labels) == set(names.values())
    assert np.mean(labels == classifier.predict(TEST)) > 0.99


WORLD = [
    "Größe und Maß, 5² Straße",
    "Αθήνα είναι όμορφη, ο δρόμος",
    "Москва столица России",
    "東京 大学 の 本",
    "plain words here",
    "café señor naïve",
    "İstanbul ve çay",
    "नमस्ते दुनिया",
]


@pytest.mark.parametrize("locale", [None, "C.UTF-8"])
@pytest.mark.parametrize(
    "options",
    [{}, {"ngram_range": (1, 2)}, {"lowercase": False}, {"weighting": "btn"}],
    ids=["words", "pairs", "case", "btn"],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_onnx_with_words_of_any_language(tmp_path, options, locale):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    vectorizer = TextVectorizer(unspaced="whole", **options)
    classifier = TextClassifier("ridge", variance=1.0, vectorizer=vectorizer).fit(WORLD * 3, ["a", "b"] * 12)
    [path] = convert(classifier, "onnx", tmp_path / "world.onnx", locale=locale)
    session = runtime.InferenceSession(path.read_bytes())
    # What the runtime makes small letter by letter does not know the last letter of a Greek word, nor does either
    # know a letter that becomes two.
    asked = [*WORLD[:6], "GRÖSSE straße STRAẞE", "東京大学", "", "…", "a b c", "größe-maß_x", "MaSS CAFé Señor"]
    asked += ["ΑΘΉΝΑ Αθήνα", "МОСКВА Столица РОССИИ", "ÇAY çay Çay"] + (["ΔΡΌΜΟΣ"] if locale is None else [])
    _, probabilities = session.run(None, {"text": np.array(asked)})
    np.testing.assert_allclose(probabilities, classifier.predict_proba(asked), atol=1e-5)
    assert np.ptp(probabilities[:, 0]) > 0.05
    _, alone = session.run(None, {"text": np.array([""])})
    np.testing.assert_allclose(alone, classifier.predict_proba([""]), atol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_onnx_needs_no_locale(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("skl2onnx")
    [path] = convert(fitted("lasso", "binary"), "onnx", tmp_path / "news.onnx")
    [lower] = [node for node in onnx.load(path).graph.node if node.op_type == "StringNormalizer"]
    assert [attribute.s for attribute in lower.attribute if attribute.name == "locale"] == [b"C"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"token_pattern": r"\w+"}, r"token_pattern is .* only the letters of English"),
        (
            {"stop_words": "english", "ngram_range": (1, 2)},
            "stop words before it forms pairs of words, which ONNX cannot",
        ),
    ],
)
def test_what_onnx_would_cut_otherwise_is_refused(tmp_path, options, message):
    pytest.importorskip("skl2onnx")
    classifier = fitted("lasso", "binary", vectorizer=TextVectorizer(**options))
    with pytest.raises(ValueError, match=message):
        convert(classifier, "onnx", tmp_path / "news.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "kind", "to", "options", "message"),
    [
        ("nb", "binary", "bbr", {}, "needs a logistic model"),
        ("lasso", "multiclass", "bbr", {}, "with 9 labels"),
        ("lasso", "multiclass", "bmr", {}, "need a polytomous model"),
        ("nb", "binary", "sklearn", {}, "expected a lasso, a ridge or a polytomous model"),
        (BayesianLogisticRegression("gaussian", 5.0, posterior="ep"), "binary", "sklearn", {}, "posterior of the"),
        ("lasso", "binary", "sklearn", {"vectorizer": TextVectorizer(stemmer="porter")}, "uses stemmer"),
        ("lasso", "binary", "sklearn", {"selector": TermSelector(k=50)}, "selects words"),
        ("lasso", "multiclass", "sklearn", {"threshold": "max_f1"}, "gives every text its most probable label"),
        ("lasso", "binary", "pickle", {}, "to is 'pickle'"),
    ],
)
def test_what_can_not_be_said_elsewhere(tmp_path, model, kind, to, options, message):
    with pytest.raises(ValueError, match=message):
        convert(fitted(model, kind, **options), to, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
