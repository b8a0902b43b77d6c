from functools import cache
from math import comb, exp, factorial, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom, gamma, poisson

from bayesift.review.decisions import Judgement
from bayesift.review.engine import Aim
from bayesift.review.engine.recall import _log_wealth_after, draws_of, log_wealth
from bayesift.review.engine.statements import (
    FACTOR_PRIOR,
    SIGNIFICANCE,
    Cards,
    bound_by_model,
    chance_of_denser_draws,
    chance_of_surprise,
    model_risk,
    statements,
)

#: With what probability a queue shows a relevant document, when p is that of a random draw.
QUEUES = {
    "chance": lambda p, turn: p,
    "twice as good": lambda p, turn: min(1.0, 2 * p),
    "good now and then": lambda p, turn: 1.0 if turn % 3 == 0 and p else p,
}
HIDING = {"worse than chance": lambda p, turn: 0.0 if p < 1 else 1.0}


def chance_of_error(n, total, queue, alpha):
    """The exact probability that statement B ever rules out the truth: a walk through all outcomes of all cards."""
    choose = {**QUEUES, **HIDING}[queue]

    @cache
    def chance(judged):
        if log_wealth(draws_of([(outcome, True) for outcome in judged], n, patience=2), total) >= log(1 / alpha):
            return 1.0
        if len(judged) == n:
            return 0.0
        p = (total - sum(judged)) / (n - len(judged))
        q = choose(p, len(judged))
        return sum(weight * chance((*judged, outcome)) for weight, outcome in ((q, True), (1 - q, False)) if weight)

    return chance(())


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize(("n", "total"), [(9, 1), (10, 3), (9, 8)])
def test_b_rules_out_the_truth_with_at_most_the_error_allowed_if_the_queue_is_no_worse_than_chance(n, total, queue):
    for alpha in (0.3, 0.6, 0.8):
        assert chance_of_error(n, total, queue, alpha) <= alpha + 1e-12


def test_b_needs_its_assumption():
    assert chance_of_error(10, 3, "worse than chance", 0.6) == 1.0


def piles(n_runs, n=60, seed=0):
    """Readers of small piles: a queue by a noisy score, random draws every few cards, and then only random draws."""
    random = np.random.default_rng(seed)
    for _ in range(n_runs):
        total = int(random.integers(1, n))
        relevant = random.permutation(n) < total
        skill, every = random.normal(0, 2), int(random.integers(2, 8))
        by_score = list(np.argsort(skill * relevant + random.standard_normal(n)))
        by_chance = list(random.permutation(n))
        judged, start = [], int(random.integers(0, n))
        while by_score:
            drawn = len(judged) % every == 0 or len(judged) >= start
            document = (by_chance if drawn else by_score)[0]
            by_score.remove(document)
            by_chance.remove(document)
            judged.append((bool(relevant[document]), drawn))
        yield judged, n, total


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.5])
def test_a_is_wrong_at_any_time_no_more_often_than_stated(alpha):
    # The greatest wealth against the truth tells whether it was ever ruled out. Queues here may be worse than chance.
    ever = [_log_wealth_after(draws_of(judged, n, 5), total).max() for judged, n, total in piles(600)]
    errors = int(np.sum(np.array(ever) >= log(1 / alpha)))
    assert errors <= binom.ppf(0.999, 600, alpha)
    # The test can fail: those who rule out the truth at a lower wealth are wrong more often than stated.
    assert np.sum(np.array(ever) >= log(1 / alpha) / 4) > binom.ppf(0.999, 600, alpha) or alpha > 0.05


def cards(n_relevant, n_irrelevant, why="probable", probability=0.1):
    outcomes = [True] * n_relevant + [False] * n_irrelevant
    return [Judgement(relevant, why, probability) for relevant in outcomes]


@pytest.mark.parametrize(("k", "e", "s"), [(0, 0.4, 0.3), (3, 5.0, 8.0), (40, 20.0, 3.0)])
def test_c_is_the_poisson_distribution_averaged_over_the_factor(k, e, s):
    recent = Cards.of(cards(k, 50, probability=e / (k + 50)))
    said = bound_by_model(recent, s, 100, 10_000, 0.9)

    def at_most(left):
        posterior = gamma(FACTOR_PRIOR + k, scale=1 / (FACTOR_PRIOR + e))
        return quad(lambda r: poisson.cdf(left, r * s) * posterior.pdf(r), 0, np.inf, limit=200)[0]

    assert at_most(said.left) >= 0.9 - 1e-6
    assert said.left == 0 or at_most(said.left - 1) < 0.9 + 1e-6
    assert said.recall == 100 / (100 + said.left)


def test_c_holds_as_often_as_stated_when_its_assumption_is_true():
    random = np.random.default_rng(1)
    wrong = 0
    for _ in range(800):
        factor = random.gamma(FACTOR_PRIOR, 1 / FACTOR_PRIOR)
        foreseen, left = random.uniform(0.5, 20), random.uniform(0.5, 20)
        k = random.poisson(factor * foreseen)
        recent = Cards.of(cards(k, 100, probability=foreseen / (k + 100)))
        wrong += random.poisson(factor * left) > bound_by_model(recent, left, 10, 10_000, 0.8).left
    assert wrong <= binom.ppf(0.999, 800, 0.2)
    assert wrong > binom.ppf(0.001, 800, 0.1)


def test_c_takes_less_risk_than_is_allowed_and_never_more_for_less():
    allowed = np.linspace(0.001, 0.999, 500)
    taken = np.array([model_risk(risk) for risk in allowed])
    assert (taken < allowed).all()
    assert (np.diff(taken) >= 0).all()
    judged = Cards.of(cards(40, 400))
    said = statements(judged, 1000, 3.0, Aim(confidence=0.95))[2]
    assert said.bound == bound_by_model(judged.recent(), 3.0, 40, 560, 0.975)


def test_b_is_withdrawn_when_random_draws_are_denser():
    quiet, draws = cards(2, 90), cards(4, 4, "random", 0.01)
    assert chance_of_denser_draws(Cards.of(quiet + draws)) < 0.05
    assert chance_of_denser_draws(Cards.of(cards(20, 72) + draws)) > 0.05
    said = statements(Cards.of(cards(300, 40) + quiet + draws), 900, 3.0, Aim(0.5, 0.5))
    assert [statement.holds for statement in said] == [True, False, False]
    assert [statement.allows for statement in said[1:]] == [False, False]
    assert "Withdrawn" in said[1].sentence
    assert "Withdrawn" not in said[0].sentence


def test_c_is_withdrawn_when_random_draws_surprise():
    assert chance_of_surprise(Cards.of(cards(3, 40, "random", 0.01))) < 0.05
    assert chance_of_surprise(Cards.of(cards(3, 40, "random", 0.05))) > 0.05
    assert chance_of_surprise(Cards.of(cards(3, 40))) == 1.0


@pytest.mark.parametrize(
    ("hits", "others", "random_hits", "random_others"), [(0, 9, 1, 3), (5, 20, 2, 3), (7, 1, 0, 4)]
)
def test_the_chance_of_denser_draws_is_a_sum_over_what_could_be_drawn(hits, others, random_hits, random_others):
    judged = Cards.of(cards(hits, others) + cards(random_hits, random_others, "random"))
    total = hits + random_hits
    share = (random_hits + random_others) / (hits + others + random_hits + random_others)
    expected = sum(comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(random_hits, total + 1))
    assert chance_of_denser_draws(judged) == pytest.approx(expected, rel=1e-12)


def test_without_a_relevant_card_or_without_both_kinds_nothing_tells_against_the_queue():
    for judged in (
        cards(0, 5) + cards(0, 5, "random"),
        cards(2, 5),
        cards(2, 5, "random"),
    ):
        assert chance_of_denser_draws(Cards.of(judged)) == 1.0


def test_a_chance_that_is_just_as_great_as_the_significance_withdraws_nothing():
    # The only relevant one of twenty cards was the only random one.
    judged = Cards.of(cards(0, 19) + cards(1, 0, "random", 0.1))
    assert chance_of_denser_draws(judged) == SIGNIFICANCE
    assert statements(judged, 100, 3.0, Aim())[1].holds
    more = Cards.of(cards(0, 20) + cards(1, 0, "random", 0.1))
    assert not statements(more, 100, 3.0, Aim())[1].holds


@pytest.mark.parametrize("hits", [0, 1, 3])
def test_the_chance_of_a_surprise_is_a_sum_of_the_poisson_distribution(hits):
    judged = cards(hits, 20, "random", 0.07) + cards(4, 30) + cards(2, 0, "random", None)
    mean = 0.07 * (hits + 20)
    expected = 1 - sum(exp(-mean) * mean**k / factorial(k) for k in range(hits))
    assert chance_of_surprise(Cards.of(judged)) == pytest.approx(expected, rel=1e-12)


def test_where_nothing_was_found_nothing_allows_to_stop():
    said = statements(Cards.of(cards(0, 10)), 10, 0.0, Aim(0.5, 0.5))
    assert [statement.bound.left for statement in said] == [0, 0, 0]
    assert not any(statement.allows for statement in said)
    assert all(statement.allows for statement in statements(Cards.of(cards(1, 10)), 11, 0.0, Aim(0.5, 0.5)))


def test_recent_cards_are_those_of_the_queue_with_a_known_probability():
    judged = [*cards(5, 400), *cards(50, 0, "import", None), *cards(0, 7, "known", 0.5), Judgement(None, "random", 0.5)]
    recent = Cards.of(judged).recent()
    assert len(recent.relevant) == 405 // 4
    assert not recent.relevant.any()
    assert recent.foreseen.sum() == pytest.approx(0.1 * (405 // 4))
    assert len(Cards.of(cards(0, 10)).recent().relevant) == 10


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["probable", "random", "import"])), max_size=60),
       st.integers(0, 80), st.floats(0, 50), st.sampled_from([0.5, 0.8, 0.95]))  # fmt: skip
def test_bounds_are_possible_and_grow_with_the_confidence(judged, more, left, confidence):
    said = Cards.of([Judgement(relevant, why, 0.2) for relevant, why in judged])
    for lower, higher in zip(
        statements(said, len(judged) + more, left, Aim(confidence=confidence / 2)),
        statements(said, len(judged) + more, left, Aim(confidence=confidence)),
        strict=True,
    ):
        assert 0 <= lower.bound.left <= higher.bound.left <= more
        assert lower.bound.total == said.found + lower.bound.left
