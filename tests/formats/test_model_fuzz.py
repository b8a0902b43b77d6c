"""A few hundred forged model files: loaded or refused cleanly, and whatever is loaded answers cleanly.

The long form, with kernels that check their bounds, is ``python -m tools.fuzz``; see docs/model_file.md.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from bayesift._registry import OBJECTS, TUPLES
from tools.fuzz.bases import bases
from tools.fuzz.calling import uncalled
from tools.fuzz.forging import forge, walk
from tools.fuzz.running import attempt

SEED, FORGERIES = 20, 400


@pytest.fixture(scope="module")
def all_bases():
    return bases()


def test_every_type_of_the_registry_is_forged(all_bases):
    schemas = [json.loads(base.members["schema.json"]) for base in all_bases]
    found = {
        f"{node['__module__']}.{node['__class__']}" for schema in schemas for node in walk(schema) if len(node) > 1
    }
    assert set(OBJECTS) | set(TUPLES) <= found


def test_every_public_method_is_called():
    assert uncalled() == set()


@pytest.mark.slow
def test_the_models_themselves_answer(all_bases, tmp_path: Path):
    for base in all_bases:
        result = attempt(base.members, base, tmp_path, slowly=False, tell=lambda _: None)
        assert result["outcome"] in ("answered", "complained"), (base.name, result)


def test_a_forgery_can_be_made_again(all_bases):
    for number in range(100):
        one, again = (forge(all_bases, 5, number) for _ in range(2))
        assert one == again


@pytest.mark.slow
def test_forgeries_are_refused_or_answer(all_bases, tmp_path: Path):
    outcomes = Counter()
    for number in range(FORGERIES):
        forgery = forge(all_bases, SEED, number)
        result = attempt(forgery.members, forgery.base, tmp_path, slowly=False, tell=lambda _: None)
        assert result["outcome"] != "failed", (number, forgery.base.name, forgery.changes, result)
        outcomes[result["outcome"]] += 1
    # Some get past the checks, or else nothing would be tried of what comes after them.
    assert all(outcomes[name] > FORGERIES // 50 for name in ("refused", "answered", "complained"))
