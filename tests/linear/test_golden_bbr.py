"""Every coefficient and probability of the original BBR program, case by case of its golden outputs."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler, normalize

import golden
import linear_cases as cases
from bayesift.linear import BayesianLogisticRegression
from bayesift.priors import Gaussian, Laplace
from bayesift.select import TermSelector

# Prior and variance for each case; the options that change the matrix stand in `prepared`.
CASES = {
    "bbr-laplace-v1": ("laplace", 1.0),
    "bbr-laplace-v0.1": ("laplace", 0.1),
    "bbr-gauss-v1": ("gaussian", 1.0),
    "bbr-gauss-norm": ("gaussian", "norm"),
    "bbr-laplace-norm": ("laplace", "norm"),
    "bbr-laplace-cos": ("laplace", 2.0),
    "bbr-gauss-std": ("gaussian", 0.1),
    "bbr-laplace-prior": (Laplace, 1.0),
    "bbr-laplace-prior-v0.5": (Laplace, 0.5),
    "bbr-laplace-prior-norm": (Laplace, "norm"),
    "bbr-gauss-prior": (Gaussian, 1.0),
    "bbr-gauss-prior-v0.5": (Gaussian, 0.5),
    "bbr-laplace-pos": (Laplace(sign=1), 1.0),
    **{f"bbr-f10-u{u}": ("gaussian", 1.0) for u in range(4)},
    **{f"bbr-laplace-t{t}": ("laplace", 0.5) for t in range(1, 6)},
}
SCORES = ("pearson", "yules_q", "chi_square", "binormal_separation")


def prepared(case, X, y):
    """The columns BBR would train on (those that occur, or the ten selected), and the matrix as its options make it."""
    kept = np.flatnonzero(np.diff(sp.csc_matrix(X).indptr))
    if "-f10-" in case:
        kept = TermSelector(score_func=SCORES[int(case[-1])], k=10).fit(X, y).get_support(indices=True)
    X = X[:, kept]
    if case.endswith("-cos"):
        X = normalize(X)
    return kept, X


def prior_of(family, kept):
    """The individual priors, for the columns that are left."""
    if not isinstance(family, type):
        return family
    prior = golden.individual_prior(family)
    place = {column: at for at, column in enumerate(kept.tolist())}
    named = {
        name: {place[column]: value for column, value in getattr(prior, name).items()} for name in ("mode", "sign")
    }
    relative = {place[column]: value for column, value in prior.relative.items()}
    return family(**named, relative=relative, intercept_variance=np.inf)


@golden.needs_golden
@pytest.mark.parametrize("solver", ["clg", "newton"])
@pytest.mark.parametrize("case", CASES)
def test_coefficients_and_probabilities(case, solver):
    X, y = golden.documents("binary.train")
    kept, X = prepared(case, X, y)
    family, variance = CASES[case]
    scaler = StandardScaler().fit(X.toarray())
    trained = scaler.transform(X.toarray()) if case.endswith("-std") else X
    # Tight stopping rules, as for the golden outputs (-e 1e-8).
    model = BayesianLogisticRegression(
        prior_of(family, kept),
        variance,
        intercept_variance="same",
        solver=solver,
        **cases.stopping(solver, 1e-12, 1e-8),
    ).fit(trained, y)
    coef, intercept = model.coef_[0], model.intercept_[0]
    if case.endswith("-std"):
        coef = coef / scaler.scale_
        intercept -= coef @ scaler.mean_
    expected = golden.model(case)
    np.testing.assert_allclose(coef, expected.coef[kept], atol=1e-4)
    assert intercept == pytest.approx(expected.intercept, abs=1e-4)
    test = golden.documents("binary.test")[0][:, kept]
    scores = (normalize(test) if case.endswith("-cos") else test) @ coef + intercept
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), golden.probabilities(case), atol=1e-5)


@golden.needs_golden
def test_the_reference_solver_takes_the_same_steps_as_the_original():
    # With the same stopping rule, what is left is rounding in the twelve digits of the model file.
    X, y = golden.documents("binary.train")
    kept, X = prepared("bbr-laplace-v1", X, y)
    model = BayesianLogisticRegression("laplace", 1.0, intercept_variance="same", solver="clg", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], golden.model("bbr-laplace-v1").coef[kept], atol=1e-11)
