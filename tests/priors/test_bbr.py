"""Models of the original BBRtrain are optimal under the priors that its options and prior files mean here."""

import numpy as np
import pytest

import golden
from bayesift.priors import Gaussian, Laplace


@golden.needs_golden
@pytest.mark.parametrize(
    ("case", "make_prior"),
    [
        ("bbr-laplace-v1", lambda: Laplace(1.0)),
        ("bbr-gauss-v1", lambda: Gaussian(1.0)),
        ("bbr-laplace-pos", lambda: Laplace(1.0, sign=1)),
        ("bbr-laplace-prior", lambda: golden.individual_prior(Laplace).scaled(1.0)),
        ("bbr-laplace-prior-v0.5", lambda: golden.individual_prior(Laplace).scaled(0.5)),
        ("bbr-gauss-prior", lambda: golden.individual_prior(Gaussian).scaled(1.0)),
        ("bbr-gauss-prior-v0.5", lambda: golden.individual_prior(Gaussian).scaled(0.5)),
    ],
)
def test_penalty_and_dual_meet_at_the_golden_optimum(case, make_prior):
    X, y = golden.documents("binary.train")
    model, prior = golden.model(case), make_prior()
    beta = np.append(model.coef, model.intercept)
    arrays = prior.resolve(X.shape[1]).extended(prior.resolve_intercept("same"))
    r = y * (X @ model.coef + model.intercept)
    weight = y / (1 + np.exp(r))
    c = np.append(X.T @ weight, weight.sum())
    # p(δ) + p*(c) = cδ only where c is a slope of p at δ; a hair less keeps c on the safe side of rounding.
    c = np.where(arrays.kind == 0, 0.0, c * (1 - 1e-6))
    assert abs(weight.sum()) < 1e-5 or arrays.kind[-1] != 0
    gap = arrays.penalty(beta) + arrays.conjugate(c) - c @ (beta - arrays.mode)
    assert 0 <= gap < 1e-4
