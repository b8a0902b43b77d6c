"""How time grows with documents and categories, and the memory of a fit."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from bayesift.linear import BayesianLogisticRegression
from benchmarks.logistic.problem import matrix
from benchmarks.measuring import peak_beyond_now, ratio, show, take_turns


def fit(X: object, Y: object) -> BayesianLogisticRegression:
    """Fit with the Laplace rate 1 on one thread."""
    return BayesianLogisticRegression(variance=2.0, intercept_variance="same", n_jobs=1).fit(X, Y)


def memory(prior: str) -> tuple[float, float]:
    """Return the peak memory of a fit on ModApte (category acq) on top of X, and the size of X, in megabytes."""
    X, Y, names = matrix("reuters21578")
    y = Y[:, names.index("acq")]
    model = BayesianLogisticRegression(prior, variance=2.0, intercept_variance="same", n_jobs=1)
    model.fit(X[:200], y[:200])
    peak, _ = peak_beyond_now(lambda: model.fit(X, y))
    return peak / 1e6, (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6


def run(repeats: int) -> None:
    """Print growth and memory."""
    X, Y, _ = matrix("reuters21578")
    Y = (Y > 0).astype(int)
    half = X.shape[0] // 2
    documents = take_turns({"half": partial(fit, X[:half], Y[:half, ::9]), "all": partial(fit, X, Y[:, ::9])}, repeats)
    categories = take_turns({"half": partial(fit, X, Y[:, ::2]), "all": partial(fit, X, Y)}, repeats)
    rows = [
        ("documents, 4,801 to 9,603", f"{ratio(documents, 'all', 'half'):.2f}"),
        ("categories, 45 to 90", f"{ratio(categories, 'all', 'half'):.2f}"),
    ]
    show("Time for twice as much, ModApte, Laplace rate 1", ("doubled", "time"), rows)
    rows = []
    for prior in ("laplace", "gaussian"):
        command = f"from benchmarks.logistic.growth import memory; print(*memory({prior!r}))"
        output = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
        peak, size = map(float, output.split())
        rows.append((prior, f"{size:.1f}", f"{peak:.1f}", f"{(peak + size) / size:.2f}"))
    show("Peak memory of a fit, ModApte", ("prior", "X, MB", "on top of X, MB", "both / X"), rows)
