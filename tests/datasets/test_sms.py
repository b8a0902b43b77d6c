from __future__ import annotations

import lzma
import zipfile
from collections import Counter

import numpy as np
import pytest

from bayesift.datasets import data_root, load

LINES = "ham\tsee you at \x94eight\x94\nspam\tWIN a prize £\n"


@pytest.mark.parametrize("layout", ["xz", "zip", "zip by its new name", "plain", "unpacked folder"])
def test_layouts(layout, tmp_path):
    folder = tmp_path / "sms-spam"
    folder.mkdir()
    content = LINES.encode()
    if layout == "xz":
        (folder / "SMSSpamCollection.xz").write_bytes(lzma.compress(content))
    elif layout.startswith("zip"):
        name = "smsspamcollection.zip" if layout == "zip" else "sms+spam+collection.zip"
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("SMSSpamCollection", content)
            archive.writestr("readme", "words of the makers")
    elif layout == "plain":
        (folder / "SMSSpamCollection").write_bytes(content)
    else:
        (folder / "smsspamcollection").mkdir()
        (folder / "smsspamcollection" / "SMSSpamCollection").write_bytes(content)
        (folder / "smsspamcollection" / "readme").write_text("words")
    found = load("sms", tmp_path, verify=False)
    assert found.train.texts == ["see you at \x94eight\x94", "WIN a prize £"]
    assert found.train.labels == [("ham",), ("spam",)]
    assert found.categories == ("ham", "spam")


@pytest.mark.collection("sms")
def test_published_counts():
    raw = lzma.decompress((data_root() / "sms-spam" / "SMSSpamCollection.xz").read_bytes())
    assert len(raw) == 477_907
    found = load("sms")
    assert (len(found.train), len(found.test)) == (1674, 3900)
    assert Counter(found.train.labels + found.test.labels) == {("ham",): 4827, ("spam",): 747}
    rebuilt = [
        f"{labels[0]}\t{text}\n"
        for split in (found.train, found.test)
        for labels, text in zip(split.labels, split.texts, strict=True)
    ]
    assert "".join(rebuilt).encode() == raw


@pytest.mark.collection("sms")
def test_a_seed_shuffles():
    order = np.random.default_rng(4).permutation(5574)
    assert load("sms", seed=4).train.ids == [str(row + 1) for row in order[:1674]]
