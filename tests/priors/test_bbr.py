"""Models of the original BBRtrain are optimal under the priors that its options and prior files mean here."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from bayesift.priors import Gaussian, Laplace, Prior

GOLDEN = Path(os.environ.get("BAYESIFT_DATA", "missing")).parent / "golden" / "bbr"


def individual(family: type[Prior]) -> Prior:
    """Read priors.txt: variances are multiples of the common one; a skew keeps the two-sided rate, so v is halved."""
    rows = [line.split() for line in (GOLDEN / "priors.txt").read_text().splitlines() if not line.startswith("#")]
    modes, relative, signs = {}, {}, {}
    for feature, mode, variance, *skew in rows:
        column = int(feature) - 1
        if column >= 0:
            modes[column] = float(mode)
            signs[column] = int(skew[0]) if skew else 0
            relative[column] = float(variance) / (2 if skew and family is Laplace else 1)
    return family(mode=modes, relative=relative, sign=signs, intercept_variance=np.inf)


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="needs golden/bbr beside the folder that BAYESIFT_DATA names")
@pytest.mark.parametrize(
    ("case", "prior"),
    [
        ("bbr-laplace-v1", lambda: Laplace(1.0)),
        ("bbr-gauss-v1", lambda: Gaussian(1.0)),
        ("bbr-laplace-pos", lambda: Laplace(1.0, sign=1)),
        ("bbr-laplace-prior", lambda: individual(Laplace).scaled(1.0)),
        ("bbr-laplace-prior-v0.5", lambda: individual(Laplace).scaled(0.5)),
        ("bbr-gauss-prior", lambda: individual(Gaussian).scaled(1.0)),
        ("bbr-gauss-prior-v0.5", lambda: individual(Gaussian).scaled(0.5)),
    ],
)
def test_penalty_and_dual_meet_at_the_golden_optimum(case: str, prior: Prior) -> None:
    X, y = load_svmlight_file(str(GOLDEN / "binary.train"))
    model = (GOLDEN / f"{case}.model").read_text()
    features, values = (
        [float(number) for number in re.search(rf"{word} (.*)", model).group(1).split()]  # type: ignore[union-attr]
        for word in ("topicFeats", "beta")
    )
    known = prior()  # type: ignore[operator]
    beta = np.zeros(X.shape[1] + 1)
    beta[[int(feature) - 1 for feature in features]] = values[:-1]
    beta[-1] = values[-1]
    arrays = known.resolve(X.shape[1]).extended(known.resolve_intercept("same"))
    r = y * (X @ beta[:-1] + beta[-1])
    weight = y / (1 + np.exp(r))
    c = np.append(X.T @ weight, weight.sum())
    # p(δ) + p*(c) = cδ only where c is a slope of p at δ; a hair less keeps c on the safe side of rounding.
    c = np.where(arrays.kind == 0, 0.0, c * (1 - 1e-6))
    assert abs(weight.sum()) < 1e-5 or arrays.kind[-1] != 0
    gap = arrays.penalty(beta) + arrays.conjugate(c) - c @ (beta - arrays.mode)
    assert 0 <= gap < 1e-4
