"""The generator of short noisy texts."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.short_texts import rows


@pytest.fixture
def few_lines(monkeypatch):
    random = np.random.default_rng(5)
    labels = random.integers(4, size=1200)
    known = [
        f"line {i} of {' '.join(random.choice(['disk', 'game', 'cell', 'law'], 4))} {k}" for i, k in enumerate(labels)
    ]
    monkeypatch.setattr(rows, "lines", lambda: (known, labels))
    monkeypatch.setattr(rows, "HELD_OUT", 200)
    return known


@pytest.mark.parametrize("n", [500, 3000])
def test_rows_have_the_copies_that_are_asked_for_and_nothing_of_what_is_held_out(few_lines, n):
    made = rows.make_rows(n)
    assert len(made.texts) == made.labels.size == n
    assert made.held_out == few_lines[:200]
    assert not set(made.held_out) & set(made.texts[:500])
    found: dict[str, list[int]] = {}
    for text, label in zip(made.texts, made.labels.tolist(), strict=True):
        found.setdefault(text, []).append(label)
    assert len(found) == pytest.approx(0.74 * n, rel=0.01)
    # A text with contradicting copies has at least two labels; popular ones have many such copies.
    contradicting = sum(len(labels) - max(map(labels.count, labels)) for labels in found.values())
    assert 0 < contradicting <= 0.021 * n
    assert sorted(set(made.labels.tolist())) == [0, 1, 2, 3]


def test_the_same_seed_makes_the_same_rows(few_lines):
    first, again, other = rows.make_rows(1500), rows.make_rows(1500), rows.make_rows(1500, seed=1)
    assert first.texts == again.texts
    assert np.array_equal(first.labels, again.labels)
    assert first.texts != other.texts
