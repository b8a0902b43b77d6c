"""What ``bbrtrain`` and ``bbrclassify`` do, as functions that return data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.bbr._fitting import Design, VarianceChoice, compacted, design_of
from bayesift.bbr.binary_model import BinaryModel
from bayesift.bbr.data import Data
from bayesift.bbr.decisions import BinaryDecisions, decide
from bayesift.bbr.estimators import linear_scores
from bayesift.bbr.prior_files import IndividualPrior
from bayesift.bbr.priors import FAMILIES, FitPrior, barely_penalised, fit_prior, log_prior, moved_from_modes
from bayesift.decide import best_threshold
from bayesift.linear import BayesianLogisticRegression
from bayesift.select import TermSelector

#: What ``-t`` makes as great as possible.
POLICIES = {1: "min_error", 2: "t11u", 3: "max_f1", 4: "balanced_error", 5: "t13u"}
#: What ``-u`` ranks features by.
SCORES = ("pearson", "yules_q", "chi_square", "binormal_separation")
#: The relative duality gap at which the fast solver stops.
TOLERANCE = 1e-10


@dataclass(frozen=True)
class BinaryTraining:
    """The options of ``bbrtrain``; see there."""

    prior: int = 2
    variance: VarianceChoice = VarianceChoice()  # noqa: RUF009
    individual: tuple[IndividualPrior, ...] = ()
    sign: int = 0
    threshold_rule: int = 0
    probability_threshold: float | None = None
    n_selected: int = 0
    utility: int = 0
    cosine: bool = False
    standardize: bool = False
    epsilon: float = 0.0005
    max_iter: int = 1000
    solver: Literal["clg", "newton"] = "clg"
    name: str = ""


@dataclass(frozen=True, eq=False)
class BinaryTrained:
    """A model, and how it was trained."""

    model: BinaryModel
    decisions: BinaryDecisions
    n_features: int
    n_used: int
    n_entries: int
    mean_square_norm: float | None
    variance: float
    passes: int
    log_prior: float
    n_moved: int
    constant_moved: bool
    least_utility: float | None


def train_binary(data: Data, training: BinaryTraining) -> BinaryTrained:
    """Train one yes/no classifier; label 1 is yes."""
    positive = data.positive()
    present, X = compacted(data.X)
    chosen, least = _selected(X, positive, present, training)
    kept = present[chosen]
    design = design_of(X[:, chosen], cosine=training.cosine, standardize=training.standardize)
    columns = {str(feature): column for column, feature in enumerate((kept + 1).tolist())}
    norm = design.mean_square_norm() if training.variance.by_norm else None
    known = training.variance.known(norm, kept.size)
    family = FAMILIES[training.prior]
    open_prior = fit_prior(training.individual, family, columns, sign=training.sign, common_variance=known)
    estimator, variance = _fitted(design, positive, open_prior, known, training)
    beta, intercept = estimator.coef_[0], float(estimator.intercept_[0])
    if open_prior.constant_column:
        beta, intercept = beta[:-1], float(beta[-1])
    moved = moved_from_modes(open_prior, beta, intercept)
    coef, intercept = design.raw(beta, intercept)
    # The programs use the density at the coefficients in raw units, even if these were found in other units.
    density = log_prior(open_prior, variance, coef, intercept)
    model = _model(training, kept + 1, coef, float(intercept))
    scores = linear_scores(model, data)
    model = replace(model, threshold=_threshold(training, scores, positive))
    return BinaryTrained(
        model=model,
        decisions=decide(scores, positive, model.threshold, data.row_ids),
        n_features=present.size,
        n_used=kept.size,
        n_entries=int(data.X.nnz),
        mean_square_norm=norm,
        variance=variance,
        passes=int(estimator.n_iter_[0]),
        log_prior=density,
        n_moved=int(np.count_nonzero(moved)),
        constant_moved=bool(moved[-1]),
        least_utility=least,
    )


def classify_binary(data: Data, model: BinaryModel, probability_threshold: float | None = None) -> BinaryDecisions:
    """Decide about documents with a model.

    Parameters
    ----------
    data : Data
    model : BinaryModel
    probability_threshold : float, optional
        Replaces the model's own threshold.

    Returns
    -------
    BinaryDecisions
    """
    if model.tf_method or model.idf_method or model.n_groups:
        raise ValueError(
            "the model applies its own term weights or group flags (tfMethod, idfMethod, ngroups); only models of the "
            "values exactly as in the data file are supported"
        )
    threshold = model.log_odds_threshold if probability_threshold is None else logit(probability_threshold)
    return decide(linear_scores(model, data), data.positive(), threshold, data.row_ids)


def logit(probability: float) -> float:
    """Return the log odds of a probability."""
    return log(probability / (1.0 - probability))


def _selected(
    X: sp.csr_matrix, positive: BoolArray, present: Int64Array, training: BinaryTraining
) -> tuple[BoolArray, float | None]:
    """Mark columns: all, or the best and those with a prior of their own; also return the least score kept."""
    if not 0 < training.n_selected < present.size:
        return np.ones(present.size, dtype=bool), None
    selector = TermSelector(SCORES[training.utility], k=training.n_selected).fit(X, positive)
    mask = selector.get_support()
    least = float(selector.scores_[mask].min())
    named = [int(prior.feature) - 1 for prior in training.individual if not prior.is_constant]
    return mask | np.isin(present, named), least


def _fitted(
    design: Design, positive: BoolArray, open_prior: FitPrior, known: float | None, training: BinaryTraining
) -> tuple[BayesianLogisticRegression, float]:
    """Choose the variance with the fast solver, and fit with the one that was asked for."""
    X = design.with_constant() if open_prior.constant_column else design.X
    y = np.where(positive, 1, -1)
    variance: Any = known
    if known is None:
        search = BayesianLogisticRegression(
            open_prior.prior, intercept_variance=open_prior.intercept_variance, **training.variance.searching()
        ).fit(X, y)
        variance = float(search.variance_[0])
    final = barely_penalised(open_prior) if training.solver == "clg" else open_prior
    estimator = BayesianLogisticRegression(
        final.prior,
        variance,
        intercept_variance=open_prior.intercept_variance,
        solver=training.solver,
        tol=training.epsilon if training.solver == "clg" else TOLERANCE,
        max_iter=training.max_iter,
    )
    return estimator.fit(X, y), float(variance)


def _model(training: BinaryTraining, features: Int64Array, coef: FloatArray, intercept: float) -> BinaryModel:
    """Make the model: non-zero coefficients, and the modes of features that never occurred."""
    found = {feature: value for feature, value in zip(features.tolist(), coef.tolist(), strict=True) if value}
    trained_on = set(features.tolist())
    for prior in training.individual:
        if not prior.is_constant and prior.mode and int(prior.feature) not in trained_on:
            found[int(prior.feature)] = prior.mode
    listed = sorted(found)
    return BinaryModel(
        features=tuple(listed),
        coefficients=tuple(found[feature] for feature in listed),
        intercept=intercept,
        restricted_to=tuple(sorted(trained_on | set(listed))),
        cosine_normalize=training.cosine,
        standardize=training.standardize,
        threshold_rule=0 if training.probability_threshold else training.threshold_rule,
        name=training.name,
    )


def _threshold(training: BinaryTraining, scores: FloatArray, positive: BoolArray) -> float:
    if training.probability_threshold is not None:
        return logit(training.probability_threshold)
    if not training.threshold_rule:
        return 0.0
    threshold = best_threshold(
        scores, positive.astype(np.int64), policy=POLICIES[training.threshold_rule], ties="lowest"
    )
    # A file holds no infinity: the least score accepts all documents, one beyond the greatest none.
    return float(np.clip(threshold, scores.min(), scores.max() + 1.0))
