from functools import cache
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from bayesift.review.engine.recall import (
    LEFT_SHARE,
    bound_by_bets,
    bound_by_sample,
    draws_of,
    log_wealth,
    quiet_draws_needed,
)

HABITS = {
    "random only": lambda turn, relevant, irrelevant: "random",
    "finds relevant": lambda turn, relevant, irrelevant: "relevant" if turn % 2 and relevant else "random",
    "finds irrelevant": lambda turn, relevant, irrelevant: "irrelevant" if turn % 2 and irrelevant else "random",
    "relevant first": lambda turn, relevant, irrelevant: "relevant" if relevant > 1 else "random",
}


def chance_of_error(n, total, habit, limit, after):
    """The exact probability that the truth is ever ruled out: a walk through all outcomes of the random draws."""
    choose = HABITS[habit]

    @cache
    def chance(journal):
        draws = draws_of(journal, n, after)
        if log_wealth(draws, np.array([total]))[0] >= limit:
            return 1.0
        relevant = total - sum(outcome for outcome, _ in journal)
        irrelevant = n - len(journal) - relevant
        if relevant + irrelevant == 0:
            return 0.0
        choice = choose(len(journal), relevant, irrelevant)
        if choice != "random":
            return chance((*journal, (choice == "relevant", False)))
        p = relevant / (relevant + irrelevant)
        parts = [(p, True), (1 - p, False)]
        return sum(weight * chance((*journal, (outcome, True))) for weight, outcome in parts if weight)

    return chance(())


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize(("n", "total"), [(9, 1), (9, 3), (10, 7), (9, 9)])
def test_truth_is_ever_ruled_out_with_at_most_the_error_allowed(n, total, habit):
    for alpha in (0.3, 0.5, 0.8):
        assert chance_of_error(n, total, habit, log(1 / alpha), after=2) <= alpha + 1e-12


def test_the_exact_chance_of_error_is_not_trivial():
    assert chance_of_error(10, 3, "random only", log(1 / 0.8), after=2) > 0.05


def slow_wealth(journal, n, total, after):
    found = silence = draws = drawn = 0
    careful = bold = 1.0
    quiet = False
    for place, (relevant, random) in enumerate(journal):
        quiet = quiet or (found > 0 and silence >= after)
        if random:
            p = (total - found) / (n - place)
            for name in ("careful", "bold"):
                q = min(p, (drawn + 0.5) / (draws + 1)) if name == "careful" else (LEFT_SHARE * p if quiet else p)
                gain = (q / p if relevant else (1 - q) / (1 - p)) if q != p else 1.0
                careful, bold = (careful * gain, bold) if name == "careful" else (careful, bold * gain)
            draws, drawn = draws + 1, drawn + relevant
        found, silence = found + relevant, 0 if relevant else silence + 1
    return (careful + bold) / 2


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30), st.integers(1, 20), st.integers(0, 20))
def test_wealth_equals_a_plain_computation(journal, more, extra):
    found = sum(relevant for relevant, _ in journal)
    n = len(journal) + more
    total = found + min(extra, more)
    draws = draws_of(journal, n, 3)
    expected = slow_wealth(journal, n, total, 3)
    assert exp(log_wealth(draws, np.array([total]))[0]) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40), st.integers(0, 60))
def test_bound_is_the_greatest_total_that_is_not_ruled_out(journal, more):
    found, n = sum(relevant for relevant, _ in journal), len(journal) + more
    draws = draws_of(journal, n)
    totals = np.arange(found, found + more + 1)
    kept = totals[log_wealth(draws, totals) < log(20)]
    bound = bound_by_bets(draws, found, more)
    assert bound.total == (kept[-1] if len(kept) else found)
    assert bound.left == bound.total - found


def test_bound_of_a_great_pile_is_that_of_a_full_search():
    rng = np.random.default_rng(0)
    journal = [(bool(rng.random() < 0.02), True) for _ in range(2000)]
    found = sum(relevant for relevant, _ in journal)
    draws = draws_of(journal, 60_000)
    bound = bound_by_bets(draws, found, 58_000)
    near = np.arange(bound.total - 5, bound.total + 3000)
    assert near[log_wealth(draws, near) < log(20)][-1] == bound.total


@pytest.mark.parametrize(("n", "size"), [(12, 5), (20, 12), (15, 15), (10, 0)])
def test_sample_bound_holds_with_the_confidence_stated(n, size):
    for total in range(n + 1):
        ways = [comb(total, r) * comb(n - total, size - r) if size - r <= n - total else 0 for r in range(size + 1)]
        missed = sum(w for r, w in enumerate(ways) if w and bound_by_sample(n, size, r, r, 0.9).total < total)
        assert missed / comb(n, size) <= 0.1 + 1e-12


def test_a_sample_of_nothing_says_nothing_and_one_of_all_says_all():
    assert bound_by_sample(50, 0, 0, 7).total == 50
    assert bound_by_sample(50, 50, 7, 7) == (7, 0, 1.0)


def test_draws_needed_are_enough_and_no_more_than_needed():
    journal = [(True, False)] * 40 + [(False, False)] * 60 + [(False, True)] * 20
    n, found, total = 500, 40, 43
    needed = quiet_draws_needed(draws_of(journal, n), found, n - len(journal), total, 0.95)
    assert 100 < needed < 380
    for more in (needed - 1, needed):
        wealth = log_wealth(draws_of([*journal, *[(False, True)] * more], n), np.array([total]))[0]
        assert (wealth >= log(20)) == (more == needed)
    # The hypergeometric test, which stakes everything, could not do with much less.
    left = n - len(journal)
    alone = next(s for s in range(left) if comb(left - 3, s) / comb(left, s) <= 0.05)
    assert alone < needed < 1.5 * alone


def test_no_number_of_draws_helps_where_one_may_hide():
    assert quiet_draws_needed(draws_of([(True, False)], 3), 1, 2, 2, 0.95) is None


def test_wealth_is_the_mean_of_two_bettors():
    draws = draws_of([(True, False)] + [(False, True)] * 4, 10, after=1)
    p = 2 / np.arange(9, 5, -1)
    first = np.minimum(p, [0.5, 0.25, 0.5 / 3, 0.125])
    second = np.where(np.arange(4) > 0, LEFT_SHARE * p, p)
    gains = [np.sum(np.log((1 - q) / (1 - p))) for q in (first, second)]
    assert log_wealth(draws, np.array([3]))[0] == pytest.approx(logsumexp(gains) - log(2))
