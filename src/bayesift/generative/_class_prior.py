"""How probable the classes are before a document is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from bayesift._checks import POSITIVE, numbers
from bayesift._special import log_rising
from bayesift._typing import FloatArray


def concentrations(class_prior: Any, n_classes: int) -> FloatArray | None:
    """Return the Dirichlet parameters of the classes; None where their probabilities are not learned by a prior."""
    if class_prior is None or isinstance(class_prior, str):
        return None
    alpha = numbers("class_prior", class_prior, POSITIVE)
    if alpha.ndim and alpha.shape != (n_classes,):
        raise ValueError(f"class_prior has shape {alpha.shape}; expected a number or {n_classes}, one for each class")
    return np.broadcast_to(alpha, (n_classes,))


def class_shares(counts: FloatArray, class_prior: Any, estimate: str) -> FloatArray:
    """Return the probabilities of the classes, (3.68) or a point estimate, from their counts along the last axis."""
    n_classes = counts.shape[-1]
    alpha = concentrations(class_prior, n_classes)
    if isinstance(class_prior, str):
        return np.full(counts.shape, 1.0 / n_classes)
    if estimate == "mle" or alpha is None:
        return shares(counts)
    return shares(counts + alpha) if estimate == "posterior" else shares(np.maximum(counts + alpha - 1.0, 0.0))


def shares(weights: FloatArray) -> FloatArray:
    """Divide by the sum over the last axis; equal shares where nothing is there to divide."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / weights.shape[-1])


def class_log_evidence(counts: FloatArray, class_prior: Any) -> FloatArray:
    """Return ln p(labels in their order), the probabilities integrated out where they have a prior."""
    alpha = concentrations(class_prior, counts.shape[-1])
    if alpha is None:
        return xlogy(counts, class_shares(counts, class_prior, "mle")).sum(axis=-1)
    return log_rising(alpha, counts).sum(axis=-1) - log_rising(alpha.sum(), counts.sum(axis=-1))
