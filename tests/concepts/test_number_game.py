"""The number game: rules, priors, and the numbers behind figures 3.2 to 3.5 of Murphy (2012)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayesift.concepts import number_game

GAME = number_game()
FULL = number_game(pi0=2 / 3)
POWERS = [16, 8, 2, 64]


def of(space, values, *names):
    return values[[space.names.index(name) for name in names]]


def at(values, *numbers):
    return values[np.array(numbers) - 1]


def test_the_rules():
    assert len(GAME) == 32
    assert GAME.items == tuple(range(1, 101))
    assert GAME.extension("powers of 2") == (2, 4, 8, 16, 32, 64)
    assert GAME.extension("powers of 4") == (4, 16, 64)
    assert GAME.extension("powers of 2, plus 37") == (2, 4, 8, 16, 32, 37, 64)
    assert GAME.extension("powers of 2, except 32") == (2, 4, 8, 16, 64)
    assert GAME.extension("powers of 10") == (10, 100)
    assert GAME.extension("squares") == (1, 4, 9, 16, 25, 36, 49, 64, 81, 100)
    assert GAME.extension("ends in 9") == tuple(range(9, 100, 10))
    assert GAME.extension("multiples of 7") == tuple(range(7, 100, 7))
    assert GAME.extension("odd") == tuple(range(1, 100, 2))
    assert GAME.extension("all") == GAME.items
    kinds = [sum(name.startswith(kind) for name in GAME.names) for kind in ("multiples", "ends", "powers")]
    assert kinds == [8, 9, 11]


def test_the_prior():
    assert_allclose(GAME.prior.sum(), 1)
    even, odd, square, plus, minus = of(
        GAME, GAME.prior, "even", "odd", "squares", "powers of 2, plus 37", "powers of 2, except 32"
    )
    assert_allclose([even / square, odd / square, plus / square, minus / square], [5, 5, 0.01, 0.01])


def test_figure_2_one_example():
    posterior = GAME.posterior([16])
    expected = [0.35583571, 0.17791785, 0.10675071]
    assert_allclose(of(GAME, posterior, "powers of 4", "powers of 2", "even"), expected, rtol=1e-7)
    assert of(GAME, posterior, "odd") == 0
    assert GAME.map([16]) == "powers of 4"


def test_the_suspicious_coincidence_of_almost_5000_to_1():
    two, even = of(GAME, GAME.log_likelihood(POWERS), "powers of 2", "even")
    assert_allclose(np.exp(two - even), 4822.53, rtol=1e-6)
    assert_allclose(np.exp([two, even]), [7.7e-4, 1.6e-7], rtol=0.005)


def test_figure_3_four_examples():
    names = ("powers of 2", "powers of 2, except 32", "powers of 2, plus 37", "even")
    expected = [0.97353588, 0.02018724, 0.00525490, 0.00100936]
    assert_allclose(of(GAME, GAME.posterior(POWERS), *names), expected, rtol=1e-5)
    assert [name for name, _ in GAME.top(POWERS, 4)] == list(names)
    assert GAME.map(POWERS) == "powers of 2"
    assert GAME.mle(POWERS) == "powers of 2, except 32"
    assert set(GAME.version_space(POWERS)) == {*names, "all"}


def test_figure_4_predictions():
    expected = [0.804290, 0.430663, 0.428528, 0.893249, 0.010675]
    assert_allclose(at(GAME.predictive([16]), 4, 8, 32, 64, 17), expected, atol=1e-6)
    assert_allclose(at(GAME.predictive(POWERS), 32, 4, 6), [0.979813, 1, 0.001022], atol=1e-6)


def test_the_plug_in_starts_narrow_and_broadens_while_the_average_narrows():
    narrow, broad = GAME.predictive([16], "map"), GAME.predictive(POWERS, "map")
    assert np.flatnonzero(narrow).tolist() == [3, 15, 63]
    assert np.flatnonzero(broad).tolist() == [1, 3, 7, 15, 31, 63]
    assert GAME.predictive(POWERS).sum() < GAME.predictive([16]).sum()
    assert np.flatnonzero(GAME.predictive(POWERS, "mle")).tolist() == [1, 3, 7, 15, 63]


def test_the_full_space_mixes_rules_and_intervals():
    assert len(FULL) == 32 + 5050
    assert_allclose(FULL.prior[:32], GAME.prior * 2 / 3)
    assert_allclose(FULL.prior[32:].sum(), 1 / 3)
    assert FULL.extension("16 to 23") == tuple(range(16, 24))
    one, ten = of(FULL, FULL.prior, "5 to 5", "11 to 20")
    assert_allclose(ten / one, 10 * np.exp(-0.9))
    longer = number_game(pi0=0.5, interval_scale=20)
    one, ten = of(longer, longer.prior, "5 to 5", "11 to 20")
    assert_allclose(ten / one, 10 * np.exp(-0.45))


def test_figure_5_rules_and_closeness():
    near = FULL.predictive([16, 23, 19, 20])
    assert_allclose(at(near, *range(16, 24)), 1)
    falling = at(near, 24, 25, 26, 27, 30, 40, 90)
    assert (np.diff(falling) < 0).all()
    assert falling[0] > 0.5 > falling[4]
    assert FULL.map([16, 23, 19, 20]) == "16 to 23"
    assert FULL.map(POWERS) == "powers of 2"
    assert FULL.map([60, 80, 10, 30]) == "multiples of 10"
    assert at(FULL.predictive([16]), 64) > at(FULL.predictive([16]), 17) > at(FULL.predictive([16]), 87)


def test_only_intervals():
    assert_allclose(number_game(pi0=0).prior[:32], 0)
    assert number_game(pi0=0).map(POWERS) == "2 to 64"


@pytest.mark.parametrize("arguments", [{"pi0": -0.1}, {"pi0": 1.1}, {"pi0": "x"}, {"pi0": np.nan}])
def test_bad_weights(arguments):
    with pytest.raises(ValueError, match=r"pi0 is .*; expected a number from 0 to 1"):
        number_game(**arguments)


@pytest.mark.parametrize("scale", [0, -1, np.inf, "x"])
def test_bad_scales(scale):
    with pytest.raises(ValueError, match=r"interval_scale is .*; expected a finite number above 0"):
        number_game(interval_scale=scale)
