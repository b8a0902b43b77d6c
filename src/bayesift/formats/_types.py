"""The types that a model file may name; everything else is refused, by its name.

They are listed and not imported, since some live in rooms above this one, and by the room that offers them, so that a
file stays readable when a class moves to another module of its room. A class that a file names is made without calling
its constructor, and then given its attributes: so only add classes here, never functions, and none whose attributes
reach beyond the object.
"""

from __future__ import annotations

from importlib import import_module

#: Made by ``__new__`` and given attributes: estimators, and records of what they found or were given.
OBJECTS: dict[str, tuple[str, ...]] = {
    "bayesift.ard": ("RelevanceTaggingMachine", "RelevanceVectorMachine", "RelevanceVectorRegressor"),
    "bayesift.conjugate": ("NormalGamma",),
    "bayesift.decide": ("Threshold", "Utility"),
    "bayesift.generative": (
        "BernoulliNB",
        "CategoricalNB",
        "DirichletCompoundMultinomial",
        "GaussianNB",
        "MixedNB",
        "MultinomialNB",
    ),
    "bayesift.generative._groups": ("Layout",),
    "bayesift.generative.bernoulli": ("BernoulliLikelihood",),
    "bayesift.generative.categorical": ("CategoricalLikelihood",),
    "bayesift.generative.gaussian": ("GaussianLikelihood",),
    "bayesift.generative.mixed": ("MixedLikelihood",),
    "bayesift.generative.multinomial": ("MultinomialLikelihood",),
    "bayesift.linear": (
        "BayesianLogisticRegression",
        "BayesianMultinomialRegression",
        "BayesianProbitRegression",
        "Certificate",
    ),
    "bayesift.online": ("BayesianPerceptron", "OnlineGaussianProcess"),
    "bayesift.priors": ("Gaussian", "Jeffreys", "Laplace"),
    "bayesift.select": ("TermSelector",),
    "bayesift.text": ("TextVectorizer",),
    "bayesift.workflow": ("BinaryRelevance", "TextClassifier"),
    "sklearn.pipeline": ("Pipeline",),
}

#: Made from their entries.
TUPLES: dict[str, tuple[str, ...]] = {
    "bayesift.online": ("Belief", "LowRank", "ProcessBelief"),
    "bayesift.online.belief": ("Drift", "Likelihood"),
    "builtins": ("tuple",),
}

#: Attributes that belong to a run, or can be computed again, with the JSON that is stored in their place.
TRANSIENT = {"progress": "null", "_laws": "[]", "_logs": "[]", "_tables": "{}"}

#: Types that stand for themselves, as the parameter ``dtype`` of a vectoriser.
VALUES: dict[str, tuple[str, ...]] = {
    "builtins": ("bool", "float", "int", "str"),
    "numpy": (
        "bool",
        "bool_",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ),
}


def is_listed(listed: dict[str, tuple[str, ...]], module: object, name: object) -> bool:
    """Tell whether a list has a type of this module and name."""
    return isinstance(module, str) and isinstance(name, str) and name in listed.get(module, ())


def listed_module(listed: dict[str, tuple[str, ...]], kind: type) -> str | None:
    """Return the module under which a list has a class, or None."""
    room = ".".join(kind.__module__.split(".")[:2])
    for module in (room, kind.__module__):
        if is_listed(listed, module, kind.__name__) and getattr(import_module(module), kind.__name__, None) is kind:
            return module
    return None


def full_name(kind: type) -> str:
    """Return the name by which a class is refused."""
    return f"{kind.__module__}.{kind.__qualname__}"
