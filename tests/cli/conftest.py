"""Shared by the tests of the commands: files and models, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_cases import make_workspace


@pytest.fixture(scope="session")
def made_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files and models that commands start from; a test that writes beside them takes a copy."""
    folder = tmp_path_factory.mktemp("workspace")
    make_workspace(folder)
    return folder
