"""The page on other programs: every piece runs, in a process of its own, and prints what stands below it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "use_it_in.md"
#: What has to be installed for each section.
NEEDS = {
    "scikit-learn": ["sklearn"],
    "skrub": ["skrub", "pandas"],
    "MAPIE": ["mapie"],
    "MLflow": ["mlflow"],
    "Ray Data": ["ray", "pandas"],
    "Spark": ["pyspark", "pandas"],
    "Dask": ["dask", "pandas"],
    "ONNX": ["onnxruntime", "skl2onnx"],
}

FIRST, *SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)
PIECES = {
    section.partition("\n")[0]: re.findall(r"^```(?:python|text)$(.*?)^```$", section, re.M | re.S)
    for section in SECTIONS
}
BEFORE = re.search(r"^```python$(.*?)^```$", FIRST, re.M | re.S)[1]


def test_every_section_is_known():
    assert PIECES.keys() == NEEDS.keys()
    assert all(len(piece) == 2 for piece in PIECES.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDS)
def test_the_piece_prints_what_stands_below_it(name, tmp_path):
    missing = [module for module in NEEDS[name] if find_spec(module) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed; docs/use_it_in.md says with which version it was run")
    program, expected = PIECES[name]
    (tmp_path / "piece.py").write_text(BEFORE + program, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONWARNINGS": "ignore",
        # As in an environment that is active; what these programs keep in the home folder goes with the test.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "piece.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().splitlines()[-1] == expected.strip()
