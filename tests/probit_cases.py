"""What the tests of the probit model share: solvers, estimators that stop at the optimum, scipy's optimum."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import linear_cases as cases
from bayesift.linear import BayesianProbitRegression

SOLVERS = ["newton", "em", "block-em"]
each_solver = pytest.mark.parametrize("solver", SOLVERS)
each_em = pytest.mark.parametrize("solver", ["em", "block-em"])

#: Settings under which all solvers are at the optimum to nearly all digits; several blocks on a few features.
TIGHT = {"tol": 1e-12, "max_iter": 100_000, "block_size": 2, "n_jobs": 1}

objective = partial(cases.objective, loss=cases.probit)
reference = partial(cases.reference, loss=cases.probit)


def tight(prior: Any = "laplace", **options: Any) -> BayesianProbitRegression:
    """Return an estimator that stops only at the optimum."""
    if prior in ("laplace", "gaussian") and "variance" not in options:
        options["variance"] = 1.0
    return BayesianProbitRegression(prior, **{**TIGHT, **options})
