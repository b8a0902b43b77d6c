from functools import cache
from math import comb, exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.review.engine.recall import (
    BOLD,
    OPENING_STAKE,
    STEADY,
    STEADY_STAKE,
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


def chance_of_error(n, total, habit, limit, patience):
    """The exact probability that the truth is ever ruled out: a walk through all outcomes of the random draws."""
    choose = HABITS[habit]

    @cache
    def chance(judged):
        draws = draws_of(judged, n, patience)
        if log_wealth(draws, total) >= limit:
            return 1.0
        relevant = total - sum(outcome for outcome, _ in judged)
        irrelevant = n - len(judged) - relevant
        if relevant + irrelevant == 0:
            return 0.0
        choice = choose(len(judged), relevant, irrelevant)
        if choice != "random":
            return chance((*judged, (choice == "relevant", False)))
        p = relevant / (relevant + irrelevant)
        parts = [(p, True), (1 - p, False)]
        return sum(weight * chance((*judged, (outcome, True))) for weight, outcome in parts if weight)

    return chance(())


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize(("n", "total"), [(9, 1), (9, 3), (10, 7), (9, 9)])
def test_truth_is_ever_ruled_out_with_at_most_the_error_allowed(n, total, habit):
    for alpha in (0.3, 0.5, 0.8):
        assert chance_of_error(n, total, habit, log(1 / alpha), patience=2) <= alpha + 1e-12


def test_the_exact_chance_of_error_is_not_trivial():
    assert chance_of_error(10, 3, "random only", log(1 / 0.8), patience=2) > 0.05


def slow_wealth(judged, n, total, patience):
    """Every bet as a person would keep its book."""
    found = silence = 0
    wealth, waiting, bold = [STEADY_STAKE], 1 - STEADY_STAKE, None
    for place, (relevant, random) in enumerate(judged):
        if bold is None and found and silence >= patience:
            wealth.append(waiting * OPENING_STAKE)
            waiting, patience, bold = waiting - wealth[-1], patience * 2, len(wealth)
        if random:
            p = (total - found) / (n - place)
            for bet, share in enumerate([STEADY, *[BOLD] * (len(wealth) - 1)]):
                wealth[bet] *= share if relevant else (1 - share * p) / (1 - p)
            bold = None if relevant else bold
        found, silence = found + relevant, 0 if relevant else silence + 1
    return sum(wealth) + waiting


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30), st.integers(1, 20), st.integers(0, 20))
def test_wealth_equals_a_plain_computation(judged, more, extra):
    found = sum(relevant for relevant, _ in judged)
    n = len(judged) + more
    total = found + min(extra, more - 1)
    expected = slow_wealth(judged, n, total, 3)
    assert exp(log_wealth(draws_of(judged, n, 3), total)) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40), st.integers(0, 60))
def test_bound_is_the_greatest_total_that_is_not_ruled_out(judged, more):
    found, n = sum(relevant for relevant, _ in judged), len(judged) + more
    draws = draws_of(judged, n, 4)
    kept = [total for total in range(found, found + more + 1) if log_wealth(draws, total) < log(20)]
    bound = bound_by_bets(draws, found, more)
    assert bound.total == (kept[-1] if kept else found)
    assert bound.left == bound.total - found


@pytest.mark.parametrize(("n", "size"), [(12, 5), (20, 12), (15, 15), (10, 0)])
def test_sample_bound_holds_with_the_confidence_stated(n, size):
    for total in range(n + 1):
        ways = [comb(total, r) * comb(n - total, size - r) if size - r <= n - total else 0 for r in range(size + 1)]
        missed = sum(w for r, w in enumerate(ways) if w and bound_by_sample(n, size, r, r, 0.9).total < total)
        assert missed / comb(n, size) <= 0.1 + 1e-12


def test_a_total_is_ruled_out_where_so_few_are_exactly_as_improbable_as_stated():
    # One of two documents is drawn: the only relevant one is missed half of the time, which is not above 1 - 0.5.
    assert bound_by_sample(2, 1, 0, 0, 0.5).total == 0
    assert bound_by_sample(2, 1, 0, 0, 0.51).total == 1


def test_a_sample_of_nothing_says_nothing_and_one_of_all_says_all():
    assert bound_by_sample(50, 0, 0, 7).total == 50
    assert bound_by_sample(50, 50, 7, 7) == (7, 0, 1.0)


def test_draws_needed_are_enough_and_no_more_than_needed():
    judged = [(True, False)] * 40 + [(False, False)] * 60 + [(False, True)] * 20
    n, found, total = 500, 40, 43
    needed = quiet_draws_needed(draws_of(judged, n), found, n - len(judged), total, 0.95)
    assert 100 < needed < 380
    for more in (needed - 1, needed):
        wealth = log_wealth(draws_of([*judged, *[(False, True)] * more], n), total)
        assert (wealth >= log(20)) == (more == needed)
    # The hypergeometric test, which stakes everything, could not do with much less.
    left = n - len(judged)
    alone = next(s for s in range(left) if comb(left - 3, s) / comb(left, s) <= 0.05)
    assert alone < needed < 1.5 * alone


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=25), st.integers(0, 60), st.integers(0, 4))
def test_draws_needed_are_found_by_trying_every_number(judged, more, extra):
    found, n = sum(relevant for relevant, _ in judged), len(judged) + more
    total = found + extra
    needed = quiet_draws_needed(draws_of(judged, n, 4), found, more, total, 0.6)
    if total > n - len(judged) + found:
        assert needed == 0
        return
    tried = (
        number
        for number in range(more - extra + 1)
        if log_wealth(draws_of([*judged, *[(False, True)] * number], n, 4), total) >= -log(0.4)
    )
    assert needed == next(tried, None)


def test_no_number_of_draws_helps_where_one_may_hide():
    assert quiet_draws_needed(draws_of([(True, False)], 3), 1, 2, 2, 0.95) is None


def test_no_draw_is_needed_against_more_than_there_are_and_none_is_left_where_all_may_be_relevant():
    draws = draws_of([(True, False)], 4)
    assert quiet_draws_needed(draws, 1, 3, 5, 0.95) == 0
    assert quiet_draws_needed(draws, 1, 3, 4, 0.95) is None


def test_a_bet_after_a_disappointment_waits_twice_as_long():
    quiet, find = [(False, False)] * 2, [(True, True)]
    draws = draws_of([(True, False), *quiet, *find, *quiet, *quiet, (False, True), *find, *quiet * 4], 60, patience=2)
    assert draws.openings == (0, 1)
    assert (draws.silence, draws.patience, draws.undisturbed) == (8, 8, False)
