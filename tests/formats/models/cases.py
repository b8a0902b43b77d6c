"""Small fitted models of every family, with documents to classify: what is stored here, and much of what is tested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

from bayesift import save
from bayesift.ard import RelevanceTaggingMachine, RelevanceVectorMachine, RelevanceVectorRegressor
from bayesift.conjugate import NormalGamma
from bayesift.decide import T11U, Threshold, Utility
from bayesift.generative import (
    BernoulliNB,
    CategoricalNB,
    DirichletCompoundMultinomial,
    GaussianNB,
    MixedNB,
    MultinomialNB,
)
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.online import BayesianPerceptron, OnlineGaussianProcess
from bayesift.priors import Gaussian, Jeffreys, Laplace
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer

TEXTS = [
    "wheat and corn prices rose in the north",
    "the corn harvest was poor",
    "crude oil from the gulf",
    "oil and gas prices fell",
    "wheat harvest: good corn, good wheat",
    "the gulf exports crude oil",
    "ships carry wheat to the north",
    "gas and crude oil on ships",
]
LABELS = np.array(["grain", "grain", "oil", "oil", "grain", "oil", "grain", "oil"])
THREE = np.array(["grain", "grain", "oil", "gas", "grain", "oil", "ship", "gas"])
SEVERAL = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1]])
NEW_TEXTS = ["corn from the north", "a ship full of crude oil", "", "wheat wheat gas"]

COUNTS = np.random.default_rng(7).poisson(1.2, size=(30, 6)).astype(float)
TWO = np.where(COUNTS[:, 0] + COUNTS[:, 1] > 2.0, "yes", "no")
BOTH = np.column_stack([COUNTS[:, 0] > 1, COUNTS[:, 2] > 1]).astype(int)
NEW_COUNTS = np.random.default_rng(8).poisson(1.2, size=(9, 6)).astype(float)
NAMES = ["wheat", "corn", "oil", "gas", "ship", "gulf"]

SHORT: dict[str, Any] = {"variance": 1.0, "n_jobs": 1}


def text_pipeline() -> Pipeline:
    """Return a vectorizer with stemming and stop words, a selector and a lasso model."""
    words = TextVectorizer(weighting="ltc", stemmer="english", stop_words=["the", "and"], n_jobs=1)
    return make_pipeline(words, TermSelector("chi_square", k=8), BayesianLogisticRegression(**SHORT)).fit(TEXTS, LABELS)


def hashing_pipeline() -> Pipeline:
    """Return hashed phrases and a naive Bayes model."""
    words = TextVectorizer("nnn", n_features=64, signed=False, ngram_range=(1, 2), dtype=np.float32, n_jobs=1)
    return make_pipeline(words, MultinomialNB(n_jobs=1)).fit(TEXTS, THREE)


def informed_lasso() -> BayesianLogisticRegression:
    """Return a model of two categories with priors of their own, tuned thresholds and names of features."""
    priors = [Laplace(None, {"wheat": 1.0}, relative={"wheat": 4.0}), Gaussian(2.0, np.arange(6) / 10)]
    model = BayesianLogisticRegression(priors, **SHORT, threshold="max_f1", compute_precision=True)
    return model.fit(COUNTS, BOTH, feature_names=NAMES)


def _fit(model: Any, y: Any) -> Callable[[], Any]:
    return lambda: clone(model).fit(COUNTS, y)


TEXT_CASES: dict[str, Callable[[], Any]] = {"text-lasso": text_pipeline, "hashed-naive-bayes": hashing_pipeline}

CASES: dict[str, Callable[[], Any]] = {
    "lasso": _fit(BayesianLogisticRegression(**SHORT), TWO),
    "informed-lasso": informed_lasso,
    "chosen-lasso": _fit(
        BayesianLogisticRegression(variance="cv", grid=[0.1, 1.0], folds=3, threshold_on="cv", n_jobs=1), TWO
    ),
    "chosen-polytomous": _fit(
        BayesianMultinomialRegression("gaussian", "cv", grid=[0.1, 1.0], folds=3, reference_class="no", n_jobs=1), TWO
    ),
    "ridge-utility": _fit(BayesianLogisticRegression("gaussian", **SHORT, threshold=T11U), TWO),
    "polytomous": _fit(BayesianMultinomialRegression(**SHORT), COUNTS[:, 3]),
    "probit": _fit(BayesianProbitRegression(**SHORT), TWO),
    "probit-jeffreys": _fit(BayesianProbitRegression(Jeffreys(), n_jobs=1), TWO),
    "naive-bayes": _fit(MultinomialNB(n_jobs=1), TWO),
    "naive-bayes-several": _fit(MultinomialNB(n_jobs=1), BOTH),
    "bernoulli": _fit(BernoulliNB(n_jobs=1), TWO),
    "gaussian": _fit(GaussianNB(NormalGamma(0.0, 1.0, 2.0, 2.0)), TWO),
    "categorical": _fit(CategoricalNB(min_categories=12), TWO),
    "mixed": _fit(MixedNB([("words", MultinomialNB(n_jobs=1), [0, 1, 2]), ("numbers", GaussianNB(), [3, 4, 5])]), TWO),
    "dcm": _fit(DirichletCompoundMultinomial(n_jobs=1), TWO),
    "tagging": _fit(RelevanceTaggingMachine(binarize=0.0), TWO),
    "relevance": _fit(RelevanceVectorMachine(kernel="rbf", gamma=0.1), TWO),
    "relevance-linear": _fit(RelevanceVectorMachine(), TWO),
    "relevance-regressor": _fit(RelevanceVectorRegressor(kernel="rbf", gamma=0.1), COUNTS[:, 1]),
    "perceptron": _fit(BayesianPerceptron(forgetting=0.99, n_jobs=1), TWO),
    "perceptron-low-rank": _fit(BayesianPerceptron(covariance="low-rank", rank=3, n_jobs=1), BOTH),
    "perceptron-diagonal": _fit(
        BayesianPerceptron(covariance="diagonal", features=[[0, 1], [2, 3, 4]], shuffle=True, n_jobs=1), BOTH
    ),
    "process": _fit(OnlineGaussianProcess("rbf", budget=8, n_jobs=1), TWO),
}

THRESHOLDS = [
    Threshold("max_f1"),
    Threshold(Utility(tp=2, fp=-1)),
    Threshold({"tp": 1.0, "fp": -0.5}),
]


def answers(model: Any, documents: Any) -> dict[str, np.ndarray]:
    """Return all that a model says of documents."""
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function")
    return {name: np.asarray(getattr(model, name)(documents)) for name in methods if hasattr(model, name)}


def save_two(folder: Path | str) -> None:
    """Save two models that are the same whenever they are made: nothing in them tells the time."""
    words = TextVectorizer(stop_words={"the", "and", "from", "was", "to", "in"}, n_jobs=1).fit(TEXTS)
    save(words, Path(folder) / "words")
    save(hashing_pipeline(), Path(folder) / "pipeline")
