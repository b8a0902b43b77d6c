"""Logistic regression beside LIBLINEAR, skglm, celer, scikit-learn and glmnet, at equal quality."""

from __future__ import annotations

from benchmarks.logistic import growth, job, single


def run(repeats: int) -> None:
    """Print all tables."""
    single.run("laplace", repeats)
    single.run("gaussian", repeats)
    for kind in ("laplace", "gaussian"):
        single.run(kind, repeats, free=True)
    job.run(repeats)
    growth.run(repeats)
