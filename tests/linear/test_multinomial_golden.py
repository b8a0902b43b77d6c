"""Every coefficient of the original BMR and BXR programs, case by case of their golden outputs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import golden
from bayesift.linear import BayesianMultinomialRegression
from bayesift.priors import Laplace
from linear_cases import stopping

CASES = {
    "bmr-laplace-v1": {"prior": "laplace"},
    "bxr-poly-f2": {"prior": "laplace"},
    "bmr-gauss-v1": {"prior": "gaussian"},
    "bmr-laplace-z": {"prior": "laplace", "exclude_absent": True},
    "bmr-laplace-prior": {},
}

SOLVERS = ["clg", "newton"]


def individual_priors() -> dict[int, Laplace]:
    """Read priors-class.txt: lines of all classes, then those of single ones; variances multiply the common one."""
    modes: dict[int, dict[int, float]] = {label: {} for label in (1, 2, 3)}
    relative: dict[int, dict[int, float]] = {label: {} for label in (1, 2, 3)}
    for line in sorted((golden.FOLDER / "priors-class.txt").read_text().splitlines()):
        words = line.split()
        labels = (1, 2, 3)
        if words[0] == "class":
            labels, words = (int(words[1]),), words[2:]
        for label in labels:
            modes[label][int(words[0]) - 1] = float(words[1])
            relative[label][int(words[0]) - 1] = float(words[2])
    return {label: Laplace(mode=modes[label], relative=relative[label]) for label in (1, 2, 3)}


def coefficients(case: str) -> np.ndarray:
    """Read a model file: a row for each class, the constant (feature 0) first."""
    beta = np.zeros((3, golden.N_FEATURES + 1))
    for line in (golden.FOLDER / f"{case}.model").read_text().splitlines():
        word, *rest = line.split()
        if word == "betaClassSparse":
            for entry in rest[1:]:
                feature, _, value = entry.partition(":")
                beta[int(rest[0]) - 1, int(feature)] = float(value)
    return beta


def fitted(solver: str, **options) -> BayesianMultinomialRegression:
    X, y = golden.documents("poly.train")
    # Tight stopping rules, as for the golden outputs (-e 1e-8).
    return BayesianMultinomialRegression(
        variance=1.0,
        intercept_variance="same",
        solver=solver,
        **stopping(solver, 1e-12, 1e-8),
        max_iter=100_000,
        **options,
    ).fit(X, y)


@golden.needs_golden
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", CASES)
def test_coefficients(case, solver):
    model = fitted(solver, **(CASES[case] or {"prior": individual_priors()}))
    found, expected = np.column_stack([model.class_intercept_, model.class_coef_]), coefficients(case)
    if case == "bmr-laplace-prior":
        # Class 3 has no penalty on feature 20 and the other two classes end on either side of zero: adding a number to
        # all three changes nothing, so that only differences are determined.
        found[:, 20] -= found[2, 20]
        expected[:, 20] -= expected[2, 20]
    assert_allclose(found, expected, atol=1e-4)


@golden.needs_golden
@pytest.mark.parametrize("case", CASES)
def test_log_likelihood_and_log_posterior(case):
    model = fitted("clg", **(CASES[case] or {"prior": individual_priors()}))
    X, y = golden.documents("poly.train")
    likelihood = model.predict_log_proba(X)[np.arange(len(y)), (y - 1).astype(int)].sum()
    text = (golden.FOLDER / f"{case}.train.stdout").read_text()
    assert likelihood == pytest.approx(float(text.split("loglikelihood")[1].split()[0]), rel=1e-6)
    if case in ("bmr-laplace-v1", "bmr-gauss-v1", "bxr-poly-f2"):
        # The program's prior is normalised over 60 features and the constant in each of three classes.
        normaliser = np.log(np.sqrt(2) / 2) if "gauss" not in case else -0.5 * np.log(2 * np.pi)
        posterior = 3 * 61 * normaliser - model.certificate_.objective[0]
        assert posterior == pytest.approx(float(text.split("Log posterior")[1].split()[0]), rel=1e-5)


@golden.needs_golden
@pytest.mark.parametrize("solver", SOLVERS)
def test_predicted_classes_and_their_scores(solver):
    model = fitted(solver, prior="laplace")
    X, _ = golden.documents("poly.test")
    lines = [line.split() for line in (golden.FOLDER / "bxr-poly-f2.results").read_text().splitlines()]
    assert_array_equal(model.predict(X), [float(words[1]) for words in lines])
    assert_allclose(model.decision_function(X).max(axis=1), [float(words[2]) for words in lines], atol=1e-5)


@golden.needs_golden
def test_a_reference_class_as_the_original_was_asked_for():
    # The original wrote no coefficients at all for this case, so that only what it was asked for can be checked.
    assert not coefficients("bmr-laplace-ref1").any()
    model = fitted("clg", prior="laplace", reference_class=1)
    assert_array_equal(model.coef_[0], np.zeros(golden.N_FEATURES))
    assert model.intercept_[0] == 0
    assert model.certificate_.relative_gap[0] < 1e-6
