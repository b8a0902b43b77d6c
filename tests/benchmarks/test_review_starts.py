import numpy as np
import pytest

from bayesift.review.engine import Corpus, Judgement, Knowledge, ReviewEngine
from bayesift.review.simulate import synthetic_corpus
from benchmarks.review import protocols
from benchmarks.review.starts import WAYS, Way, replayed, rows_of, scores

TEXTS, TRUTH = synthetic_corpus(60, 0.1, clearness=0.6, seed=3)
LINE = "topic0 topic1 topic2"


@pytest.fixture(scope="module")
def rows():
    """The records and the line in all forms."""
    return rows_of(TEXTS, LINE)


@pytest.mark.parametrize("way", [WAYS["line as prior"], WAYS["pair, line as document, three models"]])
def test_every_record_is_read_once_and_better_than_by_chance(way, rows):
    run = replayed(rows, TRUTH, way, seed=1)
    assert sorted([*run.order, *run.start]) == list(range(60))
    assert (len(run.start) == 2) == way.pair
    assert run.average_time_to_discovery < 0.4


def test_the_engines_way_ranks_as_the_engine(rows):
    judged = [*np.flatnonzero(TRUTH)[:3].tolist(), *np.flatnonzero(~TRUTH)[:5].tolist()]
    engine = ReviewEngine(Corpus.build(TEXTS), Knowledge(LINE), seed=2)
    for document in judged:
        engine.judgements.set(document, Judgement(bool(TRUTH[document]), "known"))
    engine.adopt(engine.refit())
    order = np.random.default_rng([2, 1]).permutation(60)
    stand_ins = order[~np.isin(order, judged)][:100]
    found = scores(rows["words"], Way(as_prior=True), judged, TRUTH, stand_ins)
    # What the engine was told counts as a relevant document where classes are balanced, and it is fitted more closely.
    assert np.corrcoef(found, engine.moment().fields.mean)[0, 1] > 0.97


def test_what_a_protocol_says_is_used_in_every_way_but_the_first():
    corpus, criteria = Corpus.build(TEXTS), Knowledge(LINE, exclusion="word1")
    tried = protocols.ways(criteria, "topic0")
    assert [(name, way.pair, way.knowledge.empty) for name, way in tried.items()] == [
        ("pair", True, True),
        ("criteria", False, False),
        ("pair and criteria", True, False),
        ("the same without exclusion", True, False),
        ("pair and title", True, False),
    ]
    assert tried["the same without exclusion"].knowledge == Knowledge(LINE)
    found = {name: protocols.measured(corpus, TRUTH, way, seeds=1) for name, way in tried.items()}
    assert found["pair and criteria"][0] < found["pair"][0] < 0.5
    # By chance it would be one half.
    assert found["criteria"][0] < 0.4
