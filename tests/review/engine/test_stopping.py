from functools import cache

import numpy as np
import pytest

from bayesift.review.engine import Aim, Corpus, Knowledge, ReviewEngine
from bayesift.review.engine.recall import Bound
from bayesift.review.engine.statements import Statement
from bayesift.review.engine.stopping import posterior_interval, verdict_of

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


def test_documents_put_aside_as_unsure_are_no_documents_of_the_collection():
    engine = judged()
    for document in range(50, 57):
        engine.label(document, None, why="probable")
    now = engine.stopping()
    assert (now.found, now.irrelevant, now.unsure, now.unjudged) == (12, 38, 7, 143)
    # Nothing was drawn at random: every document without a judgement may be relevant.
    assert now.by_bets == (155, 143, 12 / 155)
    for document in engine._order[:3]:
        engine.label(int(document), None, why="random")
    now = engine.stopping()
    assert now.sample_size == 0
    assert now.by_sample.total == 200 - now.unsure


def test_the_bound_of_all_random_draws_is_that_of_statement_a():
    now = judged(20).stopping()
    assert now.by_bets == now.statements[0].bound
    assert now.by_bets.left > now.statements[1].bound.left


@pytest.mark.parametrize("name", ["target_recall", "confidence"])
@pytest.mark.parametrize("value", [0.0, -0.5, 1.5, float("nan")])
def test_an_aim_that_is_none_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        judged().stopping(**{name: value})


def test_all_relevant_documents_can_be_asked_for_but_no_full_confidence():
    assert judged().stopping(1.0).target_recall == 1.0
    with pytest.raises(ValueError, match=r"confidence is 1\.0"):
        judged().stopping(confidence=1.0)


def said(a, b, c, b_holds=True, allows=""):
    """Three statements with these recalls of the bounds."""
    bounds = [Bound(1000, round(1000 * (1 - recall)), recall) for recall in (a, b, c)]
    return tuple(
        Statement(letter, f"assumption {letter}", bound, letter != "B" or b_holds, letter in allows, "")
        for letter, bound in zip("ABC", bounds, strict=True)
    )


def test_what_is_not_shown_yet_is_told_by_the_best_statement_that_holds():
    verdict, sentence = verdict_of(19, 500, 0.5, said(0.31, 0.62, 0.53), 77, Aim(0.95))
    assert verdict == "not enough evidence"
    assert "statement B shows only 62\u00a0% with 95\u00a0% confidence" in sentence
    assert "If none of the next 77 random documents is relevant" in sentence
    _, sentence = verdict_of(19, 500, 0.5, said(0.31, 0.62, 0.53, b_holds=False), None, Aim(0.95))
    assert "statement C shows only 53\u00a0%" in sentence
    assert "only reading nearly all of the rest could show it" in sentence


def test_a_statement_that_allows_it_is_told_with_its_numbers():
    verdict, sentence = verdict_of(19, 500, 0.5, said(0.31, 0.962, 0.99, allows="BC"), 77, Aim(0.95))
    assert verdict == "may stop"
    assert "by statement B: with 95\u00a0% confidence at least 96.2\u00a0% of" in sentence
    assert "(19 found, at most 38 left among 500). It assumes assumption B." in sentence


def test_documents_that_one_was_unsure_of_are_told_when_all_is_read():
    _, sentence = verdict_of(3, 0, 0.0, said(1.0, 1.0, 1.0, allows="ABC"), None, Aim(0.95), unsure=2)
    assert sentence == (
        "You may stop: every document has been read, 3 are relevant. This leaves 2 out that you were unsure of."
    )
    _, sentence = verdict_of(3, 0, 0.0, said(1.0, 1.0, 1.0, allows="ABC"), None, Aim(0.95))
    assert "every document has been judged" in sentence


def test_one_goes_on_below_the_recall_asked_for_and_with_more_left_than_allowed():
    # Of 20 relevant documents 19 are found: that is the recall asked for.
    for left, recall, most, verdict in [
        (1.0, 0.95, 0, "not enough evidence"),
        (1.01, 0.95, 0, "go on"),
        (1.01, 0.95, 2, "not enough evidence"),
    ]:
        assert verdict_of(19, 500, left, said(0.3, 0.3, 0.3), None, Aim(recall, left=most))[0] == verdict
    assert verdict_of(0, 500, 0.0, said(0.0, 0.0, 0.0), None, Aim(0.95))[0] == "go on"


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
    assert posterior_interval(0.0, 0.0, 0.95) == posterior_interval(0.0, 2.0, 0.95) == (0.0, 0.0)
    assert posterior_interval(3.0, 0.0, 0.95) == (3.0, 3.0)
