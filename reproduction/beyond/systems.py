"""The systems: ours at their defaults for text, and the peers with the settings that people use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from bayesift.ard import RelevanceTaggingMachine
from bayesift.generative import DirichletCompoundMultinomial, MultinomialNB
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, BayesianProbitRegression
from bayesift.online import BayesianPerceptron
from bayesift.select import likelihood_ratio
from bayesift.text import TextVectorizer
from reproduction.beyond.peers import FastText, SearchedLogistic
from reproduction.beyond.tasks import Kind, Task
from reproduction.beyond.word_model import Fitted, WordModel


class System(NamedTuple):
    """How a system learns a task, whether it is one of ours, which kinds of task it is for, and a package it needs."""

    name: str
    ours: bool
    fit: Callable[[Task], Fitted]
    kinds: tuple[Kind, ...] = ("yes-no", "one", "sets")
    needs: str = ""


def _ours(model_of: Callable[[Any, Task], Any], weighting: str = "ltc") -> Callable[[Task], Fitted]:
    return lambda task: WordModel(task, TextVectorizer(weighting, min_df=2), model_of)


def _tuned(task: Task) -> dict[str, Any]:
    """Return cuts of the fewest training errors for sets of labels, as Genkin, Lewis & Madigan (2007) tune them."""
    return {"threshold": "min_error"} if task.kind == "sets" else {}


def _perceptron(X: sp.csr_matrix, task: Task) -> BayesianPerceptron:
    """Return each category its 300 most informative words with −2 ln λ above 12.13 (Chai, Ng & Chieu 2002)."""
    best = ((row, np.argsort(-row, kind="stable")[:300]) for row in np.atleast_2d(likelihood_ratio(X, task.train)))
    return BayesianPerceptron(features=[np.sort(places[row[places] > 12.13]) for row, places in best])


def _theirs(model: Callable[[], Any], native: tuple[Kind, ...] = ("yes-no", "one")) -> Callable[[Task], Fitted]:
    """Put a model behind the vectorizer of most tutorials: tf-idf with 1 + ln tf, words of at least two documents."""

    def model_of(X: Any, task: Task) -> Any:
        return model() if task.kind in native else OneVsRestClassifier(model())

    return lambda task: WordModel(task, TfidfVectorizer(sublinear_tf=True, min_df=2), model_of)


SYSTEMS = (
    System("lasso", True, _ours(lambda X, task: BayesianLogisticRegression("laplace", **_tuned(task)))),
    System("ridge", True, _ours(lambda X, task: BayesianLogisticRegression("gaussian", **_tuned(task)))),
    System("polytomous lasso", True, _ours(lambda X, task: BayesianMultinomialRegression("laplace")), ("one",)),
    System("polytomous ridge", True, _ours(lambda X, task: BayesianMultinomialRegression("gaussian")), ("one",)),
    System("probit", True, _ours(lambda X, task: BayesianProbitRegression("laplace", variance="cv", **_tuned(task)))),
    System("naive Bayes", True, _ours(lambda X, task: MultinomialNB(), "nnn")),
    System("DCM", True, _ours(lambda X, task: DirichletCompoundMultinomial(), "nnn")),
    System("tagging machine", True, _ours(lambda X, task: RelevanceTaggingMachine(), "bnn"), ("yes-no",)),
    System("perceptron", True, _ours(_perceptron)),
    System("LogisticRegressionCV L1", False, _theirs(lambda: SearchedLogistic(1.0, "liblinear"), ("yes-no",))),
    System("LogisticRegressionCV L2", False, _theirs(lambda: SearchedLogistic(0.0, "lbfgs"))),
    System("LinearSVC", False, _theirs(LinearSVC)),
    System("ComplementNB", False, _theirs(ComplementNB)),
    System("SGDClassifier", False, _theirs(lambda: SGDClassifier(loss="log_loss", random_state=0))),
    System("fastText", False, FastText, needs="fasttext"),
)


def systems_for(kind: Kind) -> list[System]:
    """Return the systems for a kind of task."""
    return [system for system in SYSTEMS if kind in system.kinds]
