"""Damaged files of every format: read, or refused by an error that names them; the long run is in ``tools.fuzz``."""

from __future__ import annotations

import pytest

from tools.fuzz import readers

#: Damaged files of each kind; the published run has hundreds.
FILES = 8

PARTS = 6


@pytest.fixture(scope="module")
def cases():
    return readers.cases()


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_files_are_read_or_refused_by_name(part, cases, tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIFT_CACHE", str(tmp_path / "cache"))
    for place in range(part, len(cases), PARTS):
        case = cases[place]
        whole = case.content if case.pack is None else case.pack(case.content)
        assert ("read", "") in readers.attempt(case, whole, tmp_path)
        for number in range(place, FILES * len(cases), len(cases)):
            outcomes = list(readers.attempt(case, readers.file_of(case, 1, number), tmp_path))
            assert len(outcomes) == len(case.readers)
            assert [failure for _, failure in outcomes if failure] == [], f"{case.name}: file {number} of seed 1"
