from __future__ import annotations

import tarfile

import pytest

from bayesift.datasets import dataset_files, load

FILES = {"training/C01/0000002": "b", "training/C01/0000001": "a", "training/C23/0000001": "a", "test/C05/0000007": "c"}


@pytest.mark.parametrize("layout", ["tar.xz", "tar.gz", "unpacked", "unpacked as it comes"])
def test_layouts(layout, tmp_path):
    top = "ohsumed-first-20000-docs"
    work, root = tmp_path / "work", tmp_path / "data"
    (root / "ohsumed").mkdir(parents=True)
    place = {"unpacked": root / "ohsumed", "unpacked as it comes": root / "ohsumed" / top}.get(layout, work)
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"Title {text}.\n Abstract.\n")
    if layout.startswith("tar"):
        with tarfile.open(root / "ohsumed" / f"{top}.{layout}", f"w:{layout[4:]}") as archive:
            archive.add(work, top)
    found = load("ohsumed", root, verify=False)
    assert found.train.ids == ["0000001", "0000002"]
    assert found.train.labels == [("C01", "C23"), ("C01",)]
    assert found.test.texts == ["Title c.\n Abstract.\n"]
    assert len(found.categories) == 23


@pytest.mark.slow
@pytest.mark.collection("ohsumed")
def test_published_counts():
    found = load("ohsumed")
    assert (len(found.train), len(found.test)) == (6286, 7643)
    assert (found.indicator("train").sum(), found.indicator("test").sum()) == (10_433, 12_733)
    assert found.train.categories == found.test.categories == found.categories
    assert len(found.categories) == 23
    assert len({*found.train.ids, *found.test.ids}) == 13_929


@pytest.mark.slow
@pytest.mark.collection("ohsumed")
def test_equal_numbers_have_equal_contents():
    source = dataset_files("ohsumed").locate()
    contents: dict[str, bytes] = {}
    for name, content in source.members():
        assert contents.setdefault(name.rpartition("/")[2], content) == content
