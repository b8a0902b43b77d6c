"""From the scores of a model to decisions and probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from bayesift._labels import TargetType
from bayesift._typing import BoolArray, FloatArray
from bayesift.decide import Threshold
from bayesift.generative.base import GenerativeClassifier
from bayesift.linear._base import LinearClassifier
from bayesift.linear._losses import log_probability
from bayesift.linear.multinomial import BayesianMultinomialRegression
from bayesift.online._classifier import OnlineClassifier


class Predictions(NamedTuple):
    """Decisions and probabilities, texts × classes."""

    decisions: BoolArray
    probabilities: FloatArray


def scores_of(model: Any, X: Any) -> FloatArray:
    """Return log odds, or what stands for them, texts × categories; one column for two classes."""
    scores = model.decision_function(X)
    # A word that a class cannot have makes infinite odds, of which no threshold could be computed.
    scores = np.clip(np.nan_to_num(scores, nan=0.0), -1e300, 1e300)
    return scores[:, None] if scores.ndim == 1 else scores


def decide(target_type: TargetType, threshold: Threshold, scores: FloatArray) -> BoolArray:
    """Decide by the thresholds: the better of two classes, the best of several, or every category on its own."""
    if target_type == "multiclass":
        best = np.argmax(scores - threshold.thresholds_, axis=1)
        return best[:, None] == np.arange(scores.shape[1])
    accepted = scores >= threshold.thresholds_
    return np.hstack([~accepted, accepted]) if target_type == "binary" else accepted


def probabilities(model: Any, target_type: TargetType, scores: FloatArray, X: Any) -> FloatArray:
    """Return the probability of every class; ``X`` is looked at only by models whose scores do not tell it."""
    if isinstance(model, OnlineClassifier):
        return model.predict_proba(X)
    jointly = isinstance(model, BayesianMultinomialRegression | GenerativeClassifier)
    if target_type == "multiclass" and jointly:
        return softmax(scores, axis=1)
    share = np.exp(log_probability(model._link, scores)) if isinstance(model, LinearClassifier) else expit(scores)
    if target_type == "binary":
        return np.hstack([1.0 - share, share])
    if target_type == "multilabel-indicator":
        return share
    total = share.sum(axis=1, keepdims=True)
    return np.divide(share, total, out=np.full_like(share, 1.0 / share.shape[1]), where=total > 0)
