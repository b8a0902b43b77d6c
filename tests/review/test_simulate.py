from functools import cache

import numpy as np
import pytest

from bayesift.review.engine import Corpus, Knowledge, Mix
from bayesift.review.simulate import RULES, Simulation, simulate, starting_pair, synthetic_corpus

TEXTS, TRUTH = synthetic_corpus(200, 0.1, clearness=0.5, seed=1)
ABOUT = Knowledge("topic0 topic1 topic2 topic3")


@cache
def papers() -> Corpus:
    """Made when the first test wants it: not while tests are collected, by every process that runs some."""
    return Corpus.build(TEXTS)


def test_every_document_is_read_once():
    run = simulate(papers(), TRUTH, start=(3, 8), rules={})
    assert sorted([*run.order, 3, 8]) == list(range(200))
    np.testing.assert_array_equal(run.relevant, TRUTH[run.order])
    assert run.start == (3, 8)
    assert len(run.reasons) == 198


def test_measures_by_hand():
    run = Simulation(np.arange(5), np.array([True, True, False, False, True]), ["probable"] * 5)
    assert run.average_time_to_discovery == pytest.approx((1 + 2 + 5) / 15)
    assert run.recall_at(0.4) == pytest.approx(2 / 3)
    assert run.wss95 == pytest.approx(0.95 - 1.0)
    np.testing.assert_allclose(run.curve.recall, np.array([0, 1, 2, 2, 2, 3]) / 3)


def test_reading_ends_when_all_is_found():
    run = simulate(papers(), TRUTH, knowledge=ABOUT, rules={})
    shown = [reason != "rest" for reason in run.reasons]
    assert run.relevant[np.flatnonzero(shown)[-1]]
    assert sum(run.relevant[: sum(shown)]) == TRUTH.sum()


@pytest.mark.slow
def test_the_engine_saves_work_and_knowledge_saves_more():
    pair = starting_pair(TRUTH, 0)
    learned = simulate(papers(), TRUTH, start=pair, rules={})
    told = simulate(papers(), TRUTH, knowledge=ABOUT, rules={})
    random = simulate(papers(), TRUTH, mix=Mix(0, 0, 1), rules={})
    assert learned.average_time_to_discovery < 0.6 * random.average_time_to_discovery
    assert told.average_time_to_discovery < learned.average_time_to_discovery


@pytest.mark.slow
def test_runs_repeat_themselves_and_seeds_differ():
    one, same, other = (simulate(papers(), TRUTH, knowledge=ABOUT, rules={}, seed=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.order, same.order)
    assert not np.array_equal(one.order, other.order)


@pytest.mark.slow
def test_rules_stop_where_the_order_says():
    run = simulate(papers(), TRUTH, knowledge=ABOUT, check=True, look_every=1)
    assert list(run.stops) == list(RULES)
    for stop in run.stops.values():
        assert stop.recall == pytest.approx(run.relevant[: stop.read].sum() / TRUTH.sum())
        assert stop.effort == pytest.approx(stop.read / 200)
    places = np.flatnonzero(run.relevant)
    gaps = np.diff(np.append(places, len(run.relevant) + 50)) - 1
    first = places[np.flatnonzero(gaps >= 50)[0]]
    assert run.stops["50 in a row"].read == min(first + 51, 200)


def test_a_rule_of_ones_own():
    run = simulate(papers(), TRUTH, knowledge=ABOUT, rules={"ten": lambda look: look.report.found >= 10}, look_every=1)
    stop = run.stops["ten"]
    assert run.relevant[: stop.read].sum() == 10
    assert run.relevant[stop.read - 1]


def test_check_reads_at_random_after_a_quiet_time():
    run = simulate(papers(), TRUTH, knowledge=ABOUT, mix=Mix(1, 0, 0), check=True, rules={"bets": RULES["bets"]})
    first = run.reasons.index("random")
    assert not run.relevant[first - 30 : first].any()
    assert set(run.reasons[:first]) == {"probable"}
    assert run.stops["bets"].recall >= 0.95


def test_synthetic_corpuss():
    texts, relevant = synthetic_corpus(200, 0.1, clearness=0.6, seed=3)
    again, _ = synthetic_corpus(200, 0.1, clearness=0.6, seed=3)
    assert texts == again
    assert relevant.sum() == 20
    counts = np.array([text.count("topic") for text in texts])
    assert counts[relevant].mean() > 2 * counts[~relevant].mean()
    assert {len(text.split()) for text in texts} == {40}


def test_starting_pairs():
    pairs = {starting_pair(TRUTH, seed) for seed in range(20)}
    assert all(TRUTH[one] and not TRUTH[other] for one, other in pairs)
    assert len(pairs) > 10


@pytest.mark.parametrize("relevant", [[1, 0], np.zeros(200), np.full(200, 2), np.ones((200, 1))])
def test_bad_judgements_are_refused(relevant):
    with pytest.raises(ValueError, match="relevant"):
        simulate(papers(), relevant)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_stopping_rule_reaches_its_target(seed):
    texts, relevant = synthetic_corpus(200, 0.25, clearness=0.3, seed=seed)
    run = simulate(texts, relevant, check=True, rules={"bets": RULES["bets"]}, seed=seed)
    assert run.stops["bets"].recall >= 0.95
