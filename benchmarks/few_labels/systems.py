"""The systems: ours on words, on vectors and on both, and what people pick instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from bayesift._typing import AnyArray, Int64Array
from bayesift.linear import BayesianLogisticRegression
from bayesift.workflow import TextClassifier
from benchmarks.few_labels.peers import fasttext, naive_bayes_by_em
from benchmarks.few_labels.tasks import Material

Answer = Callable[[Material, Int64Array], AnyArray]


class System(NamedTuple):
    """How a system answers for the test texts after it has seen the labels of some rows.

    ``by_default``: it chooses among models. ``uses_pile_only``: with all labels it would be another one of these
    systems. ``draws``: in so many draws of labels it takes part, where it is slow and says little more in ten.
    """

    name: str
    answer: Answer
    is_ours: bool = False
    by_default: bool = False
    for_sets: bool = True
    uses_pile_only: bool = False
    needs: str = ""
    draws: int = 10


#: In so many draws the slow systems take part.
_SOME_DRAWS = 3
#: Half of the labels have at least so many texts: each chooses a variance of its own, as in ``TextClassifier``.
_MANY_OF_A_LABEL = 100


def _ours(features: Callable[[Material], tuple[Any, Any, int]]) -> Answer:
    """Fit a ridge with variances by cross-validation; how they are chosen, and thresholds, as in ``TextClassifier``."""

    def answer(material: Material, rows: Int64Array) -> AnyArray:
        train, test, n_dense = features(material)
        labels = material.labels(rows)
        own = np.median(labels.sum(axis=0)) >= _MANY_OF_A_LABEL if material.has_sets else labels.max() == 1
        model = BayesianLogisticRegression(
            "gaussian",
            "cv" if own else "shared",
            dense_features=n_dense,
            threshold="max_f1" if material.has_sets else "half",
        )
        return model.fit(train[rows], labels).predict(test)

    return answer


def _text_classifier(material: Material, rows: Int64Array) -> AnyArray:
    """Give ``TextClassifier`` the labelled texts and the pile; it chooses among its models, with vectors or without."""
    texts, labels = material.task.train_texts, material.labels(rows)
    if material.has_sets:
        labels = [tuple(np.flatnonzero(row).tolist()) for row in labels]
    pile = np.setdiff1d(np.arange(len(texts)), rows)
    model = TextClassifier(multilabel=material.has_sets, n_jobs=1)
    model.fit([texts[row] for row in rows], labels, unlabelled=[texts[row] for row in pile])
    if not material.has_sets:
        return model.predict(material.task.test_texts)
    answer = np.zeros(material.task.test.shape, dtype=np.int64)
    answer[:, model.classes_.astype(np.int64)] = model.predictions(material.task.test_texts, proba=False).decisions
    return answer


def _words(material: Material) -> tuple[Any, Any, int]:
    return *material.words, 0


def _vectors(material: Material) -> tuple[Any, Any, int]:
    return *map(sp.csr_matrix, material.vectors), 0


def _beside(words: tuple[Any, Any], vectors: tuple[AnyArray, AnyArray]) -> tuple[Any, Any, int]:
    both = (sp.hstack([own, sp.csr_matrix(dense)], "csr") for own, dense in zip(words, vectors, strict=True))
    return next(both), next(both), vectors[0].shape[1]


def _logistic(material: Material) -> LogisticRegression:
    """Return a logistic regression with a weaker penalty than the default, which suits few labels better.

    Where texts have sets of labels, classes are balanced: few of them would reach one half otherwise.
    """
    balance = "balanced" if material.has_sets else None
    return LogisticRegression(C=10.0, tol=1e-3, max_iter=300, class_weight=balance)


def _fitted(material: Material, model: Any, train: Any, test: Any, labels: AnyArray) -> AnyArray:
    chosen = OneVsRestClassifier(model) if material.has_sets else model
    answer: AnyArray = chosen.fit(train, labels).predict(test)
    return answer


def _logistic_on_words(material: Material, rows: Int64Array) -> AnyArray:
    train, test = material.words
    return _fitted(material, _logistic(material), train[rows], test, material.labels(rows))


def _logistic_on_lsa(material: Material, rows: Int64Array) -> AnyArray:
    train, test = material.lsa
    return _fitted(material, _logistic(material), train[rows], test, material.labels(rows))


def _self_training(material: Material, rows: Int64Array) -> AnyArray:
    train, test = material.words
    labels = -1 + 0 * material.labels(slice(None))
    labels[rows] = material.labels(rows)
    return _fitted(material, SelfTrainingClassifier(_logistic(material)), train, test, labels)


SYSTEMS = (
    System("words", _ours(_words), is_ours=True),
    System("vectors", _ours(_vectors), is_ours=True),
    System("words and vectors", _ours(lambda material: _beside(material.words, material.vectors)), is_ours=True),
    System(
        "words and vectors, test texts in the pile",
        _ours(lambda material: _beside(material.words, material.informed_vectors)),
        is_ours=True,
        draws=_SOME_DRAWS,
    ),
    System("TextClassifier, all by default", _text_classifier, is_ours=True, by_default=True, draws=_SOME_DRAWS),
    System("tf-idf + LogisticRegression", _logistic_on_words),
    System("LSA + LogisticRegression", _logistic_on_lsa),
    System("SelfTrainingClassifier", _self_training, for_sets=False, uses_pile_only=True),
    System("naive Bayes by EM", naive_bayes_by_em, for_sets=False, uses_pile_only=True),
    System("fastText", fasttext(with_vectors=False), needs="fasttext", draws=_SOME_DRAWS),
    System("fastText with our vectors", fasttext(with_vectors=True), needs="fasttext", draws=_SOME_DRAWS),
)
