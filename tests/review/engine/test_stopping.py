from functools import cache

import numpy as np
import pytest

from bayesift.review.engine import Aim, Corpus, Knowledge, ReviewEngine
from bayesift.review.engine.stopping import posterior_interval

TEXTS = [f"wheat harvest report {i}" for i in range(12)] + [f"gold mine number {i} opens" for i in range(188)]


@cache
def papers() -> Corpus:
    """Made when the first test wants it: not while tests are collected, by every process that runs some."""
    return Corpus.build(TEXTS)


def judged(n_random=0):
    engine = ReviewEngine(papers(), Knowledge("wheat harvest"))
    for document in range(12):
        engine.label(document, True, why="probable")
    for document in range(12, 50):
        engine.label(document, False, why="probable")
    engine.adopt(engine.refit())
    free = [int(i) for i in engine._order if engine.judgements.open[i]]
    for document in free[:n_random]:
        engine.label(document, False, why="random")
    return engine


def test_counts_and_verdicts_through_a_review():
    start = ReviewEngine(papers(), Knowledge("wheat harvest")).stopping()
    assert (start.found, start.irrelevant, start.unjudged, start.verdict) == (0, 0, 200, "go on")
    engine = judged()
    now = engine.stopping()
    assert (now.found, now.irrelevant, now.unjudged) == (12, 38, 150)
    assert now.by_bets.total == 162
    assert now.expected_left == pytest.approx(engine.probabilities()[50:].sum())


def test_may_stop_after_the_check_it_asked_for():
    target = 0.8
    check = judged().stopping(target).check
    assert 0 < check < 150
    assert not judged(check - 1).stopping(target).statements[0].allows
    last = judged(check).stopping(target)
    assert (last.verdict, last.allowed_by) == ("may stop", "A")
    assert last.by_bets.recall >= target
    assert "You may stop by statement A" in last.sentence


def test_the_sentence_names_the_weakest_assumption_that_allows_it():
    last = judged(10).stopping(0.6, 0.8)
    allowing = [statement.letter for statement in last.statements if statement.allows]
    assert "A" not in allowing
    assert last.allowed_by == allowing[0]
    assert f"by statement {allowing[0]}" in last.sentence
    assert last.statements["ABC".index(allowing[0])].assumes in last.sentence
    assert last.sentence == judged(10).moment().advice(0.6, 0.8).sentence


def test_at_most_so_many_left_is_easier_to_show():
    engine = judged(90)
    assert engine.stopping(1.0, 0.9).allowed_by != "A"
    easier = engine.stopping(1.0, 0.9, at_most=8)
    assert easier.allowed_by == "A"
    assert 0 < easier.by_bets.left <= 8
    with pytest.raises(ValueError, match="at_most is -1"):
        engine.stopping(at_most=-1)


def test_everything_judged_may_stop():
    engine = judged(150)
    assert engine.stopping(1.0).verdict == "may stop"
    assert engine.stopping().by_bets == engine.stopping().by_sample == (12, 0, 1.0)


def test_sample_is_the_random_order_up_to_the_first_unjudged():
    engine = ReviewEngine(papers(), Knowledge("wheat harvest"), seed=9)
    order = engine._order[:6].tolist()
    for document in (*order[:4], order[5]):
        engine.label(document, document < 12, why="probable")
    assert engine.stopping().sample_size == 4
    engine.label(order[4], None, why="random")
    assert engine.stopping().sample_size == 5


@pytest.mark.parametrize(("found", "recall", "most"), [(19, 0.95, 20), (18, 0.95, 18), (40, 0.95, 42), (7, 1.0, 7)])
def test_what_may_be_left(found, recall, most):
    assert found + Aim(recall).allowed(found) == most
    assert Aim(recall, left=4).allowed(found) == max(most - found, 4)
    assert found / most >= recall > found / (most + 1)


def test_posterior_interval_of_a_great_count_is_normal():
    low, high = posterior_interval(1e4, 400.0, 0.95)
    np.testing.assert_allclose([low, high], [1e4 - 39.2, 1e4 + 39.2], atol=0.1)
    assert posterior_interval(0.0, 0.0, 0.95) == (0.0, 0.0)
