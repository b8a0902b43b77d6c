"""Files that are cut short or damaged are named."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import polars
import pytest

from bayesift.datasets import DamagedFileError, read


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.svm"])
@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_a_packed_file_that_is_cut_or_damaged_is_named(name, ending, pack, tmp_path):
    numbers = np.random.default_rng(0).integers(0, 10**9, 20_000)
    lines = {
        "a.csv": ["text,label", *(f"{number},x" for number in numbers)],
        "a.jsonl": [f'{{"text": "{number}", "label": "x"}}' for number in numbers],
        "a.svm": [f"1 1:{number}" for number in numbers],
    }[name]
    whole = pack("\n".join(lines).encode())
    path = tmp_path / f"{name}.{ending}"
    for content in (whole[: len(whole) // 2], whole[:-8] + bytes(8)):
        path.write_bytes(content)
        with pytest.raises(DamagedFileError, match=rf"{name}\.{ending} cannot be read, it is damaged or cut short: \w"):
            read(path)


def test_a_damaged_parquet_file_is_named(tmp_path, either_package):
    path = tmp_path / "a.parquet"
    polars.DataFrame({"text": [f"text {n}" for n in range(5000)], "label": ["x"] * 5000}).write_parquet(path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    for content in (whole[:middle], whole[:-4], whole[:100] + bytes(middle) + whole[100 + middle :], b"PAR1"):
        path.write_bytes(content)
        with pytest.raises(DamagedFileError, match=r"a\.parquet cannot be read, it is damaged or cut short: \w"):
            read(path)


def test_a_panic_of_the_reader_of_parquet_files_names_the_file(tmp_path):
    path = tmp_path / "a.parquet"
    polars.DataFrame({"text": [f"text {n}" for n in range(300)], "label": ["x"] * 300}).write_parquet(path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    # Somewhere in the footer it says that a column has 300 values; now it has 301.
    places = [place for place in range(footer, len(whole)) if whole[place : place + 2] == b"\xd8\x04"]
    refused = []
    for place in places:
        path.write_bytes(whole[:place] + b"\xda" + whole[place + 1 :])
        try:
            read(path)
        except DamagedFileError as error:
            refused.append(str(error))
    assert refused
    assert all("a.parquet cannot be read" in message for message in refused)


def test_an_unreadable_file_is_an_error_of_the_system(tmp_path):
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"a\.csv"):
        read(tmp_path / "a.csv", format="csv")
