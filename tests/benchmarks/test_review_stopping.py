import numpy as np
import pytest
from scipy.stats import hypergeom

from bayesift.review.engine import Aim
from bayesift.review.engine.statements import model_risk, statements
from benchmarks.review.stopping import (
    DOUBTS,
    SPLITS,
    Doubts,
    Look,
    Recording,
    checked,
    hypergeometric,
    in_a_row,
    knee,
    statement,
    stopped,
    target_set,
)


def recording(seed, n=150, share=0.15):
    random = np.random.default_rng(seed)
    relevant = random.random(n) < share * np.exp(-np.arange(n) / 30) * 4
    foreseen = np.clip(0.5 * np.exp(-np.arange(n) / 25), 1e-4, 1)
    left = np.append(np.cumsum(foreseen[::-1])[::-1], 0.0)
    return Recording("made up", seed, relevant, np.arange(n) % 10 == 9, foreseen, left, random.permutation(n))


@pytest.mark.parametrize("seed", range(4))
def test_rules_of_statements_are_the_statements_of_the_engine(seed):
    run = recording(seed)
    for read in range(20, run.n, 13):
        look = Look(run, read)
        # C takes less than the risk allowed: its own confidence is asked for by the rule.
        said = statements(look.cards(), run.n + 2, float(run.left[read]), Aim(confidence=0.8))
        for each, confidence in zip(said, (0.8, 0.8, 1 - model_risk(0.2)), strict=True):
            assert statement(each.letter, confidence)(look) == each.allows


@pytest.mark.parametrize("seed", range(4))
def test_the_hypergeometric_rule_looks_at_all_samples(seed):
    run = recording(seed)
    for read in range(10, run.n - 10, 9):
        look, found = Look(run, read), run.found
        total = int(look.found / 0.9 + 1e-9) + 1
        least = min(
            hypergeom.cdf(look.found - found[start], run.n - start, total - found[start], read - start)
            for start in range(read)
        )
        assert hypergeometric(0.9, 0.8)(look) == (least < 0.2 or total - look.found > run.n - read)


def test_where_rules_stop():
    run = recording(0)
    quiet = stopped(run, in_a_row(30))
    assert not run.relevant[quiet.read - 30 : quiet.read].any()
    assert stopped(run, lambda look: False) == (run.n, 1.0)
    assert not knee(Look(run, 5))
    ten = target_set(run)
    assert run.needed <= run.n
    assert 11 / run.found[-1] <= ten.recall <= 1
    assert target_set(run, size=100) == (run.n, 1.0)


def test_a_replay_with_checks_reads_the_same_cards():
    run = recording(1)
    again = checked(run)
    assert sorted(again.chance) == sorted(run.chance)
    assert again.relevant.sum() == run.relevant.sum()
    assert again.random.sum() > run.random.sum()
    drawn = again.chance[again.random]
    assert (np.diff(drawn) > 0).all()


@pytest.mark.parametrize("doubt", DOUBTS.values(), ids=DOUBTS)
def test_the_critical_threshold_is_the_greatest_without_a_miss(doubt):
    for seed in range(4):
        seen = Doubts.of(recording(seed), doubt)
        assert seen.stop(seen.critical).recall >= 0.95 - 1e-9
        assert seen.stop(np.inf).read == seen.reads[0]
        if seen.critical < np.inf:
            assert seen.stop(np.nextafter(seen.critical, np.inf)).recall < 0.95
        # Who doubts less, stops earlier.
        reads = [seen.stop(threshold).read for threshold in (0.01, 0.1, 0.3, 0.9)]
        assert reads == sorted(reads, reverse=True)


def test_no_review_is_judged_by_a_threshold_that_was_chosen_on_it():
    for splits in SPLITS.values():
        assert sorted(name for _, judged in splits for name in judged) == sorted({*splits[0][0], *splits[0][1]})
        assert all(not {*chosen} & {*judged} for chosen, judged in splits)
