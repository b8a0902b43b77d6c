"""
A filter while documents arrive
===============================

Twenty news items are known at the start; the others arrive one by one. A filter retrieves what looks like energy and
learns whether it was right, but only about what it retrieved. One filter also asks about items that would teach it
most.
"""

import numpy as np

from bayesift.datasets import load
from bayesift.filtering import AdaptiveFilter
from bayesift.plots import FilteringDisplay

news = load("newsroom")
texts = [*news.train.texts, *news.test.texts]
labels = [*news.train.labels, *news.test.labels]
order = np.random.default_rng(0).permutation(len(texts))
known, coming = order[:20], order[20:]
truth = np.array(["energy" in labels[item] for item in coming])

axes = None
for name, query in (("asks, too", "information"), ("never asks", None)):
    filter = AdaptiveFilter(query=query, target=40)
    filter.fit([texts[item] for item in known], [labels[item] for item in known], {"energy": "Energy and power"})
    for decision in filter.stream(texts[item] for item in coming):
        decision.judge(bool(truth[decision.entry.place]))
    axes = FilteringDisplay.from_record(filter.record_, truth, name=name).plot(axes).axes_
