"""The models that a text classifier can have, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from bayesift._labels import TargetType
from bayesift.workflow.binary_relevance import BinaryRelevance
from bayesift.workflow.errors import OneLabelModelError


class Options(NamedTuple):
    """What the user asked of the model; a model takes of it what it knows."""

    variance: float | Literal["cv", "norm", "auto"]
    threshold: Any
    precision: bool
    n_jobs: int | None
    random_state: Any
    progress: Callable[[int, int], None] | None


class Choice(NamedTuple):
    """A model by name: what it is, which term weights suit it, how it is made, and what it can do."""

    about: str
    weighting: str
    build: Callable[[Options, TargetType], Any]
    one_label: bool = False
    takes_priors: bool = False
    tunes_threshold: bool = False


def _linear(kind: str, **fixed: Any) -> Callable[[Options, TargetType], Any]:
    def build(options: Options, _: TargetType) -> Any:
        from bayesift import linear

        made = getattr(linear, kind)(**fixed)
        wanted = {**options._asdict(), "compute_precision": options.precision}
        known = made.get_params()
        # A prior that has no variance is left without one.
        if fixed.get("prior") == "jeffreys":
            wanted.pop("variance")
        return made.set_params(**{name: value for name, value in wanted.items() if name in known})

    return build


def _generative(kind: str) -> Callable[[Options, TargetType], Any]:
    def build(options: Options, _: TargetType) -> Any:
        from bayesift import generative

        return getattr(generative, kind)(n_jobs=options.n_jobs)

    return build


def _relevance(kind: str, **fixed: Any) -> Callable[[Options, TargetType], Any]:
    def build(options: Options, labels: TargetType) -> Any:
        from bayesift import ard

        made = getattr(ard, kind)(**fixed)
        return made if labels == "binary" else BinaryRelevance(made, options.progress)

    return build


def _online(kind: str, **fixed: Any) -> Callable[[Options, TargetType], Any]:
    def build(options: Options, _: TargetType) -> Any:
        from bayesift import online

        return getattr(online, kind)(**fixed, shuffle=True, n_jobs=options.n_jobs, random_state=options.random_state)

    return build


_LOGISTIC, _SOFTMAX, _PROBIT = (f"Bayesian{name}Regression" for name in ("Logistic", "Multinomial", "Probit"))

MODELS: dict[str, Choice] = {
    "lasso": Choice(
        "logistic regression that keeps few words (Laplace prior)",
        "lsc",
        _linear(_LOGISTIC, prior="laplace"),
        takes_priors=True,
        tunes_threshold=True,
    ),
    "ridge": Choice(
        "logistic regression that keeps all words (Gaussian prior)",
        "lsc",
        _linear(_LOGISTIC, prior="gaussian"),
        takes_priors=True,
        tunes_threshold=True,
    ),
    "polytomous": Choice(
        "softmax regression of all classes at once, few words",
        "lsc",
        _linear(_SOFTMAX, prior="laplace"),
        one_label=True,
        takes_priors=True,
    ),
    "polytomous-ridge": Choice(
        "softmax regression of all classes at once, all words",
        "lsc",
        _linear(_SOFTMAX, prior="gaussian"),
        one_label=True,
        takes_priors=True,
    ),
    "probit": Choice(
        "probit regression that keeps few words",
        "lsc",
        _linear(_PROBIT, prior="laplace"),
        takes_priors=True,
        tunes_threshold=True,
    ),
    "probit-ridge": Choice(
        "probit regression that keeps all words",
        "lsc",
        _linear(_PROBIT, prior="gaussian"),
        takes_priors=True,
        tunes_threshold=True,
    ),
    "jeffreys": Choice(
        "probit regression with very few words and nothing to tune",
        "lsc",
        _linear(_PROBIT, prior="jeffreys"),
        tunes_threshold=True,
    ),
    "nb": Choice("naive Bayes for counts of words", "nnn", _generative("MultinomialNB")),
    "bernoulli": Choice("naive Bayes for presence of words", "bnn", _generative("BernoulliNB")),
    "dcm": Choice("Dirichlet compound multinomial: bursty words", "nnn", _generative("DirichletCompoundMultinomial")),
    "rtm": Choice(
        "relevance tagging machine: the words that matter, by the evidence",
        "bnn",
        _relevance("RelevanceTaggingMachine", prune_at_once=True),
    ),
    "rvm": Choice("relevance vector machine on words", "lsc", _relevance("RelevanceVectorMachine")),
    "perceptron": Choice(
        "Bayesian online perceptron: learns on, text by text",
        "lsc",
        _online("BayesianPerceptron", covariance="diagonal"),
    ),
    "process": Choice(
        "online Gaussian process: learns on, keeps a hundred texts",
        "lsc",
        _online("OnlineGaussianProcess"),
    ),
}


def check_model(name: str, target_type: TargetType | None = None) -> Choice:
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
