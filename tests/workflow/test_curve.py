"""Learning curves: what they are measured on, what the power law makes of them, and how they are told."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import curve_fit

from bayesift.datasets import Split, load
from bayesift.workflow import TextClassifier, learning_curve, train
from bayesift.workflow.curve import LearningCurve, PowerLaw, _mixed, fit_power_law


@pytest.fixture(scope="module")
def news():
    return load("newsroom").train


@pytest.fixture(scope="module")
def curve(news):
    return learning_curve(TextClassifier("nb").fit(news.texts, news.labels), news.texts, news.labels)


@pytest.mark.parametrize("law", [PowerLaw(0.1, 3.0, 0.5), PowerLaw(0.0, 1.0, 0.2), PowerLaw(0.3, 20.0, 1.0)])
def test_a_power_law_is_found_again(law):
    sizes = np.geomspace(100, 2000, 7)
    found = fit_power_law(sizes, law.error(sizes))
    assert_allclose(found.error([2000, 4000, 8000]), law.error([2000, 4000, 8000]), atol=2e-3)


def test_the_fit_is_that_of_another_program():
    rng = np.random.default_rng(0)
    sizes = np.geomspace(100, 2000, 9)
    errors = PowerLaw(0.1, 3.0, 0.5).error(sizes) + 0.003 * rng.standard_normal(9)
    (floor, scale, exponent), _ = curve_fit(
        lambda n, a, b, c: a + b * n**-c,
        sizes,
        errors,
        p0=(0.1, 1.0, 0.5),
        sigma=errors / np.sqrt(sizes),
        bounds=([0, 0, 0.05], [1, 100, 2]),
    )
    ours = fit_power_law(sizes, errors)
    assert_allclose(ours.error(4000), floor + scale * 4000**-exponent, atol=2e-3)


def test_errors_that_do_not_fall_are_not_made_to():
    law = fit_power_law([100, 200, 400, 800], [0.2, 0.2, 0.2, 0.2])
    assert_allclose(law.error([800, 1600]), 0.2, atol=1e-6)
    rising = fit_power_law([100, 200, 400, 800], [0.1, 0.12, 0.2, 0.25])
    assert rising.scale >= 0
    assert 0.1 <= rising.error(1600) <= 0.25


def test_texts_learned_from_are_nested_and_never_those_measured_on(news, monkeypatch):
    classifier = TextClassifier("nb").fit(news.texts, news.labels)
    seen = []
    fit, predictions = TextClassifier.fit, TextClassifier.predictions

    def noting_fit(self, texts, y, **options):
        seen.append([texts])
        return fit(self, texts, y, **options)

    def noting_predictions(self, texts, **options):
        seen[-1].append(texts)
        return predictions(self, texts, **options)

    monkeypatch.setattr(TextClassifier, "fit", noting_fit)
    monkeypatch.setattr(TextClassifier, "predictions", noting_predictions)
    found = learning_curve(classifier, news.texts, news.labels, n_repeats=2)
    monkeypatch.undo()
    n_sizes = found.sizes.size
    assert len(seen) == 2 * n_sizes
    labels = dict(zip(news.texts, news.labels, strict=True))
    held_out = []
    for turn in range(2):
        own = seen[turn * n_sizes : (turn + 1) * n_sizes]
        assert [len(learned) for learned, _ in own] == found.sizes.tolist()
        for (fewer, _), (more, _) in pairwise(own):
            assert more[: len(fewer)] == fewer
        assert len({tuple(measured) for _, measured in own}) == 1
        assert not set(own[-1][0]) & set(own[-1][1])
        held_out.append(set(own[0][1]))
        # The last point, computed again.
        learned, measured = own[-1]
        again = TextClassifier("nb").fit(learned, [labels[text] for text in learned])
        expected = again.score(measured, [labels[text] for text in measured])
        assert_allclose(found.scores[-1, turn], expected)
    assert not held_out[0] & held_out[1]


def test_the_curve_rises(curve):
    assert curve.sizes.tolist() == [32, 45, 63, 89, 126, 178, 252]
    assert curve.scores.shape == (7, 5)
    assert curve.measure == "F1"
    assert curve.scores[-1].mean() > curve.scores[3].mean() > curve.scores[0].mean()


def test_every_stretch_has_its_share_of_every_label():
    sets = [("a",)] * 60 + [("b",)] * 30 + [("c",)] * 10
    order = _mixed(np.arange(100), sets, seed=0)
    assert sorted(order.tolist()) == list(range(100))
    for begin in range(0, 100, 20):
        counts = Counter(sets[place][0] for place in order[begin : begin + 20].tolist())
        assert abs(counts["a"] - 12) <= 1
        assert abs(counts["b"] - 6) <= 1
        assert abs(counts["c"] - 2) <= 1
    assert not np.array_equal(order, _mixed(np.arange(100), sets, seed=1))


def test_the_same_texts_give_the_same_curve(news, curve):
    again = learning_curve(TextClassifier("nb").fit(news.texts, news.labels), news.texts, news.labels)
    assert np.array_equal(again.scores, curve.scores)
    assert again.as_dict() == curve.as_dict()


def test_bounds_hold_what_comes():
    """Scores drawn around a known law: its values for twice the texts are within the bounds about nine times in ten."""
    law = PowerLaw(0.08, 2.0, 0.45)
    rng = np.random.default_rng(1)
    sizes = np.round(np.geomspace(100, 800, 7)).astype(int)
    n_held_out = 200
    within = 0
    for _ in range(40):
        scores = 1 - rng.binomial(n_held_out, law.error(sizes)[:, None] * np.ones(5)) / n_held_out
        found = LearningCurve("accuracy", 1000, sizes, scores).forecast(2000)
        assert found.low <= found.value <= found.high
        within += found.low <= 1 - law.error(2000) <= found.high
    assert within >= 30


def test_the_sentence_says_how_much_and_why(curve):
    found = curve.sentence()
    now, then = (curve.forecast(factor * curve.n_texts) for factor in (1, 2))
    assert found.startswith(
        f"With twice the labels, expect about {100 * (then.value - now.value):+.1f} points (F1 from "
    )
    assert f"to about {then.value:.3f}; nine times in ten {then.low:.3f} to {then.high:.3f})" in found
    assert "because the last doubling, from 126 to 252 texts, gave +" in found
    assert json.loads(json.dumps(curve.as_dict()))["sentence"] == found


def test_labels_that_part_of_the_texts_lack_count_as_missed():
    texts = [f"common word{n % 7}" for n in range(58)] + ["rare one", "rare two"]
    labels = ["a", "b"] * 29 + ["c", "c"]
    classifier = TextClassifier("nb").fit(texts, labels)
    found = learning_curve(classifier, texts, labels, n_repeats=2)
    assert np.all((found.scores >= 0) & (found.scores <= 1))
    assert found.measure == "accuracy"


@pytest.mark.parametrize("n_repeats", [1, 6])
def test_repeats_are_checked(news, n_repeats):
    with pytest.raises(ValueError, match=f"n_repeats is {n_repeats}; expected 2 to 5"):
        learning_curve(TextClassifier("nb").fit(news.texts, news.labels), news.texts, news.labels, n_repeats=n_repeats)


def test_too_few_texts_are_told():
    labels = [("farm",), ("farm",), ("sea",), ("sea",)] * 4
    split = Split(labels, [str(n) for n in range(16)], ["wheat", "corn", "sea", "ship"] * 4)
    trained = train(split, TextClassifier("nb"), curve=True)
    assert trained.curve is None
    assert any("too few for a learning curve" in note for note in trained.notes)
    assert "curve" not in trained.as_dict()


@pytest.mark.parametrize(("ending", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("PDF", b"%PDF")])
def test_the_picture_is_written(curve, tmp_path, ending, begin):
    pytest.importorskip("matplotlib")
    curve.draw(tmp_path / f"curve.{ending}")
    assert (tmp_path / f"curve.{ending}").read_bytes().startswith(begin)
    assert [path.name for path in tmp_path.iterdir()] == [f"curve.{ending}"]
