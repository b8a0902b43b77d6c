"""A fit that was killed goes on from its last round; nothing in what it left is trusted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift import shards
from bayesift.linear import BayesianLogisticRegression
from bayesift.linear._sharded import solving
from bayesift.workflow import load_classifier

X = sp.random(400, 80, 0.08, format="csr", random_state=4)
Y = np.asarray(X[:, :6].sum(axis=1)).ravel() > 0.3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kept") / "made"
    shards.write_matrix(X, place, rows=60)
    return place


def fit(folder: Path, rounds: Path | None = None, prior: str = "laplace"):
    readings: list[shards.Reading] = []
    opened = shards.open(folder, memory=40_000, rounds=rounds, watch=readings.append)
    return BayesianLogisticRegression(prior, variance=5.0, n_jobs=1).fit(opened, Y), readings


class StoppedError(Exception):
    """Stands for a kill."""


def stop_after(monkeypatch: pytest.MonkeyPatch, n_rounds: int) -> None:
    done, own = [], solving._Sharded.judged

    def judged(self, delta, held=None):
        if len(done) == n_rounds:
            raise StoppedError
        done.append(1)
        return own(self, delta, held)

    monkeypatch.setattr(solving._Sharded, "judged", judged)


@pytest.mark.parametrize("prior", ["laplace", "gaussian"])
def test_a_fit_goes_on_from_its_last_round(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prior: str
) -> None:
    alone, readings = fit(folder, prior=prior)
    with monkeypatch.context() as patch:
        stop_after(patch, 2 if prior == "laplace" else 12)
        with pytest.raises(StoppedError):
            fit(folder, tmp_path, prior)
    again, fewer = fit(folder, tmp_path, prior)
    assert fewer[-1].round < readings[-1].round
    if prior == "laplace":
        assert again.coef_.tobytes() == alone.coef_.tobytes()
    np.testing.assert_allclose(again.certificate_.objective, alone.certificate_.objective, rtol=1e-6)
    assert again.certificate_.relative_gap[0] <= 1e-6
    # A fit that is done is confirmed by a single round.
    last, one = fit(folder, tmp_path, prior)
    assert one[-1].round == 1
    assert last.coef_.tobytes() == again.coef_.tobytes()


def test_those_who_watch_hear_of_bytes_rounds_and_gap(folder: Path) -> None:
    _, readings = fit(folder)
    size = sum(path.stat().st_size - 128 for path in folder.glob("0*.npy"))
    assert {reading.total for reading in readings} == {size - 8 * 7}
    ends = [reading for reading in readings if reading.done == reading.total]
    assert [reading.round for reading in ends] == list(range(1, len(ends) + 1))
    gaps = [reading.gap for reading in readings if reading.gap is not None]
    assert gaps[-1] < 1e-2 < gaps[0] <= 1.0


def test_another_fit_does_not_take_what_is_kept(folder: Path, tmp_path: Path) -> None:
    fit(folder, tmp_path)
    before = set(os.listdir(tmp_path))
    opened = shards.open(folder, memory=40_000, rounds=tmp_path)
    BayesianLogisticRegression(variance=4.0, n_jobs=1).fit(opened, Y)
    assert len(set(os.listdir(tmp_path)) - before) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": np.array([2.0, 1, 0, 0, 1e-3])},
        {"numbers": np.array([1.0, np.nan, 0, 0, 1e-3])},
        {"numbers": np.array([1.0, -3, 0, 0, 1e-3])},
        {"numbers": np.zeros(3)},
        {"moved": np.array([3, 1000])},
        {"moved": np.array([-1, 3])},
        {"moved": np.array([3.0, 4.0])},
        {"delta": np.array([np.inf, 1.0])},
        {"delta": np.array([1.0])},
        {"wanted": np.array([5, 5])},
        {"wanted": np.array([0, 80])},
        {"wanted": np.array([[1]])},
    ],
    ids=lambda change: "-".join(map(str, next(iter(change.items())))),
)
def test_a_forged_file_is_as_good_as_none(folder: Path, tmp_path: Path, change: dict) -> None:
    from bayesift.linear._sharded.kept import _checked

    free = np.full(81, np.inf)
    prior = (np.ones(81), np.zeros(81), -free, free)
    right = {
        "numbers": np.array([1.0, 2, 0, 0, 1e-3]),
        "moved": np.array([3, 80]),
        "delta": np.array([1.0, -2.0]),
        "wanted": np.array([3, 7]),
    }
    assert _checked(right, prior) is not None
    assert _checked({**right, **change}, prior) is None
    assert _checked(right, (*prior[:2], np.zeros(81), free)) is None
    # With several classes candidates are features, not coefficients.
    classes = tuple(np.tile(part[:, None], 3) for part in prior)
    assert _checked({**right, "moved": np.array([3, 242])}, classes).delta[80, 2] == -2.0
    assert _checked({**right, "moved": np.array([3, 243])}, classes) is None
    assert _checked({**right, "wanted": np.array([3, 80])}, classes) is None


def test_a_false_claim_to_be_done_is_found_out(folder: Path, tmp_path: Path) -> None:
    alone, _ = fit(folder, tmp_path)
    [kept] = tmp_path.glob("*.npz")
    kept.write_bytes(kept.read_bytes()[:200])
    assert fit(folder, tmp_path)[0].coef_.tobytes() == alone.coef_.tobytes()
    nothing = np.empty(0, np.int64)
    np.savez(kept, numbers=np.array([1.0, 9, 1, 1, 0.0]), moved=nothing, delta=np.empty(0), wanted=nothing)
    found, readings = fit(folder, tmp_path)
    assert readings[-1].round > 1
    assert found.certificate_.relative_gap[0] <= 1e-6
    np.testing.assert_allclose(found.certificate_.objective, alone.certificate_.objective, rtol=1e-6)


KILLED = """
import os, signal, sys
from bayesift.cli import main
from bayesift.linear._sharded import solving
from bayesift.workflow import load_classifier
own, done = solving._Sharded.judged, []
def judged(self, delta, held=None):
    if len(done) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(1)
    return own(self, delta, held)
solving._Sharded.judged = judged
sys.argv = ["bayesift", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_the_same_command_goes_on_after_a_kill(tmp_path: Path) -> None:
    data, place = tmp_path / "1.csv", tmp_path / "rows"
    random = np.random.default_rng(0)
    rows = [(" ".join(f"word{k}" for k in random.integers(0, 40, 8)), k % 2) for k in range(290)]
    data.write_text("text,label\n" + "".join(f"{text},{'odd' if odd else 'even'}\n" for text, odd in rows))
    line = ["train", str(data), "--shards", str(place), "--memory", "20K", "--variance", "1", "--model", "lasso"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *line, "-o", str(tmp_path / "m.bayesift")], check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL
    assert list((place / "rounds").glob("*.npz"))
    written = (place / "manifest.json").stat().st_mtime_ns
    both = []
    for folder in (place, tmp_path / "other"):
        line[line.index("--shards") + 1] = str(folder)
        out = tmp_path / f"{folder.name}.bayesift"
        found = subprocess.run(
            [sys.executable, "-m", "bayesift", *line, "-o", str(out)], check=True, capture_output=True, text=True
        )
        both.append((found.stderr.count("round "), load_classifier(out)[0].model_.coef_.toarray().tobytes()))
    assert (place / "manifest.json").stat().st_mtime_ns == written
    assert not (place / "rounds").exists()
    assert both[0][0] < both[1][0]
    assert both[0][1] == both[1][1]
