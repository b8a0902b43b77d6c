"""What the first use compiles: each kernel once, and none that the task does not need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.first_use import NOTES, readme_snippet
from process_cases import in_fork, kernels

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """What the ten lines of the README compile with an empty cache, and how often."""
    folder = tmp_path_factory.mktemp("first-use")
    (folder / "readme.py").write_text(readme_snippet(), encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", "benchmarks.first_use", "readme.py"]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=600)
    return {name: entry["times"] for name, entry in json.loads((folder / NOTES).read_text(encoding="utf-8")).items()}


def used_by_the_snippet():
    """Run the ten lines of the README; return the kernels that Python calls in them."""
    exec(readme_snippet(), {})
    return sorted({name for name, _ in kernels()})


def test_a_logistic_fit_calls_no_other_loss():
    found = in_fork(used_by_the_snippet)
    assert any(name.startswith("bayesift.linear.") for name in found)
    assert [name for name in found if is_of_another_loss(name)] == []


def is_of_another_loss(name):
    return "probit" in name or "softmax" in name or "class_scores" in name


@pytest.mark.slow
def test_every_kernel_is_compiled_for_one_set_of_types(compiled):
    ours = {name: times for name, times in compiled.items() if name.startswith("bayesift.")}
    assert "bayesift.linear._losses.logistic_terms" in ours
    assert {name for name, times in ours.items() if times > 1} == set()


@pytest.mark.slow
def test_a_logistic_fit_compiles_no_other_loss(compiled):
    assert [name for name in compiled if is_of_another_loss(name)] == []


@pytest.mark.slow
def test_what_is_slow_to_compile_is_not_in_kernels(compiled):
    # Sorting, messages about shapes (copies between slices) and arrays made within kernels.
    slow = ("quicksort", "raise_with_shape_context", "ol_np_empty", "ol_np_zeros", "unicode", "array_sum")
    assert [name for name in compiled if any(word in name for word in slow)] == []
