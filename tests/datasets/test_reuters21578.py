from __future__ import annotations

import re
import tarfile
from collections import Counter

import pytest

from bayesift.datasets import dataset_files, load
from bayesift.datasets._collections.reuters21578 import FILES, descriptions, parse, stories
from bayesift.datasets._files import Member

SGML = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5" NEWID="1">
<DATE>26-FEB-1987</DATE>
<MKNOTE>a note</MKNOTE>
<TOPICS><D>tin</D><D>gold</D></TOPICS>
<PLACES><D>usa</D></PLACES>
<TEXT>&#2;
<TITLE>METALS &amp; MORE
</TITLE>
<AUTHOR>    by A. Writer</AUTHOR>
<DATELINE>    LONDON, Feb 26 - </DATELINE><BODY>Gold at &lt;X.Y> rose.
    Tin fell.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="6" NEWID="2">
<TOPICS></TOPICS>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>ONE LINE ONLY</TITLE>Blah blah blah.
&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="7" NEWID="3">
<TOPICS><D>tin</D></TOPICS>
<TEXT TYPE="UNPROC">&#2;
TABLE OF PRICES
    1 2 3 \xfc
&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="8" NEWID="4">
<TOPICS><D>gold</D><D>ship</D></TOPICS>
<TEXT>&#2;
<TITLE>SHIPS</TITLE><BODY>A ship.</BODY></TEXT>
</REUTERS>
"""

PAGE = b"""
Some words (NOT-A-CODE)
****Subject Codes (135)

Shipping (SHIP)
Gross National/Domestic Product (GNP)

**Commodity Codes (78)

TIN

________________________________________________________________

Food and Agriculture Organisation (FAO)@*
Opec (OPEC)
"""


def members() -> list[Member]:
    return [("reut2-000.sgm", SGML.encode("latin-1")), ("cat-descriptions_120396.txt", PAGE)]


def test_text_is_title_newline_body_with_entities_decoded():
    first = next(stories(SGML))
    assert first.text == "METALS & MORE\nGold at <X.Y> rose.\n    Tin fell.\n Reuter"
    assert first.topics == ("gold", "tin")


def test_brief_and_unprocessed_stories():
    _, brief, unprocessed, _ = stories(SGML)
    assert (brief.type, brief.text, brief.body) == ("BRIEF", "ONE LINE ONLY", None)
    assert (unprocessed.type, unprocessed.text) == ("UNPROC", "TABLE OF PRICES\n    1 2 3 \xfc")


def test_split_needs_both_attributes():
    assert parse(members()).groups == ["train", "test", "unused", "test"]


def test_descriptions_stop_at_the_subjects():
    assert descriptions(PAGE.decode()) == {"ship": "Shipping", "gnp": "Gross National/Domestic Product"}


@pytest.mark.parametrize("layout", ["tar.gz, flat", "tar.xz, folder", "unpacked", "unpacked at the root"])
def test_layouts(layout, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    for name, content in members():
        (folder / name).write_bytes(content)
    root = tmp_path / "data"
    place = root if layout.endswith("root") else root / "reuters21578"
    place.mkdir(parents=True)
    if layout.startswith("unpacked"):
        for name in FILES:
            (place / name).touch()
        for name, content in members():
            (place / name).write_bytes(content)
    else:
        kind = layout.split(",")[0].removeprefix("tar.")
        prefix = "./" if layout.endswith("flat") else "reuters21578/"
        with tarfile.open(place / f"reuters21578.tar.{kind}", f"w:{kind}") as archive:
            for name, _ in members():
                archive.add(folder / name, prefix + name)
    found = load("reuters21578", root, verify=False)
    assert found.train.ids == ["1"]
    assert found.test.ids == ["2", "4"]
    assert found.categories == ("gold",)
    assert found.test.labels == [(), ("gold",)]
    every = load("reuters21578", root, verify=False, categories="all", drop_unlabelled=True)
    assert every.categories == ("gold", "ship", "tin")
    assert every.descriptions == {"ship": "Shipping"}
    assert every.test.ids == ["4"]


def test_wrong_option_values(tmp_path):
    with pytest.raises(ValueError, match="categories must be 90, 10 or 'all', found 12"):
        load("reuters21578", tmp_path, categories=12)
    with pytest.raises(TypeError, match="options of 'reuters21578' are categories, drop_unlabelled; found top"):
        load("reuters21578", tmp_path, top=10)


@pytest.fixture(scope="module")
def pages():
    source = dataset_files("reuters21578").locate()
    return {name.rpartition("/")[2]: content for name, content in source.members() if name.endswith(".sgm")}


@pytest.mark.collection("reuters21578")
def test_files_of_the_distribution(pages):
    assert sorted(pages) == [f"reut2-{number:03d}.sgm" for number in range(22)]
    assert [name for name, content in pages.items() for byte in content if byte > 127] == ["reut2-017.sgm"]


@pytest.mark.collection("reuters21578")
def test_published_counts_of_the_stories(pages):
    all_stories = [story for content in pages.values() for story in stories(content.decode("latin-1"))]
    assert len(all_stories) == 21_578
    assert len({story.id for story in all_stories}) == 21_578
    assert Counter(story.group for story in all_stories) == {"train": 9603, "test": 3299, "unused": 8676}
    bodiless = Counter(story.type for story in all_stories if story.body is None)
    assert bodiless == {"UNPROC": 737, "BRIEF": 1798}
    assert bodiless.total() == 2535
    elements = [Counter(re.findall(rb"<(REUTERS|BODY)[ >]", content)) for content in pages.values()]
    assert sum(found[b"REUTERS"] - found[b"BODY"] for found in elements) == 2535
    assert len({topic for story in all_stories for topic in story.topics}) == 120


@pytest.mark.collection("reuters21578")
def test_published_counts_of_the_split():
    every = load("reuters21578", categories="all")
    assert len(every.train.categories) == 115
    assert len(every.test.categories) == 93
    assert sum(map(bool, every.train.labels)) == 7775
    found = load("reuters21578")
    assert (len(found.train), len(found.test), len(found.categories)) == (9603, 3299, 90)
    assert found.categories == tuple(sorted(set(every.train.categories) & set(every.test.categories)))
    labelled = load("reuters21578", drop_unlabelled=True)
    assert (len(labelled.train), len(labelled.test)) == (7770, 3019)


@pytest.mark.collection("reuters21578")
def test_published_counts_of_the_ten_largest():
    published = {
        "earn": (2877, 1087),
        "acq": (1650, 719),
        "money-fx": (538, 179),
        "grain": (433, 149),
        "crude": (389, 189),
        "trade": (369, 117),
        "interest": (347, 131),
        "ship": (197, 89),
        "wheat": (212, 71),
        "corn": (181, 56),
    }
    found = load("reuters21578", categories=10)
    assert (len(found.train), len(found.test)) == (9603, 3299)
    train, test = (found.indicator(split).sum(axis=0).A1.tolist() for split in ("train", "test"))
    assert dict(zip(found.categories, zip(train, test, strict=True), strict=True)) == published


@pytest.mark.collection("reuters21578")
def test_descriptions_of_the_distribution():
    found = load("reuters21578").descriptions
    assert found["money-fx"] == "Money/Foreign Exchange"
    assert found["acq"] == "Mergers/Acquisitions"
    assert "wheat" not in found


@pytest.mark.collection("reuters21578")
def test_texts_are_clean():
    found = load("reuters21578")
    for text in found.train.texts + found.test.texts:
        assert text
        assert not any(character < " " and character not in "\n\t" for character in text)
