"""Our model inside ASReview, by its own command; needs ASReview 3 beside us, or BAYESIFT_ASREVIEW with its Python."""

from __future__ import annotations

import csv
import importlib
import json
import os
import random
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from bayesift.datasets import load, read_documents
from bayesift.review.engine import Aim, Corpus, ReviewEngine
from bayesift.review.engine.recall import bound_by_bets, draws_of

TOP = Path(__file__).parents[2]
EXTENSION = TOP / "extensions" / "asreview-bayesift"


@pytest.fixture
def asreview(tmp_path):
    """How to run ASReview with the extension, as if it were installed."""
    python = os.environ.get("BAYESIFT_ASREVIEW") or (sys.executable if find_spec("asreview") else None)
    if python is None:
        pytest.skip("ASReview is not installed: pip install asreview")
    described = tomllib.loads((EXTENSION / "pyproject.toml").read_text())["project"]
    installed = tmp_path / "site" / "asreview_bayesift-0.1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: asreview-bayesift\nVersion: 0.1.0\n")
    groups = described["entry-points"].items()
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items()) for group, entries in groups
    )
    (installed / "entry_points.txt").write_text("\n".join(lines))
    paths = [str(path) for path in (installed.parent, EXTENSION / "src", TOP / "src")]

    def run(*arguments):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        done = subprocess.run(
            [python, "-m", "asreview", *arguments], env=environment, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def labels(tmp_path):
    """Write news with labels for ASReview; return the labels."""
    news = load("newsroom")
    texts, labels = news.train.texts[:150], news.train.labels[:150]
    with (tmp_path / "news.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["title", "abstract", "included"])
        for text, given in zip(texts, labels, strict=True):
            title, _, rest = text.strip().partition("\n")
            writer.writerow([title, rest.strip(), int("courts" in given)])
    return labels


def test_our_model_ranks_inside_asreview(asreview, tmp_path, labels):
    chosen = ["-e", "bayesift", "-c", "bayesift", "-q", "max", "--n-prior-included", "1", "--n-prior-excluded", "1"]
    asreview("simulate", "news.csv", *chosen, "-o", "news.asreview", "--seed", "1")
    read = list(read_documents(tmp_path / "news.asreview"))
    relevant = sum("courts" in given for given in labels)
    decided = [document.details["asreview_label"] for document in read if "asreview_label" in document.details]
    # All relevant ones are found, and far from all records are read for it.
    assert decided.count("1") == relevant > 3
    assert len(decided) < 100


def test_our_rule_stops_asreview(asreview, tmp_path, labels):
    settings = {"querier": "max", "classifier": "bayesift", "feature_extractor": "bayesift"}
    relevant = sum("courts" in given for given in labels)
    read = {}
    for name, aim in (("loose", {"recall": 0.5, "confidence": 0.8}), ("strict", {"recall": 0.95})):
        config = {**settings, "stopper": "bayesift_queue", "stopper_param": aim}
        (tmp_path / f"{name}.json").write_text(json.dumps(config))
        prior = ["--n-prior-included", "1", "--n-prior-excluded", "1", "--prior-seed", "1"]
        asreview(
            "simulate", "news.csv", "--config-file", f"{name}.json", "--n-stop=-1", *prior, "-o", f"{name}.asreview"
        )
        found = [document.details.get("asreview_label") for document in read_documents(tmp_path / f"{name}.asreview")]
        assert found.count("1") >= aim["recall"] * relevant
        read[name] = sum(said is not None for said in found)
    assert read["loose"] < read["strict"] <= len(labels)
    assert read["loose"] < 0.9 * len(labels)


def test_the_model_that_follows_stops_asreview(asreview, tmp_path, labels):
    prior = ["--n-prior-included", "1", "--n-prior-excluded", "1", "--prior-seed", "1"]
    read = {}
    for recall in (0.5, 0.95):
        aim = {"records": "news.csv", "recall": recall}
        config = {"querier": "max", "classifier": "svm", "feature_extractor": "tfidf", "stopper": "bayesift_model"}
        (tmp_path / "stop.json").write_text(json.dumps({**config, "stopper_param": aim}))
        name = f"{recall}.asreview"
        asreview("simulate", "news.csv", "--config-file", "stop.json", "--n-stop=-1", *prior, "-o", name)
        found = [document.details.get("asreview_label") for document in read_documents(tmp_path / name)]
        assert found.count("1") >= recall * sum("courts" in given for given in labels)
        read[recall] = sum(said is not None for said in found)
    assert read[0.5] < read[0.95] < len(labels)


@pytest.fixture
def rules(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSION / "src"))
    return importlib.import_module("asreview_bayesift")


def test_rules_stop_where_the_bound_of_the_page_reaches_the_aim(rules):
    pandas = pytest.importorskip("pandas")
    choice, n = random.Random(2), 120
    kinds = [None, "top_down", *choice.choices(["max", "random"], [4, 1], k=n - 2)]
    relevant = [True, False, *(choice.random() < (0.6 if place < 20 else 0.01) for place in range(n - 2))]
    results = pandas.DataFrame({"label": [int(said) for said in relevant], "querier": kinds})
    stopped = {"queue": 0, "random": 0}
    for size in range(1, n):
        some, found = results[:size], sum(relevant[:size])
        for rule, counted in ((rules.Queue(0.7, 0.9), ("max", "random")), (rules.Random(0.7, 0.9), ("random",))):
            drawn = [kind in counted for kind in kinds[:size]]
            bound = bound_by_bets(draws_of(zip(relevant[:size], drawn, strict=True), n), found, n - size, 0.9)
            expected = any(drawn) and bound.left <= Aim(0.7, 0.9).allowed(found)
            assert rule.stop(some, range(n)) == expected, (size, rule)
            stopped["queue" if "max" in counted else "random"] += expected
    assert stopped["queue"] > stopped["random"] > 0
    assert rules.Queue().stop(results, range(n))
    assert not rules.Queue().stop(results[:0], range(n))


def test_the_rule_of_the_queue_is_withdrawn_when_random_draws_contradict_it(rules):
    pandas = pytest.importorskip("pandas")
    kinds = ["max"] * 60 + ["max", "max", "max", "random"] * 10
    relevant = [1] * 20 + [0] * 40 + [0, 0, 0, 1] * 5 + [0] * 20
    results = pandas.DataFrame({"label": relevant, "querier": kinds})
    assert not rules.Queue(0.5, 0.5).stop(results, range(130))
    assert rules.Queue(0.5, 0.5).stop(results.assign(querier="max"), range(130))


def test_the_model_that_follows_says_what_the_page_would_say(rules):
    pandas = pytest.importorskip("pandas")
    news = load("newsroom")
    texts = news.train.texts[:120]
    relevant = ["courts" in given for given in news.train.labels[:120]]
    engine, rule = ReviewEngine(Corpus.build(texts)), rules.Model("news.csv", 0.7, 0.9)
    rule.corpus_ = engine.corpus
    rows, fitted, stopped = [], 0, 0
    for place in range(len(texts) - 1):
        if place - fitted >= max(1, 0.05 * place):
            engine.adopt(engine.refit())
            fitted = place
        querier = None if place < 2 else "random" if place % 9 == 0 else "max"
        known = relevant.index(place == 0) if place < 2 else None
        card = known if known is not None else engine.next()[0].document
        why = {None: "known", "max": "probable"}.get(querier, "random")
        engine.label(card, relevant[card], why=why)
        rows.append({"record_id": card, "label": int(relevant[card]), "querier": querier})
        expected = engine.stopping(0.7, 0.9).statements[2].allows and place > 1
        assert rule.stop(pandas.DataFrame(rows), range(len(texts))) == expected, place
        stopped += expected
    assert 0 < stopped < 100
    # Another review, or a label that was changed, begins anew.
    again = pandas.DataFrame([{**rows[0], "label": 0}, *rows[1:60]])
    fresh = rules.Model("news.csv", 0.7, 0.9)
    fresh.corpus_ = engine.corpus
    assert rule.stop(again, range(len(texts))) == fresh.stop(again, range(len(texts)))
    assert rule.engine_.judgements.found == fresh.engine_.judgements.found
    with pytest.raises(ValueError, match=r"news\.csv has 120 records; expected the file that ASReview reads, .* 130"):
        rules.Model.stop(fresh, pandas.DataFrame(rows[::-1]), range(130))
    assert rule.stop(pandas.DataFrame(rows), range(len(rows)))


def test_a_rule_refuses_an_aim_that_is_none(rules):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="confidence is 1; expected a number between 0 and 1"):
        rules.Queue(confidence=1).stop(pandas.DataFrame({"label": [1], "querier": ["max"]}), range(3))
