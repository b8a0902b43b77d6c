"""What a fitted classifier is: its model, its prior and how that was chosen, its words, its proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift.priors import Prior
from bayesift.workflow._models import MODELS
from bayesift.workflow._weights import nonzero_words, word_weights
from bayesift.workflow.text_classifier import TextClassifier


@dataclass(frozen=True)
class Facts:
    """What a classifier is.

    Parameters
    ----------
    model : str
        Its name, or that of its class.
    about : str
        What that is, in a line.
    kind : {"binary", "multiclass", "multilabel"}
        Whether texts have one label or several.
    labels : list of str
    n_texts : int
        Texts that it learned from.
    fingerprint : str
        Tells those texts and labels from all others.
    weighting : str
        How counts of words become numbers.
    n_terms : int
        Words that it knows.
    n_kept : int or None
        Words that have a weight; None for models without weights of words.
    prior : str or None
        Family of the prior, or what was given.
    variance : dict of str to float, float or None
        Prior variance of every label, or of all.
    variance_by : str or None
        How it was chosen.
    thresholds : dict of str to float or None
        Score from which a label is given, and the policy under ``policy``.
    policy : str
        How the thresholds were chosen.
    gap : float or None
        Greatest relative duality gap of a fit: how far, as a share, an objective can be from its optimum at most.
    residual : float or None
        Greatest KKT residual, or slope, of a fit.
    converged : bool or None
        Whether all fits ended by their own rule.
    """

    model: str
    about: str
    kind: str
    labels: list[str]
    n_texts: int
    fingerprint: str
    weighting: str
    n_terms: int
    n_kept: int | None
    prior: str | None
    variance: dict[str, float] | float | None
    variance_by: str | None
    thresholds: dict[str, float]
    policy: str
    gap: float | None
    residual: float | None
    converged: bool | None

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return dict(vars(self))


def facts(classifier: TextClassifier) -> Facts:
    """Say what a fitted classifier is.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.

    Returns
    -------
    Facts

    Examples
    --------
    >>> from bayesift.workflow import TextClassifier, facts
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3
    >>> found = facts(TextClassifier(variance=1.0).fit(texts, labels))
    >>> found.model, found.n_terms, found.prior, found.variance_by
    ('lasso', 4, 'Laplace', 'given')
    """
    model = classifier.model_
    weights = word_weights(model)
    certificate = getattr(model, "certificate_", None)
    gap = None if certificate is None else float(np.max(certificate.relative_gap))
    name = classifier.model if isinstance(classifier.model, str) else type(model).__name__
    labels = [str(label) for label in classifier.classes_]
    return Facts(
        model=name,
        about=MODELS[name].about if name in MODELS else type(model).__name__,
        kind=classifier.kind_,
        labels=labels,
        n_texts=classifier.training_["n_texts"],
        fingerprint=classifier.training_["fingerprint"],
        weighting=classifier.vectorizer_.weighting,
        n_terms=len(classifier.words()),
        n_kept=None if weights is None else nonzero_words(weights),
        prior=_prior(classifier),
        variance=_variance(model, labels),
        variance_by=_variance_by(classifier),
        thresholds=_thresholds(classifier, labels),
        policy=str(classifier.threshold),
        gap=gap if gap is not None and np.isfinite(gap) else None,
        residual=None if certificate is None else float(np.max(certificate.kkt_residual)),
        converged=None if certificate is None else bool(np.all(certificate.converged)),
    )


def _prior(classifier: TextClassifier) -> str | None:
    prior = getattr(classifier.model_, "prior", None)
    if isinstance(prior, list | tuple) and prior:
        prior = prior[0]
    family = type(prior).__name__ if isinstance(prior, Prior) else str(prior).capitalize()
    if prior is None or not hasattr(classifier.model_, "variance_"):
        return None
    told = sorted(map(str, classifier.knowledge or {}))
    return f"{family}, with what was told of {', '.join(told)}" if told else family


def _variance(model: Any, labels: list[str]) -> dict[str, float] | float | None:
    used = getattr(model, "variance_", None)
    if used is None or not np.any(np.isfinite(used)):
        return None
    if np.ndim(used) == 0:
        return float(used)
    return {label: float(v) for label, v in zip(labels[-len(used) :], used, strict=True) if np.isfinite(v)}


def _variance_by(classifier: TextClassifier) -> str | None:
    if _variance(classifier.model_, [str(label) for label in classifier.classes_]) is None:
        return None
    ways = {
        "cv": "cross-validation",
        "norm": "the norm of the texts",
        "auto": "a search without a grid",
    }
    wanted = getattr(classifier.model_, "variance", None)
    return ways.get(wanted, "given") if isinstance(wanted, str) else "given"


def _thresholds(classifier: TextClassifier, labels: list[str]) -> dict[str, float]:
    values = classifier.threshold_.thresholds_.tolist()
    return dict(zip(labels[-len(values) :], values, strict=True))
