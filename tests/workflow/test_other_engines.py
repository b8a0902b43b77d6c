"""Ray and Spark, where they are installed: a fit through joblib, and classifying by what they have for batches."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift import shards
from bayesift.formats import save
from bayesift.linear import BayesianLogisticRegression
from bayesift.workflow import TextClassifier, load_classifier

TEXTS, LABELS = ["wheat", "corn", "sea", "ship"] * 5, ["farm", "farm", "sea", "sea"] * 5
ASKED = ["wheat and corn", "a ship at sea", "corn", "sea"] * 3
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save(TextClassifier("nb").fit(TEXTS, LABELS), tmp_path / "m.bayesift")
    return tmp_path / "m.bayesift"


def expected(model: Path) -> list[str]:
    return load_classifier(model)[0].predict(ASKED).tolist()


@pytest.fixture
def ray():
    ray = pytest.importorskip("ray", reason="needs Ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_ray_through_joblib_gives_the_bits_of_one_process(ray, tmp_path: Path) -> None:
    X = sp.random(400, 80, 0.08, format="csr", random_state=4)
    y = np.asarray(X[:, :6].sum(axis=1)).ravel() > 0.3
    shards.write_matrix(X, tmp_path / "made", rows=150)
    opened = shards.open(tmp_path / "made", memory=80_000)
    alone = BayesianLogisticRegression(variance=5.0, n_jobs=1).fit(opened, y)
    with shards.engine("ray", 2):
        found = BayesianLogisticRegression(variance=5.0).fit(opened, y)
    assert found.coef_.tobytes() == alone.coef_.tobytes()


def test_ray_classifies_batches(ray, model: Path) -> None:
    data = pytest.importorskip("ray.data", reason="needs Ray Data")

    class Classify:
        def __init__(self) -> None:
            self.classifier, _ = load_classifier(model)

        def __call__(self, batch):
            return {**batch, "predicted": self.classifier.predict(batch["text"].tolist())}

    rows = data.from_items([{"place": place, "text": text} for place, text in enumerate(ASKED)])
    found = rows.map_batches(Classify, batch_size=5, concurrency=1).take_all()
    assert [row["predicted"] for row in sorted(found, key=lambda row: row["place"])] == expected(model)


@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
def test_spark_classifies_batches(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="needs Spark")
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    place = str(model)

    def label(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        classifier, _ = load_classifier(place)
        for texts in batches:
            yield pd.Series(classifier.predict(texts.tolist()))

    try:
        # Spark reads the hints, which are strings in this file.
        label.__annotations__ = {"batches": Iterator[pd.Series], "return": Iterator[pd.Series]}
        frame = session.createDataFrame(list(enumerate(ASKED)), ["place", "text"]).repartition(2)
        rows = frame.withColumn("predicted", pandas_udf("string")(label)("text")).collect()
    finally:
        session.stop()
    assert [row["predicted"] for row in sorted(rows, key=lambda row: row["place"])] == expected(model)
