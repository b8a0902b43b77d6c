"""Batches: the answers are those of the classifier, whoever else asks; long questions let short ones pass."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing

import numpy as np
import pytest

from bayesift.serving import interface, scoring
from bayesift.serving.metrics import Metrics
from bayesift.serving.scoring import BusyError, Question, Scorer, Turns
from bayesift.workflow import TextClassifier


def turns_of(scorer, waiting=10**9, of_one_address=10**9):
    return closing(Turns(scorer, Metrics(), waiting, of_one_address))


class Noted:
    """A scorer that answers with the texts themselves and notes its batches; the first waits until it may go on."""

    def __init__(self, bad=()):
        self.batches = []
        self.bad = bad

    def score(self, questions):
        self.batches.append([tuple(question.texts) for question in questions])
        if any(text in self.bad for question in questions for text in question.texts):
            raise ArithmeticError("bad text")
        return [list(question.texts) for question in questions]


async def ask_together(turns, *questions):
    return await asyncio.gather(*(turns.answer(q, "somebody") for q in questions), return_exceptions=True)


def test_answers_are_those_of_the_classifier(several, news):
    texts = news.test.texts[:40]
    questions = [
        Question(texts[:10], words=2),
        Question(texts[10:15], probabilities=False),
        Question(texts[15:], words=4),
    ]
    found = [json.loads(answer) for own in Scorer(several).score(questions) for answer in own]
    assert [tuple(answer["labels"]) for answer in found] == several.predict(texts).tolist()
    shares = several.predict_proba(texts)
    for place, (answer, reasons) in enumerate(zip(found, several.explain(texts, 4), strict=True)):
        if 10 <= place < 15:
            assert answer.keys() == {"labels"}
            continue
        assert list(answer["probabilities"]) == several.classes_.tolist()
        np.testing.assert_allclose(list(answer["probabilities"].values()), shares[place], atol=1e-6)
        for said, reason in zip(answer["reasons"], reasons, strict=True):
            assert (said["label"], said["accepted"]) == (reason.label, reason.accepted)
            words = [(word["word"], word["weight"]) for word in said["words"]]
            expected = [(word, round(weight, 6)) for word, weight in reason.words[: 2 if place < 10 else 4]]
            assert words == expected


def test_labels_that_are_numbers_are_given_by_name(one_of_two):
    (answers,) = Scorer(one_of_two).score([Question(["wheat", "the sea"])])
    assert [json.loads(answer)["labels"] for answer in answers] == [["3"], ["7"]]


def test_questions_that_come_together_are_scored_together():
    scorer = Noted()
    with turns_of(scorer) as turns:
        found = asyncio.run(ask_together(turns, *(Question([f"{n}", f"{n}!"]) for n in range(20))))
    assert found == [[f"{n}", f"{n}!"] for n in range(20)]
    assert len(scorer.batches) == 1


def test_a_long_question_lets_others_pass(monkeypatch):
    monkeypatch.setattr(scoring, "BATCH", 10 * (scoring.TEXT + 1))
    scorer = Noted()
    with turns_of(scorer) as turns:
        found = asyncio.run(ask_together(turns, Question(["a"] * 95), Question(["b"])))
    assert found == [["a"] * 95, ["b"]]
    assert len(scorer.batches) == 10
    assert ("b",) in scorer.batches[1]
    assert all(sum(map(len, batch)) <= 10 for batch in scorer.batches)


def test_a_text_longer_than_a_batch_is_scored():
    scorer = Noted()
    text = "x" * (scoring.BATCH + 1)
    with turns_of(scorer) as turns:
        assert asyncio.run(ask_together(turns, Question([text, text]))) == [[text, text]]
    assert len(scorer.batches) == 2


def test_one_bad_text_spoils_no_other_answer():
    scorer = Noted(bad=["bad"])
    with turns_of(scorer) as turns:
        good, bad, other = asyncio.run(ask_together(turns, Question(["a"]), Question(["bad"]), Question(["c"])))
        assert (good, other) == (["a"], ["c"])
        assert isinstance(bad, ArithmeticError)
        # The turns go on.
        assert asyncio.run(ask_together(turns, Question(["d"]))) == [["d"]]
        assert turns.waiting == 0


def test_no_text_is_answered_by_nothing():
    with turns_of(Noted()) as turns:
        assert asyncio.run(ask_together(turns, Question([]))) == [[]]


def test_who_asks_too_much_is_refused_and_others_are_not():
    async def ask(turns):
        return await asyncio.gather(
            turns.answer(Question(["x" * 40]), "a"),
            turns.answer(Question(["x" * 40]), "a"),
            turns.answer(Question(["x" * 40]), "a", shared=True),
            turns.answer(Question(["x" * 40]), "b"),
            return_exceptions=True,
        )

    with turns_of(Noted(), waiting=130, of_one_address=60) as turns:
        first, second, through_proxy, other = asyncio.run(ask(turns))
        assert first == through_proxy == other == ["x" * 40]
        assert isinstance(second, BusyError)
        assert second.of_one
    with turns_of(Noted(), waiting=60) as turns:
        first, second, *_ = asyncio.run(ask(turns))
        assert first == ["x" * 40]
        assert isinstance(second, BusyError)
        assert not second.of_one


def test_who_is_gone_is_not_scored_for():
    async def leave(turns, scorer):
        gone = asyncio.ensure_future(turns.answer(Question(["gone"]), "a"))
        stays = asyncio.ensure_future(turns.answer(Question(["stays"]), "a"))
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    scorer = Noted()
    with turns_of(scorer) as turns:
        assert asyncio.run(leave(turns, scorer)) == ["stays"]
        assert turns.waiting == 0
    assert scorer.batches == [[("stays",)]]


@pytest.mark.parametrize("words", [0, 3])
def test_an_empty_text_and_unknown_words_get_an_answer(several, words):
    (answers,) = Scorer(several).score([Question(["", "Xyzzy", "\0"], words=words)])
    assert len({json.dumps(json.loads(answer)["probabilities"]) for answer in answers}) == 1


def test_a_model_with_its_posterior_answers_with_intervals(news):
    texts = news.test.texts[:9]
    labels = [labels[0] for labels in news.train.labels[:80]]
    averaged = TextClassifier("ridge", variance=5.0, posterior="ep").fit(news.train.texts[:80], labels)
    questions = [Question(texts[:4]), Question(texts[4:6], probabilities=False), Question(texts[6:], words=2, mass=0.5)]
    found = [json.loads(answer) for own in Scorer(averaged).score(questions) for answer in own]
    for place, answer in enumerate(found):
        if 4 <= place < 6:
            assert answer.keys() == {"labels"}
            continue
        expected = averaged.predict_interval([texts[place]], 0.9 if place < 4 else 0.5)[0]
        np.testing.assert_allclose(list(answer["intervals"].values()), expected, atol=1e-6)
        assert interface.Result.model_validate(answer).intervals is not None
    [reason] = found[-1]["reasons"]
    [expected] = averaged.explain(texts[-1:], 2)[0]
    np.testing.assert_allclose(reason["word_intervals"], expected.word_intervals, atol=1e-6)
