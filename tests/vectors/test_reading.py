"""Files of word2vec, GloVe and fastText: read alike, and refused where they are damaged or lie."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayesift.datasets import MalformedFileError
from bayesift.vectors import WordVectors

WORDS = ["wheat", "Zürich", "小麦", "new york"]
ROWS = np.array([[3.0, 4.0, 0.0], [0.0, -1.0, 0.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]], dtype=np.float32)


def as_text(header, end="\n"):
    lines = [f"{len(WORDS)} 3"] if header else []
    lines += [f"{word} {' '.join(f'{number:.6g}' for number in row)}" for word, row in zip(WORDS, ROWS, strict=True)]
    return (end.join(lines) + end).encode()


def as_binary(words, between=b""):
    pairs = zip(words, ROWS, strict=True)
    return b"%d 3\n" % len(words) + b"".join(word.encode() + b" " + row.tobytes() + between for word, row in pairs)


FILES = {
    "glove.txt": as_text(header=False),
    "windows.txt": as_text(header=False, end="\r\n"),
    "fasttext.vec": as_text(header=True),
    "fasttext.vec.gz": gzip.compress(as_text(header=True), mtime=0),
    "fasttext.vec.xz": lzma.compress(as_text(header=True)),
    "glove.bz2": bz2.compress(as_text(header=False)),
    "word2vec.bin": as_binary(["wheat", "Zürich", "小麦", "new_york"]),
    "lines.bin": as_binary(["wheat", "Zürich", "小麦", "new_york"], b"\n"),
    "word2vec.bin.gz": gzip.compress(as_binary(["wheat", "Zürich", "小麦", "new_york"]), mtime=0),
}


@pytest.mark.parametrize("name", FILES)
def test_all_formats_say_the_same(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    found = WordVectors.read(path)
    assert [word.replace("_", " ") for word in found.words_] == WORDS
    assert_allclose(found.vectors_, ROWS)
    assert found.get_params()["rank"] == 3
    some = WordVectors.read(path, vocabulary=["小麦", "wheat", "unheard"])
    assert some.words_.tolist() == ["wheat", "小麦"]
    assert_allclose(some.vectors_, ROWS[[0, 2]])
    assert WordVectors.read(path, limit=2).words_.tolist() == WORDS[:2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no vector"),
        (b"\n\n", "no vector"),
        (b"wheat\n", "no vector"),
        (b"wheat 1 2 3\ncorn 1 2\n", "line 2: 2 numbers after the word; expected 3"),
        (b"wheat 1 2 3\ncorn 1 two 3\n", "line 2: not all entries after the word are numbers"),
        (b"wheat 1 2 nan\n", "line 1: a number is not finite"),
        (b"wheat 1 2 1e30\n", "above 1e18"),
        (b"3 2\nwheat 1 2\ncorn 1 2\n", "3 vectors are announced, 2 follow"),
        (b"1 2\nwheat 1 2\ncorn 1 2\n", "1 vectors are announced, 2 follow"),
        (b"5 0\nwheat\n", "5 vectors of length 0"),
        (b"5 99999999999\nwheat 1\n", "length 99999999999"),
        (b"99999999999 3\n" + b"wheat " + ROWS[0].tobytes(), "cut short"),
        (as_binary(["wheat"] * 4)[:-1], "4 vectors of length 3 are announced, 3 can be read"),
        (b"2 3\n" + b"x" * 2_000_000, "cut short"),
        (b"wheat " + b"1" * 200_000, "line 1: it is longer than"),
        (b"1 3\nwheat " + np.array([1, np.inf, 2], np.float32).tobytes(), "word 1: a number is not finite"),
    ],
    ids=range(16),
)
def test_files_that_are_refused(tmp_path, content, message):
    path = tmp_path / "vectors.bin"
    path.write_bytes(content)
    with pytest.raises(MalformedFileError, match=message):
        WordVectors.read(path)


@pytest.mark.parametrize("content", [FILES["fasttext.vec.gz"][:-9], b"no gzip"], ids=["short", "other"])
def test_packed_files_that_are_damaged(tmp_path, content):
    path = tmp_path / "vectors.vec.gz"
    path.write_bytes(content)
    with pytest.raises(MalformedFileError, match="damaged or cut short"):
        WordVectors.read(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(FILES)), st.binary(max_size=8), st.integers(0, 120), st.integers(0, 8))
def test_any_damage_is_an_error_or_numbers(tmp_path, name, given_bytes, place, removed):
    content = FILES[name]
    path = tmp_path / name
    path.write_bytes(content[:place] + given_bytes + content[place + removed :])
    try:
        found = WordVectors.read(path)
    except MalformedFileError:
        return
    assert np.isfinite(found.vectors_).all()
    assert len(found.words_) == len(set(found.words_)) == len(found.vectors_) > 0


def test_nothing_of_the_vocabulary(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(FILES["glove.txt"])
    with pytest.raises(MalformedFileError, match="without a vector for any word of the vocabulary"):
        WordVectors.read(path, vocabulary=["unheard"])
    with pytest.raises(FileNotFoundError):
        WordVectors.read(tmp_path / "missing.vec")
    with pytest.raises(ValueError, match="limit is 0"):
        WordVectors.read(path, limit=0)
