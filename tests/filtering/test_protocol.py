"""Every decision and every belief against the slow protocol, on the embedded corpus and on small streams."""

from __future__ import annotations

import numpy as np
import pytest

from bayesift.datasets import load
from bayesift.filtering import AdaptiveFilter
from bayesift.filtering._engine import _key
from bayesift.filtering._kernels import uniform
from filtering_cases import SlowTopic


def agree(fast, slow_topics, stream, truth):
    """Run both over the stream and compare decisions, probabilities, information, features and beliefs."""
    fast.run(stream, lambda decision: truth(decision.entry.place, decision.entry.topic))
    for name, slow in slow_topics.items():
        found = []
        for place, text in enumerate(stream):
            reason, probability, bits = slow.decide(text, place)
            if reason is None:
                continue
            found.append((place, reason, probability, bits, len(slow.names)))
            answer = truth(place, name)
            if answer is not None:
                slow.judge(text, answer)
        entries = fast.record_.of(name)
        assert [(e.place, e.reason, e.n_features) for e in entries] == [(f[0], f[1], f[4]) for f in found]
        np.testing.assert_allclose([e.probability for e in entries], [f[2] for f in found], rtol=1e-9)
        np.testing.assert_allclose([e.information for e in entries], [f[3] for f in found], rtol=1e-9, atol=1e-12)
        state = fast.states_[name]
        assert [fast.terms_[column] for column in state.columns] == slow.names
        np.testing.assert_allclose(state.belief.mean, slow.m, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(state.belief.covariance, slow.C, rtol=1e-9, atol=1e-9)
        assert (state.retrieved, state.turn, len(state.relevant)) == (slow.retrieved, slow.turn, len(slow.past))


@pytest.fixture(scope="module")
def news():
    return load("newsroom")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"query": None, "relearn_relevant": False, "kappa": 0.2},
        {"query": "random", "target": 30, "stream_size": 100, "unseen": "ignore"},
    ],
    ids=["as published", "without", "random"],
)
def test_newsroom(news, options):
    chosen = ("courts", "energy")
    labels = news.test.labels
    fast = AdaptiveFilter(**options, max_features=None)
    fast.fit(news.train.texts, news.train.labels, {name: news.descriptions[name] for name in chosen})
    slow = {}
    for name in chosen:
        relevant = {i for i, found in enumerate(news.train.labels) if name in found}
        key = _key(0, name)
        slow[name] = SlowTopic(
            news.train.texts,
            relevant,
            news.descriptions[name],
            draw=lambda place, key=key: uniform(key, place),
            **options,
        )
    agree(fast, slow, news.test.texts, lambda place, topic: topic in labels[place])
    assert len(fast.record_) > 20
    assert any(entry.reason == "query" for entry in fast.record_) == (options.get("query", "") is not None)
