from __future__ import annotations

import json
import lzma

import pytest

from bayesift.datasets import MalformedFileError, MissingDataError, describe, load

CSV = "doi,title,abstract,label_included\nhttps://doi.org/1,A title,Line one.,1\n,No abstract,,0\n"
#: Records and included ones, as the collection states them.
PUBLISHED = {
    "Appenzeller-Herzog_2019": (2873, 26),
    "Donners_2021": (258, 15),
    "Menon_2022": (975, 74),
    "Sep_2021": (271, 40),
    "van_der_Valk_2021": (725, 89),
}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "synergy"
    folder.mkdir()
    (folder / "Sep_2021.csv.xz").write_bytes(lzma.compress(CSV.encode()))
    said = {"Sep_2021": {"title": "Rodents", "inclusion_criteria": "- rats", "exclusion_criteria": "- cats"}}
    (folder / "criteria.json").write_text(json.dumps(said), encoding="utf-8")
    return folder


def test_records_and_protocol(folder):
    found = load("synergy", folder.parent, verify=False, review="Sep_2021")
    assert found.train.texts == ["A title\nLine one.", "No abstract"]
    assert found.train.labels == [("included",), ()]
    assert found.train.ids == ["https://doi.org/1", "record 1"]
    assert found.protocol == {"title": "Rodents", "inclusion_criteria": "- rats", "exclusion_criteria": "- cats"}
    assert found.descriptions == {"included": "Rodents\n- rats"}


def test_a_review_needs_its_own_file_and_a_name_that_exists(folder):
    with pytest.raises(MissingDataError, match=r"synergy/ to hold Donners_2021\.csv\.xz"):
        load("synergy", folder.parent, verify=False, review="Donners_2021")
    with pytest.raises(ValueError, match=r"review must be one of Appenzeller-Herzog_2019, .* found 'Sep'"):
        load("synergy", folder.parent, review="Sep")


@pytest.mark.parametrize("content", ["[1, 2]", "{", '{"Sep_2021": "- rats"}'])
def test_criteria_that_are_none(folder, content):
    (folder / "criteria.json").write_text(content, encoding="utf-8")
    with pytest.raises(MalformedFileError, match=r"criteria\.json.*expected a JSON object"):
        load("synergy", folder.parent, verify=False, review="Sep_2021")


def test_a_table_without_decisions_is_refused(folder):
    (folder / "Sep_2021.csv.xz").write_bytes(lzma.compress(b"doi,title\n1,a\n"))
    with pytest.raises(MalformedFileError, match=r"Sep_2021.*found no abstract and no label_included"):
        load("synergy", folder.parent, verify=False, review="Sep_2021")


@pytest.mark.collection("synergy")
@pytest.mark.parametrize("review", PUBLISHED)
def test_published_counts(review):
    found = load("synergy", review=review)
    assert (len(found.train), found.indicator("train").sum()) == PUBLISHED[review]
    assert len(found.test) == 0
    assert set(found.protocol) >= {"inclusion_criteria", "exclusion_criteria", "research_questions"}
    assert found.protocol["inclusion_criteria"] in found.descriptions["included"]


@pytest.mark.collection("synergy")
def test_the_share_without_abstract_is_as_described():
    bare = [
        sum("\n" not in text for text in load("synergy", review=review).train.texts) / size
        for review, (size, _) in PUBLISHED.items()
    ]
    assert f"{100 * min(bare):.0f} to {100 * max(bare):.0f} %" == "0 to 24 %"
    assert "which 0 to 24 % lack" in describe("synergy").summary
