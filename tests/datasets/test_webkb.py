from __future__ import annotations

import tarfile
from collections import Counter

import pytest

from bayesift.datasets import load
from bayesift.datasets._collections.webkb import CATEGORIES, UNIVERSITIES, page_text

PAGE = (
    "MIME-Version: 1.0\r\nServer: CERN/3.0\r\n\r\n<HTML><!-- a > b -->\n<title>Home &amp; hearth</title>"
    "<script>var x = 1 < 2;</script><!WA0><p align=left>x &lt; 3 < 4\n</HTML>"
)


def fill(folder):
    for category, university, address in (
        ("student", "cornell", "http:^^a^"),
        ("staff", "texas", "http:^^b^\r"),
        ("course", "misc", "http:^^c^."),
        *((category, "misc", "http:^^d^") for category in ("department", "faculty", "other", "project")),
    ):
        path = folder / category / university / address
        path.parent.mkdir(parents=True)
        path.write_bytes(PAGE.encode("latin-1"))


@pytest.mark.parametrize("layout", ["webkb.tar.xz", "webkb-data.gtar.gz", "unpacked", "unpacked twice"])
def test_layouts(layout, tmp_path):
    work, root = tmp_path / "work", tmp_path / "data"
    (root / "webkb").mkdir(parents=True)
    if layout.startswith("unpacked"):
        fill(root / "webkb" / "webkb" if layout.endswith("twice") else root / "webkb")
    else:
        fill(work)
        with tarfile.open(root / "webkb" / layout, f"w:{layout[-2:]}") as archive:
            archive.add(work, "webkb")
    found = load("webkb", root, verify=False)
    assert found.test.ids == ["student/cornell/http:^^a^"]
    assert (found.train.ids[0], found.train.ids[-1]) == ("course/misc/http:^^c^.", "staff/texas/http:^^b^\r")
    assert len(found.train) == 6
    assert found.categories == CATEGORIES
    four = load("webkb", root, verify=False, categories=4, test_university="texas")
    assert four.train.labels == [("course",), ("faculty",), ("project",), ("student",)]
    assert len(four.test) == 0
    raw = load("webkb", root, verify=False, markup=True)
    assert raw.test.texts == [PAGE]


def test_text_of_a_page():
    assert page_text(PAGE).split() == ["Home", "&", "hearth", "x", "<", "3", "<", "4"]
    garbled = "Date: Mcp: No match.\n96 00:28 GMT\r\nServer: X\r\n\r\n<p>text\n\nmore"
    assert page_text(garbled) == "text\n\nmore"
    assert page_text("<html>No headers: here\n\nand more") == "No headers: here\n\nand more"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_university": "misc"}, "test_university must be one of cornell, texas, washington, wisconsin"),
        ({"categories": 5}, "categories must be 7 or 4, found 5"),
    ],
)
def test_wrong_options(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        load("webkb", tmp_path, **options)


@pytest.mark.collection("webkb")
def test_published_counts():
    published = {"cornell": 867, "texas": 827, "washington": 1205, "wisconsin": 1263}
    for university in UNIVERSITIES:
        found = load("webkb", test_university=university)
        assert len(found.test) == published[university]
        assert len(found.train) + len(found.test) == 8282
    ids = found.train.ids + found.test.ids
    assert len(set(ids)) == 8282
    assert Counter(name.split("/")[1] for name in ids) == {**published, "misc": 4120}
    assert Counter(labels[0] for labels in found.train.labels + found.test.labels) == {
        "student": 1641,
        "faculty": 1124,
        "staff": 137,
        "department": 182,
        "course": 930,
        "project": 504,
        "other": 3764,
    }
    assert sum(name.endswith("\r") for name in ids) == 2
    assert sum(name.endswith(".") for name in ids) == 1
    for text in found.train.texts + found.test.texts:
        assert not text.startswith(("MIME-Version:", "Server:", "WWW Alert:"))


@pytest.mark.collection("webkb")
def test_header_lines_end_in_carriage_return_and_newline():
    found = load("webkb", markup=True, categories=4)
    headed = [text for text in found.train.texts if text.startswith("MIME-Version:")]
    assert headed
    assert all(text.split("\n", 1)[0].endswith("\r") for text in headed)
