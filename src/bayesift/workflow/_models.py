"""The models that a text classifier can have: their names, the words that suit them, and how to fit them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import compress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from bayesift import progress
from bayesift._checks import one_of
from bayesift._documents import checked_weights
from bayesift._labels import TargetType, class_factors
from bayesift._typing import AnyArray, BoolArray, FloatArray
from bayesift.decide import Threshold
from bayesift.priors import Gaussian, Laplace, Prior
from bayesift.text import TextVectorizer
from bayesift.workflow._label_sets import N_FOLDS, Targets, assign_folds
from bayesift.workflow.binary_relevance import BinaryRelevance
from bayesift.workflow.errors import NoAveragingError, OneLabelModelError
from bayesift.workflow.prior_knowledge import build_priors

#: The name that asks for the model that suits the texts.
AUTO = "auto"

#: With this many texts or more, words that occur in only one text are left out.
MANY_TEXTS = 100

#: A label is rare if a smaller share of the texts has it: at a probability of one half it would seldom be given.
RARE = 0.2

#: Labels with fewer texts share a prior variance, because few texts say next to nothing about it. So do labels that
#: exclude each other, whatever their number: their scores are compared, and sharing was better and quicker.
FEW_OF_A_LABEL = 100

#: Posteriors of more coefficients than this are not kept unless asked for, because they hardly compress.
LARGE_POSTERIOR = 2_000_000

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class ModelChoice(NamedTuple):
    """A model that has a name: what it is, where to find it, which term weights suit it, and what it can do."""

    about: str
    room: str
    estimator: str
    parameters: Mapping[str, Any] = _NOTHING
    weighting: str = "lsc"
    one_label: bool = False
    two_classes: bool = False
    takes_priors: bool = False
    tunes_threshold: bool = False

    @property
    def calibrates(self) -> bool:
        """Whether its scores can be calibrated on held-out texts."""
        return self.room == "linear"

    @property
    def gains_by_calibration(self) -> bool:
        """Whether that is done by default: a Gaussian prior shrinks the scores of all texts.

        The log loss fell on eight of nine collections for ridge and on five of five for probit-ridge; for softmax
        ridge it was measured on WebKB alone and rose a little (0.1523 to 0.1528).
        """
        return self.calibrates and self.parameters.get("prior") == "gaussian"

    def build(self, target_type: TargetType, options: Mapping[str, Any]) -> Any:
        """Return the model, not fitted, with those of the options that it knows."""
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
    """Return the model of a name, or say which names there are and which models can give several labels."""
    if name not in MODELS:
        raise ValueError(f"model is {name!r}; expected 'auto' or one of {', '.join(MODELS)}")
    found = MODELS[name]
    if target_type == "multilabel-indicator" and found.one_label:
        others = ", ".join(other for other, choice in MODELS.items() if not choice.one_label)
        raise OneLabelModelError(
            f"model {name!r} gives every text exactly one label, but some texts have several or none; "
            f"expected one of {others}"
        )
    return found


def can_average(name: str, method: str | None, variance: Any = None) -> bool:
    """Tell whether a model can keep its posterior, computed by a method, and choose its variance as asked."""
    found = MODELS[name]
    binary = found.takes_priors and found.tunes_threshold
    if variance == "evidence" or method in ("ep", "laplace"):
        return binary and found.parameters["prior"] == "gaussian"
    return binary or method is None


def check_averaging(name: str, method: str | None) -> None:
    """Refuse a posterior if the model has none, or none by this method."""
    if not can_average(name, method):
        others = ", ".join(other for other in MODELS if can_average(other, method))
        raise NoAveragingError(f"posterior is {method!r}, but model is {name!r}; expected None, or one of {others}")


def suited_calibration(classifier: Any, model: ModelChoice, n_texts: int) -> str | None:
    """Return how to calibrate a model; if left open, it is done if it helps, with many texts, at the mode."""
    if classifier.calibration != AUTO:
        wanted: str | None = classifier.calibration
        return wanted
    # With a handful of texts, the held-out ones share hardly a word with the others, and say that nothing is known.
    return "sigmoid" if model.gains_by_calibration and not classifier.posterior and n_texts >= MANY_TEXTS else None


def check_calibration(classifier: Any) -> None:
    """Refuse a calibration that is unknown, that the model cannot have, or that excludes the posterior."""
    wanted, model = classifier.calibration, classifier.model
    if wanted in (AUTO, None):
        return
    one_of("calibration", wanted, (AUTO, "sigmoid"))
    if classifier.posterior is not None:
        raise ValueError(f"calibration is {wanted!r}; expected None where posterior is {classifier.posterior!r}")
    if not isinstance(model, str):
        raise ValueError(
            "calibration needs a model by name, found an estimator; set calibration of the estimator instead"
        )
    if model != AUTO and not check_model(model).calibrates:
        others = ", ".join(name for name, found in MODELS.items() if found.calibrates)
        raise ValueError(f"calibration is {wanted!r}, but model is {model!r}; expected None, or one of {others}")


def suited_vectorizer(model: Any, n_texts: int, **options: Any) -> TextVectorizer:
    """Return the vectorizer that suits a model and a number of texts.

    Parameters
    ----------
    model : str or classifier
        As in :class:`TextClassifier`.
    n_texts : int
        Number of training texts.
    **options
        Parameters of the vectorizer that should be different; impossible ones are refused at once.

    Returns
    -------
    TextVectorizer
        Not fitted.
    """
    weighting = check_model(model).weighting if isinstance(model, str) and model != AUTO else "lsc"
    # Unknown terms can be told from rare ones only if rare ones have columns.
    least = 1 if options.get("unknown_terms") == "normalize" else least_documents(n_texts)
    made = TextVectorizer(**{"weighting": weighting, "min_df": least, **options})
    made.check_parameters()
    return made


def least_documents(n_texts: int) -> int:
    """Return in how many texts a word must occur: if there are many, words of a single text say little."""
    return 2 if n_texts >= MANY_TEXTS else 1


def vectorizer_for(given: Any, model: Any, n_texts: int, *, pairs: bool = False, n_jobs: int | None = None) -> Any:
    """Return the vectorizer of a classifier, not fitted: the given one, or a suitable one with the given changes.

    Parameters
    ----------
    given : TextVectorizer, mapping or None
        As the parameter ``vectorizer`` of a :class:`TextClassifier`.
    model : str or classifier
    n_texts : int
        Number of training texts.
    pairs : bool
        Whether pairs of neighbouring words are terms as well.
    n_jobs : int or None
        Threads.
    """
    if given is not None and not isinstance(given, Mapping):
        return clone(given)
    options = {"n_jobs": n_jobs, **(given or {})}
    known = TextVectorizer().get_params()
    odd = [name for name in options if name not in known]
    if odd:
        raise ValueError(f"vectorizer has the unknown option {odd[0]!r}; expected some of {', '.join(known)}")
    if pairs:
        options["ngram_range"] = (1, 2)
    return suited_vectorizer(model, n_texts, **options)


class Material(NamedTuple):
    """What to learn from: texts, their numbers, labels and weights, and the weights of the classes."""

    texts: Sequence[str]
    X: Any
    targets: Targets
    sample_weight: Any = None
    class_weight: Any = None

    def rows(self, kept: BoolArray) -> Material:
        """Return some of the texts, with the same classes."""
        weights = None if self.sample_weight is None else np.asarray(self.sample_weight)[kept]
        return self._replace(
            texts=list(compress(self.texts, kept.tolist())),
            X=self.X[kept],
            targets=self.targets._replace(y=self.targets.y[kept]),
            sample_weight=weights,
        )


def suited_policy(threshold: Any, targets: Targets) -> Any:
    """Return the policy of the thresholds; if it is left open, the one that suits the labels."""
    if not (isinstance(threshold, str) and threshold == "auto"):
        return threshold
    shares = targets.shares()
    if targets.target_type == "multiclass" or shares.min() >= RARE:
        return "half"
    # With two labels the second is the category, and the first may be the rare one.
    return "max_f1_of_rest" if targets.target_type == "binary" and shares[0] < shares[1] else "max_f1"


def fitted_selector(selector: Any, X: Any, targets: Targets) -> Any:
    """Return a fitted copy of a selector of words; one that keeps nothing is refused."""
    made = clone(selector).fit(X, targets.y)
    if not made.get_support().any():
        raise ValueError(f"selector {selector} keeps no word; expected some to be kept: change its k or threshold")
    return made


def build_model(classifier: Any, model: Any, targets: Targets, vectorizer: Any, n_words: int, **changes: Any) -> Any:
    """Return a model, not fitted, as the parameters of a text classifier say.

    Parameters
    ----------
    classifier : TextClassifier
        The classifier whose parameters apply.
    model : str or classifier
        A name, or the model itself.
    targets : Targets
    vectorizer : TextVectorizer
        Fitted; it cuts the prior knowledge about categories into words.
    n_words : int
        Number of columns.
    **changes
        Options of the model that should be different.

    Returns
    -------
    classifier
    """
    if not isinstance(model, str):
        made = clone(model)
        if "dense_features" in changes:
            made.set_params(dense_features=changes["dense_features"])
        return made if classifier.class_weight is None else _with_class_weight(made, classifier.class_weight)
    large = n_words * len(targets.classes) > LARGE_POSTERIOR
    keep = classifier.keep_posterior
    options = {
        "variance": classifier.variance,
        "dense_variance": classifier.vector_variance if classifier.features is None else classifier.feature_variance,
        "posterior": classifier.posterior,
        "calibration": suited_calibration(classifier, check_model(model), targets.y.shape[0]),
        # Thresholds of averaged scores are tuned after the fit.
        "threshold": "half" if classifier.posterior else suited_policy(classifier.threshold, targets),
        "threshold_on": classifier.threshold_on,
        "compute_precision": not large if keep == "auto" else keep,
        "class_weight": classifier.class_weight,
        "n_jobs": classifier.n_jobs,
        "random_state": classifier.random_state,
        **changes,
    }
    variance = options["variance"]
    if isinstance(variance, Mapping):
        options["variance"] = "cv"
    elif variance == "cv" and _share_a_variance(targets) and check_model(model).tunes_threshold:
        options["variance"] = "shared"
    made = check_model(model).build(targets.target_type, options)
    if not (classifier.prior_knowledge or isinstance(variance, Mapping)) or not check_model(model).takes_priors:
        return made
    family: type[Prior] = Gaussian if made.prior == "gaussian" else Laplace
    labels = targets.classes[-1:] if targets.target_type == "binary" else targets.classes
    priors: list[Prior] = [family() for _ in labels]
    if classifier.prior_knowledge:
        priors, remarks = build_priors(classifier.prior_knowledge, targets, vectorizer, family)
        for remark in remarks:
            warnings.warn(remark, stacklevel=4)
    if isinstance(variance, Mapping):
        given = [variance.get(label, np.nan) for label in labels.tolist()]
        priors = [
            prior.scaled(amount) if np.isfinite(amount) else prior for prior, amount in zip(priors, given, strict=True)
        ]
    return made.set_params(prior=priors)


def _share_a_variance(targets: Targets) -> bool:
    """Tell whether labels share a prior variance: they exclude each other, or half of them are rare."""
    if targets.target_type == "multilabel-indicator":
        return float(np.median(targets.indicator().sum(axis=0))) < FEW_OF_A_LABEL
    return targets.target_type == "multiclass"


def fit_model(model: Any, texts: Material, words: AnyArray | None = None) -> Any:
    """Fit a model to texts with weights; ``words`` name the columns for priors that name words.

    Models that do not know class weights get them as weights of the texts.
    """
    weights, class_weight, targets = texts.sample_weight, texts.class_weight, texts.targets
    if class_weight is not None and "class_weight" not in getattr(model, "model", model).get_params():
        if targets.target_type == "multilabel-indicator":
            raise ValueError(
                f"class_weight is {class_weight!r}, but {type(model).__name__} takes one weight for each text, and a "
                f"text may have any number of labels; expected None, or a model such as 'lasso'"
            )
        weights = checked_weights(weights, texts.X)
        weights = weights * class_factors(class_weight, targets.y, weights)
    options = {} if weights is None else {"sample_weight": weights}
    if words is not None:
        options["feature_names"] = words
    return model.fit(texts.X, targets.y, **options)


def used_variance(model: Any, classes: AnyArray, given: Any) -> Any:
    """Return the prior variance that a fit used, in the form of the parameter ``variance`` of a text classifier."""
    # With vectors of words, it is that of the linear model inside.
    model = getattr(model, "model_", model)
    used = getattr(model, "variance_", None)
    if used is None or given == "norm":
        return given
    if hasattr(model, "class_coef_"):
        # One for all classes.
        return float(used[0]) if np.isfinite(used[0]) else given
    categories = classes[-len(used) :].tolist()
    return {label: float(value) for label, value in zip(categories, used, strict=True) if np.isfinite(value)}


def scores_of_rows(model: Any, X: Any) -> FloatArray:
    """Return the scores, texts × categories; one column for two classes."""
    scores = model.decision_function(X)
    # A word that a class cannot have gives infinite odds, for which no threshold could be computed.
    scores = np.clip(np.nan_to_num(scores, nan=0.0), -1e300, 1e300)
    return scores[:, None] if scores.ndim == 1 else scores


def decided(scores: FloatArray, thresholds: FloatArray, target_type: TargetType) -> BoolArray:
    """Decide by the thresholds: the better of two classes, the best of several, or every category on its own."""
    if target_type == "multiclass":
        return np.argmax(scores - thresholds, axis=1)[:, None] == np.arange(scores.shape[1])
    accepted = scores >= thresholds
    return np.hstack([~accepted, accepted]) if target_type == "binary" else accepted


def tuned_threshold(model: Any, policy: Any, on: str, texts: Material, words: AnyArray | None = None) -> Threshold:
    """Return the thresholds of a fitted model that has none of its own; ``words`` as for :func:`fit_model`."""
    scores = scores_of_rows(model, texts.X)
    threshold = Threshold(policy, scale="log_odds", cautious=on == "cv")
    if policy == "half":
        return threshold.fit(scores)
    truth = texts.targets.indicator()[:, -scores.shape[1] :]
    if on == "cv":
        # A label cannot be held out and learned if a single text has it, or lacks it.
        several = (truth.sum(axis=0) > 1) & (truth.sum(axis=0) < truth.shape[0] - 1)
        if several.any():
            scores[:, several] = _held_out_scores(model, texts, words)[:, several]
    return threshold.fit(scores, truth, texts.sample_weight)


def _held_out_scores(model: Any, texts: Material, words: AnyArray | None) -> FloatArray:
    """Score every text by a model fitted without its fold."""
    fold = assign_folds(texts.texts, texts.targets.sets(), N_FOLDS)
    parts = []
    for turn in range(N_FOLDS):
        with warnings.catch_warnings(), progress.part(turn / N_FOLDS, (turn + 1) / N_FOLDS):
            # The fit to all texts has already warned.
            warnings.simplefilter("ignore")
            part = fit_model(clone(model), texts.rows(fold != turn), words)
        parts.append(scores_of_rows(part, texts.X[fold == turn]))
    return np.concatenate(parts)[np.argsort(np.argsort(fold, kind="stable"), kind="stable")]


def _with_class_weight(model: Any, class_weight: Any) -> Any:
    """Give the user's own model the class weights, if it has a parameter for them."""
    return model.set_params(class_weight=class_weight) if "class_weight" in model.get_params() else model
