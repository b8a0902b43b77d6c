"""Mutated files: nothing but clean errors. The full run is a million bytes; a share of it runs every time."""

from __future__ import annotations

import os
import warnings
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import golden
from bayesift import bbr
from tools.fuzz.bbr_files import FILES as OWN

#: Mutated bytes for each file; 16000 are more than a million in all where the golden files are at hand.
BYTES = int(os.environ.get("BAYESIFT_FUZZ", "600"))

ALL_READERS = (
    bbr.read_models,
    bbr.read_binary_model,
    bbr.read_polytomous_model,
    bbr.read_sparse_models,
    bbr.read_priors,
    bbr.read_data,
    bbr.read_symbolic_data,
    bbr.read_binary_results,
    bbr.read_dense_results,
    bbr.read_score_results,
    bbr.read_labels,
)
PIECES = [
    b"",
    b"0",
    b"-",
    b"1e999",
    b"nan",
    b"inf",
    b" ",
    b"\n",
    b"\r\n",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\0",
    b":",
    b"#",
    b"beta",
]


def files():
    found = dict(OWN)
    if golden.FOLDER.is_dir():
        for path in sorted(golden.FOLDER.iterdir()):
            if path.suffix in (".model", ".results", ".txt", ".train", ".test") and path.name != "commands.txt":
                found[path.name] = path.read_bytes()
    return found


def readers_of(name):
    """The readers that are meant for a file of this name."""
    if name.endswith(".model"):
        return ALL_READERS[:4]
    if name.endswith(".txt"):
        return (bbr.read_priors,)
    if name.endswith((".train", ".test")):
        return (bbr.read_data, bbr.read_symbolic_data)
    if name.endswith(".results"):
        return (bbr.read_binary_results, bbr.read_dense_results, bbr.read_score_results)
    return (bbr.read_labels,)


def mutated(content, random, count):
    """Change, cut out or put in that many bytes at random places."""
    parts = bytearray(content)
    for _ in range(count):
        place = int(random.integers(len(parts) + 1))
        if random.random() < 0.3:
            parts[place:place] = PIECES[int(random.integers(len(PIECES)))]
        elif random.random() < 0.3:
            del parts[place : place + int(random.integers(1, 4))]
        else:
            parts[place : place + 1] = bytes([int(random.integers(256))])
    return bytes(parts)


def try_to_read(reader, content):
    found = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bbr.ThresholdUnitWarning)
            reader(BytesIO(content))
    except bbr.FormatError as error:
        found = error
    assert found is None or (found.line >= 1 and "\n" not in str(found))


@pytest.mark.parametrize("name", files())
def test_mutated_bytes(name):
    content = files()[name]
    random = np.random.default_rng(len(content))
    # Few changes at a time, or everything ends at the first line; long files are cut to stay quick.
    changes, left = 3, BYTES
    while left > 0:
        begin = 0 if name.endswith(".model") else int(random.integers(max(1, len(content) - 2000)))
        damaged = mutated(content[begin : begin + 4000], random, changes)
        for reader in readers_of(name):
            try_to_read(reader, damaged)
        left -= changes


@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_any_bytes(content):
    for reader in ALL_READERS:
        try_to_read(reader, content)


@given(st.sampled_from(sorted(OWN)), st.data())
def test_any_file_cut_anywhere(name, data):
    content = OWN[name][: data.draw(st.integers(0, len(OWN[name])))]
    for reader in readers_of(name):
        try_to_read(reader, content)
