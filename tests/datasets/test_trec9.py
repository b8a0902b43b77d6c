from __future__ import annotations

from collections import Counter

import pytest

from bayesift.datasets import MalformedFileError, MissingDataError, data_root, load
from bayesift.datasets._collections.trec9 import judgements

TOPICS = "<top>\n<num> Number: OHSU1\n<title> a man\n<desc> Description:\nwhat ails\nhim\n</top>\n"


def test_reading(tmp_path):
    folder = tmp_path / "ohsumed" / "trec9-filtering"
    folder.mkdir(parents=True)
    (folder / "query.ohsu.1-63").write_text(TOPICS)
    with pytest.raises(MissingDataError, match=r"trec9 is not in the data root .* qrels\.ohsu\.88-91"):
        load("trec9", tmp_path, verify=False)
    (folder / "qrels.ohsu.88-91").write_text("OHSU1\t22\t1\nOHSU1\t11\t2\n")
    found = load("trec9", tmp_path, verify=False, level=2)
    assert found.descriptions == {"OHSU1": "a man\nwhat ails\nhim"}
    assert dict(zip(found.test.ids, found.test.labels, strict=True)) == {"11": ("OHSU1",), "22": ()}
    with pytest.raises(AttributeError, match="no texts: the data come as judgements only"):
        _ = found.test.texts
    (folder / "qrels.ohsu.88-91").write_text("OHSU1\t22\t1\nOHSU1\t11\t3\n")
    with pytest.raises(MalformedFileError, match=r"qrels\.ohsu\.88-91, line 2"):
        load("trec9", tmp_path, verify=False)
    with pytest.raises(ValueError, match="level must be 1 or 2, found 0"):
        load("trec9", tmp_path, level=0)


@pytest.mark.collection("trec9")
def test_published_counts():
    qrels = data_root() / "ohsumed" / "trec9-filtering" / "qrels.ohsu.88-91"
    rows = judgements("qrels", qrels.read_text())
    assert len(rows) == 3205
    assert Counter(level for _, _, level in rows) == {1: 1649, 2: 1556}
    found = load("trec9")
    assert len(found.categories) == len(found.test.categories) == len(found.descriptions) == 63
    assert (len(found.train), len(found.test)) == (0, 3121)
    assert found.indicator("test").sum() == 3205
    assert load("trec9", level=2).indicator("test").sum() == 1556
