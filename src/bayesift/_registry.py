"""All estimators, and all other types that a model file may name: a new one is added here and nowhere else.

The names are public and must not change, because they are in files that outlive the program. The module of a class may
change, and so may the name of a class that is not public: then update the right side of its line.

Types are listed, not imported, because they are in all rooms, and reading a file must import nothing that is not listed
here. An object of a class that a file names is made without calling the constructor, and then given its attributes. So
add only classes, never functions, and none whose attributes reach beyond the object. A method of the class,
``_check_state`` (see :mod:`bayesift._state`), checks what such an object must hold before compiled code may use it; its
``__getstate__`` leaves out what the class computes again instead of storing it.
"""

from __future__ import annotations

from importlib import import_module

#: Every estimator, by its public name.
ESTIMATORS = (
    "bayesift.ard.RelevanceTaggingMachine",
    "bayesift.ard.RelevanceVectorMachine",
    "bayesift.ard.RelevanceVectorRegressor",
    "bayesift.decide.Threshold",
    "bayesift.generative.BernoulliNB",
    "bayesift.generative.CategoricalNB",
    "bayesift.generative.DirichletCompoundMultinomial",
    "bayesift.generative.GaussianNB",
    "bayesift.generative.MixedNB",
    "bayesift.generative.MultinomialNB",
    "bayesift.linear.BayesianLogisticRegression",
    "bayesift.linear.BayesianMultinomialRegression",
    "bayesift.linear.BayesianProbitRegression",
    "bayesift.online.BayesianPerceptron",
    "bayesift.online.OnlineGaussianProcess",
    "bayesift.select.TermSelector",
    "bayesift.text.TextVectorizer",
    "bayesift.vectors.WordVectors",
    "bayesift.workflow.BinaryRelevance",
    "bayesift.workflow.TextClassifier",
    "bayesift.workflow.WordsAndVectors",
)

#: Parts of estimators, and where they stand: records of what was given or found.
PARTS = {
    "bayesift.conjugate.NormalGamma": "bayesift.conjugate:NormalGamma",
    "bayesift.decide.Utility": "bayesift.decide:Utility",
    "bayesift.generative.BernoulliLikelihood": "bayesift.generative.bernoulli:BernoulliLikelihood",
    "bayesift.generative.CategoricalLikelihood": "bayesift.generative.categorical:CategoricalLikelihood",
    "bayesift.generative.GaussianLikelihood": "bayesift.generative.gaussian:GaussianLikelihood",
    "bayesift.generative.Groups": "bayesift.generative._groups:Layout",
    "bayesift.generative.MixedLikelihood": "bayesift.generative.mixed:MixedLikelihood",
    "bayesift.generative.MultinomialLikelihood": "bayesift.generative.multinomial:MultinomialLikelihood",
    "bayesift.linear.Certificate": "bayesift.linear:Certificate",
    "bayesift.posterior.Beliefs": "bayesift.posterior._problem:Beliefs",
    "bayesift.posterior.CoefficientBasis": "bayesift.posterior._bases:CoefficientBasis",
    "bayesift.posterior.DocumentBasis": "bayesift.posterior._bases:DocumentBasis",
    "bayesift.posterior.GaussianPosterior": "bayesift.posterior:GaussianPosterior",
    "bayesift.posterior.MixedPosterior": "bayesift.posterior:MixedPosterior",
    "bayesift.posterior.SampledPosterior": "bayesift.posterior:SampledPosterior",
    "bayesift.priors.Gaussian": "bayesift.priors:Gaussian",
    "bayesift.priors.Jeffreys": "bayesift.priors:Jeffreys",
    "bayesift.priors.Laplace": "bayesift.priors:Laplace",
    "bayesift.workflow.FeatureColumns": "bayesift.workflow:FeatureColumns",
    "sklearn.pipeline.Pipeline": "sklearn.pipeline:Pipeline",
}

#: Parts that are named tuples, made from their entries.
TUPLES = {
    "bayesift.online.Belief": "bayesift.online:Belief",
    "bayesift.online.Drift": "bayesift.online.belief:Drift",
    "bayesift.online.Likelihood": "bayesift.online.belief:Likelihood",
    "bayesift.online.LowRank": "bayesift.online:LowRank",
    "bayesift.online.ProcessBelief": "bayesift.online:ProcessBelief",
    "bayesift.posterior.Diagnostics": "bayesift.posterior:Diagnostics",
    "builtins.tuple": "builtins:tuple",
}

#: All classes whose objects are made by ``__new__`` and then given attributes.
OBJECTS = {name: ":".join(name.rsplit(".", 1)) for name in ESTIMATORS} | PARTS

_PLACES = OBJECTS | TUPLES


def class_named(name: str) -> type:
    """Return the class of a listed name.

    Parameters
    ----------
    name : str
        One of ``OBJECTS`` or ``TUPLES``; any other is a KeyError.

    Returns
    -------
    type
    """
    module, class_name = _PLACES[name].split(":")
    found: type = getattr(import_module(module), class_name)
    return found


def name_of(kind: type) -> str | None:
    """Return the name of a class in model files, or None if it is not listed.

    Parameters
    ----------
    kind : type

    Returns
    -------
    str or None
    """
    for name, place in _PLACES.items():
        module, class_name = place.split(":")
        # Only a room that is already imported can have the class.
        if class_name == kind.__name__ and _room(module) == _room(kind.__module__) and class_named(name) is kind:
            return name
    return None


def estimators() -> dict[str, type]:
    """Return all public estimators by their names; imports all rooms.

    Returns
    -------
    dict of str to type
    """
    return {name: class_named(name) for name in ESTIMATORS}


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])
