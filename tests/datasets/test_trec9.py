from __future__ import annotations

import gzip
from collections import Counter

import pytest

from bayesift.datasets import MalformedFileError, MissingDataError, data_root, load
from bayesift.datasets._collections.trec9 import judgements, records

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
    with pytest.raises(AttributeError, match="no texts: it has labels only"):
        _ = found.test.texts
    (folder / "qrels.ohsu.88-91").write_text("OHSU1\t22\t1\nOHSU1\t11\t3\n")
    with pytest.raises(MalformedFileError, match=r"qrels\.ohsu\.88-91, line 2"):
        load("trec9", tmp_path, verify=False)
    with pytest.raises(ValueError, match="level must be 1 or 2, found 0"):
        load("trec9", tmp_path, level=0)


RECORDS_87 = """.I 1
.U
87000011
.S
Journal of Ails 8701; 1(1):1-2
.M
Humans; Ails.
.T
A first
 ailment.
.P
JOURNAL ARTICLE.
.W
Nothing .I can be said of it.
.A
Doe J; Roe R.
.I 2
.U
87000012
.T
Without abstract.
"""
RECORDS_88 = RECORDS_87.replace(".I 1\n", ".I 4\n").replace(".I 2\n", ".I 3\n").replace("870000", "880000")


@pytest.mark.parametrize("packed", [False, True])
def test_records_in_the_format_of_the_track(tmp_path, packed):
    folder = tmp_path / "ohsumed" / "trec9-filtering"
    folder.mkdir(parents=True)
    (folder / "query.ohsu.1-63").write_text(TOPICS)
    (folder / "qrels.ohsu.88-91").write_text("OHSU1\t88000011\t2\nOHSU1\t88000012\t1\n")
    with pytest.raises(MissingDataError, match=r"qrels\.ohsu\.batch\.87"):
        load("trec9", tmp_path, verify=False, documents=True)
    (folder / "qrels.ohsu.batch.87").write_text("OHSU1\t87000012\t2\n")
    with pytest.raises(MissingDataError, match=r"ohsumed\.87 and ohsumed\.88-91"):
        load("trec9", tmp_path, verify=False, documents=True)
    for name, page in (("ohsumed.87", RECORDS_87), ("ohsumed.88-91", RECORDS_88)):
        content = page.encode("latin-1")
        (folder / (name + ".gz" * packed)).write_bytes(gzip.compress(content) if packed else content)
    found = load("trec9", tmp_path, verify=False, documents=True, level=2)
    assert found.train.ids == ["87000011", "87000012"]
    assert found.train.texts == [
        "A first ailment.\nNothing .I can be said of it.\nDoe J; Roe R.\nJournal of Ails 8701; 1(1):1-2",
        "Without abstract.",
    ]
    assert found.train.labels == [(), ("OHSU1",)]
    # The stream follows the numbers after .I, not the order of the file.
    assert found.test.ids == ["88000012", "88000011"]
    assert found.test.labels == [(), ("OHSU1",)]
    with pytest.raises(ValueError, match="documents must be True or False, found 'all'"):
        load("trec9", tmp_path, verify=False, documents="all")


@pytest.mark.parametrize(
    ("page", "line"),
    [
        (".T\nno number\n", 1),
        ("\nstray\n.I 1\n", 2),
        (".I 1\n.U\n5\n.I 2\n.T\nno identifier\n", 4),
        (".I x\n.U\n5\n", 1),
    ],
)
def test_bad_records_are_named_by_their_line(page, line):
    with pytest.raises(MalformedFileError, match=f"ohsumed.87, line {line}"):
        list(records("ohsumed.87", page))


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
