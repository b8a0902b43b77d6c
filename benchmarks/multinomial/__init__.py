"""Softmax regression beside scikit-learn's saga and L-BFGS and R's glmnet, at equal quality."""

from __future__ import annotations

from benchmarks.multinomial import single


def run(repeats: int) -> None:
    """Print all tables."""
    single.run("laplace", repeats)
    single.run("gaussian", repeats)
    # Beside glmnet, where R has it.
    single.run("laplace", repeats, free=True)
