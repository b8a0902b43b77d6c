from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from bayesift.datasets import data_root, describe, load

CSV = (
    "record_id,pubmedID,title,abstract,label_abstract_screening,label_included\n"
    '1,77,"A title, long","Line one.\nLine two.",1,1\n2,,No abstract,,1,0\n3,79,Out,Away,0,0\n'
)
PUBLISHED = {
    "ACEInhibitors": (2544, 183, 41),
    "ADHD": (851, 84, 20),
    "Antihistamines": (310, 92, 16),
    "AtypicalAntipsychotics": (1120, 363, 146),
    "BetaBlockers": (2072, 302, 42),
    "CalciumChannelBlockers": (1218, 279, 100),
    "Estrogens": (368, 80, 80),
    "NSAIDS": (393, 88, 41),
    "Opioids": (1915, 48, 15),
    "OralHypoglycemics": (503, 139, 136),
    "ProtonPumpInhibitors": (1333, 238, 51),
    "SkeletalMuscleRelaxants": (1643, 34, 9),
    "Triptans": (671, 218, 24),
    "UrinaryIncontinence": (327, 78, 40),
}


@pytest.mark.parametrize("layout", ["tar.xz", "unpacked"])
def test_layouts(layout, tmp_path):
    work, folder = tmp_path / "work", tmp_path / "cohen2006"
    folder.mkdir()
    work.mkdir()
    (work / "ADHD.csv").write_text(CSV)
    if layout == "unpacked":
        (folder / "ADHD.csv").write_text(CSV)
    else:
        with tarfile.open(folder / "cohen2006.tar.xz", "w:xz") as archive:
            archive.add(work, "cohen2006")
    found = load("cohen2006", tmp_path, verify=False, review="ADHD")
    assert found.train.texts == ["A title, long\nLine one.\nLine two.", "No abstract", "Out\nAway"]
    assert found.train.labels == [("abstract", "included"), ("abstract",), ()]
    assert found.train.ids == ["77", "record 2", "79"]
    with pytest.raises(ValueError, match="review must be one of ADHD, found 'Statins'"):
        load("cohen2006", tmp_path, verify=False, review="Statins")


@pytest.mark.collection("cohen2006")
@pytest.mark.parametrize("review", PUBLISHED)
def test_published_counts(review):
    found = load("cohen2006", review=review)
    kept = found.indicator("train").sum(axis=0).A1
    assert (len(found.train), *kept) == PUBLISHED[review]
    assert len(found.test) == 0
    assert found.categories == ("abstract", "included")


@pytest.mark.collection("cohen2006")
def test_columns_of_the_files():
    with tarfile.open(data_root() / "cohen2006" / "cohen2006.tar.xz") as archive:
        headers = {
            Path(member.name).stem: archive.extractfile(member).readline().decode().strip().split(",")
            for member in archive
            if member.isfile()
        }
    assert set(headers) == set(PUBLISHED)
    assert {name for name, columns in headers.items() if "keywords" not in columns} == {"ACEInhibitors"}
    assert {name for name, columns in headers.items() if "year" in columns} == {"ACEInhibitors"}


@pytest.mark.collection("cohen2006")
def test_the_reviews_and_their_gaps():
    with pytest.raises(ValueError, match="ACEInhibitors, ADHD") as error:
        load("cohen2006", review="Statins")
    assert str(error.value).count(",") == 14
    bare = [
        sum("\n" not in text for text in load("cohen2006", review=review).train.texts) / size
        for review, (size, _, _) in PUBLISHED.items()
    ]
    assert f"{100 * min(bare):.0f} to {100 * max(bare):.0f} %" == "5 to 18 %"
    assert "which 5 to 18 % lack" in describe("cohen2006").summary
