from __future__ import annotations

import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.datasets import cache_root, load
from bayesift.datasets._parsed import Parsed, cached_parsed, load_parsed, save_parsed

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
rows = st.lists(st.tuples(text, st.sampled_from(["train", "test"]), st.lists(text, max_size=3), text), max_size=6)


@given(rows, st.dictionaries(text, text, max_size=3), st.booleans())
def test_what_is_saved_is_loaded(tmp_path_factory, found, notes, has_texts):
    table = Parsed(
        ids=[row[0] for row in found],
        groups=[row[1] for row in found],
        labels=[tuple(row[2]) for row in found],
        texts=[row[3] for row in found] if has_texts else None,
        notes=notes,
    )
    path = tmp_path_factory.mktemp("cache") / "table.npz"
    save_parsed(table, path)
    assert load_parsed(path) == table


PARSED = Parsed(ids=["1", "2"], groups=["train", "test"], labels=[("a",), ()], texts=["one", "zwölf"])


def test_parsed_once(tmp_path):
    calls = []

    def parse():
        calls.append(1)
        return PARSED

    path = tmp_path / "deep" / "table.npz"
    assert cached_parsed(path, parse) == PARSED
    assert cached_parsed(path, parse) == PARSED
    assert len(calls) == 1
    assert os.listdir(path.parent) == ["table.npz"]


def cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def flip(path):
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("text_bytes.npy").header_offset
    content = bytearray(path.read_bytes())
    place = content.index(b"one", start)
    content[place] ^= 1
    path.write_bytes(bytes(content))


def drop_rows(path):
    with np.load(path) as arrays:
        kept = dict(arrays)
    kept["set_codes"] = kept["set_codes"][:1]
    np.savez(path, **kept)


@pytest.mark.parametrize(
    "harm",
    [cut, flip, drop_rows, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"garbage")],
)
def test_a_broken_cache_is_rebuilt(tmp_path, harm):
    path = tmp_path / "table.npz"
    save_parsed(PARSED, path)
    harm(path)
    assert cached_parsed(path, lambda: PARSED) == PARSED
    assert load_parsed(path) == PARSED


def test_a_cache_that_can_not_be_written_costs_nothing_else(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert cached_parsed(blocked / "table.npz", lambda: PARSED) == PARSED


def test_a_changed_source_is_parsed_again(tmp_path):
    path, other = (tmp_path / f"20news-bydate-{split}" / "sci.space" / "1" for split in ("train", "test"))
    for place in (path, other):
        place.parent.mkdir(parents=True)
        place.write_text("Subject: a\n\nfirst")
    assert load("20newsgroups", tmp_path).train.texts == ["Subject: a\n\nfirst"]
    path.write_text("Subject: a\n\nsecond")
    assert load("20newsgroups", tmp_path).train.texts == ["Subject: a\n\nsecond"]


def test_the_cache_of_the_tests_is_not_the_user_s():
    assert "bayesift-tests-" in str(cache_root())
