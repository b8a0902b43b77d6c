"""Fits to all judgements of a topic: weights that rank, and the scale that turns their fields into log odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from bayesift._typing import BoolArray, FloatArray
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian
from bayesift.review.engine.corpus import Corpus
from bayesift.review.engine.earlier import Earlier
from bayesift.review.engine.topic_model import CONSTANT_MODE, CONSTANT_VARIANCE, TopicModel

#: Prior variances of the weights of a fit, and of its constant, whose mode is 0: even odds under the weights below.
FIT_VARIANCE, FIT_CONSTANT_VARIANCE = 10.0, 0.1

#: In a fit every relevant document counts once, and all irrelevant ones together count a tenth of the relevant ones:
#: there are many of them, with little in common.
IRRELEVANT_SHARE = 0.1

#: How many unjudged documents stand in as irrelevant ones: in the fit of the weights they count as one together, and
#: each counts this much where fields are turned into log odds.
N_STAND_INS, STAND_IN_WEIGHT = 100, 1.0

#: Prior variance, around 1, of the slope that turns the fields of a fit into log odds.
SLOPE_VARIANCE = 25.0


class Examples(NamedTuple):
    """Rows of words, which of them are relevant, and how much each counts in a fit.

    The first ``n_judged`` are judged documents of the pile. Unjudged ones follow, which stand in as irrelevant, up to
    ``n_pile`` in all; the rest are records of earlier reviews.
    """

    rows: sp.csr_matrix
    relevant: BoolArray
    weights: FloatArray
    n_judged: int
    n_pile: int

    @property
    def evidence(self) -> sp.csr_matrix:
        """The rows that somebody has judged, here or earlier."""
        return sp.vstack([self.rows[: self.n_judged], self.rows[self.n_pile :]], format="csr")


def fitted(
    corpus: Corpus, prior: TopicModel, judged: Mapping[int, bool], seed: int, earlier: Earlier | None = None
) -> TopicModel:
    """Fit all judgements: first weights, with balanced classes, then their scale and the constant.

    The first fit is good at ranking, but its fields are not log odds. A second fit of two parameters, a slope and a
    constant, turns them into log odds, from the judged documents, each under the weights that a fit without it would
    have. Records of earlier reviews are examples only for the first fit, because only this pile can tell how many of
    its documents are relevant.
    """
    examples = examples_of(corpus, prior, judged, seed, earlier)
    columns = np.unique(examples.rows.indices)
    rows = examples.rows[:, columns]
    fit = balanced_fit(rows, prior.belief.mean[columns], examples)
    slope, constant = scale_of(fit, rows, examples)
    mean = prior.belief.mean * slope
    mean[columns] = slope * fit.coef_[0]
    mean[-1] = constant
    own = examples.evidence
    p = expit(own @ mean[:-1] + constant)
    information = np.append((own.multiply(own)).T @ (p * (1 - p)), np.sum(p * (1 - p)))
    variance = 1.0 / (1.0 / prior.variances + information)
    return TopicModel(prior.belief._replace(mean=mean, covariance=variance), f"refit {len(judged)}")


def balanced_fit(X: sp.csr_matrix, modes: FloatArray, examples: Examples) -> BayesianLogisticRegression:
    """Fit the examples with their weights."""
    # Before any relevant document is found, only knowledge ranks: a row without words or weight represents the class.
    X = sp.vstack([X, sp.csr_matrix((1, X.shape[1]))], format="csr")
    labels = np.append(examples.relevant, True).astype(np.int64)
    own = Gaussian(FIT_VARIANCE, mode=modes, intercept_variance=FIT_CONSTANT_VARIANCE)
    fit = BayesianLogisticRegression(own, tol=1e-4, n_jobs=1)
    return fit.fit(X, labels, sample_weight=np.append(examples.weights, 0.0))


def scale_of(fit: BayesianLogisticRegression, X: sp.csr_matrix, examples: Examples) -> tuple[float, float]:
    """Return the slope and constant that turn fields into log odds, from judged documents and stand-ins."""
    pile = slice(examples.n_pile)
    X, relevant = X[pile], examples.relevant[pile]
    field = fit.decision_function(X)
    sign = np.where(relevant, 1.0, -1.0)
    # A document moves its own field by v xᵀx times the slope of its loss; without it, the field would be about this.
    own = FIT_VARIANCE * np.asarray(X.multiply(X).sum(axis=1)).ravel()
    without = field - sign * own * examples.weights[pile] * expit(-sign * field)
    # A last example, of no weight, stands for the relevant ones, of which there may be none.
    weights = np.append(np.where(np.arange(len(field)) < examples.n_judged, 1.0, STAND_IN_WEIGHT), 0.0)
    prior = Gaussian(SLOPE_VARIANCE, mode=1.0, intercept_mode=CONSTANT_MODE, intercept_variance=CONSTANT_VARIANCE)
    line = BayesianLogisticRegression(prior, tol=1e-4, n_jobs=1)
    line.fit(np.append(without, 0.0)[:, None], np.append(sign > 0, True).astype(np.int64), sample_weight=weights)
    return max(float(line.coef_[0, 0]), 0.1), float(line.intercept_[0])


def examples_of(
    corpus: Corpus, prior: TopicModel, judged: Mapping[int, bool], seed: int, earlier: Earlier | None = None
) -> Examples:
    """Return the judged documents, then the stand-ins, then the records of earlier reviews."""
    own = np.array(list(judged), dtype=np.int64)
    order = np.random.default_rng([seed, 1]).permutation(len(corpus))
    stand_ins = order[~np.isin(order, own)][:N_STAND_INS]
    rows = corpus.matrix[np.append(own, stand_ins)]
    relevant = np.append(np.array(list(judged.values()), dtype=bool), np.zeros(len(stand_ins), dtype=bool))
    counts = np.append(np.ones(len(own)), np.full(len(stand_ins), 1.0 / max(len(stand_ins), 1)))
    n_pile = len(counts)
    if earlier is not None:
        rows = sp.vstack([rows, earlier.rows], format="csr")
        relevant, counts = np.append(relevant, earlier.relevant), np.append(counts, earlier.counts)
    # What a person said about the topic counts as one relevant document; without either, so does hope.
    n_relevant = max(counts[relevant].sum() + float(np.any(prior.belief.mean[:-1])), 1.0)
    share = IRRELEVANT_SHARE * n_relevant / max(counts[~relevant].sum(), IRRELEVANT_SHARE * n_relevant)
    return Examples(rows, relevant, np.where(relevant, counts, share * counts), len(own), n_pile)
