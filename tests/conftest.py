"""Shared by all tests: a cache folder of their own, and skipping where a real collection is missing."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator

# Read by scipy when it is imported: without it, scikit-learn skips one of its checks of estimators.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Read by OpenBLAS when numpy is imported. Tests run in as many processes as there are cores: threads of linear algebra
# beside them would wait for each other, on a busy machine for ten times as long as they work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from bayesift.datasets import data_root, describe

_CACHE = "BAYESIFT_CACHE"

# How long an example takes says nothing on a shared machine, or while kernels compile.
# The same examples in every run; --hypothesis-profile=search looks for others.
settings.register_profile("bayesift", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("bayesift")


def pytest_configure(config: pytest.Config) -> None:
    """Keep what the tests parse away from the user's cache, in one folder for all processes of the run."""
    if not hasattr(config, "workerinput"):
        # The data root stays where it is for the user, who may have fetched collections into the cache.
        os.environ["BAYESIFT_DATA"] = str(data_root())
        # Worker processes start later and inherit the variables.
        config.stash[_folder] = os.environ[_CACHE] = tempfile.mkdtemp(prefix="bayesift-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the cache folder when the run ends."""
    if _folder in config.stash:
        shutil.rmtree(config.stash[_folder], ignore_errors=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked ``collection(name)`` where the data root lacks it, and say how to get it."""
    for mark in item.iter_markers("collection"):
        for name in mark.args:
            if not describe(name).present:
                pytest.skip(
                    f"{name} is not in the data root {data_root()}: run 'bayesift data fetch {name}' "
                    f"or set BAYESIFT_DATA to a folder that has it"
                )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for garbage neither while tests are collected nor, later, among all that stays until the run ends."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark scikit-learn's checks as slow but for the first setting of each estimator."""
    first: dict[tuple[str, type], str] = {}
    # What an estimator is written as takes scikit-learn long to find out, and each has fifty checks.
    written: dict[int, str] = {}
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if parameters.keys() == {"estimator", "check"}:
            estimator = parameters["estimator"]
            own = written.get(id(estimator)) or written.setdefault(id(estimator), repr(estimator))
            if first.setdefault((item.originalname, type(estimator)), own) != own:
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def empty_root(tmp_path, monkeypatch):
    """A data root with nothing in it, in force for the test."""
    root = tmp_path / "data"
    root.mkdir()
    monkeypatch.setenv("BAYESIFT_DATA", str(root))
    return root


_folder = pytest.StashKey[str]()
