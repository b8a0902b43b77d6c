"""The examples in docstrings and on the documentation page run and show what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "priors.md"


@pytest.mark.parametrize("module", ["arrays", "builders", "gaussian", "laplace"])
def test_docstrings(module: str) -> None:
    results = doctest.testmod(import_module(f"bayesift.priors.{module}"))
    assert results.attempted
    assert not results.failed


def test_page() -> None:
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted
    assert not results.failed
