"""Jeffreys priors: no number to choose, no bound at zero, and models that cannot take them say so."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression, regularization_path
from bayesift.priors import FLAT, GAUSSIAN, JEFFREYS, Gaussian, Jeffreys

X, Y = np.eye(4), np.array([0, 0, 1, 1])


def test_arrays_and_penalty():
    arrays = Jeffreys(mode={"wheat": 1.0}).resolve(2, ["wheat", "gold"])
    assert_array_equal(arrays.kind, [JEFFREYS, JEFFREYS])
    assert_array_equal(arrays.weight, [1.0, 1.0])
    assert_array_equal(arrays.mode, [1.0, 0.0])
    assert arrays.penalty([3.0, -0.5]) == pytest.approx(np.log(2.0) + np.log(0.5))
    assert arrays.log_density([3.0, -0.5]) == pytest.approx(-arrays.penalty([3.0, -0.5]))
    assert arrays.penalty([1.0, 0.5]) == -np.inf
    assert arrays.conjugate([0.1, 0.0]) == np.inf


def test_the_density_has_no_scale():
    prior = Jeffreys()
    assert prior.scaled(7.0) is prior
    assert not prior.is_open
    # Multiplying all coefficients moves the log density by the same number everywhere.
    moved = [prior.log_density(10 * np.array(beta)) - prior.log_density(beta) for beta in ([1.0, 2.0], [0.1, -5.0])]
    assert moved[0] == pytest.approx(moved[1])


def test_the_constant_term():
    prior = Jeffreys(intercept_mode=0.5)
    assert prior.resolve_intercept("same").kind[0] == JEFFREYS
    assert prior.resolve_intercept().kind[0] == FLAT
    gaussian = prior.resolve_intercept(4.0)
    assert (gaussian.kind[0], gaussian.weight[0], gaussian.mode[0]) == (GAUSSIAN, 0.25, 0.5)
    assert Jeffreys(intercept_variance=4.0).resolve_intercept("same").weight[0] == 0.25


def test_equality_and_representation():
    assert Jeffreys(mode={"a": 1.0}) == Jeffreys(mode={"a": 1.0})
    assert Jeffreys() != Jeffreys(mode=1.0)
    assert Jeffreys() != Gaussian()
    assert repr(Jeffreys(mode=[1.0, 2.0])) == "Jeffreys(mode=array([1., 2.]))"


@pytest.mark.parametrize("option", ["variance", "sign", "relative", "default_variance"])
def test_there_is_nothing_else_to_set(option):
    with pytest.raises(TypeError, match=option):
        Jeffreys(**{option: 1.0})


def test_bad_modes_are_refused():
    with pytest.raises(ValueError, match="mode is nan"):
        Jeffreys(np.nan)
    with pytest.raises(ValueError, match="mode has 3 values; expected 2"):
        Jeffreys([1.0, 2.0, 3.0]).resolve(2)
    with pytest.raises(ValueError, match="mode names 'sea', which is none"):
        Jeffreys({"sea": 1.0}).resolve(1, ["wheat"])


@pytest.mark.parametrize("model", [BayesianLogisticRegression, BayesianMultinomialRegression])
@pytest.mark.parametrize("prior", [Jeffreys(), [Jeffreys()], {1: Jeffreys()}])
def test_models_with_convex_priors_refuse_it(model, prior):
    if isinstance(prior, list) and model is BayesianMultinomialRegression:
        prior = [*prior, "laplace"]
    with pytest.raises(ValueError, match=r"prior is a Jeffreys prior, which is not convex; .*BayesianProbitRegression"):
        model(prior, 1.0).fit(X, Y)
    with pytest.raises(ValueError, match=r"'prior' parameter|prior must be"):
        model("jeffreys", 1.0).fit(X, Y)


def test_a_path_refuses_it():
    with pytest.raises(ValueError, match="prior is a Jeffreys prior"):
        regularization_path(X, Y, prior=Jeffreys())
