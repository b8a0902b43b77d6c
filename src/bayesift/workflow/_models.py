"""The models that a text classifier can have, by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from bayesift._labels import TargetType
from bayesift.workflow.binary_relevance import BinaryRelevance
from bayesift.workflow.errors import OneLabelModelError

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class ModelChoice(NamedTuple):
    """A model by name: what it is, where it is found, which term weights suit it, and what it can do."""

    about: str
    room: str
    estimator: str
    parameters: Mapping[str, Any] = _NOTHING
    weighting: str = "lsc"
    one_label: bool = False
    two_classes: bool = False
    takes_priors: bool = False
    tunes_threshold: bool = False

    def build(self, target_type: TargetType, options: Mapping[str, Any]) -> Any:
        """Return the model, not fitted, with those of the options that it has."""
        made = getattr(import_module(f"bayesift.{self.room}"), self.estimator)(**self.parameters)
        unused = set() if self.takes_priors else {"variance"}
        known = made.get_params().keys() & options.keys() - unused
        made.set_params(**{name: options[name] for name in known})
        return BinaryRelevance(made) if self.two_classes and target_type != "binary" else made


def _linear(about: str, estimator: str, prior: str, **abilities: bool) -> ModelChoice:
    return ModelChoice(about, "linear", f"Bayesian{estimator}Regression", {"prior": prior}, **abilities)  # type: ignore[arg-type]


def _logistic(about: str, estimator: str, prior: str) -> ModelChoice:
    return _linear(about, estimator, prior, takes_priors=True, tunes_threshold=True)


def _softmax(about: str, prior: str) -> ModelChoice:
    return _linear(about, "Multinomial", prior, takes_priors=True, one_label=True)


def _online(about: str, estimator: str, **parameters: Any) -> ModelChoice:
    return ModelChoice(about, "online", estimator, {**parameters, "shuffle": True})


def _relevance(about: str, estimator: str, weighting: str, **parameters: Any) -> ModelChoice:
    return ModelChoice(about, "ard", estimator, parameters, weighting, two_classes=True)


MODELS: dict[str, ModelChoice] = {
    "lasso": _logistic("logistic regression that keeps few words (Laplace prior)", "Logistic", "laplace"),
    "ridge": _logistic("logistic regression that keeps all words (Gaussian prior)", "Logistic", "gaussian"),
    "polytomous": _softmax("softmax regression of all classes at once, few words", "laplace"),
    "polytomous-ridge": _softmax("softmax regression of all classes at once, all words", "gaussian"),
    "probit": _logistic("probit regression that keeps few words", "Probit", "laplace"),
    "probit-ridge": _logistic("probit regression that keeps all words", "Probit", "gaussian"),
    "jeffreys": _linear(
        "probit regression with very few words and nothing to tune", "Probit", "jeffreys", tunes_threshold=True
    ),
    "nb": ModelChoice("naive Bayes for counts of words", "generative", "MultinomialNB", weighting="nnn"),
    "bernoulli": ModelChoice("naive Bayes for presence of words", "generative", "BernoulliNB", weighting="bnn"),
    "dcm": ModelChoice(
        "Dirichlet compound multinomial: bursty words", "generative", "DirichletCompoundMultinomial", weighting="nnn"
    ),
    "rtm": _relevance(
        "relevance tagging machine: the words that matter, by the evidence",
        "RelevanceTaggingMachine",
        "bnn",
        prune_at_once=True,
    ),
    "rvm": _relevance("relevance vector machine on words", "RelevanceVectorMachine", "lsc"),
    "perceptron": _online(
        "Bayesian online perceptron: keeps learning, text by text", "BayesianPerceptron", covariance="diagonal"
    ),
    "process": _online("online Gaussian process: keeps learning, and keeps a hundred texts", "OnlineGaussianProcess"),
}


def check_model(name: str, target_type: TargetType | None = None) -> ModelChoice:
    """Return the model of a name, or say which names there are and which fit texts with several labels."""
    if name not in MODELS:
        raise ValueError(f"model is {name!r}; expected one of {', '.join(MODELS)}")
    found = MODELS[name]
    if target_type == "multilabel-indicator" and found.one_label:
        others = ", ".join(other for other, choice in MODELS.items() if not choice.one_label)
        raise OneLabelModelError(
            f"model {name!r} gives every text exactly one label, but there are texts with several or none; "
            f"expected one of {others}"
        )
    return found
