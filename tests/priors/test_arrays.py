"""Penalty, density and dual of one coefficient against numeric maximisation and integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from bayesift.priors import FIXED, FLAT, GAUSSIAN, LAPLACE, Gaussian, Laplace, Prior

families = st.sampled_from([Gaussian, Laplace])
signs = st.sampled_from([-1, 0, 1])
variances = st.floats(0.05, 20)
modes = st.floats(-3, 3)
slopes = st.floats(-6, 6)


def supremum(prior: Prior, c: float, mode: float, sign: int, reach: float = 200.0) -> float:
    """Maximise cδ − p(δ) over −reach ≤ δ ≤ reach on each side of the mode separately."""
    best = -prior.penalty([mode])
    for side in (1, -1):
        if sign in (0, side):

            def loss(size: float, side: int = side) -> float:
                return prior.penalty([mode + side * size]) - c * side * size

            found = minimize_scalar(loss, bounds=(0, reach), method="bounded", options={"xatol": 1e-9})
            best = max(best, -found.fun)
    return best


@given(family=families, variance=variances, mode=modes, sign=signs, c=slopes)
def test_the_dual_is_the_greatest_of_c_delta_minus_penalty(
    family: type[Prior], variance: float, mode: float, sign: int, c: float
) -> None:
    prior = family(variance, mode, sign=sign)
    dual, found = prior.conjugate([c]), supremum(prior, c, mode, sign)
    if math.isinf(dual):
        # No finite maximum: it keeps growing with the reach.
        rate = prior.resolve(1).weight[0]
        assert family is Laplace
        assert abs(c) > rate
        assert supremum(prior, c, mode, sign, reach=400) >= 1.9 * found - 1e-6
    else:
        assert_allclose(found, dual, rtol=1e-6, atol=1e-6)


@given(family=families, variance=st.sampled_from([0.0, 0.3, 2.0, math.inf]), sign=signs, c=slopes, delta=modes)
def test_penalty_and_dual_together_are_at_least_c_delta(
    family: type[Prior], variance: float, sign: int, c: float, delta: float
) -> None:
    prior = family(variance, 0.5, sign=sign)
    assert prior.penalty([0.5 + delta]) + prior.conjugate([c]) >= c * delta - 1e-9


@pytest.mark.slow
@given(family=families, variance=variances, mode=modes, sign=signs)
def test_densities_integrate_to_one_and_have_the_variance_they_claim(
    family: type[Prior], variance: float, mode: float, sign: int
) -> None:
    prior = family(variance, mode, sign=sign)
    reach = 30 * math.sqrt(variance)

    def moment(power: int) -> float:
        def integrand(delta: float) -> float:
            return delta**power * math.exp(prior.log_density([mode + delta]))

        pieces = [quad(integrand, 0, reach)[0]] if sign >= 0 else []
        return sum(pieces + ([quad(integrand, -reach, 0)[0]] if sign <= 0 else []))

    assert_allclose(moment(0), 1, rtol=1e-6)
    if family is Gaussian:
        assert_allclose(moment(2), variance, rtol=1e-5)
    else:
        assert_allclose(moment(2) - moment(1) ** 2, variance, rtol=1e-5)


def test_the_table_of_priors() -> None:
    v = 0.5
    assert Gaussian(v).penalty([3.0]) == pytest.approx(9 / (2 * v))
    assert Gaussian(v).conjugate([3.0]) == pytest.approx(v * 9 / 2)
    assert Laplace(v).resolve(1).weight == pytest.approx(math.sqrt(2 / v))
    assert Laplace(v, sign=1).resolve(1).weight == pytest.approx(1 / math.sqrt(v))
    assert Laplace(v).conjugate([2.0]) == 0
    assert Laplace(v).conjugate([2.0001]) == math.inf
    assert Laplace(v, sign=1).conjugate([-100.0]) == 0
    assert Laplace(v, sign=-1).conjugate([100.0]) == 0
    assert Gaussian(v, sign=1).conjugate([-3.0]) == 0
    assert Gaussian(v, sign=1).conjugate([3.0]) == pytest.approx(v * 9 / 2)
    assert Gaussian(v, sign=1).penalty([-1e-9]) == math.inf
    assert Laplace(v, mode=1, sign=-1).penalty([1.1]) == math.inf


@pytest.mark.parametrize("family", [Gaussian, Laplace])
def test_infinite_and_zero_variances(family: type[Prior]) -> None:
    prior = family([math.inf, 0.0, 1.0], mode=[1.0, 2.0, 0.0])
    arrays = prior.resolve(3)
    assert_array_equal(arrays.kind, [FLAT, FIXED, LAPLACE if family is Laplace else GAUSSIAN])
    assert_array_equal(arrays.weight[:2], [0, 0])
    assert arrays.penalty([1e9, 2.0, 0.0]) == 0
    assert arrays.penalty([1.0, 2.1, 0.0]) == math.inf
    assert arrays.conjugate([0.0, 55.0, 0.0]) == 0
    assert arrays.conjugate([1e-9, 0.0, 0.0]) == math.inf
    assert arrays.log_density([7.0, 2.0, 0.0]) == family(1.0).log_density([0.0])
    flat = family(math.inf, sign=1)
    assert flat.conjugate([-5.0]) == 0
    assert flat.conjugate([5.0]) == math.inf
    assert flat.penalty([-1.0]) == math.inf
    assert flat.log_density([1.0]) == 0
    assert flat.log_density([-1.0]) == -math.inf


@pytest.mark.parametrize("variance", [1e-320, 5e-324, 1e-308, 1e308])
@pytest.mark.parametrize("family", [Gaussian, Laplace])
def test_extreme_variances_never_give_nan(family: type[Prior], variance: float) -> None:
    arrays = family(variance).resolve(2)
    assert np.all(np.isfinite(arrays.weight))
    assert arrays.penalty([0.0, 0.0]) == 0
    assert not math.isnan(arrays.conjugate([0.0, 1.0]))


def test_plain_arrays_for_kernels() -> None:
    arrays = Laplace(2.0, mode=[0, 1, 2], sign=[0, 1, -1]).resolve(3)
    assert [a.dtype for a in (arrays.kind, arrays.weight, arrays.mode, arrays.sign)] == [
        np.int8,
        np.float64,
        np.float64,
        np.int8,
    ]
    assert all(a.flags.writeable and a.flags.c_contiguous for a in vars(arrays).values())
    both = arrays.extended(Gaussian(4.0).resolve(1))
    assert_array_equal(both.kind, [LAPLACE, LAPLACE, LAPLACE, GAUSSIAN])
    assert_allclose(both.weight, [1, math.sqrt(0.5), math.sqrt(0.5), 0.25])
    assert_array_equal(both.sign, [0, 1, -1, 0])
    with pytest.raises(ValueError, match=r"beta has shape \(2,\); expected \(3,\)"):
        arrays.penalty([1, 2])
    with pytest.raises(ValueError, match=r"c has shape \(4,\); expected \(3,\)"):
        arrays.conjugate([1, 2, 3, 4])


@pytest.mark.parametrize("family", [Laplace, Gaussian])
@pytest.mark.parametrize("variance", [None, 3.0, [0.5, 0.0, np.inf, 2.0], {0: 0.2, 3: np.inf}])
def test_a_resolver_gives_what_scaling_first_gives(family, variance):
    prior = family(variance, [0.0, 1.0, 0.0, 2.0], sign=[0, 1, -1, 0], relative=[1.0, 4.0, 0.0, np.inf])
    resolve = prior.resolver(4)
    for factor in (0.0, 0.3, 7.0, np.inf):
        expected = prior.scaled(factor).resolve(4)
        for name in ("kind", "weight", "mode", "sign"):
            assert_array_equal(getattr(resolve(factor), name), getattr(expected, name), err_msg=name)
