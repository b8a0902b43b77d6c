import numpy as np
import pytest

from bayesift.review.engine import Corpus, Knowledge, ReviewEngine
from bayesift.review.engine.stopping import greatest_total, posterior_interval

TEXTS = [f"wheat harvest report {i}" for i in range(12)] + [f"gold mine number {i} opens" for i in range(188)]
CORPUS = Corpus.build(TEXTS)


def judged(n_random=0):
    engine = ReviewEngine(CORPUS, Knowledge("wheat harvest"))
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
    start = ReviewEngine(CORPUS, Knowledge("wheat harvest")).stopping()
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
    assert judged(check - 1).stopping(target).verdict != "may stop"
    last = judged(check).stopping(target)
    assert last.verdict == "may stop"
    assert last.by_bets.recall >= target
    assert "You may stop" in last.sentence


def test_everything_judged_may_stop():
    engine = judged(150)
    assert engine.stopping(1.0).verdict == "may stop"
    assert engine.stopping().by_bets == engine.stopping().by_sample == (12, 0, 1.0)


def test_sample_is_the_random_order_up_to_the_first_unjudged():
    engine = ReviewEngine(CORPUS, Knowledge("wheat harvest"), seed=9)
    order = engine._order[:6].tolist()
    for document in (*order[:4], order[5]):
        engine.label(document, document < 12, why="probable")
    assert engine.stopping().sample_size == 4
    engine.label(order[4], None, why="random")
    assert engine.stopping().sample_size == 5


@pytest.mark.parametrize(("found", "recall", "most"), [(19, 0.95, 20), (18, 0.95, 18), (40, 0.95, 42), (7, 1.0, 7)])
def test_greatest_total(found, recall, most):
    assert greatest_total(found, recall) == most
    assert found / most >= recall > found / (most + 1)


def test_posterior_interval_of_a_great_count_is_normal():
    low, high = posterior_interval(1e4, 400.0, 0.95)
    np.testing.assert_allclose([low, high], [1e4 - 39.2, 1e4 + 39.2], atol=0.1)
    assert posterior_interval(0.0, 0.0, 0.95) == (0.0, 0.0)
