"""Tests of two systems beside scipy, by hand, and by what they must not find."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from bayesift.evaluate import (
    Outcomes,
    f_beta,
    macro_sign_test,
    micro_sign_test,
    paired_bootstrap,
    recall,
    t11su,
    wilcoxon_test,
)


def decisions(wins: int, losses: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth and two systems: A alone is right in ``wins`` documents, B alone in ``losses``; they agree in three."""
    truth = np.zeros(wins + losses + 3, dtype=int)
    a, b = truth.copy(), truth.copy()
    b[:wins] = 1
    a[wins : wins + losses] = 1
    a[-1] = b[-1] = 1
    return truth, a, b


@given(wins=st.integers(0, 12), losses=st.integers(0, 12))
def test_sign_tests_by_counting(wins: int, losses: int) -> None:
    n = wins + losses
    found = micro_sign_test(*decisions(wins, losses))
    assert (found.wins, found.losses) == (wins, losses)
    if n <= 12:
        exact = sum(comb(n, j) for j in range(wins, n + 1)) / 2**n
        assert found.p_value == pytest.approx(exact)
        if n:
            assert found.p_reversed == pytest.approx(stats.binomtest(losses, n, alternative="greater").pvalue)
    else:
        z = (wins - n / 2) / (np.sqrt(n) / 2)
        assert found.statistic == pytest.approx(z)
        assert found.p_value == pytest.approx(1 - stats.norm.cdf(z))
    values = np.concatenate([np.full(wins, 0.1), np.full(losses, -0.1), [0.0]])
    assert_allclose(macro_sign_test(0.5 + values, np.full(n + 1, 0.5)), found)
    turned = micro_sign_test(*decisions(losses, wins))
    assert turned.p_value == pytest.approx(found.p_reversed)


def test_systems_that_agree() -> None:
    assert micro_sign_test([1, 0], [1, 1], [1, 1])[:2] == (0, 0)
    for found in (
        micro_sign_test([1, 0], [1, 1], [1, 1]),
        macro_sign_test([0.5], [0.5]),
        wilcoxon_test([0.5, 1], [0.5, 1]),
    ):
        assert found.p_value == found.p_reversed == 1
        assert found.sign == "~"


def test_signs_at_the_two_levels() -> None:
    # P(k ≥ 10 of 12) = 0.0193, P(k ≥ 11 of 12) = 0.0032, P(k ≥ 9 of 12) = 0.073
    signs = [micro_sign_test(*decisions(wins, 12 - wins)).sign for wins in (11, 10, 9, 3, 2, 1)]
    assert signs == ["≫", ">", "~", "~", "<", "≪"]


def test_rounding_makes_no_difference() -> None:
    assert macro_sign_test([0.1 + 0.2], [0.3]).wins == 0
    assert wilcoxon_test([0.1 + 0.2, 0.5], [0.3, 0.4]).wins == 1


def test_unknown_categories_are_left_out() -> None:
    assert macro_sign_test([0.5, np.nan, 0.5], [0.4, 0.1, np.nan])[:2] == (1, 0)


def test_wilcoxon_as_scipy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(40), rng.random(40)
    found = wilcoxon_test(a, b)
    peer = stats.wilcoxon(a, b, alternative="greater")
    assert (found.statistic, found.p_value) == pytest.approx((peer.statistic, peer.pvalue))
    assert found.p_reversed == pytest.approx(stats.wilcoxon(a, b, alternative="less").pvalue)
    assert found.wins == np.sum(a > b)


def two_systems(n: int = 150, n_categories: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    truth = rng.random((n, n_categories)) < 0.3
    a = truth ^ (rng.random(truth.shape) < 0.1)
    return truth, a, truth ^ (rng.random(truth.shape) < 0.2)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("measure", [f_beta, recall, t11su])
def test_bootstrap_by_drawing_documents(measure: object, average: str) -> None:
    truth, a, b = two_systems(40)
    found = paired_bootstrap(truth, a, b, measure=measure, average=average, n_resamples=200, random_state=3)
    kinds, first, number = np.unique(np.column_stack([truth, a, b]), axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    gains = []
    for drawn in np.random.RandomState(3).multinomial(40, number[order] / 40, size=200):
        rows = np.repeat(first[order], drawn)
        values = [measure(truth[rows], system[rows], average=average) for system in (a, b)]
        gains.append(values[0] - values[1])
    assert len(kinds) < 40
    assert found.difference == pytest.approx(measure(truth, a, average=average) - measure(truth, b, average=average))
    assert_allclose([found.low, found.high], np.quantile(gains, [0.025, 0.975]))
    assert found.p_value == pytest.approx((1 + np.sum(np.array(gains) <= 0)) / 201)


def test_bootstrap_as_scipy() -> None:
    truth, a, b = (part[:, 0] for part in two_systems(300))

    def gain(t: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
        return f_beta(t, x) - f_beta(t, y)

    peer = stats.bootstrap(
        (truth, a, b), gain, paired=True, vectorized=False, n_resamples=2000, method="percentile", rng=0
    ).confidence_interval
    found = paired_bootstrap(truth, a, b, n_resamples=4000, random_state=1)
    assert_allclose([found.low, found.high], [peer.low, peer.high], atol=0.02)


def test_bootstrap_is_seeded_and_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, a, b = two_systems()
    options = {"n_resamples": 50, "random_state": 7}
    whole = paired_bootstrap(truth, a, b, **options)
    monkeypatch.setattr("bayesift.evaluate.significance._BATCH", 1000)
    assert paired_bootstrap(truth, a, b, **options) == whole
    turned = paired_bootstrap(truth, b, a, **options)
    assert (turned.low, turned.high) == pytest.approx((-whole.high, -whole.low))
    assert turned.p_value == whole.p_reversed
    assert (whole.sign, turned.sign) == (">", "<") or (whole.sign, turned.sign) == ("≫", "≪")


def test_undefined_draws_are_left_out() -> None:
    def measure(outcomes: Outcomes, average: str) -> object:
        return f_beta(outcomes, average=average, empty=np.nan)

    truth, nothing = np.arange(20) == 0, np.zeros(20)
    found = paired_bootstrap(truth, truth, np.arange(20) < 2, measure=measure, random_state=0)
    assert found.difference == pytest.approx(1 / 3)
    assert 0 <= found.low < found.high <= 1
    found = paired_bootstrap(nothing, nothing, nothing, measure=measure, n_resamples=10)
    assert np.isnan([found.difference, found.low, found.high]).all()
    assert found.sign == "~"


def test_equal_systems_are_seldom_found_different() -> None:
    rng = np.random.default_rng(9)
    found = {"s": 0, "S": 0, "bootstrap": 0}
    for _ in range(200):
        truth = rng.random((60, 12)) < 0.4
        a, b = (truth ^ (rng.random(truth.shape) < 0.2) for _ in range(2))
        found["s"] += micro_sign_test(truth, a, b).p_value <= 0.05
        found["S"] += macro_sign_test(f_beta(truth, a), f_beta(truth, b)).p_value <= 0.05
        found["bootstrap"] += paired_bootstrap(truth, a, b, n_resamples=99, random_state=0).p_value <= 0.05
    assert max(found.values()) <= 22  # 10 expected; more than 22 has a probability of 1e-4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: micro_sign_test([1, 0], [1], [1, 0]), r"decisions_a has shape \(1,\); expected \(2,\)"),
        (lambda: micro_sign_test([1, 0], [1, 0], [1, 5]), "decisions_b holds 5"),
        (lambda: macro_sign_test([], []), r"values_a has shape \(0,\); expected one value per category"),
        (lambda: macro_sign_test([0.5], [0.5, 0.4]), r"values_b has shape \(2,\); expected \(1,\)"),
        (lambda: wilcoxon_test([np.inf], [0.5]), "infinite value"),
        (lambda: paired_bootstrap([1, 0], [1, 0], [1]), r"decisions_b has shape \(1,\)"),
        (lambda: paired_bootstrap([1, 0], [1, 0], [1, 1], n_resamples=0), "n_resamples is 0"),
        (lambda: paired_bootstrap([1, 0], [1, 0], [1, 1], level=1), "level is 1; expected a number between 0 and 1"),
        (lambda: paired_bootstrap([1, 0], [1, 0], [1, 1], n_resamples=1.5), "n_resamples is 1.5; expected a whole"),
        (lambda: paired_bootstrap([1, 0], [1, 0], [1, 1], n_resamples=True), "n_resamples is True"),
        (lambda: paired_bootstrap([[1, 0]], [[1, 0]], [[1, 1]], average=None), "average is None"),
        (lambda: paired_bootstrap([1, 0], [1, 0], [1, 1], average="all"), "average is 'all'"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
