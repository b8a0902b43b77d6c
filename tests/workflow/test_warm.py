"""Compiling ahead: nothing is left to compile, and what cannot be done is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayesift
from bayesift.workflow import warm

LISTENED = """
import sys
from numba.core import event

compiled = []
with event.install_listener("numba:compile", event.RecordingListener()) as listener:
    from bayesift.cli import main

    sys.argv = ["bayesift", *sys.argv[1:]]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
print(len(listener.buffer), file=sys.stderr)
"""


@pytest.mark.slow
def test_after_warm_nothing_is_left_to_compile(tmp_path):
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path(bayesift.__file__).parents[1]),
    }

    def run(*words):
        command = [sys.executable, "-c", LISTENED, *words]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600
        )

    first = run("warm", "nb", "--json")
    assert int(first.stderr.split()[-1]) > 0
    told = json.loads(first.stdout)
    assert list(told["seconds"]) == ["nb"]
    assert Path(told["folder"]) == tmp_path / "cache"
    run("data", "export", "newsroom")
    trained = run("train", "newsroom-train.csv", "-o", "m.bayesift", "--model", "nb", "--label-separator", ";")
    assert "First use" not in trained.stderr
    assert trained.stderr.split()[-1] == "0"
    assert run("classify", "m.bayesift", "newsroom-test.csv", "-o", "out.csv").stderr.split()[-1] == "0"


def test_an_unknown_model_is_refused_before_anything_is_compiled():
    with pytest.raises(ValueError, match="model is 'lassoo'; expected 'auto' or one of lasso, ridge"):
        warm(["nb", "lassoo"], progress=lambda *told: pytest.fail("has begun"))


def test_every_model_is_told():
    told = []
    assert list(warm(["bernoulli", "nb"], progress=lambda *one: told.append(one))) == ["bernoulli", "nb"]
    assert told == [("bernoulli", 0, 2), ("nb", 1, 2)]
