from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from sklearn.preprocessing import MultiLabelBinarizer

from bayesift.datasets import (
    ChecksumError,
    Collection,
    DamagedFileError,
    MissingDataError,
    Split,
    available,
    cache_root,
    data_root,
    describe,
    known,
    load,
    stop_words,
)
from bayesift.datasets._collections.reuters21578 import FILES
from bayesift.datasets._collections.webkb import CATEGORIES
from bayesift.datasets._registry import COLLECTIONS


def test_data_root_argument_then_variable_then_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("BAYESIFT_DATA", str(tmp_path / "variable"))
    assert data_root(tmp_path / "argument") == tmp_path / "argument"
    assert data_root("~/x") == Path.home() / "x"
    assert data_root() == tmp_path / "variable"
    monkeypatch.setenv("BAYESIFT_DATA", "")
    monkeypatch.setenv("BAYESIFT_CACHE", str(tmp_path / "cache"))
    assert data_root() == tmp_path / "cache" / "data"
    monkeypatch.delenv("BAYESIFT_CACHE")
    assert cache_root() == platformdirs.user_cache_path("bayesift", appauthor=False)


@pytest.mark.parametrize("name", [name for name in COLLECTIONS if name != "newsroom"])
def test_missing_data_name_the_collection_the_place_and_the_command(name, empty_root):
    with pytest.raises(MissingDataError) as error:
        load(name)
    assert isinstance(error.value, FileNotFoundError)
    assert str(error.value).startswith(f"{name} is not in the data root {empty_root}")
    assert f"bayesift data fetch {name}" in str(error.value)
    assert os.listdir(empty_root) == []


def test_missing_stop_words_are_reported_alike(empty_root):
    with pytest.raises(MissingDataError, match=r"stopwords/ to hold SMART\.txt .*bayesift data fetch smart"):
        stop_words("smart")
    with pytest.raises(ValueError, match="name must be one of smart, found 'snowball'"):
        stop_words("snowball")


def test_stop_words_of_the_upstream_file(tmp_path):
    (tmp_path / "stopwords").mkdir()
    (tmp_path / "stopwords" / "english.stop").write_text("a\na's\n\nthe\n")
    assert stop_words("smart", tmp_path) == {"a", "a's", "the"}


@pytest.mark.collection("smart")
def test_smart_has_571_lines_of_which_one_is_repeated():
    words = (data_root() / "stopwords" / "SMART.txt").read_text().split()
    assert len(words) == 571
    assert {word for word in words if words.count(word) > 1} == {"would"}
    assert stop_words("smart") == frozenset(words)


def test_known_and_available(empty_root):
    assert available() == ("newsroom",)
    assert set(known()) == {
        *("newsroom", "reuters21578", "20newsgroups", "si650", "webkb"),
        *("ohsumed", "trec9", "rcv1", "sms", "cohen2006", "synergy"),
    }
    (empty_root / "sms-spam").mkdir()
    (empty_root / "sms-spam" / "SMSSpamCollection").write_text("ham\thello\n")
    assert available() == ("newsroom", "sms")


def test_unknown_names_and_options(tmp_path):
    with pytest.raises(ValueError, match=r"name must be one of newsroom, .* found 'reuters'"):
        load("reuters", tmp_path)
    with pytest.raises(TypeError, match="options of 'newsroom' are none; found seed"):
        load("newsroom", seed=1)


@pytest.mark.parametrize("name", ["si650", "sms"])
@pytest.mark.parametrize("seed", ["x", -1, 1.5, True])
def test_a_wrong_seed_is_named_before_the_data_are_looked_for(name, seed, empty_root):
    with pytest.raises(ValueError, match=f"seed must be a whole number of at least 0, found {seed!r}"):
        load(name, seed=seed)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_describe(name, tmp_path):
    facts = describe(name, tmp_path)
    page = str(facts)
    for part in (facts.title, facts.summary, facts.citation, facts.terms, facts.homepage, *facts.options):
        assert part
        assert part in page
    assert facts.present == (name == "newsroom")
    assert ("not there yet" in page) == (name != "newsroom")
    assert all(len(archive.sha256) == 64 for archive in COLLECTIONS[name].archives if archive.sha256)


def test_a_wrong_checksum_is_an_error_unless_told_otherwise(tmp_path):
    (tmp_path / "sms-spam").mkdir()
    path = tmp_path / "sms-spam" / "SMSSpamCollection.xz"
    path.write_bytes(b"ham\thello\n")
    with pytest.raises(ChecksumError, match=r"SMSSpamCollection\.xz has SHA-256 \w{64}, expected 1f4576654820"):
        load("sms", tmp_path)
    assert load("sms", tmp_path, verify=False).train.texts == ["hello"]


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b\x08\x00 cut short"])
def test_a_damaged_archive_is_named(content, tmp_path):
    (tmp_path / "webkb").mkdir()
    (tmp_path / "webkb" / "webkb-data.gtar.gz").write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"webkb-data\.gtar\.gz cannot be read, it is damaged or cut short: \w"):
        load("webkb", tmp_path)


@pytest.mark.parametrize(
    ("name", "parts", "missing"),
    [
        ("20newsgroups", ["20news-bydate-train/sci.space/1", "20news-bydate-test/sci.space/2"], "20news-bydate-test"),
        ("ohsumed", ["ohsumed/training/C01/1", "ohsumed/test/C01/2"], "test"),
        ("webkb", [f"webkb/{category}/cornell/a" for category in CATEGORIES], "student"),
        ("reuters21578", [f"reuters21578/{file}" for file in ("cat-descriptions_120396.txt", *FILES)], "reut2-021.sgm"),
    ],
)
def test_an_unpacked_copy_counts_only_when_it_is_whole(name, parts, missing, tmp_path):
    *present, last = (tmp_path / part for part in parts)
    for path in present:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Subject: a\n\nwords")
        (path.parent / ".DS_Store").write_bytes(b"\0")
    last.parent.mkdir(parents=True, exist_ok=True)
    (last.parent / ".DS_Store").write_bytes(b"\0")
    assert name not in available(tmp_path)
    with pytest.raises(
        MissingDataError, match=rf"expected .*, and the copy in \S+ lacks {missing}; run: bayesift data"
    ):
        load(name, tmp_path)
    last.write_text("Subject: a\n\nwords")
    found = load(name, tmp_path)
    documents = 0 if name == "reuters21578" else len(parts)
    assert len(found.train) + len(found.test) == documents


def test_hidden_files_of_an_archive_do_not_count(tmp_path):
    with tarfile.open(tmp_path / "20news-bydate.tar.gz", "w:gz") as archive:
        for name in ("20news-bydate-train/sci.space/1", "20news-bydate-train/._sci.space", ".DS_Store"):
            member = tarfile.TarInfo(f"./{name}")
            member.size = 5
            archive.addfile(member, io.BytesIO(b"words"))
    assert load("20newsgroups", tmp_path, verify=False).train.ids == ["sci.space/1"]


def test_newsroom():
    news = load("newsroom")
    assert len(news.train) + len(news.test) >= 400
    assert len(news.train) > len(news.test) > 0
    assert len(news.categories) == 9
    assert set(news.descriptions) == set(news.categories) == set(news.train.categories)
    assert set(news.test.categories) <= set(news.categories)
    assert all(isinstance(text, str) and text for text in news.train.texts)
    assert not set(news.train.ids) & set(news.test.ids)


def test_indicator_equals_scikit_learn_s():
    news = load("newsroom")
    binarizer = MultiLabelBinarizer(classes=news.categories, sparse_output=True)
    expected = binarizer.fit_transform(news.test.labels)
    found = news.indicator("test")
    assert found.dtype == np.int64 == expected.dtype
    assert found.has_sorted_indices
    assert (found != expected).nnz == 0


def test_indicator_leaves_other_labels_out_and_counts_without_overflow():
    split = Split([("a", "b")] * 300 + [()], [str(number) for number in range(301)], [""] * 301)
    assert split.categories == ("a", "b")
    assert split.indicator(["b", "z"]).toarray().sum(axis=0).tolist() == [300, 0]
    both = split.indicator()
    assert (both.T @ both).toarray().tolist() == [[300, 300], [300, 300]]
    with pytest.raises(ValueError, match="split must be 'train' or 'test', found 'all'"):
        Collection("x", split, split, ("a", "b")).indicator("all")


def test_an_empty_split_has_an_empty_indicator():
    assert Split([], [], []).indicator(["a"]).shape == (0, 1)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"must have the same length, found {'labels': 1, 'ids': 2}"):
        Split([()], ["1", "2"])
    with pytest.raises(AttributeError, match="no matrix: it has texts"):
        _ = Split([()], ["1"], ["text"]).matrix
