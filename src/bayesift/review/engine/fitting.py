"""Fits of all judgements of a topic: weights that rank, and what makes their fields log odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian
from bayesift.review.engine.corpus import Corpus
from bayesift.review.engine.topic_model import CONSTANT_MODE, CONSTANT_VARIANCE, TopicModel

#: Prior variances of the weights of a fit, and of its constant, whose mode is 0: even odds under the weights below.
FIT_VARIANCE, FIT_CONSTANT_VARIANCE = 10.0, 0.1

#: In a fit every relevant document counts once, and all irrelevant ones together a tenth of the relevant ones: the
#: irrelevant are many and have little in common.
IRRELEVANT_SHARE = 0.1

#: So many documents without a judgement stand in as irrelevant ones: together as one in the fit of the weights, and
#: each by this much where fields become log odds.
N_STAND_INS, STAND_IN_WEIGHT = 100, 1.0

#: Prior variance of the slope by which the fields of a fit become log odds, around 1.
SLOPE_VARIANCE = 25.0


class Examples(NamedTuple):
    """Rows of the corpus, which of them are relevant, and how much each counts in a fit."""

    rows: Int64Array
    relevant: BoolArray
    weights: FloatArray


def fitted(corpus: Corpus, prior: TopicModel, judged: Mapping[int, bool], seed: int) -> TopicModel:
    """Fit all judgements: weights from a fit in which the classes are balanced, then their scale and the constant.

    The first fit is good at ranking, but its fields are no log odds. A second one of two parameters, a slope and a
    constant, makes them so, by the judged documents, each under the weights that it would have without itself.
    """
    examples = examples_of(len(corpus), prior, judged, seed)
    rows = corpus.matrix[examples.rows]
    columns = np.unique(rows.indices)
    fit = balanced_fit(rows[:, columns], prior.belief.mean[columns], examples)
    slope, constant = scale_of(fit, rows[:, columns], examples, len(judged))
    mean = prior.belief.mean * slope
    mean[columns] = slope * fit.coef_[0]
    mean[-1] = constant
    own = rows[: len(judged)]
    p = expit(own @ mean[:-1] + constant)
    information = np.append((own.multiply(own)).T @ (p * (1 - p)), np.sum(p * (1 - p)))
    variance = 1.0 / (1.0 / prior.variances + information)
    return TopicModel(prior.belief._replace(mean=mean, covariance=variance), f"refit {len(judged)}")


def balanced_fit(X: sp.csr_matrix, modes: FloatArray, examples: Examples) -> BayesianLogisticRegression:
    """Fit the examples by their weights."""
    # Knowledge alone ranks before any relevant document is found: a row without words and weight stands for the class.
    X = sp.vstack([X, sp.csr_matrix((1, X.shape[1]))], format="csr")
    labels = np.append(examples.relevant, True).astype(np.int64)
    own = Gaussian(FIT_VARIANCE, mode=modes, intercept_variance=FIT_CONSTANT_VARIANCE)
    fit = BayesianLogisticRegression(own, tol=1e-4, n_jobs=1)
    return fit.fit(X, labels, sample_weight=np.append(examples.weights, 0.0))


def scale_of(
    fit: BayesianLogisticRegression, X: sp.csr_matrix, examples: Examples, n_judged: int
) -> tuple[float, float]:
    """Return slope and constant that make the fields log odds: of judged documents, and of stand-ins by half."""
    field = fit.decision_function(X)
    sign = np.where(examples.relevant, 1.0, -1.0)
    # A document moves its own field by v xᵀx times the slope of its loss; without it the field would be about this.
    own = FIT_VARIANCE * np.asarray(X.multiply(X).sum(axis=1)).ravel()
    without = field - sign * own * examples.weights * expit(-sign * field)
    # A last one of no weight stands for the relevant, of which there may be none.
    weights = np.append(np.where(np.arange(len(field)) < n_judged, 1.0, STAND_IN_WEIGHT), 0.0)
    prior = Gaussian(SLOPE_VARIANCE, mode=1.0, intercept_mode=CONSTANT_MODE, intercept_variance=CONSTANT_VARIANCE)
    line = BayesianLogisticRegression(prior, tol=1e-4, n_jobs=1)
    line.fit(np.append(without, 0.0)[:, None], np.append(sign > 0, True).astype(np.int64), sample_weight=weights)
    return max(float(line.coef_[0, 0]), 0.1), float(line.intercept_[0])


def examples_of(n: int, prior: TopicModel, judged: Mapping[int, bool], seed: int) -> Examples:
    """Return the judged documents and then the stand-ins."""
    own = np.array(list(judged), dtype=np.int64)
    order = np.random.default_rng([seed, 1]).permutation(n)
    stand_ins = order[~np.isin(order, own)][:N_STAND_INS]
    relevant = np.append(np.array(list(judged.values()), dtype=bool), np.zeros(len(stand_ins), dtype=bool))
    counts = np.append(np.ones(len(own)), np.full(len(stand_ins), 1.0 / max(len(stand_ins), 1)))
    # What a person said about the topic counts as one relevant document; where there is neither, so does hope.
    n_relevant = max(relevant.sum() + float(np.any(prior.belief.mean[:-1])), 1.0)
    share = IRRELEVANT_SHARE * n_relevant / max(counts[~relevant].sum(), IRRELEVANT_SHARE * n_relevant)
    return Examples(np.append(own, stand_ins), relevant, np.where(relevant, 1.0, share * counts))
