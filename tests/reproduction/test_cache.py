"""Pieces of work are kept whole, found again, and made anew when code, data or settings change."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from reproduction.catalogue import Family, PieceCache, Runner
from reproduction.catalogue.cache import data_digest, source_digest

FAMILY = Family("squares")
ROOT = Path(__file__).parents[2]


def counting(calls):
    def compute(setting):
        calls.append(setting["n"])
        return setting["n"] ** 2

    return compute


def test_a_piece_is_made_once(tmp_path):
    calls, told = [], []
    settings = [{"n": n} for n in (3, 1, 2)]
    for _ in range(2):
        runner = Runner(PieceCache(tmp_path), report=lambda *words: told.append(words))
        assert runner.pieces(FAMILY, settings, counting(calls), stage="squares") == [9, 1, 4]
    assert calls == [3, 1, 2]
    assert told[:4] == [("squares", done, 3) for done in range(4)]
    assert told[4:] == [("squares", 3, 3)]


def test_values_come_back_plain_whether_made_now_or_earlier(tmp_path):
    values = {"array": np.arange(3) / 7, "number": np.float64(0.1), "pair": (1, "a"), "none": None}
    runner = Runner(PieceCache(tmp_path))
    now = runner.piece(FAMILY, {"n": 1}, lambda: values)
    assert now == {"array": [0.0, 1 / 7, 2 / 7], "number": 0.1, "pair": [1, "a"], "none": None}
    assert runner.piece(FAMILY, {"n": 1}, lambda: 1 / 0) == now


def test_pieces_are_made_in_processes(tmp_path):
    runner = Runner(PieceCache(tmp_path), n_jobs=2)
    settings = [{"n": n} for n in range(4)]
    found = runner.pieces(FAMILY, settings, lambda setting: os.getpid(), processes=True)
    assert os.getpid() not in found
    assert Runner(PieceCache(tmp_path)).pieces(FAMILY, settings, lambda setting: 1 / 0) == found


def test_what_raises_leaves_the_earlier_pieces(tmp_path):
    def fragile(setting):
        return 1 / setting["n"]

    runner = Runner(PieceCache(tmp_path))
    with pytest.raises(ZeroDivisionError):
        runner.pieces(FAMILY, [{"n": 2}, {"n": 0}, {"n": 4}], fragile)
    assert runner.cache.get(FAMILY, {"n": 2}).value == 0.5
    assert runner.cache.get(FAMILY, {"n": 4}) is None


def test_another_setting_family_code_or_data_is_another_piece(tmp_path, empty_root):
    cache = PieceCache(tmp_path)
    coded = Family("squares", ("reproduction.catalogue.table",), ("newsroom",))
    cache.put(coded, {"n": 1}, 1, 0.0, 0.0)
    assert cache.get(coded, {"n": 1}).value == 1
    assert cache.get(coded, {"n": 2}) is None
    assert cache.get(Family("squares", (), ("newsroom",)), {"n": 1}) is None
    assert cache.get(Family("squares", coded.modules), {"n": 1}) is None
    assert cache.get(Family("cubes", coded.modules, coded.collections), {"n": 1}) is None


def test_the_digest_of_a_package_follows_its_sources(tmp_path, monkeypatch):
    package = tmp_path / "some_package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "part.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = source_digest("some_package"), source_digest("some_package.part")
    (package / "part.py").write_text("x = 2\n", encoding="utf-8")
    source_digest.cache_clear()
    after = source_digest("some_package"), source_digest("some_package.part")
    assert before[0] != after[0]
    assert before[1] != after[1]
    with pytest.raises(ValueError, match="modules names 'no_such_module'"):
        source_digest("no_such_module")


def test_the_digest_of_data(empty_root):
    assert data_digest("newsroom") == "embedded"
    assert data_digest("reuters21578") == "absent"


def test_damaged_files_are_made_anew_and_fresh_runs_ignore_the_cache(tmp_path):
    calls = []
    settings = [{"n": 5}]
    Runner(PieceCache(tmp_path)).pieces(FAMILY, settings, counting(calls))
    [file] = tmp_path.rglob("*.json")
    file.write_text('{"value": 2', encoding="utf-8")
    assert Runner(PieceCache(tmp_path)).pieces(FAMILY, settings, counting(calls)) == [25]
    assert calls == [5, 5]
    fresh = PieceCache(tmp_path, fresh=True)
    for _ in range(2):
        assert Runner(fresh).pieces(FAMILY, settings, counting(calls)) == [25]
    assert calls == [5, 5, 5]


def test_what_json_cannot_hold_is_refused(tmp_path):
    with pytest.raises(TypeError, match="a piece holds set; expected numbers"):
        PieceCache(tmp_path).put(FAMILY, {"n": 1}, {1, 2}, 0.0, 0.0)
    assert list(tmp_path.rglob("*.json")) == []


def test_seconds_of_a_kept_piece_count_once(tmp_path):
    PieceCache(tmp_path).put(FAMILY, {"n": 1}, 1, seconds=10.0, cpu_seconds=8.0)
    cache = PieceCache(tmp_path)
    first, second = Runner(cache), Runner(cache)
    for runner in (first, first, second):
        runner.piece(FAMILY, {"n": 1}, lambda: 1 / 0)
    assert (first.spent.kept, first.spent.kept_cpu) == (10.0, 8.0)
    assert second.spent.kept == 0.0


_SLOW_RUN = """
import sys, time
from reproduction.catalogue import Runner, Family, PieceCache

def slow(setting):
    print(setting["n"], flush=True)
    time.sleep(0.2)
    return setting["n"] ** 2

runner = Runner(PieceCache(sys.argv[1]))
print("found", runner.pieces(Family("squares"), [{"n": n} for n in range(8)], slow), flush=True)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    command = [sys.executable, "-c", _SLOW_RUN, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    begun = [int(process.stdout.readline()) for _ in range(4)]
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert begun == [0, 1, 2, 3]
    # Whatever is there is whole, and nothing temporary is taken for a piece.
    whole = [json.loads(file.read_text(encoding="utf-8")) for file in tmp_path.rglob("[!.]*.json")]
    assert {piece["value"] for piece in whole} >= {0, 1, 4}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    again = [int(line) for line in done.stdout.splitlines()[:-1]]
    assert done.stdout.splitlines()[-1] == f"found {[n**2 for n in range(8)]}"
    assert again == list(range(len(whole), 8))
    assert 3 <= again[0] <= 4
