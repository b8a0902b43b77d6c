"""What is believed about one topic: the prior, fits to all judgements, and single judgements learnt at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear import BayesianLogisticRegression
from bayesift.online import Belief, start, update
from bayesift.priors import Gaussian
from bayesift.review.engine._fields import field_moments
from bayesift.review.engine.knowledge import Knowledge, prior_modes
from bayesift.review.engine.pile import Pile

#: Prior variance of every weight.
VARIANCE = 2.0

#: Prior of the constant: a document taken at random is relevant with a probability near 0.05.
CONSTANT_MODE, CONSTANT_VARIANCE = -3.0, 1.0

#: Documents without a judgement stand in as irrelevant ones: at most so many of them, weighing together as much as so
#: many judgements. Most of a pile is irrelevant, which the first judgements cannot tell.
N_STAND_INS, STAND_IN_WEIGHT = 500, 5.0

#: All relevant documents together weigh so many times as much as all irrelevant ones.
BALANCE = 2.0

#: Φ(f/1.7) is the logistic function of f within 0.01: fits are logistic, single judgements are learnt by a probit.
NOISE = 1.7


class TopicModel(NamedTuple):
    """A belief of independent Gaussian weights, the constant last, and its name."""

    belief: Belief
    name: str

    @property
    def variances(self) -> FloatArray:
        """Variance of every weight, the constant last."""
        return np.asarray(self.belief.covariance)

    def fields(self, matrix: sp.csr_matrix) -> tuple[FloatArray, FloatArray]:
        """Give mean and variance of the field of every row."""
        return field_moments(matrix.indptr, matrix.indices, matrix.data, self.belief.mean, self.variances)


class Refit(NamedTuple):
    """A model fitted to all judgements of one moment: for adopting later."""

    model: TopicModel
    judged: dict[int, bool]


def prior_model(pile: Pile, knowledge: Knowledge) -> TopicModel:
    """Give the belief before any judgement."""
    mean = np.append(prior_modes(knowledge, pile), CONSTANT_MODE)
    variance = np.append(np.full(pile.n_terms, VARIANCE), CONSTANT_VARIANCE)
    belief = start(len(mean), noise=NOISE, covariance="diagonal", prior_mean=mean, prior_covariance=variance)
    return TopicModel(belief, "prior")


def probabilities(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Give the probability of relevance when the weights are integrated over the belief: Φ(f/√(σ² + s²))."""
    return ndtr(mean / np.sqrt(NOISE**2 + variance))


def learnt(model: TopicModel, pile: Pile, document: int, relevant: bool, name: str) -> TopicModel:
    """Learn one judgement."""
    row = sp.hstack([pile.matrix[[document]], [[1.0]]], format="csr")
    belief, _ = update(model.belief, row, 1 if relevant else -1)
    return TopicModel(belief, name)


def fitted(pile: Pile, prior: TopicModel, judged: Mapping[int, bool], seed: int) -> TopicModel:
    """Fit all judgements: the posterior mode of a logistic regression, and the variance of each weight there.

    Relevant documents are few; each counts w times, w such that all together weigh ``BALANCE`` times the others. That
    moves the constant by ln w, which is taken back, so that probabilities keep their meaning.
    """
    name = f"refit {len(judged)}"
    if not any(judged.values()):
        model = prior
        for document, relevant in judged.items():
            model = learnt(model, pile, document, relevant, name)
        return model._replace(name=name)
    examples = _examples(len(pile), judged, seed)
    columns = np.unique(pile.matrix[examples[0]].indices)
    fit = _regression(pile, prior, examples, columns)
    used = np.append(columns, pile.n_terms)
    mean, variance = prior.belief.mean.copy(), prior.variances.copy()
    mean[used] = np.append(fit.coef_[0], fit.intercept_[0])
    variance[used] = 1.0 / fit.precision_[0]
    return TopicModel(prior.belief._replace(mean=mean, covariance=variance), name)


def estimator(pile: Pile, prior: TopicModel, judged: Mapping[int, bool], seed: int) -> BayesianLogisticRegression:
    """Give the logistic regression of all judgements over all columns of the pile, for use elsewhere."""
    if not any(judged.values()):
        raise ValueError("no document has been judged relevant; a model needs at least one")
    return _regression(pile, prior, _examples(len(pile), judged, seed), np.arange(pile.n_terms))


def _regression(
    pile: Pile, prior: TopicModel, examples: tuple[Int64Array, BoolArray, FloatArray], columns: Int64Array
) -> BayesianLogisticRegression:
    documents, relevant, weights = examples
    weight = max(1.0, BALANCE * weights[~relevant].sum() / relevant.sum())
    weights[relevant] = weight
    own = Gaussian(
        prior.variances[columns],
        mode=prior.belief.mean[columns],
        intercept_mode=CONSTANT_MODE + np.log(weight),
        intercept_variance=CONSTANT_VARIANCE,
    )
    fit = BayesianLogisticRegression(own, tol=1e-4, compute_precision=True, n_jobs=1)
    fit.fit(pile.matrix[documents][:, columns], relevant.astype(np.int64), sample_weight=weights)
    fit.intercept_ -= np.log(weight)
    return fit


def _examples(n: int, judged: Mapping[int, bool], seed: int) -> tuple[Int64Array, BoolArray, FloatArray]:
    """Give the judged documents and the stand-ins: rows, whether relevant, and weights."""
    own = np.array(list(judged), dtype=np.int64)
    order = np.random.default_rng([seed, 1]).permutation(n)
    stand_ins = order[~np.isin(order, own)][:N_STAND_INS]
    relevant = np.append(np.array(list(judged.values()), dtype=bool), np.zeros(len(stand_ins), dtype=bool))
    weights = np.append(np.ones(len(own)), np.full(len(stand_ins), STAND_IN_WEIGHT / max(len(stand_ins), 1)))
    return np.append(own, stand_ins), relevant, weights
