"""Generative classifiers: a model of the documents of every class, inverted by Bayes' rule."""

from bayesift.generative.bernoulli import BernoulliNB
from bayesift.generative.categorical import CategoricalNB, pattern_numbers
from bayesift.generative.dcm import DirichletCompoundMultinomial
from bayesift.generative.gaussian import GaussianNB
from bayesift.generative.mixed import MixedNB
from bayesift.generative.multinomial import MultinomialNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "DirichletCompoundMultinomial",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "pattern_numbers",
]
