"""Gaussian and Laplace objects: forms of their parameters, scaling, terms, the intercept, bad input."""

from __future__ import annotations

import copy
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone

from bayesift.priors import FIXED, FLAT, Gaussian, Laplace, Prior

NAMES = ["gold", "mine", "wheat"]
both = pytest.mark.parametrize("family", [Gaussian, Laplace])


def variances(prior: Prior, n: int = 3, names: list[str] | None = NAMES) -> list[float]:
    """Read the variances back from the arrays of a two-sided prior."""
    arrays = prior.resolve(n, names)
    with np.errstate(divide="ignore"):
        proper = 1 / arrays.weight if isinstance(prior, Gaussian) else 2 / arrays.weight**2
    return np.select([arrays.kind == FLAT, arrays.kind == FIXED], [math.inf, 0.0], proper).tolist()


@both
def test_a_number_an_array_or_a_mapping(family: type[Prior]) -> None:
    assert_allclose(variances(family(4.0)), [4, 4, 4])
    assert_allclose(variances(family(np.array([1, 4, 9]))), [1, 4, 9])
    assert_allclose(variances(family({"wheat": 4.0, 0: 9}, default_variance=2)), [9, 2, 4])
    assert_allclose(variances(family(2.0, relative={"wheat": 4.0})), [2, 2, 8])
    assert_allclose(variances(family([1, 2, 3], relative=[2, 2, 0])), [2, 4, 0])
    arrays = family(1.0, mode={"mine": -2}, sign={"gold": 1, 2: -1}).resolve(3, NAMES)
    assert_array_equal(arrays.mode, [0, -2, 0])
    assert_array_equal(arrays.sign, [1, 0, -1])


@both
def test_scaling_multiplies_and_leaves_zero_and_infinity(family: type[Prior]) -> None:
    open_prior = family(relative={"wheat": 4.0, "gold": math.inf, "mine": 0.0}, mode={"mine": 0.7})
    assert open_prior.is_open
    assert_allclose(variances(open_prior.scaled(0.5)), [math.inf, 0, 2])
    assert_allclose(variances(open_prior.scaled(math.inf)), [math.inf, 0, math.inf])
    assert_allclose(variances(open_prior.scaled(0.0)), [math.inf, 0, 0])
    assert_allclose(variances(family([1, 0, math.inf]).scaled(3)), [3, 0, math.inf])
    assert_allclose(variances(family({"wheat": 4.0}, default_variance=2).scaled(0.5)), [1, 1, 2])
    assert family(4.0).scaled(0.5) == family(2.0)
    assert not family(4.0).is_open
    assert_array_equal(open_prior.scaled(2).resolve(3, NAMES).mode, [0, 0.7, 0])


@both
def test_an_open_variance_must_be_chosen_first(family: type[Prior]) -> None:
    for use in (lambda p: p.resolve(3), lambda p: p.penalty([0.0]), lambda p: p.resolve_intercept("same")):
        with pytest.raises(ValueError, match=r"open \(None\); choose one with scaled"):
            use(family())


@both
@pytest.mark.parametrize("field", ["variance", "mode", "sign", "relative"])
def test_unknown_terms_are_an_error_or_ignored(family: type[Prior], field: str) -> None:
    def prior(key: object, **options: object) -> Prior:
        return family(**{"variance": 2.0, field: {key: 1, "wheat": 1}, **options})

    for key in ("corn", 3, -1):
        with pytest.raises(ValueError, match=f"{field} names {key!r}, which is none of the 3 features"):
            prior(key).resolve(3, NAMES)
        ignoring = prior(key, unknown="ignore").resolve(3, NAMES)
        known = family(**{"variance": 2.0, field: {"wheat": 1}}).resolve(3, NAMES)
        for name in ("kind", "weight", "mode", "sign"):
            assert_array_equal(getattr(ignoring, name), getattr(known, name))
    with pytest.raises(ValueError, match="the features have no names; pass feature_names"):
        prior("wheat", unknown="ignore").resolve(3)


@both
def test_the_intercept(family: type[Prior]) -> None:
    assert_array_equal(family(2.0).resolve_intercept().kind, [FLAT])
    fixed = family(2.0, intercept_mode=-1).resolve_intercept(0)
    assert_array_equal(fixed.kind, [FIXED])
    assert_array_equal(fixed.mode, [-1])
    for prior in (family(2.0, sign=1), family({"wheat": 9.0}, default_variance=2, sign=1), family(sign=1).scaled(2)):
        same, feature = prior.resolve_intercept("same"), family(2.0, sign=1).resolve(1)
        assert_array_equal(same.weight, feature.weight)
        assert_array_equal(same.sign, [1])
    own = family(2.0, intercept_variance=3, sign=[1, 1, 1])
    assert_array_equal(own.resolve_intercept("same").weight, family(3.0).resolve(1).weight)
    assert_array_equal(own.resolve_intercept(math.inf).sign, [0])
    with pytest.raises(ValueError, match="needs a common variance"):
        family([1, 2, 3]).resolve_intercept("same")
    with pytest.raises(ValueError, match="variance is 'all'; expected a number"):
        family(1.0).resolve_intercept("all")


@both
def test_objects_do_not_change_and_compare_by_value(family: type[Prior]) -> None:
    values, terms = np.array([1.0, 2.0]), {"wheat": 2.0}
    prior = family(values, mode=terms, sign=1)
    values[0], terms["wheat"] = 99, 99
    assert_array_equal(prior.variance, [1, 2])
    assert prior.mode == {"wheat": 2.0}
    with pytest.raises(FrozenInstanceError):
        prior.sign = 0
    with pytest.raises(ValueError, match="read-only"):
        prior.variance[0] = 5
    assert prior == family([1, 2], mode={"wheat": 2}, sign=1.0)
    assert prior != family([1, 3], mode={"wheat": 2}, sign=1)
    assert prior != family(1.0, mode={"wheat": 2}, sign=1)
    assert Gaussian(1.0) != Laplace(1.0)
    assert copy.deepcopy(prior) == prior


def test_priors_travel_as_parameters_of_an_estimator() -> None:
    class Model(BaseEstimator):
        def __init__(self, prior: Prior | None = None) -> None:
            self.prior = prior

    model = clone(Model(Laplace(2.0, mode={"wheat": 1.0})))
    assert model.prior == Laplace(2.0, mode={"wheat": 1.0})
    assert repr(model) == "Model(prior=Laplace(variance=2.0, mode={'wheat': 1.0}))"
    assert repr(Gaussian()) == "Gaussian()"


@both
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variance": -1}, "variance is -1; expected a number of at least 0"),
        ({"variance": math.nan}, "variance is nan"),
        ({"variance": [1, -2]}, "variance is -2 at 1; expected"),
        ({"variance": {"wheat": -2}}, "variance is -2 for 'wheat'; expected"),
        ({"variance": [[1, 2]]}, "variance has 2 dimensions"),
        ({"variance": True}, "variance"),
        ({"variance": "wide"}, "variance is 'wide'; expected a number"),
        ({"variance": {1.5: 2}}, "variance names 1.5; expected terms"),
        ({"variance": 1, "relative": -1}, "relative is -1"),
        ({"variance": 1, "relative": None}, "relative"),
        ({"variance": 1, "mode": math.inf}, "mode is inf; expected a finite number"),
        ({"variance": 1, "mode": {"wheat": math.nan}}, "mode is nan for 'wheat'"),
        ({"variance": 1, "sign": 2}, "sign is 2; expected -1, 0 or 1"),
        ({"variance": 1, "sign": {3: 0.5}}, "sign is 0.5 at 3"),
        ({"variance": 1, "default_variance": -1}, "default_variance is -1"),
        ({"variance": 1, "intercept_mode": math.inf}, "intercept_mode is inf"),
        ({"variance": 1, "intercept_variance": "wide"}, "intercept_variance is 'wide'"),
        ({"variance": 1, "unknown": "drop"}, "unknown is 'drop'; expected 'error' or 'ignore'"),
    ],
)
def test_bad_parameters_are_named(family: type[Prior], arguments: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        family(**arguments)


@both
def test_a_wrong_number_of_features_is_named(family: type[Prior]) -> None:
    with pytest.raises(ValueError, match="mode has 2 values; expected 3"):
        family(1.0, mode=[0, 1]).resolve(3)
    with pytest.raises(ValueError, match="feature_names has 2 names; expected 3"):
        family(1.0).resolve(3, ["a", "b"])
    with pytest.raises(ValueError, match="a name twice"):
        family(1.0).resolve(3, ["a", "b", "a"])
    with pytest.raises(ValueError, match="variance is -2; expected a number of at least 0"):
        family(1.0).scaled(-2)


def test_rates_and_the_gamma_of_a_paper_are_other_words_for_the_variance() -> None:
    assert Laplace.of_rate(2.0) == Laplace.of_gamma(4.0) == Laplace(0.5)
    assert_allclose(Laplace.of_rate([1.0, 2.0]).resolve(2).weight, [1, 2])
    assert Laplace.of_gamma({"wheat": 0.5}, mode=1.0) == Laplace({"wheat": 4.0}, 1.0)
    assert_array_equal(Laplace.of_rate([0.0, math.inf]).resolve(2).kind, [FLAT, FIXED])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Laplace.of_rate(-1.0), "rate is -1; expected a number of at least 0"),
        (lambda: Laplace.of_gamma([1.0, -1.0]), "gamma is -1 at 1; expected"),
        (lambda: Laplace.of_rate(1.0, sign=1), r"a one-sided prior of rate λ has the variance 1/λ²"),
    ],
)
def test_bad_rates_are_refused(make, message) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@both
def test_the_intercept_can_be_like_any_other_coefficient(family: type[Prior]) -> None:
    same = family(4.0, intercept_variance="same").resolve_intercept(math.inf)
    assert_array_equal(same.weight, family(4.0).resolve_intercept("same").weight)
    with pytest.raises(ValueError, match="intercept_variance is 'other'; expected"):
        family(4.0, intercept_variance="other")
