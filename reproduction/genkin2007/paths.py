"""Figures 1 and 2 of Genkin, Lewis & Madigan (2007): modes of eight coefficients against the prior variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression

from bayesift.linear.path import RegularizationPath, regularization_path
from bayesift.plots import RegularizationPathDisplay
from reproduction.catalogue import Claim, Figure, Outcome, Runner, Table, require_pyplot

#: The predictors that are drawn: all but age and sex.
PREDICTORS = ("bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
#: Variances at the dashed lines of the two figures.
MARKED = {"gaussian": 0.01, "laplace": 0.27}


def eight_predictors() -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Take scikit-learn's diabetes data: standardised predictors, and whether the disease went on faster than usual."""
    data = load_diabetes()
    columns = [data.feature_names.index(name) for name in PREDICTORS]
    X = data.data[:, columns]
    return X / X.std(axis=0), (data.target > np.median(data.target)).astype(int)


def path(prior: Any) -> RegularizationPath:
    """Fit all variances from 10⁻⁵ to 10⁷, and the marked one."""
    X, y = eight_predictors()
    variances = np.union1d(np.logspace(-5, 7, 121), [MARKED[prior]])
    return regularization_path(X, y, prior=prior, variances=variances, feature_names=PREDICTORS, tol=1e-10)


def figure(prior: str, runner: Runner) -> Outcome:
    """Fit the path of one figure, and see whether it has the shape of the paper's."""
    fits = path(prior)
    coefficients = fits.coef.toarray()
    zeros = np.count_nonzero(coefficients == 0, axis=1)
    size = np.abs(coefficients).max(axis=1)
    likeliest = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(*eight_predictors()).coef_[0]
    distance = np.abs(coefficients[-1] - likeliest).max() / np.abs(likeliest).max()
    claims = [
        Claim("with a small variance the modes approach 0", bool(size[0] < 0.01 * size[-1])),
        Claim("with a large variance they approach the maximum of the likelihood", bool(distance < 0.01)),
    ]
    if prior == "laplace":
        between = np.count_nonzero((zeros > 0) & (zeros < len(PREDICTORS)))
        claims.append(
            Claim("variances in between give modes of which some are 0 and others not", bool(between > 0)),
        )
    else:
        claims.append(Claim("no mode is exactly 0, whatever the variance", not zeros.any()))
    marked = int(np.flatnonzero(fits.variances == MARKED[prior])[0])
    column = f"variance {MARKED[prior]:g}"
    table = Table.of(
        "Modes at the dashed line",
        {name: {column: value} for name, value in zip(PREDICTORS, coefficients[marked], strict=True)},
        decimals=4,
        corner="predictor",
        note=f"{zeros[marked]} of {len(PREDICTORS)} are 0"
        + (" (published, on other data: 2 of 8)." if prior == "laplace" else "."),
    )
    title = f"Modes of eight coefficients under {prior.capitalize()} priors; dashed: variance {MARKED[prior]:g}"
    return Outcome((table,), tuple(claims), (Figure("paths", title, lambda: _draw(fits, MARKED[prior])),))


def _draw(fits: RegularizationPath, marked: float) -> Any:
    pyplot = require_pyplot()
    drawing, axis = pyplot.subplots(figsize=(7, 4), layout="constrained")
    RegularizationPathDisplay(fits).plot(axis, largest=len(PREDICTORS))
    axis.axvline(marked, color="0.5", linestyle="--", linewidth=1)
    return drawing
