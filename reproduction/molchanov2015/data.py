"""The data of Molchanov, Kondrashkin & Vetrov (2015): synthetic tags, and sentences of SI650."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import truncnorm

from bayesift.datasets import load
from bayesift.text import TextVectorizer

Noise = Literal["random", "thinned", "noisy"]
Strength = Literal["uniform", "truncnorm"]


def synthetic(
    seed: int, noise: Noise, n_objects: int = 500, n_genuine: int = 25, strength: Strength = "uniform"
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Draw objects with genuine tags first and as many irrelevant ones of one kind.

    Genuine tags come with probability 0.2 and have q uniform on [0.1, 0.35] or mirrored; the label is the more probable
    class. Irrelevant tags are random with probability 0.2, or go with a genuine one: ``thinned`` keeps it with
    probability 0.3, ``noisy`` redraws 20 % of its values. (The paper does not say how its tags were made.) Where
    ``strength`` is ``truncnorm``, q is instead normal around ½ with the deviation ¼, truncated to the bounds of the
    model, 0.1 and 0.9: then genuine tags may be as good as irrelevant.
    """
    random = np.random.default_rng(seed)
    shape = (n_objects, n_genuine)
    genuine = random.random(shape) < 0.2
    if strength == "uniform":
        q = random.uniform(0.1, 0.35, n_genuine)
        q = np.where(random.random(n_genuine) < 0.5, q, 1 - q)
    else:
        q = truncnorm(-1.6, 1.6, 0.5, 0.25).rvs(n_genuine, random_state=random)
    labels = (genuine @ np.log(q / (1 - q)) > 0).astype(int)
    fresh = random.random(shape) < 0.2
    if noise == "random":
        irrelevant = fresh
    elif noise == "thinned":
        irrelevant = genuine & (random.random(shape) < 0.3)
    else:
        irrelevant = np.where(random.random(shape) < 0.2, fresh, genuine)
    return np.hstack([genuine, irrelevant]).astype(np.float64), labels


class Sentences(NamedTuple):
    """SI650 in the order of its file: distinct lines, stems as tags."""

    X: Any
    y: NDArray[Any]
    names: NDArray[Any]

    def split(self, seed: int, n_train: int = 1000) -> tuple[Any, NDArray[Any], Any, NDArray[Any]]:
        """Return tags and classes of random training and test sentences."""
        order = np.random.default_rng(seed).permutation(self.y.size)
        train, test = order[:n_train], order[n_train:]
        return self.X[train], self.y[train], self.X[test], self.y[test]


def sentences() -> Sentences:
    """Read SI650: lower case, runs of word characters, Snowball's English stemmer; 1,411 sentences, 1,869 stems."""
    collection = load("si650")
    records = sorted(
        (int(number), text, labels[0] == "positive")
        for part in (collection.train, collection.test)
        for number, text, labels in zip(part.ids, part.texts, part.labels, strict=True)
    )
    vectorizer = TextVectorizer("bnn", stemmer="english", min_token_length=1)
    X = vectorizer.fit_transform([text for _, text, _ in records])
    y = np.array([positive for *_, positive in records], dtype=int)
    return Sentences(X, y, vectorizer.get_feature_names_out())
