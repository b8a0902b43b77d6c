"""The models that are forged: every estimator and every other type of the registry, with documents to use them on."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from sklearn.base import is_regressor
from sklearn.pipeline import make_pipeline

from bayesift import save
from bayesift.ard import RelevanceTaggingMachine
from bayesift.datasets import FeaturedText
from bayesift.decide import Threshold
from bayesift.generative import CategoricalNB, DirichletCompoundMultinomial, GaussianNB, MultinomialNB
from bayesift.linear import BayesianLogisticRegression, BayesianProbitRegression
from bayesift.online import OnlineGaussianProcess
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors
from bayesift.workflow import BinaryRelevance, TextClassifier, WordsAndVectors
from formats.models.attacks import Members, members_of
from formats.models.cases import BOTH, CASES, COUNTS, LABELS, SEVERAL, TEXT_CASES, TEXTS, THREE, TWO

SETS = [tuple(np.array(["grain", "oil"])[row > 0]) for row in SEVERAL]


#: Enough different texts to compare models on.
DIFFERENT_TEXTS = [f"{text} {turn}" for turn in ("one", "two", "three", "four") for text in TEXTS]


class Base(NamedTuple):
    """A model as it is stored: what is in its file, and whether it takes texts."""

    name: str
    members: Members
    takes_texts: bool


def _sparse_lasso() -> Any:
    return BayesianLogisticRegression(variance=1.0, n_jobs=1).fit(COUNTS, TWO).sparsify()


def _online_with_columns() -> Any:
    return OnlineGaussianProcess("linear", budget=4, features=[[0, 1], [2, 3]], n_jobs=1).fit(COUNTS, BOTH)


MORE: dict[str, Callable[[], Any]] = {
    "sparse-lasso": _sparse_lasso,
    "process-columns": _online_with_columns,
    "plug-in-naive-bayes": lambda: MultinomialNB(estimate="map", alpha=1.5, n_jobs=1).fit(COUNTS, COUNTS[:, 3]),
    "gaussian-several": lambda: GaussianNB(estimate="map").fit(COUNTS, BOTH),
    "categorical-several": lambda: CategoricalNB().fit(COUNTS, BOTH),
    "dcm-several": lambda: DirichletCompoundMultinomial(n_jobs=1).fit(COUNTS, BOTH),
    "binary-relevance": lambda: BinaryRelevance(RelevanceTaggingMachine(binarize=0.0)).fit(COUNTS, BOTH),
    "words-and-vectors": lambda: WordsAndVectors(
        BayesianLogisticRegression("gaussian", 1.0, dense_variance=1.0, n_jobs=1), np.ones((COUNTS.shape[1], 2))
    ).fit(COUNTS, BOTH),
    "posterior-ep": lambda: BayesianLogisticRegression("gaussian", 1.0, posterior="ep", n_jobs=1).fit(COUNTS, TWO),
    "posterior-gibbs": lambda: BayesianProbitRegression("gaussian", 1.0, posterior="gibbs", n_jobs=1).fit(COUNTS, TWO),
    "posterior-few": lambda: BayesianLogisticRegression("gaussian", 1.0, posterior="laplace", n_jobs=1).fit(
        COUNTS[:4], TWO[:4]
    ),
    "posterior-mixed": lambda: BayesianLogisticRegression("gaussian", "evidence", posterior="ep", n_jobs=1).fit(
        COUNTS, TWO
    ),
    "calibrated": lambda: BayesianLogisticRegression("gaussian", 1.0, calibration="sigmoid", n_jobs=1).fit(
        COUNTS, BOTH
    ),
    "threshold": lambda: Threshold("max_f1").fit(COUNTS[:, :1] / 10, BOTH[:, :1]),
    "selector": lambda: TermSelector("chi_square", k=3).fit(COUNTS, TWO),
    "not-fitted": lambda: BayesianLogisticRegression(n_jobs=1),
}


def with_features(texts: list[str]) -> list[str]:
    """Return texts with a number, a category and another text beside each."""
    return [FeaturedText(text, {"n": len(text), "c": text[-1:], "t": text[::-1]}) for text in texts]


MORE_TEXT: dict[str, Callable[[], Any]] = {
    "words": lambda: TextVectorizer(ngram_range=(1, 2), stop_words={"the"}, n_jobs=1).fit(TEXTS),
    "characters": lambda: TextVectorizer(analyzer="char", ngram_range=(1, 3), n_jobs=1).fit(TEXTS),
    "texts-characters": lambda: TextClassifier(
        variance=1.0, vectorizer=TextVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_jobs=1), n_jobs=1
    ).fit(TEXTS, LABELS),
    "pairs-of-letters": lambda: TextVectorizer(n_jobs=1).fit([*TEXTS, "東京都に住む 猫"]),
    "vectors": lambda: WordVectors(3, min_df=1, n_jobs=1).fit(TEXTS),
    "hashed-words": lambda: TextVectorizer("nnn", n_features=64, n_jobs=1).fit(TEXTS),
    "patterns": lambda: make_pipeline(
        TextVectorizer("ltc", token_pattern=r"[a-z]+", vocabulary=["wheat", "oil", "corn"], n_jobs=1),
        MultinomialNB(n_jobs=1),
    ).fit(TEXTS, LABELS),
    "texts-lasso": lambda: TextClassifier(
        "lasso",
        variance=1.0,
        selector=TermSelector("chi_square", k=9),
        n_jobs=1,
        prior_knowledge={"grain": "wheat and corn"},
    ).fit(TEXTS, LABELS),
    "texts-chosen": lambda: TextClassifier(variance=1.0, n_jobs=1).fit(DIFFERENT_TEXTS, [*LABELS] * 4),
    "texts-vectors": lambda: TextClassifier("lasso", variance=1.0, vectors="pile", n_jobs=1).fit(
        TEXTS, LABELS, unlabelled=DIFFERENT_TEXTS
    ),
    "texts-features": lambda: TextClassifier(
        "lasso", variance=1.0, feature_variance=1.0, features={"n": "number", "c": "category", "t": "text"}, n_jobs=1
    ).fit(with_features(TEXTS), LABELS),
    "texts-averaged": lambda: TextClassifier(
        "ridge", variance=1.0, posterior="ep", vectors="pile", vector_variance=1.0, n_jobs=1
    ).fit(TEXTS, LABELS, unlabelled=DIFFERENT_TEXTS),
    "texts-naive-bayes": lambda: TextClassifier("nb", n_jobs=1).fit(TEXTS, THREE),
    "texts-several": lambda: TextClassifier("perceptron", n_jobs=1).fit(TEXTS, SETS),
}


def bases() -> list[Base]:
    """Fit all models and return what their files hold; nothing in them tells the time."""
    found = []
    for cases, takes_texts in ((CASES, False), (MORE, False), (TEXT_CASES, True), (MORE_TEXT, True)):
        for name, make in cases.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = make()
            _forget_seconds(model)
            found.append(Base(name, _members(model), takes_texts))
    return found


def _members(model: Any) -> Members:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.bayesift"
        save(model, path)
        return members_of(path.read_bytes())


def _forget_seconds(model: Any) -> None:
    for part in (model, getattr(model, "model_", None), *getattr(model, "models_", [])):
        certificate = getattr(part, "certificate_", None)
        if certificate is not None:
            certificate.seconds[:] = 0.0
    for _, step in getattr(model, "steps", []):
        _forget_seconds(step)


class Documents(NamedTuple):
    """Documents that a model can be given, and labels for it to learn."""

    X: Any
    y: Any


def documents_for(model: Any, takes_texts: bool) -> Documents:
    """Return documents of as many columns as the model says, with something in the first and the last."""
    rows: Any = with_features([*TEXTS[:4], "", "wheat wheat gas"])
    rows = rows if takes_texts else _rows(getattr(model, "n_features_in_", 6))
    return Documents(rows, _labels(model, 6))


def _rows(n_features: Any) -> Any:
    width = int(n_features) if isinstance(n_features, (int, np.integer)) and 0 < n_features < 2**31 else 6
    if width <= 100:
        return np.resize(np.arange(13.0) % 5, (6, width))
    first = sp.csr_matrix(np.resize(np.arange(7.0) % 3, (6, 4)))
    last = sp.csr_matrix(np.ones((6, 1)))
    return sp.hstack([first, sp.csr_matrix((6, width - 5)), last], format="csr")


def _labels(model: Any, n: int) -> Any:
    if is_regressor(model):
        return np.arange(float(n))
    classes = getattr(model, "classes_", None)
    if not isinstance(classes, np.ndarray) or not 0 < classes.size < 1000:
        return np.resize(["no", "yes"], n)
    if getattr(model, "target_type_", None) == "multilabel-indicator" and classes.dtype.kind in "iu":
        return np.resize([[0, 1, 1], [1, 0, 1]], (n, classes.size))
    return np.resize(classes, n)
