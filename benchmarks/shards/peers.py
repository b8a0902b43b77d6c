"""Other programs on the rows of the same shards: seconds, and the objective that they reach, computed here.

Each runs in a process of its own with one thread. All minimise, or say so, the sum of the logistic losses plus the rate
times the sum of the absolute coefficients, the constant free; what they return is judged by that.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift import shards
from benchmarks.measuring import show
from benchmarks.shards.data import TOL, made, target
from benchmarks.shards.fits import warm_up
from benchmarks.shards.process import in_own_process, machine, processor_seconds

#: What a peer returns: coefficients and constant, and how many passes or rounds it took, if it says so.
Fitted = tuple[np.ndarray, float, int | None]


def ours(opened: shards.Shards, y: np.ndarray, rate: float) -> Fitted:
    """Bayesift, from shards that are made not to fit in memory."""
    from bayesift.linear import BayesianLogisticRegression

    model = BayesianLogisticRegression(variance=2.0 / rate**2, tol=TOL, n_jobs=1).fit(opened, y)
    return model.coef_[0], float(model.intercept_[0]), int(model.n_iter_[0])


def sgd(opened: shards.Shards, y: np.ndarray, rate: float, passes: int = 20) -> Fitted:
    """scikit-learn's stochastic gradients, a shard at a time."""
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", penalty="l1", alpha=rate / y.size, average=False, random_state=0)
    for _ in range(passes):
        first = 0
        for block in opened:
            model.partial_fit(block, y[first : first + block.shape[0]], classes=[0, 1])
            first += block.shape[0]
    return model.coef_[0], float(model.intercept_[0]), passes


def vowpal_wabbit(opened: shards.Shards, y: np.ndarray, rate: float, passes: int = 20) -> Fitted:
    """Vowpal Wabbit, from a file of its own format, which is written before the clock starts."""
    from vowpalwabbit import pyvw

    folder = Path(tempfile.mkdtemp())
    first = 0
    with (folder / "data.vw").open("w") as stream:
        for block in opened:
            for row in range(block.shape[0]):
                part = slice(block.indptr[row], block.indptr[row + 1])
                pairs = zip(block.indices[part].tolist(), block.data[part].tolist(), strict=True)
                words = " ".join(f"{column}:{value:.8g}" for column, value in pairs)
                stream.write(f"{1 if y[first + row] else -1} | {words}\n")
            first += block.shape[0]
    bits = max(int(np.ceil(np.log2(opened.shape[1] + 1))) + 1, 18)
    restart_clock()
    program = pyvw.Workspace(
        f"-d {folder / 'data.vw'} -c -k --passes {passes} --loss_function logistic --l1 {rate / y.size:.10g} -b {bits} "
        f"--holdout_off --quiet --readable_model {folder / 'model'}"
    )
    # Coefficients are cut by what the penalty has summed up to when the model is written.
    program.finish()
    stop_clock()
    coef = np.zeros(2**bits)
    for line in (folder / "model").read_text().splitlines():
        place, mark, value = line.partition(":")
        if mark and place.isdigit():
            coef[int(place)] = float(value.split()[0])
    # The place of the constant is fixed by the program.
    return coef[: opened.shape[1]], float(coef[11650396 & (2**bits - 1)]), passes


def spark(opened: shards.Shards, y: np.ndarray, rate: float) -> Fitted:
    """LogisticRegression of Spark ML on one core, from vectors that are in its memory before the clock starts."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.linalg import SparseVector
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.maxResultSize", "2g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    rows, first = [], 0
    for block in opened:
        for row in range(block.shape[0]):
            part = slice(block.indptr[row], block.indptr[row + 1])
            vector = SparseVector(block.shape[1], block.indices[part].tolist(), block.data[part].tolist())
            rows.append((float(y[first + row]), vector))
        first += block.shape[0]
    frame = session.createDataFrame(rows, ["label", "features"]).cache()
    frame.count()
    restart_clock()
    model = LogisticRegression(
        elasticNetParam=1.0, regParam=rate / y.size, standardization=False, maxIter=500, tol=1e-9
    ).fit(frame)
    found = model.coefficients.toArray(), float(model.intercept), int(model.summary.totalIterations)
    stop_clock()
    session.stop()
    return found


def dask_glm(opened: shards.Shards, y: np.ndarray, rate: float) -> Fitted:
    """The proximal gradients of dask-glm, on dense blocks: sparse ones are not taken by its solvers."""
    import dask.array as da
    from dask_glm.algorithms import proximal_grad

    dense = sp.vstack(list(opened), format="csr").toarray()
    X = da.from_array(np.column_stack([dense, np.ones(y.size)]), chunks=(2000, dense.shape[1] + 1)).persist()
    restart_clock()
    # Its penalty takes in the constant.
    beta = proximal_grad(
        X, da.from_array(y.astype(float), chunks=2000), regularizer="l1", lamduh=rate, max_iter=300, tol=1e-7
    )
    return np.asarray(beta[:-1]), float(beta[-1]), None


PEERS: dict[str, Callable[..., Fitted]] = {
    "bayesift": ours,
    "SGDClassifier.partial_fit": sgd,
    "Vowpal Wabbit": vowpal_wabbit,
    "Spark ML": spark,
    "dask-glm": dask_glm,
}

_clock: dict[str, float] = {}


def restart_clock() -> None:
    """Begin to measure here, when data are as the program wants them."""
    _clock.update(wall=time.perf_counter(), processor=processor_seconds())
    _clock.pop("seconds", None)


def stop_clock() -> None:
    """End here, before a program is taken down."""
    _clock.update(seconds=time.perf_counter() - _clock["wall"], used=processor_seconds() - _clock["processor"])


def objective(opened: shards.Shards, y: np.ndarray, coef: np.ndarray, constant: float, rate: float) -> float:
    """Return the sum of the losses plus the rate times the sum of the absolute coefficients."""
    loss, first = 0.0, 0
    for block in opened:
        margin = np.where(y[first : first + block.shape[0]] > 0, 1.0, -1.0) * (block @ coef + constant)
        loss += float(np.logaddexp(0.0, -margin).sum())
        first += block.shape[0]
    return loss + rate * float(np.abs(coef).sum())


def fit(setting: dict[str, Any]) -> dict[str, Any]:
    """Fit by a program (``name``) in this process, to the shards at a ``place``."""
    place, name = Path(setting["place"]), setting["name"]
    opened = shards.open(place, memory=setting["memory"])
    y, rate = target(place, opened)
    if y is None:
        raise ValueError(f"{place} is no twin: it has no y.npy")
    if name == "bayesift":
        warm_up(opened)
    restart_clock()
    coef, constant, rounds = PEERS[name](opened, y, rate)
    if "seconds" not in _clock:
        stop_clock()
    return {
        "seconds": _clock["seconds"],
        "processor": _clock["used"],
        "objective": objective(opened, y, coef, constant, rate),
        "nonzero": int(np.count_nonzero(coef)),
        "rounds": rounds,
    }


def run_peers(
    n_rows: int,
    n_columns: int = 359_000,
    memory: str = "60M",
    folder: str | None = None,
    names: list[str] | None = None,
    patience: float = 600.0,
) -> None:
    """Print what every program takes, and how far above the least objective it ends."""
    place, found = made(folder, n_rows, n_columns), {}
    for name in names or PEERS:
        setting = {"name": name, "place": str(place), "memory": memory}
        found[name] = in_own_process("benchmarks.shards.peers", setting, patience)
        print(name, json.dumps(found[name]), flush=True)
    least = min(one["objective"] for one in found.values() if "objective" in one)
    rows = [
        (name, f"failed: {one['failed'][:60]}", "", "", "", "")
        if "failed" in one
        else (
            name,
            f"{one['seconds']:.1f}",
            f"{one['processor']:.1f}",
            f"{one['objective'] / least - 1.0:.1e}",
            f"{one['nonzero']:,}",
            f"{one['rounds'] or ''}",
        )
        for name, one in found.items()
    ]
    header = ("", "seconds", "processor", "above the least", "not zero", "rounds")
    show(f"peers, {n_rows:,} rows, {n_columns:,} columns; {machine()}", header, rows)
