"""The commands of the page about serving do what is printed below them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"


def same(found, expected):
    """Compare what JSON holds; numbers need only be near."""
    if isinstance(expected, float):
        return abs(found - expected) < 0.05 * abs(expected)
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return found == expected


@pytest.mark.slow
def test_the_page_is_true(tmp_path):
    blocks = re.findall(r"^```console$(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    steps = re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)*)", "".join(blocks), re.M)
    served = next(place for place, (line, _) in enumerate(steps) if " serve " in line)
    for line, _ in steps[:served]:
        command = [sys.executable, "-m", *shlex.split(line)]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=600)
    command = [sys.executable, "-m", *shlex.split(steps[served][0]), "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            first, *more = steps[served][1].splitlines()
            said = process.stdout.readline().rstrip("\n")
            assert re.sub(r":\d+/", ":8788/", said) == first
            assert [process.stdout.readline().rstrip("\n") for _ in more] == more
            address = said.partition("POST ")[2]
            asked = steps[served + 1 :]
            assert len(asked) == 3
            for line, printed in asked:
                *_, where, _, body = shlex.split(line)
                assert where == "localhost:8788/classify"
                found = httpx.post(address, content=body, timeout=120, verify=False).json()
                assert same(found, json.loads(printed)), found
        finally:
            process.terminate()


@pytest.mark.parametrize(("found", "is_same"), [({"a": [1.01]}, True), ({"a": [1.2]}, False), ({"b": [1.0]}, False)])
def test_the_comparison_can_fail(found, is_same):
    assert same(found, {"a": [1.0]}) == is_same
