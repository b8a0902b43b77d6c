from __future__ import annotations

import lzma
from collections import Counter

import numpy as np
import pytest

from bayesift.datasets import MalformedFileError, data_root, load

LINES = "1\tGood \x85 book.\n0\tBad film.\n1\tGood \x85 book.\n0\tGood \x85 book.\n"


@pytest.mark.parametrize("layout", ["xz", "plain"])
def test_layouts(layout, tmp_path):
    folder = tmp_path / "umich-si650"
    folder.mkdir()
    if layout == "xz":
        (folder / "training.txt.xz").write_bytes(lzma.compress(LINES.encode()))
    else:
        (folder / "training.txt").write_text(LINES)
    found = load("si650", tmp_path, verify=False, seed=3)
    order = np.random.default_rng(3).permutation(3)
    rows = [("positive", "Good \x85 book."), ("negative", "Bad film."), ("negative", "Good \x85 book.")]
    assert found.train.ids == [str(row) for row in order]
    assert found.train.labels == [(rows[row][0],) for row in order]
    assert found.train.texts == [rows[row][1] for row in order]
    assert len(found.test) == 0


def test_a_malformed_line_is_named(tmp_path):
    (tmp_path / "si650").mkdir()
    (tmp_path / "si650" / "training.txt").write_text("1\tfine\n2\twhat is two\n")
    with pytest.raises(MalformedFileError, match=r"training\.txt, line 2: expected one of 0, 1, a tab and the text"):
        load("si650", tmp_path)


@pytest.mark.collection("si650")
def test_published_counts():
    raw = lzma.decompress((data_root() / "umich-si650" / "training.txt.xz").read_bytes()).decode()
    lines = raw.removesuffix("\n").split("\n")
    assert len(lines) == 7086
    assert Counter(line[0] for line in lines) == {"1": 3995, "0": 3091}
    found = load("si650", seed=5)
    labels, texts = found.train.labels + found.test.labels, found.train.texts + found.test.texts
    assert (len(found.train), len(found.test)) == (1000, 411)
    assert Counter(labels) == {("positive",): 772, ("negative",): 639}
    assert len(set(texts)) == 1410
    assert len({(label, text.lower().strip()) for label, text in zip(labels, texts, strict=True)}) in (1349, 1350)
    assert len({text.lower().strip() for text in texts}) == 1349
    order = np.random.default_rng(5).permutation(1411)
    distinct = list(dict.fromkeys(lines))
    assert found.test.texts == [distinct[row].partition("\t")[2] for row in order[1000:]]


@pytest.mark.collection("si650")
def test_the_seed_makes_the_split():
    assert load("si650", seed=1).train.ids == load("si650", seed=1).train.ids
    assert load("si650", seed=1).train.ids != load("si650", seed=2).train.ids
