import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.feature_extraction.text import TfidfVectorizer

from bayesift import progress
from bayesift.datasets import load
from bayesift.formats import load as load_model
from bayesift.formats import save
from bayesift.online import prior_belief, update
from bayesift.review.engine import (
    Corpus,
    Judgement,
    Judgements,
    Knowledge,
    Mix,
    ReviewEngine,
    prepare,
    with_title_words,
)
from bayesift.review.engine.topic_model import CONSTANT_MODE, CONSTANT_VARIANCE, NOISE, VARIANCE, all_fields
from process_cases import in_fork, kernels

NEWS = load("newsroom")
TOPIC = NEWS.categories.index("courts")
TRUTH = NEWS.indicator("train").toarray()[:, TOPIC] > 0
KNOWLEDGE = Knowledge("courts, judges and trials")


@cache
def papers() -> Corpus:
    """Made when the first test wants it: not while tests are collected, by every process that runs some."""
    return Corpus.build(NEWS.train.texts)


def replay(engine, n):
    for _ in range(n):
        card = engine.next()[0]
        engine.label(card.document, bool(TRUTH[card.document]), why=card.why)
    return engine


def same(one, other):
    np.testing.assert_allclose(one.probabilities(), other.probabilities(), rtol=1e-9, atol=1e-12)
    for card, twin in zip(one.next(5), other.next(5), strict=True):
        assert (card.document, card.why, card.rank, card.model) == (twin.document, twin.why, twin.rank, twin.model)
        np.testing.assert_allclose((card.probability, *card.interval), (twin.probability, *twin.interval), rtol=1e-9)


def test_knowledge_alone_ranks_the_pile():
    p = ReviewEngine(papers(), KNOWLEDGE).probabilities()
    first = np.argsort(-p)[: TRUTH.sum()]
    assert TRUTH[first].mean() > 3 * TRUTH.mean()


def test_keywords_against_lower_a_document():
    word = next(text for text in papers().texts if "judge" in text.lower())
    document = papers().texts.index(word)
    without = ReviewEngine(papers(), Knowledge("courts")).probabilities()[document]
    assert ReviewEngine(papers(), Knowledge("courts", keywords_against=("judge",))).probabilities()[document] < without
    assert ReviewEngine(papers(), Knowledge("courts", keywords_for=("judge",))).probabilities()[document] > without


def test_unknown_words_and_empty_knowledge_mean_a_random_start():
    for knowledge in (Knowledge(), Knowledge("zzyzx"), Knowledge(keywords_for=("qqqqq",))):
        engine = ReviewEngine(papers(), knowledge, seed=3)
        cards = engine.next(4)
        assert [card.why for card in cards] == ["random"] * 4
        assert np.ptp(engine.probabilities()) == pytest.approx(0)


def test_learning_finds_what_reading_in_order_does_not():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 60)
    found = sum(TRUTH[document] for document, _, _ in list(engine.judgements))
    assert found > 3 * 60 * TRUTH.mean()


def test_one_judgement_is_learnt_exactly():
    engine = ReviewEngine(papers(), KNOWLEDGE)
    prior = engine._prior.belief.mean
    engine.label(7, True, why="probable")
    X = np.column_stack([papers().matrix.toarray(), np.ones(len(papers()))])
    variance = np.append(np.full(papers().n_terms, VARIANCE), CONSTANT_VARIANCE)
    belief = prior_belief(len(prior), noise=NOISE, covariance="diagonal", prior_mean=prior, prior_covariance=variance)
    belief, _ = update(belief, X[7], 1)
    f, s2 = X @ belief.mean, X**2 @ belief.covariance
    np.testing.assert_allclose(engine.probabilities(), ndtr(f / np.sqrt(NOISE**2 + s2)), rtol=1e-9)
    card = engine.suggestion(3)
    ends = ndtr((f[3] + np.array([-1, 1]) * 1.6448536269514722 * np.sqrt(s2[3])) / NOISE)
    np.testing.assert_allclose(card.interval, ends, rtol=1e-9)
    assert card.interval[0] < card.probability < card.interval[1]


def test_rank_counts_the_unjudged_that_are_more_probable():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 5)
    p = engine.probabilities()
    judged = {document for document, _, _ in list(engine.judgements)}
    card = engine.suggestion(11)
    assert card.rank == 1 + sum(p[i] > p[11] for i in range(len(papers())) if i not in judged)
    assert engine.suggestion(next(iter(judged))).rank >= 1


@settings(max_examples=15)
@given(st.lists(st.integers(0, len(NEWS.train.texts) - 1), min_size=2, max_size=12, unique=True), st.data())
def test_undo_leaves_no_trace(documents, data):
    gone = data.draw(st.sampled_from(documents))
    fit_after = data.draw(st.integers(0, len(documents)))
    one, other = ReviewEngine(papers(), KNOWLEDGE), ReviewEngine(papers(), KNOWLEDGE)
    for place, document in enumerate(documents):
        one.label(document, bool(TRUTH[document]), why="probable")
        if document != gone:
            other.label(document, bool(TRUTH[document]), why="probable")
        if place + 1 == fit_after:
            for engine in (one, other):
                engine.adopt(engine.refit())
    one.unlabel(gone)
    assert list(one.judgements) == list(other.judgements)
    assert one.behind == (documents.index(gone) < fit_after)
    if one.behind:
        # A fit that had seen the document is made anew of all that is left.
        for engine in (one, other):
            engine.adopt(engine.refit())
    assert not one.behind
    same(one, other)


def test_what_a_fit_has_learnt_is_forgotten_by_the_next_and_nothing_waits_for_it(monkeypatch):
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 10)
    engine.adopt(engine.refit())
    monkeypatch.setattr(ReviewEngine, "_fit", lambda *_: pytest.fail("a fit under the lock"))
    document, before = list(engine.judgements)[4][0], engine.probabilities()
    engine.unlabel(document)
    np.testing.assert_array_equal(engine.probabilities(), before)
    assert engine.behind
    engine.label(document, bool(TRUTH[document]), why="probable")
    assert not engine.behind
    engine.label(document, not TRUTH[document], why="probable")
    assert engine.behind
    # The others are learned as ever.
    card = engine.next()[0]
    engine.label(card.document, True, why=card.why)
    assert engine.probabilities()[card.document] > before[card.document]
    monkeypatch.undo()
    engine.adopt(engine.refit())
    assert not engine.behind
    same(engine, ReviewEngine(papers(), KNOWLEDGE, Judgements(len(papers()), engine.judgements)))


def test_many_judgements_at_once_wait_for_a_fit():
    shared = Judgements(len(papers()))
    engine = ReviewEngine(papers(), KNOWLEDGE, shared)
    before = engine.probabilities()
    for document in range(150):
        shared.set(document, Judgement(bool(TRUTH[document]), "import"))
    assert len(engine.follow()) == 150
    np.testing.assert_array_equal(engine.probabilities(), before)
    assert engine.behind
    assert engine.next()[0].document >= 150
    fit = engine.refit()
    for document in range(150, 260):
        shared.set(document, Judgement(bool(TRUTH[document]), "import"))
    engine.follow()
    # Also what came since: before it is taken over, or else with the next.
    assert engine.adopt(engine.catch_up(fit))
    assert not engine.behind
    assert engine.adopt(fit)
    assert engine.behind


def test_fields_that_were_moved_are_those_of_a_pass_over_all():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 40)
    found, again = engine._moments(), all_fields(engine._model, papers())
    np.testing.assert_allclose(found.mean, again.mean, atol=1e-12)
    np.testing.assert_allclose(found.variance, again.variance, atol=1e-12)


def test_a_ranking_made_elsewhere_is_taken_unless_a_fit_came_meanwhile():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 10)
    before, card = engine.probabilities(), engine.next()[0]
    engine.lagging = True
    engine.label(card.document, True, why=card.why)
    np.testing.assert_array_equal(engine.probabilities(), before)
    assert engine.next()[0].document != card.document
    assert engine.next()[0].model == "online 10"
    ranking = engine.ranking()
    engine.take_ranking(ranking)
    assert engine.probabilities()[card.document] > before[card.document]
    assert engine.next()[0].model == "online 11"
    engine.adopt(engine.refit())
    fitted = engine.probabilities()
    engine.take_ranking(ranking)
    np.testing.assert_array_equal(engine.probabilities(), fitted)


def test_a_moment_stays_as_it_was():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 12)
    expected, moment = engine.stopping(), engine.moment()
    replay(engine, 5)
    assert moment.stopping() == expected
    assert moment.advice() == (expected.verdict, expected.sentence, expected.check)
    assert engine.stopping() != expected


def test_what_is_excluded_speaks_against_unless_it_is_described_too():
    corpus = Corpus.build(["gold mine", "gold letter", "letter to a king", "tin mine", "tin"])
    plain, strict = (
        ReviewEngine(corpus, Knowledge("gold mines", exclusion=said)).probabilities()
        for said in ("", "letters on gold")
    )
    assert strict[1] < plain[1]
    assert strict[2] < plain[2]
    assert strict[0] == plain[0]
    assert not Knowledge(exclusion="letters").empty


def test_a_protocol_becomes_knowledge():
    said = Knowledge.of_protocol({"title": "Zinc", "inclusion_criteria": "- trials", "exclusion_criteria": "- letters"})
    assert said == Knowledge("Zinc\n- trials", exclusion="- letters")
    assert Knowledge.of_protocol({}).empty


def test_judgements_given_at_the_start_are_fitted():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE, seed=2), 25)
    engine.label(3, None, why="random")
    engine.adopt(engine.refit())
    again = ReviewEngine(papers(), KNOWLEDGE, Judgements(len(papers()), engine.judgements), seed=2)
    assert list(again.judgements) == list(engine.judgements)
    same(engine, again)


def test_a_fit_taken_over_late_learns_what_came_meanwhile():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 20)
    fit = engine.refit()
    assert fit.fields.model.name == "refit 20"
    early = ReviewEngine(papers(), KNOWLEDGE, Judgements(len(papers()), engine.judgements))
    for target in (engine, early):
        target.label(5, False, why="probable")
    engine.adopt(fit)
    same(engine, early)
    assert engine.next()[0].model == "online 21"


def test_a_fit_to_judgements_that_hold_no_longer_is_not_taken_over():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 10)
    fit = engine.refit()
    document = list(engine.judgements)[4][0]
    engine.label(document, not TRUTH[document], why="probable")
    before = engine.probabilities()
    engine.adopt(fit)
    np.testing.assert_array_equal(engine.probabilities(), before)


@pytest.mark.parametrize("judgement", [True, False])
def test_judgements_of_one_kind_can_be_fitted(judgement):
    for knowledge in (Knowledge(), KNOWLEDGE):
        labels = [(document, judgement, "random") for document in range(8)]
        engine = ReviewEngine(papers(), knowledge, Judgements(len(papers()), labels))
        before = ReviewEngine(papers(), knowledge).probabilities()
        assert np.isfinite(engine.probabilities()).all()
        assert (np.mean(engine.probabilities()[:8] - before[:8]) > 0) == judgement
        assert len(engine.next(3)) == 3


def test_a_pile_can_be_judged_to_the_last_document():
    corpus = Corpus.build(["wheat", "", "gold mine", "wheat harvest"])
    engine = ReviewEngine(corpus)
    for _ in range(4):
        card = engine.next()[0]
        engine.label(card.document, "wheat" in corpus.texts[card.document], why=card.why)
        engine.adopt(engine.refit())
    assert engine.next() == []
    assert engine.stopping().verdict == "may stop"


def test_judging_again_replaces_the_judgement():
    one, other = ReviewEngine(papers(), KNOWLEDGE), ReviewEngine(papers(), KNOWLEDGE)
    one.label(1, True, why="probable")
    one.label(1, False, why="probable")
    other.label(1, False, why="probable")
    same(one, other)


def test_fit_is_the_posterior_mode():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 30)
    fit = engine.refit()
    mean, prior = fit.fields.model.belief.mean, engine._prior.belief.mean
    judged = np.array(list(fit.judged))
    moved = np.flatnonzero(mean[:-1] != prior[:-1])
    assert len(moved)
    assert mean[-1] != CONSTANT_MODE
    # Scores of what was judged follow the judgements.
    p = ReviewEngine(papers(), KNOWLEDGE, Judgements(len(papers()), engine.judgements)).probabilities()[judged]
    assert p[TRUTH[judged]].mean() > p[~TRUTH[judged]].mean()


def test_unsure_documents_are_neither_learnt_nor_shown():
    engine = ReviewEngine(papers(), KNOWLEDGE)
    before = engine.probabilities()
    card = engine.next()[0]
    engine.label(card.document, None, why=card.why)
    np.testing.assert_array_equal(engine.probabilities(), before)
    assert card.document not in {later.document for later in engine.next(len(papers()))}
    assert engine.stopping().unsure == 1
    engine.unlabel(card.document)
    assert engine.next()[0] == card


def test_cards_keep_the_mix_and_leave_out_the_excluded():
    engine = ReviewEngine(papers(), KNOWLEDGE, mix=Mix(0.5, 0.25, 0.25))
    cards = engine.next(40, exclude=range(100))
    assert [sum(card.why == why for card in cards) for why in Mix._fields] == [20, 10, 10]
    assert min(card.document for card in cards) >= 100
    assert len({card.document for card in cards}) == 40
    assert engine.next(2) == engine.next(2)


def test_all_documents_are_shown_in_the_end():
    engine = ReviewEngine(papers(), KNOWLEDGE)
    assert sorted(card.document for card in engine.next(10**6)) == list(range(len(papers())))
    assert engine.next(1, exclude=range(len(papers()))) == []


def test_random_share_follows_an_order_that_nothing_changes():
    engine = ReviewEngine(papers(), KNOWLEDGE, mix=Mix(0, 0, 1), seed=5)
    order = [card.document for card in engine.next(30)]
    engine.label(order[2], True, why="probable")
    assert [card.document for card in engine.next(29)] == order[:2] + order[3:]
    assert order != [card.document for card in ReviewEngine(papers(), KNOWLEDGE, mix=Mix(0, 0, 1), seed=6).next(30)]


def test_near_duplicates_are_held_back_from_the_informative():
    texts = [*NEWS.train.texts[:80], *(text + " again" for text in NEWS.train.texts[:80])]
    corpus = Corpus.build(texts)
    assert (corpus.groups[80:] == np.arange(80)).mean() > 0.9
    engine = ReviewEngine(corpus, KNOWLEDGE, mix=Mix(0, 1, 0))
    for _ in range(60):
        card = engine.next()[0]
        engine.label(card.document, bool(TRUTH[card.document % 80]), why=card.why)
    groups = corpus.groups[[document for document, _, why in list(engine.judgements) if why == "informative"]]
    assert len(groups) == len(set(groups)) > 50


def test_highlights_add_up_to_the_field():
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 10)
    document, mean = 4, engine._model.belief.mean
    spans = engine.highlights(document)
    text = papers().texts[document]
    weights = {}
    for start_, end, weight in spans:
        row = papers().vectorizer.transform([text[start_:end]])
        weights[row.indices[0]] = weight
    assert all(one.end <= other.start for one, other in pairwise(spans))
    total = float((papers().matrix[[document]] @ mean[:-1])[0])
    assert sum(weights.values()) == pytest.approx(total)


def test_words_are_marked_by_the_columns_that_the_vectorizer_gives_them():
    text = "Gold MINES near Zürich\nwere opening: the mines' openings, 3rd re-opened; naïve İstanbul x"
    corpus = Corpus.build([text, *NEWS.train.texts[:50]])
    engine = replay(ReviewEngine(corpus, Knowledge("mines opening in Zurich", keywords_for=("gold",))), 5)
    weights = engine._model.belief.mean
    row = dict(zip(corpus.matrix[[0]].indices, corpus.matrix[[0]].data, strict=True))
    expected = []
    for match in re.finditer(r"\b\w\w+\b", text):
        forms = [match.group()] + [f"title_{match.group()}"] * (match.end() <= text.index("\n"))
        columns = {int(column) for form in forms for column in corpus.vectorizer.transform([form]).indices}
        if columns:
            expected.append((*match.span(), sum(row[column] * weights[column] for column in columns)))
    spans = engine.highlights(0)
    assert [span[:2] for span in spans] == [span[:2] for span in expected if span[2]]
    np.testing.assert_allclose([span[2] for span in spans], [span[2] for span in expected if span[2]])


def test_judgements_that_others_change_are_followed():
    shared = Judgements(len(papers()))
    engine, plain = ReviewEngine(papers(), KNOWLEDGE, shared), ReviewEngine(papers(), KNOWLEDGE)
    for document in (4, 9, 17):
        shared.set(document, Judgement(bool(TRUTH[document]), "probable"))
        plain.label(document, bool(TRUTH[document]), why="probable")
    assert engine.follow() == [4, 9, 17]
    assert engine.follow() == []
    same(engine, plain)
    shared.set(9, None)
    shared.set(4, Judgement(None, "random"))
    assert engine.follow() == [9, 4]
    assert not engine.behind
    plain.unlabel(9)
    plain.label(4, None, why="random")
    same(engine, plain)


def test_highlights_of_texts_without_words():
    engine = ReviewEngine(Corpus.build(["", "the of and", "wheat"]), Knowledge("wheat"))
    assert engine.highlights(0) == engine.highlights(1) == []
    assert [span[:2] for span in engine.highlights(2)] == [(0, 5)]


def test_model_can_be_kept_and_says_the_same(tmp_path):
    engine = replay(ReviewEngine(papers(), KNOWLEDGE), 30)
    engine.adopt(engine.refit())
    save(engine.model(), tmp_path / "topic.bayesift")
    texts = [with_title_words(text) for text in papers().texts]
    scores = load_model(tmp_path / "topic.bayesift").decision_function(texts)
    np.testing.assert_allclose(scores, engine._moments().mean, atol=1e-9)


@pytest.mark.parametrize("document", [-1, len(NEWS.train.texts), 1.5, "1"])
def test_places_outside_the_pile_are_refused(document):
    with pytest.raises(IndexError, match="expected a place from 0"):
        ReviewEngine(papers(), KNOWLEDGE).label(document, True, why="probable")


def test_bad_input():
    with pytest.raises(ValueError, match="sum to 1"):
        ReviewEngine(papers(), KNOWLEDGE, mix=Mix(0.5, 0.1, 0.1))
    with pytest.raises(KeyError, match="no judgement"):
        ReviewEngine(papers(), KNOWLEDGE).unlabel(3)
    with pytest.raises(ValueError, match="at least one document"):
        Corpus.build([])
    with pytest.raises(ValueError, match="target_recall"):
        ReviewEngine(papers(), KNOWLEDGE).stopping(1.2)
    with pytest.raises(ValueError, match="confidence"):
        ReviewEngine(papers(), KNOWLEDGE).stopping(confidence=1)


def test_progress_is_told():
    told = []
    with progress.callback(lambda done, total: told.append((done, total))):
        Corpus.build(["wheat"] * 1200)
    assert told == [(500, 1200), (1000, 1200), (1200, 1200)]


def test_titles_are_first_lines():
    assert with_title_words("Gold mine\nopens") == "Gold mine\nopens\ntitle_Gold title_mine"
    assert with_title_words("a " * 200 + "\nopens") == "a " * 200 + "\nopens"
    assert with_title_words("") == ""


def test_weights_are_those_of_scikit_learn():
    texts = ["gold silver gold", "corn", "corn silver tin", "lead tin"]
    marked = [f"{text} " + " ".join(f"title_{word}" for word in text.split()) for text in texts]
    X = TfidfVectorizer(sublinear_tf=True).fit_transform(marked)
    corpus = Corpus.build(texts)
    # The corpus e times as large has a whole number of documents: the weights differ a little.
    np.testing.assert_allclose(corpus.matrix.toarray(), X.toarray(), atol=0.02)
    np.testing.assert_allclose(corpus.vectorizer.transform(marked).toarray(), corpus.matrix.toarray(), rtol=1e-12)


def compiled_before_and_by_cards():
    """Prepare and read 150 cards; return how many kernels were there before them, and those that came with them."""
    corpus = Corpus.build([f"Title {k}\n" + " ".join(f"w{k * j % 31}" for j in range(1, 9)) for k in range(600)])
    prepare(corpus)
    before = kernels()
    engine = ReviewEngine(corpus, Knowledge("w3 w7"), mix=Mix(0.8, 0.1, 0.1))
    for step in range(150):
        card = engine.next()[0]
        engine.highlights(card.document)
        engine.label(card.document, step % 3 == 0, why=card.why)
        if step % 25 == 4:
            engine.adopt(engine.catch_up(engine.refit()))
    engine.unlabel(card.document)
    engine.stopping()
    return len(before), sorted(name for name, _ in kernels() - before)


def test_nothing_is_compiled_or_loaded_when_the_first_card_is_asked_for():
    n_before, by_cards = in_fork(compiled_before_and_by_cards)
    assert n_before > 5
    assert by_cards == []
