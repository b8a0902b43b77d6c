"""A Dask cluster of real processes: the same bits as alone, whatever happens to its workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift import shards
from bayesift.linear import BayesianLogisticRegression
from bayesift.linear._sharded.tasks import row_products
from bayesift.shards import EngineError, ShardError, _engines

distributed = pytest.importorskip("distributed")

X = sp.random(400, 80, 0.08, format="csr", random_state=4)
Y = np.asarray(X[:, :6].sum(axis=1)).ravel() > 0.3
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dask") / "made"
    shards.write_matrix(X, place, rows=150)
    return place


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def fit(folder: Path, client=None):
    opened = shards.open(folder, memory=80_000, client=client)
    return BayesianLogisticRegression(variance=5.0, n_jobs=1).fit(opened, Y)


def test_bits_are_those_of_one_process_also_when_a_worker_is_killed(folder: Path, client) -> None:
    alone = fit(folder)
    found = fit(folder, client)
    assert found.coef_.tobytes() == alone.coef_.tobytes()
    assert found.certificate_.dual.tobytes() == alone.certificate_.dual.tobytes()
    [victim, *_] = client.run(os.getpid).values()
    killer = threading.Thread(target=lambda: (time.sleep(0.1), os.kill(victim, signal.SIGKILL)))
    killer.start()
    assert fit(folder, client).coef_.tobytes() == alone.coef_.tobytes()
    killer.join()


def test_garbage_is_asked_for_again(folder: Path, client, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = fit(folder)
    answers, own = [], _engines._answer

    def sometimes_wrong(*arguments):
        number, checksum, result = own(*arguments)
        answers.append(number)
        if len(answers) % 3 == 1:
            result = tuple(np.array(part) + (part.dtype.kind == "f") for part in result)
        return number, checksum, result

    monkeypatch.setattr(_engines, "_answer", sometimes_wrong)
    assert fit(folder, client).coef_.tobytes() == alone.coef_.tobytes()
    monkeypatch.setattr(_engines, "_answer", lambda *_: "nonsense")
    with pytest.raises(EngineError, match="failed 5 times"):
        fit(folder, client)


def test_what_is_no_client_is_refused_and_a_closed_one_is_named(folder: Path, client) -> None:
    with pytest.raises(ShardError, match=r"expected a distributed\.Client"):
        shards.open(folder, client="tcp://somewhere")
    with distributed.Client(client.scheduler.address) as other:
        opened = shards.open(folder, memory=80_000, client=other)
    with pytest.raises(EngineError, match="does not answer"):
        BayesianLogisticRegression(variance=5.0).fit(opened, Y)


@contextmanager
def one_worker_hanging(client) -> Iterator[None]:
    client.wait_for_workers(2, timeout=30)
    [victim, *_] = client.run(os.getpid).values()
    os.kill(victim, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(victim, signal.SIGCONT)


needs_sigstop = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")


@needs_sigstop
def test_a_worker_that_hangs_gets_no_more_work(folder: Path, client) -> None:
    files = shards.open(folder).files * 5
    with one_worker_hanging(client):
        found = list(shards.run_tasks(row_products, [(file, (7,)) for file in files], client=client, timeout=2.0))
    assert [products.tobytes() for (products,) in found] == [row_products(file, 7)[0].tobytes() for file in files]


@needs_sigstop
@pytest.mark.slow
def test_bits_are_those_of_one_process_also_when_a_worker_hangs(folder: Path, client) -> None:
    alone = fit(folder)
    opened = shards.open(folder, memory=80_000, client=client, timeout=2.0)
    with one_worker_hanging(client):
        found = BayesianLogisticRegression(variance=5.0, n_jobs=1).fit(opened, Y)
    assert found.coef_.tobytes() == alone.coef_.tobytes()


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_named_and_nothing_is_lost(folder: Path, tmp_path: Path) -> None:
    alone, file, rounds = fit(folder), tmp_path / "scheduler.json", tmp_path / "rounds"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", file], stderr=subprocess.DEVNULL)

    async def start_worker():
        return await distributed.Worker(own.scheduler.address, nthreads=1, dashboard=False)

    def kill_in_the_second_round(reading: shards.Reading) -> None:
        if reading.round == 3:
            scheduler.kill()

    try:
        limit = time.monotonic() + 60
        while not file.is_file() and time.monotonic() < limit:
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"].replace("tcp://", "dask://")
        with shards.engine(address) as own:
            own.sync(start_worker)
            opened = shards.open(
                folder, memory=80_000, client=own, rounds=rounds, watch=kill_in_the_second_round, timeout=60
            )
            with pytest.raises(EngineError, match="scheduler does not answer"):
                BayesianLogisticRegression(variance=5.0, n_jobs=1).fit(opened, Y)
    finally:
        scheduler.kill()
        scheduler.wait()
    assert list(rounds.glob("*.npz"))
    opened = shards.open(folder, memory=80_000, rounds=rounds)
    again = BayesianLogisticRegression(variance=5.0, n_jobs=1).fit(opened, Y)
    assert again.coef_.tobytes() == alone.coef_.tobytes()
    with pytest.raises(EngineError, match="no Dask scheduler answers at"), shards.engine(address):
        pass
