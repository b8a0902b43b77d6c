"""Documents and models that several tests of generative classifiers share."""

from __future__ import annotations

import numpy as np

from bayesift.conjugate import BetaBinomial, NormalGamma
from bayesift.generative import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB


def documents(kind: str, seed: int = 0, n: int = 40, d: int = 5, n_classes: int = 3):
    """Random documents of a kind, and their classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    rate = rng.gamma(1.0, 1.0, (n_classes, d))[y]
    if kind == "binary":
        return (rng.random((n, d)) < rate / (1 + rate)).astype(float), y
    if kind == "counts":
        return rng.poisson(rate).astype(float), y
    if kind == "values":
        return rng.binomial(3, rate / (1 + rate)).astype(float), y
    return rng.normal(rate, 1.0), y


#: A name, the kind of its documents, and how to make a model.
MODELS = {
    "bernoulli": ("binary", BernoulliNB),
    "bernoulli, beta": ("binary", lambda **more: BernoulliNB(BetaBinomial(0.5, 2.0), **more)),
    "multinomial": ("counts", MultinomialNB),
    "multinomial, alpha by word": ("counts", lambda **more: MultinomialNB([0.5, 1.5, 2.0, 0.1, 1.0], **more)),
    "categorical": ("values", lambda **more: CategoricalNB(0.7, **more)),
    "gaussian": ("numbers", GaussianNB),
    "gaussian, prior": ("numbers", lambda **more: GaussianNB(NormalGamma(0.5, 0.3, 1.2, 0.8), **more)),
    "mixed": (
        "values",
        lambda **more: MixedNB(
            [
                ("words", BernoulliNB(), [0]),
                ("counts", MultinomialNB(), [1, 4]),
                ("values", CategoricalNB(), [2]),
                ("numbers", GaussianNB(), slice(3, 4)),
            ],
            **more,
        ),
    ),
}
