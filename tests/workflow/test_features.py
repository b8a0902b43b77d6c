"""Numbers, categories and further texts beside the texts of a classifier."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from bayesift.datasets import FeaturedText, open_texts, read_texts
from bayesift.formats import load, save
from bayesift.linear import BayesianLogisticRegression
from bayesift.select import TermSelector
from bayesift.workflow import (
    FeatureColumns,
    TextClassifier,
    classify,
    compare,
    convert,
    evaluate,
    evaluate_held_out,
    learning_curve,
    model_info,
    update,
)
from bayesift.workflow.errors import FeaturesError, FeatureWarning

WORDS = [["wheat", "corn", "farm"], ["ship", "port", "sail"]]


def made(n=160, seed=0):
    """Texts that say little, and columns that say more: of one label or the other."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "text": [" ".join(random.choice([*WORDS[0], *WORDS[1], *WORDS[k]], 4)) for k in y],
            "price": np.round(np.where(random.random(n) < 0.1, np.nan, 20.0 + 3 * y + random.normal(0, 1, n)), 2),
            "shop": np.where(random.random(n) < 0.8, np.array(["inn", "bar"])[y], "pub"),
            "title": [f"{random.choice(WORDS[k])} number {random.integers(900)}" for k in y],
        }
    )
    return frame, np.array(["farm", "sea"])[y]


FRAME, LABELS = made()
NEW, TRUTH = made(80, seed=1)


@pytest.fixture(scope="module")
def priced():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeatureWarning)
        return TextClassifier(features=["price", "shop"]).fit(FRAME.drop(columns="title"), LABELS)


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeatureWarning)
        return function(*arguments, **options)


@pytest.mark.parametrize("selector", [None, TermSelector(k=4)])
def test_the_model_is_the_one_of_words_standardised_numbers_and_indicators(selector):
    settings = {"variance": 2.0, "feature_variance": 0.5, "selector": selector, "calibration": None}
    ours = quietly(TextClassifier("ridge", features=["shop", "price", "title"], **settings).fit, FRAME, LABELS)
    words, titles = (clone(ours.vectorizer_).fit(FRAME[name]) for name in ("text", "title"))
    if selector is not None:
        selector = clone(selector).fit(words.transform(FRAME["text"]), LABELS)

    def numbers(frame):
        counts = words.transform(frame["text"])
        price = (frame["price"] - FRAME["price"].mean()) / FRAME["price"].std(ddof=0)
        shops = np.array(["bar", "inn", "pub"]) == frame["shop"].to_numpy()[:, None]
        beside = np.column_stack([shops, price.fillna(0.0)])
        counts = counts if selector is None else selector.transform(counts)
        return sp.hstack([counts, titles.transform(frame["title"]), beside], format="csr")

    theirs = BayesianLogisticRegression("gaussian", 2.0, dense_features=4, dense_variance=0.5)
    theirs.fit(numbers(FRAME), LABELS)
    expected = theirs.decision_function(numbers(NEW))
    assert_allclose(quietly(ours.decision_function, NEW), expected, atol=1e-4)
    assert_allclose(ours.matrix(NEW).toarray(), numbers(NEW).toarray(), atol=1e-12)
    assert ours.words()[-4:].tolist() == ["shop=bar", "shop=inn", "shop=pub", "price"]
    assert all(name.startswith("title:") for name in ours.words()[-4 - len(titles.vocabulary_) : -4])


def test_features_decide_where_words_do_not(priced):
    plain = TextClassifier().fit(FRAME["text"], LABELS)
    assert priced.score(NEW, TRUTH) > plain.score(NEW["text"], TRUTH) + 0.1
    assert priced.chosen_feature_variance() > 0
    assert {model.model for model in priced.comparison().models} == {"ridge"}
    noise = FRAME[["text"]].assign(noise=np.random.default_rng(3).normal(size=len(FRAME)))
    useless = TextClassifier("ridge", features=["noise"]).fit(noise, LABELS)
    assert useless.chosen_feature_variance() == 0
    assert "did not help" in dict(model_info(useless).lines())["features"]


def test_reasons_name_large_values_in_full(priced):
    (reason,) = priced.explain(NEW[:1].assign(price=1234567.5), 50)[0]
    assert "price=1234567.5" in [word for word, _ in reason.words]


@pytest.mark.parametrize("model", ["lasso", "ridge", "polytomous", "probit", "probit-ridge"])
def test_reasons_name_values_and_add_up_to_the_score(model):
    classifier = TextClassifier(model, variance=2.0, feature_variance=1.0, features=["price", "shop"])
    quietly(classifier.fit, FRAME, LABELS)
    row = NEW[NEW["price"].notna()][1:2]
    (reason,) = quietly(classifier.explain, row, 50)[0]
    sign = 1 if reason.label == "sea" else -1
    _, intercept = classifier.model_.linear_scores()
    total = sum(added for _, added in reason.words) + sign * intercept[0]
    assert_allclose(total, sign * quietly(classifier.decision_function, row)[0], atol=1e-9)
    assert {f"price={row['price'].iloc[0]:.12g}", f"shop={row['shop'].iloc[0]}"} <= {word for word, _ in reason.words}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["3", " 4.5 ", "", None, "n/a", "-1e3"], "number"),
        ([1, 2.5, np.nan, np.int64(4)], "number"),
        (["3", "4", "five"], "category"),
        ([True, False], "category"),
        (["inf", "1"], "category"),
        (["red", "blue", "red"], "category"),
        (["New York", "Rome", "New York", "New York"], "category"),
        (["a long title", "another title", "one more here"], "text"),
        ([None, ""], "category"),
    ],
)
def test_what_a_column_holds_is_told_from_it(values, kind):
    texts = [FeaturedText("", {"x": value}) for value in values]
    found = FeatureColumns.learn(texts, ["x"])
    assert found.kinds == [kind]
    assert found.transform(texts).shape == (len(values), found.n_columns) == (len(values), len(found.terms()))
    assert FeatureColumns.learn(texts, {"x": "category"}).kinds == ["category"]


def test_values_that_say_nothing_change_nothing_and_are_told(priced):
    one = NEW[:1].assign(price=priced.features_.means[0], shop="inn")
    for changed, note in (
        ({"price": None}, "1 missing value of 'price' taken as the mean"),
        ({"price": "a lot"}, "1 value of 'price' that is not a number, taken as the mean"),
        ({"price": float("inf")}, "not a number"),
    ):
        with pytest.warns(FeatureWarning, match=note):
            found = priced.predict_proba(one.assign(**changed))
        assert_allclose(found, priced.predict_proba(one), atol=1e-9)
    with pytest.warns(FeatureWarning, match="1 value of 'shop' that the model does not know, taken as none"):
        unknown = priced.predict_proba(one.assign(shop="castle"))
    with pytest.warns(FeatureWarning, match="1 missing value of 'shop' taken as none"):
        assert_allclose(unknown, priced.predict_proba(one.assign(shop=None)))
    far, further = (priced.decision_function(one.assign(price=price)) for price in (1e6, 1e308))
    assert np.isfinite(far)
    assert far == further


def test_numbers_of_any_size_and_columns_that_never_change():
    texts = [FeaturedText("", {"huge": value, "same": 7}) for value in (1e308, -1e308, 1.5e308)]
    found = FeatureColumns.learn(texts, ["huge", "same"]).transform(texts).toarray()
    assert_allclose(found.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(found.std(axis=0), [1.0, 0.0], atol=1e-12)


def test_categories_that_occur_once_among_many_are_none():
    shops = ["inn", "bar"] * 60 + ["only here"]
    texts = [FeaturedText("", {"shop": shop, "id": f"n{number}"}) for number, shop in enumerate(shops)]
    found = FeatureColumns.learn(texts, ["shop", "id"])
    assert found.categories == [["bar", "inn"], []]
    assert found.transform(texts).toarray()[-1].tolist() == [0.0, 0.0]
    assert found.about() == ["shop (one of 2)", "id (no repeated value)"]
    assert found.gaps(texts) == {("shop", "unknown"): 1, ("id", "unknown"): 121}


def test_texts_come_as_frames_or_with_their_features(priced):
    rows = [FeaturedText(row.text, {"price": row.price, "shop": row.shop}) for row in NEW.itertuples()]
    expected = quietly(priced.decision_function, NEW)
    assert np.array_equal(quietly(priced.decision_function, rows), expected)
    copies = pickle.loads(pickle.dumps(rows))
    assert np.array_equal(quietly(priced.decision_function, copies), expected)
    polars = pytest.importorskip("polars")
    assert np.array_equal(quietly(priced.decision_function, polars.from_pandas(NEW)), expected)
    renamed = NEW.rename(columns={"text": "review"})[["shop", "review", "price"]]
    assert np.array_equal(quietly(priced.decision_function, renamed), expected)


def test_everything_that_takes_texts_takes_frames(priced, tmp_path):
    measured = evaluate(priced, NEW, TRUTH)
    assert measured.accuracy == priced.score(NEW, TRUTH)
    assert any("missing value" in line for line in measured.sentences())
    plain = TextClassifier("nb").fit(FRAME["text"], LABELS)
    rows = NEW.rename(columns={"title": "other"})
    assert compare(priced, plain, rows, TRUTH).n_documents == len(NEW)
    assert evaluate_held_out(priced, FRAME, LABELS).n_texts == 32
    assert learning_curve(priced, FRAME, LABELS, n_repeats=2).n_texts == len(FRAME)
    again = quietly(cross_val_score, TextClassifier("ridge", variance=1.0, features=["price"]), FRAME, LABELS, cv=3)
    assert again.mean() > 0.7
    save(priced, tmp_path / "priced.bayesift")
    loaded = load(tmp_path / "priced.bayesift")
    assert np.array_equal(quietly(loaded.decision_function, NEW), quietly(priced.decision_function, NEW))
    assert "price (number, mean" in dict(model_info(loaded).lines())["features"]


@pytest.mark.parametrize("model", ["lasso", "ridge"])
def test_an_update_learns_on_and_takes_no_feature_for_a_word(model):
    # A word has the name of a feature, and new words come before the features.
    frame = FRAME.assign(text=FRAME["text"] + " price shop")
    settings = {"variance": 2.0, "feature_variance": 1.0}
    before = quietly(TextClassifier(model, features=["price", "shop"], **settings).fit, frame, LABELS)
    more = NEW.assign(text=NEW["text"] + " tractor")
    held = quietly(update, before, more, TRUTH, strength=1e6)
    assert len(held.words()) == len(before.words()) + 1
    old, now = (sp.csr_matrix(one.model_.word_weights()).toarray()[0] for one in (before, held))
    assert_allclose(now[-4:], old[-4:], rtol=1e-2, atol=1e-3)
    learned = quietly(update, before, more, TRUTH)
    assert quietly(learned.score, NEW, TRUTH) >= quietly(before.score, NEW, TRUTH) - 0.02
    assert learned.training_["n_texts"] == len(FRAME) + len(NEW)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet", "xlsx"])
def test_files_of_all_formats_bring_the_same_features(priced, tmp_path, ending):
    path, table = tmp_path / f"new.{ending}", NEW.assign(label=TRUTH)
    if ending in ("csv", "tsv"):
        table.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    elif ending in ("jsonl", "json"):
        table.to_json(path, orient="records", lines=ending == "jsonl")
    elif ending == "parquet":
        table.to_parquet(path)
    else:
        table.to_excel(path, index=False)
    features = list(priced.features)
    read = read_texts(path, features=features)
    assert (read.origin.text, read.origin.labels, read.origin.features) == ("text", "label", ("price", "shop"))
    expected = quietly(priced.decision_function, NEW)
    assert_allclose(quietly(priced.decision_function, read.texts), expected)
    with open_texts(path, features=features) as stream:
        texts = [text for block in stream.blocks for text in block.texts]
    assert_allclose(quietly(priced.decision_function, texts), expected)
    found = classify(priced, path, tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["predicted"].tolist() == quietly(priced.predict, NEW).tolist()
    assert any("missing value" in note for note in found.notes)


def test_what_cannot_be_is_refused(priced, tmp_path):
    for texts, problem in (
        (["plain"], r"texts\[0\] has no feature 'price'"),
        (NEW[["text", "price"]], "no column for the feature 'shop'"),
        (
            NEW.rename(columns={"text": "a", "title": "b"}),
            "columns beside the features: a, b; expected one column of texts",
        ),
    ):
        with pytest.raises(FeaturesError, match=problem):
            priced.predict(texts)
    with pytest.raises(TypeError, match="has a float at 0; expected a text"):
        priced.predict(NEW.assign(text=np.nan))
    with pytest.raises(FeaturesError, match="is a list; expected a number or a string"):
        priced.predict([FeaturedText("wheat", {"price": 1, "shop": ["inn"]})])
    for settings, problem in (
        ({"model": "nb", "features": ["price"]}, "linear model"),
        ({"features": ["price"], "vectors": "pile"}, "exclude each other"),
        ({"features": {"price": "colour"}}, "kind 'colour'; expected one of auto, number, category, text"),
        ({"features": []}, "expected column names"),
        ({"features": {"shop": "number"}}, "'shop' has no number"),
    ):
        with pytest.raises(ValueError, match=problem):
            TextClassifier(**settings).fit(FRAME, LABELS)
    with pytest.raises(TypeError, match="features is 'price'"):
        TextClassifier(features="price").fit(FRAME, LABELS)
    for to in ("onnx", "sklearn", "bbr", "bxr"):
        with pytest.raises(FeaturesError, match="expected one without them"):
            convert(priced, to, tmp_path / "x")


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("names", ["price", "price"]),
        ("names", ["price"]),
        ("kinds", ["number", "number"]),
        ("kinds", ["number", "text"]),
        ("means", np.array([np.inf, 0.0])),
        ("scales", np.array([0.0, 1.0])),
        ("scales", np.ones(3)),
        ("categories", [[], ["bar", "bar", "pub"]]),
        ("categories", [["x"], ["bar", "inn", "pub"]]),
        ("categories", [[], ["bar", "inn"]]),
        ("vectorizers", [None, 3]),
    ],
)
def test_a_file_with_features_that_do_not_fit_is_refused(priced, tmp_path, attribute, value):
    forged = pickle.loads(pickle.dumps(priced))
    setattr(forged.features_, attribute, value)
    with pytest.raises(ValueError, match=r"fit together|expected|has no"):
        save(forged, tmp_path / "forged.bayesift")
