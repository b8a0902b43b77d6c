"""Any pipeline comes back from its file as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline

from bayesift import load, save
from bayesift.generative import BernoulliNB, DirichletCompoundMultinomial, MultinomialNB
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from bayesift.online import BayesianPerceptron, OnlineGaussianProcess
from bayesift.priors import Gaussian, Laplace
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from formats.models.cases import answers

WORDS = ["wheat", "corn", "oil", "gas", "ship", "straße", "Ωmega", "naïve", "don't", "x2"]

vectorizers = st.builds(
    TextVectorizer,
    st.sampled_from(["nnn", "lnn", "bnn"]),
    stop_words=st.none() | st.just("english") | st.sets(st.sampled_from(WORDS), min_size=1, max_size=2),
    stemmer=st.sampled_from([None, "porter"]),
    lowercase=st.booleans(),
    token_pattern=st.sampled_from([None, r"\S+"]),
    ngram_range=st.sampled_from([(1, 1), (1, 2)]),
    n_features=st.sampled_from([None, 32]),
    signed=st.just(False),
    dtype=st.sampled_from([np.float64, np.float32, "float64"]),
    n_jobs=st.just(1),
)
selectors = st.builds(
    TermSelector, st.sampled_from(["pearson", "chi_square", "likelihood_ratio"]), k=st.none() | st.integers(2, 5)
)
priors = st.sampled_from(["laplace", "gaussian"]) | st.builds(
    lambda kind, *values: kind(*values),
    st.sampled_from([Laplace, Gaussian]),
    st.floats(0.1, 10.0),
    st.floats(-1.0, 1.0),
)
models: Any = st.one_of(
    st.builds(
        BayesianLogisticRegression,
        priors,
        st.floats(0.1, 10.0),
        threshold=st.sampled_from(["half", "max_f1", "t11u"]),
        n_jobs=st.just(1),
    ),
    st.builds(BayesianMultinomialRegression, priors, st.floats(0.1, 10.0), n_jobs=st.just(1)),
    st.builds(
        MultinomialNB, st.floats(0.1, 2.0), estimate=st.sampled_from(["posterior", "map", "mle"]), n_jobs=st.just(1)
    ),
    st.builds(BernoulliNB, st.floats(0.1, 2.0), n_jobs=st.just(1)),
    st.builds(DirichletCompoundMultinomial, n_jobs=st.just(1)),
    st.builds(
        BayesianPerceptron,
        covariance=st.sampled_from(["full", "diagonal", "low-rank"]),
        passes=st.just(1),
        n_jobs=st.just(1),
    ),
    st.builds(
        OnlineGaussianProcess,
        st.sampled_from(["linear", "rbf"]),
        st.integers(2, 5),
        passes=st.just(1),
        n_jobs=st.just(1),
    ),
)
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=6, max_size=12)


@settings(max_examples=40)
@given(words=vectorizers, selector=st.none() | selectors, model=models, documents=texts, data=st.data())
@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_comes_back_as_it_was(
    words: Any, selector: Any, model: Any, documents: list[str], data: st.DataObject, tmp_path_factory: Any
) -> None:
    labels = data.draw(st.permutations([place % 2 for place in range(len(documents))]), label="labels")
    documents = [*documents, " ".join(WORDS), " ".join(WORDS[::2])]
    y = np.array(["spam", "ham"])[[*labels, 0, 1]]
    steps = [("words", words), ("select", selector), ("model", model)]
    pipeline = Pipeline([step for step in steps if step[1] is not None]).fit(documents, y)
    first, second = (tmp_path_factory.getbasetemp() / f"{name}.bayesift" for name in ("first", "second"))
    save(pipeline, first)
    again = load(first)
    save(again, second)
    assert first.read_bytes() == second.read_bytes()
    for name, value in pipeline.get_params().items():
        other = again.get_params()[name]
        # The order of a set may differ, and with it how it is shown, also within what holds it.
        assert isinstance(value, (list, TextVectorizer)) or other == value or repr(other) == repr(value)
    new = ["corn and gas in the STRASSE", "", *documents[:3]]
    expected, found = answers(pipeline, new), answers(again, new)
    assert expected.keys() == found.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])
