"""The best cut against all cuts tried one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.decide import BALANCED_ERROR, Utility, best_threshold

Outcome = tuple[int, int, int, int]


def share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


EXACT: dict[str, Callable[..., Fraction]] = {
    "min_error": lambda tp, fp, fn, tn: Fraction(-fp - fn),
    "max_f1": lambda tp, fp, fn, tn: Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else Fraction(1),
    "t11u": lambda tp, fp, fn, tn: Fraction(2 * tp - fp),
    "t13u": lambda tp, fp, fn, tn: Fraction(20 * tp - fp),
    "balanced_error": lambda tp, fp, fn, tn: -share(fp, fp + tn) - share(fn, tp + fn),
}

ranked = st.lists(
    st.tuples(st.integers(-6, 6).map(lambda k: k / 8), st.integers(0, 1), st.integers(0, 3)),
    min_size=1,
    max_size=14,
).filter(lambda rows: any(weight for _, _, weight in rows))


def outcome(rows: list[tuple[float, int, int]], threshold: float) -> Outcome:
    tp = sum(w for s, y, w in rows if s >= threshold and y)
    fp = sum(w for s, y, w in rows if s >= threshold and not y)
    fn = sum(w for s, y, w in rows if s < threshold and y)
    tn = sum(w for s, y, w in rows if s < threshold and not y)
    return tp, fp, fn, tn


def all_cuts(rows: list[tuple[float, int, int]], cut: str) -> list[float]:
    """Every threshold that splits the counted scores differently, falling."""
    scores = sorted({s for s, _, w in rows if w}, reverse=True)
    if cut == "accepted":
        return [math.inf, *scores]
    return [math.inf, *((a + b) / 2 for a, b in pairwise(scores)), -math.inf]


@pytest.mark.parametrize("policy", sorted(EXACT))
@given(rows=ranked)
def test_the_best_of_all_cuts(policy: str, rows: list[tuple[float, int, int]]) -> None:
    scores, y, weight = zip(*rows, strict=True)
    repeated_scores, repeated_y = zip(*((s, t) for s, t, w in rows for _ in range(w)), strict=True)
    for cut, ties in product(["midpoint", "accepted"], ["highest", "median", "lowest"]):
        cuts = all_cuts(rows, cut)
        values = [EXACT[policy](*outcome(rows, threshold)) for threshold in cuts]
        best = [threshold for threshold, value in zip(cuts, values, strict=True) if value == max(values)]
        expected = {"highest": best[0], "median": best[(len(best) - 1) // 2], "lowest": best[-1]}[ties]
        options = {"policy": policy, "cut": cut, "ties": ties}
        assert best_threshold(scores, y, sample_weight=weight, **options) == expected
        assert best_threshold(repeated_scores, repeated_y, **options) == expected


@given(rows=ranked, gains=st.tuples(*[st.integers(-5, 5)] * 4), per_class=st.booleans())
def test_any_utility_is_as_great_as_over_all_cuts(
    rows: list[tuple[float, int, int]], gains: Outcome, per_class: bool
) -> None:
    utility = Utility(*gains, per_class=per_class)
    scores, y, weight = zip(*rows, strict=True)
    found = best_threshold(scores, y, policy=utility, sample_weight=weight)
    values = [utility.value(*outcome(rows, threshold)) for threshold in all_cuts(rows, "midpoint")]
    assert utility.value(*outcome(rows, found)) == pytest.approx(max(values), abs=1e-9)


def test_gains_and_weights_that_do_not_add_up_exactly_still_tie() -> None:
    # 0.3·1 − 0.1·3 is 0 but for rounding, as much as rejecting all.
    scores, y = [4, 3, 2, 1], [0, 0, 0, 1]
    gains = {"TP": 0.3, "FP": -0.1}
    assert best_threshold(scores, y, policy=gains) == math.inf
    assert best_threshold(scores, y, policy=gains, ties="lowest") == -math.inf
    # Three errors of 0.1 cost as much as one of 0.3.
    weight = [0.1, 0.1, 0.1, 0.3]
    assert best_threshold(scores, y, sample_weight=weight, ties="lowest") == -math.inf


def test_the_papers_rule_is_the_highest_value_with_the_least_errors() -> None:
    scores, y = [0.9, 0.8, 0.6, 0.4, 0.2], [1, 0, 1, 0, 0]
    assert best_threshold(scores, y) == pytest.approx(0.85)  # one error; so has 0.5
    assert best_threshold(scores, y, ties="lowest") == pytest.approx(0.5)
    assert best_threshold(scores, y, ties="median") == pytest.approx(0.85)
    assert best_threshold(scores, y, cut="accepted", ties="lowest") == 0.6


@pytest.mark.parametrize("policy", sorted(EXACT))
def test_one_class_rejects_all_or_accepts_all(policy: str) -> None:
    assert best_threshold([0.2, 0.7], [0, 0], policy=policy) == math.inf
    assert best_threshold([0.2, 0.7], [-1, -1], policy=policy) == math.inf
    assert best_threshold([0.2, 0.7], [False, False], policy=policy) == math.inf
    assert best_threshold([0.2, 0.7], [1, 1], policy=policy) == -math.inf
    assert best_threshold([0.2, 0.7], [True, True], policy=policy, cut="accepted") == 0.2


def test_equal_scores_are_never_separated() -> None:
    assert best_threshold([0.5] * 5, [1, 1, 1, 0, 0]) == -math.inf
    assert best_threshold([0.5] * 5, [1, 1, 0, 0, 0]) == math.inf
    assert best_threshold([0.0, -0.0], [1, 0]) == math.inf


@pytest.mark.parametrize("low", [0.0, 0.1, 1.0, -1.0, 1e-310, -1e308])
def test_neighbouring_floats_are_separated(low: float) -> None:
    high = math.nextafter(low, math.inf)
    threshold = best_threshold([low, high], [0, 1])
    assert low < threshold <= high


def test_a_midpoint_does_not_overflow() -> None:
    assert best_threshold([1.7e308, 1.5e308], [1, 0]) == pytest.approx(1.6e308)
    assert best_threshold([1.7e308, -1.7e308], [1, 0]) == 0


@pytest.mark.parametrize("labels", [["spam", "ham", "spam"], [2, 1, 2], [True, False, True], [0.5, -0.5, 0.5]])
def test_the_greater_of_two_labels_is_the_category(labels: list) -> None:
    assert best_threshold([3.0, 1.0, 2.0], labels) == 1.5


def test_the_order_of_documents_does_not_matter_and_n_log_n_copes_with_a_million() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=1_000_000).round(4)
    y = scores + rng.normal(size=1_000_000) > 1
    shuffled = rng.permutation(1_000_000)
    found = best_threshold(scores, y, policy="max_f1")
    assert found == best_threshold(scores[shuffled], y[shuffled], policy="max_f1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [], "y": []}, "0 sample"),
        ({"scores": [0.1, np.nan], "y": [0, 1]}, "scores contains NaN"),
        ({"scores": [0.1, np.inf], "y": [0, 1]}, "scores contains infinity"),
        ({"scores": [[0.1, 0.2]], "y": [0]}, "expected one score per document"),
        ({"scores": 0.5, "y": [1]}, "scores is 0.5; expected an array"),
        ({"scores": [0.1, 0.2, 0.3], "y": [0, 1]}, "inconsistent numbers of samples"),
        ({"scores": [0.1, 0.2], "y": [0, np.nan]}, "y holds nan"),
        ({"scores": [0.1, 0.2], "y": [0, np.inf]}, "y holds inf"),
        ({"scores": [0.1, 0.2], "y": np.array(["a", None])}, "y holds None"),
        ({"scores": [0.1, 0.2, 0.3], "y": [0, 1, 2]}, "y has 3 classes"),
        ({"scores": [0.1, 0.2], "y": ["spam", "spam"]}, "y holds only 'spam'"),
        ({"scores": [0.1, 0.2], "y": [[0, 1], [1, 0]]}, "y should be a 1d array"),
        ({"policy": "max_f2"}, "policy is 'max_f2'; expected one of"),
        ({"policy": "half"}, "policy is 'half'; expected one of"),
        ({"policy": 0.5}, "policy is 0.5; expected one of"),
        ({"policy": {"hits": 1}}, "gains name 'hits'; expected outcomes among"),
        ({"cut": "rejected"}, "cut is 'rejected'; expected one of"),
        ({"ties": "first"}, "ties is 'first'; expected one of"),
        ({"sample_weight": [1.0]}, r"sample_weight has shape \(1,\); expected \(2,\)"),
        ({"sample_weight": [1.0, -1.0]}, "negative weight"),
        ({"sample_weight": [0.0, 0.0]}, "only zeros"),
        ({"sample_weight": [1.0, np.nan]}, "sample_weight contains NaN"),
    ],
)
def test_bad_input_is_named(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        best_threshold(**{"scores": [0.1, 0.2], "y": [0, 1], **arguments})


def test_balanced_error_is_the_mean_of_two_rates() -> None:
    assert BALANCED_ERROR.value(tp=3, fp=1, fn=1, tn=9) == pytest.approx(-(1 / 4 + 1 / 10) / 2)
    assert BALANCED_ERROR.value(tp=0, fp=1, fn=0, tn=9) == pytest.approx(-0.05)


@pytest.mark.parametrize("gain", [np.nan, np.inf, "2", None, True])
def test_gains_must_be_numbers(gain: object) -> None:
    with pytest.raises(ValueError, match=r"fp is .*; expected a finite number"):
        Utility(tp=1.0, fp=gain)
