"""The main task on the embedded corpus: from texts to the best terms, trained classifiers and reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesift import select
from bayesift.datasets import Collection, load
from bayesift.evaluate import f_beta
from bayesift.linear import BayesianLogisticRegression
from bayesift.text import TextVectorizer
from bayesift.workflow.explain import WeightedWords, largest

#: The best terms for each topic and score.
BestTerms = dict[str, dict[str, list[str]]]

#: Number of parts of the work.
N_STEPS = 9


class TopicReport(NamedTuple):
    """How well the classifier of a topic does, and by which words."""

    f1: float
    words_kept: int
    threshold: float
    relative_gap: float
    heaviest: WeightedWords


class Reasons(NamedTuple):
    """Why a test document has its topics: for each topic, its probability and the words for and against it."""

    text: str
    topics: tuple[str, ...]
    by_topic: dict[str, tuple[float, WeightedWords]]


class Demo(NamedTuple):
    """What the demo found."""

    collection: Collection
    vectorizer: TextVectorizer
    best_terms: BestTerms
    model: BayesianLogisticRegression
    topics: dict[str, TopicReport]
    reasons: Reasons


def run_demo(n_terms: int = 10, step: Callable[[str], None] = lambda name: None) -> Demo:
    """Vectorise the embedded corpus, find the best terms of each topic, train the lasso and explain a document.

    Of terms with equal scores, those in more documents come first.

    Parameters
    ----------
    n_terms : int
        How many terms to list.
    step : callable
        Called with the name of each part of the work before it begins.

    Returns
    -------
    Demo
        The collection, the fitted vectorizer and model, the terms, reports and reasons.
    """
    step("loading the corpus")
    collection = load("newsroom")
    step("turning texts into numbers (the first time, this compiles for a few seconds)")
    # Terms of a single document say nothing about a topic.
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True, min_df=2)
    X = vectorizer.fit_transform(collection.train.texts)
    Y = collection.indicator("train")
    n_documents = X.getnnz(axis=0)
    terms = vectorizer.get_feature_names_out()
    best: BestTerms = {topic: {} for topic in collection.categories}
    for score in (
        select.pearson,
        select.chi_square,
        select.binormal_separation,
        select.yules_q,
        select.likelihood_ratio,
        select.mutual_information,
    ):
        name = score.__name__.replace("_", " ")
        step(f"scoring terms by {name}")
        for topic, scores in zip(collection.categories, score(X, Y), strict=True):
            # Yule's Q is 1 for every term that occurs in no other topic, however rare it is.
            order = np.lexsort((-n_documents, -scores))[:n_terms]
            best[topic][name] = terms[order].tolist()
    step("training a classifier for each topic (the first time, this compiles for about ten seconds)")
    model = BayesianLogisticRegression(runs=5, threshold="max_f1").fit(X, Y)
    reports = _report_topics(collection, vectorizer, model)
    return Demo(collection, vectorizer, best, model, reports, _explain(collection, vectorizer, model))


def _report_topics(
    collection: Collection, vectorizer: TextVectorizer, model: BayesianLogisticRegression, n_words: int = 6
) -> dict[str, TopicReport]:
    terms = vectorizer.get_feature_names_out()
    decisions = model.predict(vectorizer.transform(collection.test.texts))
    scores = f_beta(collection.indicator("test").toarray(), decisions, empty=1.0)
    reports = {}
    for k, topic in enumerate(collection.categories):
        reports[topic] = TopicReport(
            f1=float(scores[k]),
            words_kept=int(model.n_nonzero_[k]),
            threshold=float(1.0 / (1.0 + np.exp(-model.threshold_.thresholds_[k]))),
            relative_gap=float(model.certificate_.relative_gap[k]),
            heaviest=largest(terms, model.coef_[k], n_words),
        )
    return reports


def _explain(
    collection: Collection, vectorizer: TextVectorizer, model: BayesianLogisticRegression, n_words: int = 5
) -> Reasons:
    """Take the first test document with two topics, and rank its words by what they add to the score of each."""
    place = next(i for i, labels in enumerate(collection.test.labels) if len(labels) > 1)
    text, topics = collection.test.texts[place], tuple(collection.test.labels[place])
    x = vectorizer.transform([text])
    terms = vectorizer.get_feature_names_out()
    probabilities = model.predict_proba(x)[0]
    by_topic = {}
    for k in np.argsort(-probabilities, kind="stable")[:3]:
        words = largest(terms[x.indices], x.data * model.coef_[k, x.indices], n_words)
        by_topic[collection.categories[k]] = (float(probabilities[k]), words)
    return Reasons(text, topics, by_topic)
