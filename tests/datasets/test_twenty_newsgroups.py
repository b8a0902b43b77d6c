from __future__ import annotations

import tarfile
from collections import Counter

import pytest

from bayesift.datasets import load
from bayesift.datasets._collections.twenty_newsgroups import subject_and_body

MESSAGE = "From: a@b.c\nSubject: Re: engines,\n  large and small\nLines: 2\n\nFirst line.\n\nLast \xe9 line.\n"


def fill(folder):
    for split, group, number in (
        ("train", "sci.space", 10),
        ("train", "sci.space", 9),
        ("train", "rec.autos", 7),
        ("test", "rec.autos", 8),
    ):
        path = folder / f"20news-bydate-{split}" / group / str(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(MESSAGE.replace("2", str(number)).encode("latin-1"))


@pytest.mark.parametrize("layout", ["tar.gz", "tar.xz", "unpacked", "unpacked at the root"])
def test_layouts(layout, tmp_path):
    work, root = tmp_path / "work", tmp_path / "data"
    place = root if layout.endswith("root") else root / "20news-bydate"
    place.mkdir(parents=True)
    fill(place if layout.startswith("unpacked") else work)
    if layout.startswith("tar"):
        with tarfile.open(place / f"20news-bydate.{layout}", f"w:{layout[4:]}") as archive:
            for path in sorted(work.iterdir()):
                archive.add(path, path.name)
    found = load("20newsgroups", root, verify=False)
    assert found.train.ids == ["rec.autos/7", "sci.space/9", "sci.space/10"]
    assert found.train.labels == [("rec.autos",), ("sci.space",), ("sci.space",)]
    assert found.test.texts == [MESSAGE.replace("2", "8")]
    assert found.categories == ("rec.autos", "sci.space")


def test_subject_and_body_only():
    assert subject_and_body(MESSAGE) == "Re: engines, large and small\nFirst line.\n\nLast \xe9 line.\n"
    assert subject_and_body("From: a\n\nbody") == "body"
    assert subject_and_body("From: a\nsubject: b") == "b\n"
    assert subject_and_body("From: a\n\nSubject: not a header") == "Subject: not a header"


def test_wrong_option_value(tmp_path):
    with pytest.raises(ValueError, match="headers must be 'all' or 'subject', found 'none'"):
        load("20newsgroups", tmp_path, headers="none")


@pytest.mark.collection("20newsgroups")
def test_published_counts():
    found = load("20newsgroups")
    assert (len(found.train), len(found.test), len(found.categories)) == (11_314, 7_532, 20)
    for split, least, most in ((found.train, 377, 600), (found.test, 251, 399)):
        sizes = Counter(split.labels).values()
        assert (min(sizes), max(sizes)) == (least, most)
    assert all("\n\n" in text for text in found.train.texts)


@pytest.mark.collection("20newsgroups")
def test_subject_and_body_of_the_real_messages():
    whole, short = load("20newsgroups"), load("20newsgroups", headers="subject")
    assert short.train.ids == whole.train.ids
    assert sum(len(text) for text in short.train.texts) < sum(len(text) for text in whole.train.texts)
    assert sum("\nOrganization:" in text for text in whole.train.texts) > 10_000
    assert sum("\nOrganization:" in text for text in short.train.texts) < 200
