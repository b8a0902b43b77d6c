from __future__ import annotations

import gzip
import lzma
from collections import Counter

import numpy as np
import pytest
from scipy.io import loadmat

from bayesift.datasets import MalformedFileError, data_root, load

LINES = "E11 2286 1\nECAT 2286 1\nM11 2287 1\n"


@pytest.mark.parametrize("layout", ["xz", "gz", "plain"])
def test_layouts_of_the_judgements(layout, tmp_path):
    (tmp_path / "rcv1-v2").mkdir()
    name = tmp_path / "rcv1-v2" / "rcv1-v2.topics.qrels"
    pack = {"xz": lzma.compress, "gz": gzip.compress, "plain": bytes}[layout]
    path = name if layout == "plain" else name.with_name(f"{name.name}.{layout}")
    path.write_bytes(pack(LINES.encode()))
    found = load("rcv1", tmp_path, verify=False)
    assert found.train.ids == ["2286", "2287"]
    assert found.train.labels == [("E11", "ECAT"), ("M11",)]
    assert found.categories == ("E11", "ECAT", "M11")
    assert not found.train.has_texts
    assert not found.train.has_matrix


@pytest.mark.parametrize("line", ["M11 2287", "M11 2287 0", "M11 2287 1 1", ""])
def test_a_malformed_line_is_named(line, tmp_path):
    (tmp_path / "rcv1-v2").mkdir()
    (tmp_path / "rcv1-v2" / "rcv1-v2.topics.qrels").write_text(f"E11 2286 1\n{line}\nM11 2288 1\n")
    with pytest.raises(MalformedFileError, match="line 2: expected a topic, a document and 1"):
        load("rcv1", tmp_path)


def test_wrong_subset(tmp_path):
    with pytest.raises(ValueError, match="subset must be None, 1, 2 or 3, found 4"):
        load("rcv1", tmp_path, subset=4)


@pytest.mark.slow
@pytest.mark.collection("rcv1")
def test_published_counts_of_the_judgements():
    found = load("rcv1")
    assert len(found.train) + len(found.test) == 804_414
    assert len(found.train) == 23_149
    assert (found.train.ids[0], found.train.ids[-1]) == ("2286", "26150")
    assert len(found.categories) == 103
    sizes = Counter(topic for split in (found.train, found.test) for labels in split.labels for topic in labels)
    assert sum(sizes.values()) == 2_606_875
    published = {"CCAT": 381_327, "GCAT": 239_267, "MCAT": 204_820, "C15": 151_785}
    assert {topic: sizes[topic] for topic in published} == published
    assert found.indicator("train").shape == (23_149, 103)


@pytest.mark.collection("rcv1")
@pytest.mark.parametrize(("subset", "cardinality", "sets"), [(1, 2.880, 1028), (2, 2.634, 954), (3, 2.614, 939)])
def test_published_counts_of_the_subsets(subset, cardinality, sets):
    found = load("rcv1", subset=subset)
    labels = found.train.labels + found.test.labels
    assert len(labels) == 6000
    assert found.train.matrix.shape == found.test.matrix.shape == (3000, 944)
    assert len(found.categories) == 101
    assert round(sum(map(len, labels)) / 6000, 3) == cardinality
    assert len(set(labels)) == sets
    arrays = loadmat(data_root() / "rcv1-v2" / f"rcv1subset{subset}_top944.mat")
    np.testing.assert_array_equal(found.train.matrix.toarray(), arrays["data"][:3000])
    np.testing.assert_array_equal(found.indicator("test").toarray(), arrays["target"].T[3000:])
    assert set(np.unique(found.train.matrix.data)) == {1.0}
    with pytest.raises(AttributeError, match="has no texts: it has vectors"):
        _ = found.train.texts
