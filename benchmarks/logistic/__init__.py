"""Logistic regression beside LIBLINEAR, skglm, celer and scikit-learn, at equal quality."""

from __future__ import annotations

from benchmarks.logistic import growth, job, single


def run(repeats: int) -> None:
    """Print all tables."""
    single.run("laplace", repeats)
    single.run("gaussian", repeats)
    job.run(repeats)
    growth.run(repeats)
