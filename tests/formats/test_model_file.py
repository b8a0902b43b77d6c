"""Models in and out of a file."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline, make_pipeline

import bayesift
from bayesift import load, save
from bayesift._registry import ESTIMATORS, OBJECTS, TUPLES, class_named, estimators, name_of
from bayesift.formats import ModelFileError, describe
from bayesift.formats._building import VALUES as TYPES
from bayesift.linear import BayesianLogisticRegression
from bayesift.select import TermSelector, pearson
from bayesift.text import TextVectorizer
from bayesift.workflow import TextClassifier
from formats.models.cases import (
    CASES,
    COUNTS,
    LABELS,
    NEW_COUNTS,
    NEW_TEXTS,
    TEXT_CASES,
    TEXTS,
    THRESHOLDS,
    TWO,
    answers,
    save_two,
)


def same_answers(model: Any, other: Any, documents: Any) -> bool:
    found, expected = answers(other, documents), answers(model, documents)
    return found.keys() == expected.keys() and all(
        expected[name].dtype == found[name].dtype and np.array_equal(expected[name], found[name]) for name in expected
    )


@pytest.mark.parametrize("name", [*TEXT_CASES, *CASES])
def test_a_loaded_model_answers_bit_for_bit_and_is_saved_as_the_same_bytes(name: str, tmp_path: Path) -> None:
    model = {**TEXT_CASES, **CASES}[name]()
    save(model, tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift")
    documents = NEW_TEXTS if name in TEXT_CASES else NEW_COUNTS
    assert same_answers(model, again, documents)
    assert repr(again.get_params(deep=False)) == repr(model.get_params(deep=False))
    save(again, tmp_path / "b.bayesift")
    # Predicting fills caches, which are no part of the model.
    save(model, tmp_path / "c.bayesift")
    contents = {(tmp_path / f"{letter}.bayesift").read_bytes() for letter in "abc"}
    assert len(contents) == 1


GO_ON = ["naive-bayes", "naive-bayes-several", "bernoulli", "gaussian", "categorical", "mixed", "perceptron"]
GO_ON += ["perceptron-low-rank", "perceptron-diagonal", "process"]


@pytest.mark.parametrize("name", GO_ON)
def test_learning_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    model = CASES[name]()
    save(model, tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift")
    y = (COUNTS[:9, :2] > 0).astype(int) if len(np.shape(model.predict(NEW_COUNTS))) == 2 else TWO[:9]
    model.partial_fit(NEW_COUNTS, y)
    again.partial_fit(NEW_COUNTS, y)
    assert same_answers(model, again, NEW_COUNTS)


def test_a_growing_vocabulary_goes_on_growing(tmp_path: Path) -> None:
    words = TextVectorizer("nnn", n_jobs=1).partial_fit(TEXTS)
    save(words, tmp_path / "words.bayesift")
    again = load(tmp_path / "words.bayesift")
    for vectorizer in (words, again):
        vectorizer.partial_fit(["entirely new words", "and corn"])
    assert again.vocabulary_ == words.vocabulary_
    assert list(again.vocabulary_) == list(words.vocabulary_)
    assert (again.transform(TEXTS) != words.transform(TEXTS)).nnz == 0


@pytest.mark.filterwarnings("ignore:1 text without a word")
@pytest.mark.parametrize("model", ["lasso", "probit", "nb", "perceptron", "rtm"])
@pytest.mark.parametrize("several", [False, True], ids=["one label", "several labels"])
def test_a_classifier_of_texts_is_kept(model: str, several: bool, tmp_path: Path) -> None:
    texts, labels = TEXTS * 2, LABELS.tolist() * 2
    y = [{label, "north"} if "north" in text else {label} for text, label in zip(texts, labels, strict=True)]
    knowledge = {"oil": "crude petroleum from the gulf"} if model == "lasso" else None
    classifier = TextClassifier(model, variance=1.0, threshold="max_f1", prior_knowledge=knowledge, n_jobs=1)
    classifier.fit(texts, y if several else labels)
    save(classifier, tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift")
    assert again.predict(NEW_TEXTS).tolist() == classifier.predict(NEW_TEXTS).tolist()
    assert np.array_equal(again.predict_proba(NEW_TEXTS), classifier.predict_proba(NEW_TEXTS))
    assert again.training_ == classifier.training_
    assert repr(again) == repr(classifier)


@pytest.mark.parametrize("rule", THRESHOLDS, ids=repr)
def test_thresholds_are_kept(rule: Any, tmp_path: Path) -> None:
    rule.fit([0.1, 0.3, 0.5, 0.9], [0, 1, 0, 1])
    save(rule, tmp_path / "rule.bayesift")
    again = load(tmp_path / "rule.bayesift")
    assert again.get_params() == rule.get_params()
    assert np.array_equal(again.thresholds_, rule.thresholds_)


def test_what_is_one_object_is_one_object_after_loading(tmp_path: Path) -> None:
    model = BayesianLogisticRegression(grid=[0.5, np.float64(1.0)])
    model.class_weight = {"a": model.grid}
    save(model, tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift")
    assert again.grid is again.class_weight["a"]
    assert [type(entry) for entry in again.grid] == [float, np.float64]


def test_a_source_of_random_numbers_goes_on_in_its_sequence(tmp_path: Path) -> None:
    source = np.random.RandomState(3)
    source.normal(size=5)
    save(BayesianLogisticRegression(random_state=source), tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift").random_state
    assert np.array_equal(again.normal(size=9), source.normal(size=9))


VALUES: list[Any] = [
    {1: "a", "1": "b", None: 2.5, (1, 2): [3]},
    {"a": True, "b": 1},
    {"a": False, "b": True},
    {"nan": [1e-320, -0.0, float("inf")], "deep": [[[]], {}]},
    {"grüße", "\ud800", "", "\n"},
    frozenset({3, 1, 2}),
    ("a", (1.5, None), [True]),
    np.float32(1.1),
    np.str_("word"),
    np.int8(-3),
    np.bool_(True),
    np.dtype("<f4"),
    np.int32,
    float,
    2**63,
    range(2, 9, 3),
    slice(None, 4),
]


@pytest.mark.parametrize("value", VALUES, ids=[f"{place}-{type(value).__name__}" for place, value in enumerate(VALUES)])
def test_values_of_parameters_come_back_as_they_were(value: Any, tmp_path: Path) -> None:
    save(BayesianLogisticRegression(class_weight={"a": value}), tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift").class_weight["a"]
    assert type(again) is type(value)
    assert again == value
    assert repr(again) == repr(value) or isinstance(value, (set, frozenset))


ARRAYS = [
    np.arange(6.0).reshape(2, 3, order="F"),
    np.array(["wheat", "corn"]),
    np.array(["wheat", 3, None], dtype=object).reshape(3, 1),
    np.array([b"ab", b"c"]),
    np.zeros((0, 5), dtype=np.int16),
    np.array(3.5),
    np.array([True, False]),
    np.arange(10, dtype=">i4")[::3],
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back_as_they_were(array: Any, tmp_path: Path) -> None:
    save(BayesianLogisticRegression(grid=array), tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift").grid
    assert type(again) is np.ndarray
    assert again.dtype == array.dtype
    assert again.flags.f_contiguous == (array.flags.f_contiguous or array.size == 4)
    assert np.array_equal(again, array)


class Own(BaseEstimator):
    pass


class OwnLasso(BayesianLogisticRegression):
    pass


REFUSED = [
    (
        TextVectorizer(tokenizer=str.split),
        "TextVectorizer.tokenizer is the function 'str.split', which cannot be stored: a model file",
    ),
    (TextVectorizer(tokenizer=partial(str.split, sep=",")), "TextVectorizer.tokenizer is the function 'partial'"),
    (TextVectorizer(stemmer=lambda word: word[:3]), "TextVectorizer.stemmer is the function"),
    (TermSelector(pearson), "TermSelector.score_func is the function 'pearson'"),
    (Own(), "Own is of the type"),
    (OwnLasso(), "OwnLasso is of the type"),
    (BayesianLogisticRegression(grid=[1.0, np.sum]), r"BayesianLogisticRegression.grid\[1\]"),
    (BayesianLogisticRegression(class_weight={"a": Path("x")}), r"class_weight\[0\] is of the type pathlib"),
    (BayesianLogisticRegression(class_weight=np.array([1 + 2j])), "complex128"),
    (BayesianLogisticRegression(class_weight=np.ma.array([1.0])), "MaskedArray"),
    (BayesianLogisticRegression(class_weight=np.array(["2020-01-01"], dtype="M8[D]")), "datetime64"),
    (BayesianLogisticRegression(class_weight=np.zeros(1, dtype=[("a", "f8")])), "'a'"),
    (BayesianLogisticRegression(random_state=np.random.default_rng(1)), "Generator"),
    (BayesianLogisticRegression(class_weight=Path), "the class pathlib.Path"),
    ("text", "which is not a model"),
    ([BayesianLogisticRegression()], "which is not a model"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED)
def test_what_cannot_be_stored_is_refused_by_its_place(model: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=message):
        save(model, tmp_path / "new" / "a.bayesift")
    assert not list(tmp_path.iterdir())


def test_a_model_that_holds_itself_is_refused(tmp_path: Path) -> None:
    model = BayesianLogisticRegression()
    model.class_weight = [model]
    with pytest.raises(ModelFileError, match="holds itself"):
        save(model, tmp_path / "a.bayesift")


def test_the_header_is_read_without_the_model(tmp_path: Path) -> None:
    path = tmp_path / "a.bayesift"
    origin = {"data": "reuters", "n": 3, "notes": ["ü", None, 0.5]}
    save(TEXT_CASES["text-lasso"](), path, provenance=origin)
    found = describe(path)
    assert found.model == "sklearn.pipeline.Pipeline"
    assert "bayesift.text.TextVectorizer" in found.types
    assert found.provenance == origin
    assert set(found.versions) == {"bayesift", "numpy", "python", "scikit-learn", "scipy"}
    assert found.is_intact
    assert found.n_bytes == path.stat().st_size
    assert found.n_bytes_unpacked == sum(found.sizes.values())


@pytest.mark.parametrize("provenance", [{1: "a"}, {"a": (1, 2)}, {"a": Path("x")}, {"a": float("nan")}])
def test_provenance_that_json_does_not_give_back_is_refused(provenance: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="provenance"):
        save(BayesianLogisticRegression(), tmp_path / "a.bayesift", provenance=provenance)


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_the_process(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from formats.models.cases import save_two\n"
        "save_two(sys.argv[2])\n"
    )
    # Not the seed of this process, in which sets have another order.
    environment = os.environ | {"PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"}
    tests = str(Path(__file__).parents[1])
    subprocess.run(
        [sys.executable, "-c", program, tests, f"{tmp_path}/there"], check=True, env=environment, timeout=120
    )
    save_two(tmp_path / "here")
    for name in ("words", "pipeline"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


@pytest.mark.parametrize("name", [*OBJECTS, *TUPLES])
def test_every_listed_name_is_a_class_that_has_no_other_name(name: str) -> None:
    kind = class_named(name)
    assert isinstance(kind, type)
    assert name_of(kind) == name
    assert not any(part.startswith("_") for part in name.split("."))


@pytest.mark.parametrize("name", sorted(TYPES - {"numpy.bool"}))  # from numpy 2 on
def test_every_listed_type_of_values_is_a_class(name: str) -> None:
    module, _, own = name.rpartition(".")
    assert isinstance(getattr(import_module(module), own), type)


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "bayesift.linear", "bayesift.formats.load", ""])
def test_no_other_name_is_looked_up(name: str) -> None:
    with pytest.raises(KeyError):
        class_named(name)


def test_the_registry_gives_all_estimators() -> None:
    found = estimators()
    assert list(found) == list(ESTIMATORS)
    assert all(issubclass(kind, BaseEstimator) for kind in found.values())


ROOMS = ["ard", "decide", "generative", "linear", "online", "select", "text", "workflow"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_estimator_is_listed(room: str) -> None:
    module = import_module(f"bayesift.{room}")
    offered = [getattr(module, name) for name in module.__all__]
    estimators = [kind for kind in offered if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    assert estimators
    for kind in estimators:
        assert name_of(kind) == f"bayesift.{room}.{kind.__name__}"
        assert name_of(kind) in ESTIMATORS


def test_importing_the_package_brings_nothing_heavy() -> None:
    program = "import sys, bayesift; assert not {'numpy', 'skops', 'sklearn'} & set(sys.modules); bayesift.save"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bayesift.nothing


def test_a_model_reads_files_only_if_the_caller_says_so(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("wheat and corn")
    words = TextVectorizer("nnn", input="filename", n_jobs=1).fit([tmp_path / "secret"])
    save(make_pipeline(words), tmp_path / "a.bayesift")
    with pytest.raises(ModelFileError, match="input='filename', with which it reads the files"):
        load(tmp_path / "a.bayesift")
    again = load(tmp_path / "a.bayesift", read_files=True)
    assert again.transform([tmp_path / "secret"]).toarray().tolist() == [[1.0, 1.0, 1.0]]


def test_a_pipeline_with_a_folder_for_its_results_is_not_stored(tmp_path: Path) -> None:
    """joblib reads pickles from there."""
    with pytest.raises(ModelFileError, match="memory of Pipeline is"):
        save(make_pipeline(TextVectorizer(), memory=str(tmp_path)), tmp_path / "a.bayesift")


def test_a_parameter_that_the_model_would_refuse_is_not_stored(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="The 'max_iter' parameter of BayesianLogisticRegression must be"):
        save(BayesianLogisticRegression(max_iter=-1), tmp_path / "a.bayesift")


@pytest.mark.parametrize("name", OBJECTS)
def test_every_type_checks_its_state(name: str) -> None:
    kind = class_named(name)
    assert hasattr(kind, "_check_state") or is_dataclass(kind) or kind is Pipeline


def test_the_form_of_the_output_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    selector = TermSelector("chi_square", k=1).set_output(transform="pandas").fit([[1, 0], [0, 1]], [1, 0])
    save(selector, tmp_path / "a.bayesift")
    assert list(load(tmp_path / "a.bayesift").transform([[1, 0]]).columns) == ["x0"]
