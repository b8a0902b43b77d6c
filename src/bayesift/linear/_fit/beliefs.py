"""The posterior of a category beside its mode, and the variance with the greatest evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy.sparse as sp

from bayesift.linear._fit.problem import Design, Problem
from bayesift.linear._fit.variance import Choice
from bayesift.linear._losses import LOGISTIC
from bayesift.posterior import Posterior, find_posterior, greatest_evidence, integrate_variance
from bayesift.posterior.choice import Method
from bayesift.priors import PriorArrays


def belief_of(problem: Problem, method: Method, seed: int) -> Posterior:
    """Return the posterior of a category."""
    return find_posterior(
        _documents(problem.in_memory),
        problem.y,
        problem.prior,
        method=method,
        link=_link(problem),
        sample_weight=problem.weights,
        random_state=seed,
    )


def belief_without_variance(
    problem: Problem, prior_at: Callable[..., PriorArrays], n_dense: int, choice: Choice, method: Method, seed: int
) -> Posterior:
    """Return the posterior of a category over several variances around those chosen."""
    chosen = (choice.variance, choice.dense_variance) if n_dense else (choice.variance,)
    return integrate_variance(
        _documents(problem.in_memory),
        problem.y,
        prior_at,
        variances=chosen,
        method=method,
        dense_features=n_dense,
        link=_link(problem),
        sample_weight=problem.weights,
        random_state=seed,
    )


def choice_by_evidence(problem: Problem, prior_at: Callable[..., PriorArrays], n_dense: int) -> Choice:
    """Return the variances under which the labels of a category are most probable."""
    found = greatest_evidence(
        _documents(problem.in_memory),
        problem.y,
        prior_at,
        dense_features=n_dense,
        link=_link(problem),
        sample_weight=problem.weights,
    )
    return Choice(found.variance, dense_variance=found.dense_variance)


def _link(problem: Problem) -> Literal["logistic", "probit"]:
    return "logistic" if problem.link == LOGISTIC else "probit"


def _documents(design: Design) -> sp.csr_matrix:
    starts, columns, values = design.documents
    shape = (design.n_documents, design.n_features)
    return sp.csr_matrix((values, columns.astype(np.int64), starts.astype(np.int64)), shape=shape)
