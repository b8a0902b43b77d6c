"""Which package reads Parquet files."""

from __future__ import annotations

import pytest


@pytest.fixture
def without_polars(monkeypatch):
    monkeypatch.setattr("bayesift.datasets._parquet.find_spec", lambda package: None)


@pytest.fixture(params=[True, False], ids=["polars", "pyarrow"])
def either_package(request):
    if not request.param:
        request.getfixturevalue("without_polars")
