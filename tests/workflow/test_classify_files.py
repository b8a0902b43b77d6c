"""Many files classified: as one by one, by any engine, and after a kill only those that are left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bayesift.formats import save
from bayesift.workflow import TextClassifier, classify, classify_files

TEXTS, LABELS = ["wheat", "corn", "sea", "ship"] * 5, ["farm", "farm", "sea", "sea"] * 5


@pytest.fixture
def place(tmp_path: Path) -> Path:
    save(TextClassifier("nb").fit(TEXTS, LABELS), tmp_path / "m.bayesift")
    for number, words in enumerate((["wheat", "ship"], ["sea"], ["corn", "corn", "sea"])):
        (tmp_path / f"{number}.csv").write_text("text\n" + "".join(f"{word}\n" for word in words))
    return tmp_path


def files_of(place: Path) -> list[Path]:
    return sorted(place.glob("?.csv"))


@pytest.mark.parametrize("engine", ["threads", "loky"])
def test_files_are_classified_as_one_by_one(place: Path, engine: str) -> None:
    told = []
    found = classify_files(
        place / "m.bayesift",
        files_of(place),
        place / "out",
        engine=engine,
        n_jobs=2,
        on_file=lambda written, one: told.append((written.name, one.n_texts)),
        proba=True,
    )
    assert told == [("0.csv", 2), ("1.csv", 1), ("2.csv", 3)]
    assert found["2.csv"].counts == {"farm": 2, "sea": 1}
    classifier = TextClassifier("nb").fit(TEXTS, LABELS)
    for path in files_of(place):
        classify(classifier, path, place / "alone.csv", proba=True)
        assert (place / "out" / path.name).read_bytes() == (place / "alone.csv").read_bytes()
    assert sorted(os.listdir(place / "out")) == ["0.csv", "1.csv", "2.csv"]


KILLED = """
import os, signal, sys
from bayesift.workflow import classify_files
def tell(written, found):
    if written.name == "1.csv":
        os.kill(os.getpid(), signal.SIGKILL)
classify_files(sys.argv[1], sys.argv[3:], sys.argv[2], n_jobs=1, on_file=tell)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_after_a_kill_only_the_others_are_classified(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, out = place / "m.bayesift", place / "out"
    done = subprocess.run([sys.executable, "-c", KILLED, model, out, *files_of(place)], check=False)
    assert done.returncode == -signal.SIGKILL
    ledger = out / ".classified.json"
    noted = json.loads(ledger.read_text())
    assert [Path(name).name for name in noted["done"]] == ["0.csv", "1.csv"]
    # What has changed since is classified again.
    (out / "0.csv").write_text("spoilt")
    read, own = [], classify

    def counted(classifier, data, output, **options):
        read.append(Path(data).name)
        return own(classifier, data, output, **options)

    monkeypatch.setattr(sys.modules["bayesift.workflow.classify_files"], "classify", counted)
    found = classify_files(model, files_of(place), out, n_jobs=1)
    assert sorted(read) == ["0.csv", "2.csv"]
    assert [one.n_texts for one in found.values()] == [2, 1, 3]
    assert not ledger.exists()


@pytest.mark.parametrize("content", ["", "[]", '{"plan": 1}', '{"plan": null, "done": {"a": 3}}', "[" * 5000])
def test_a_ledger_that_is_damaged_is_as_good_as_none(place: Path, content: str) -> None:
    (place / "out").mkdir()
    (place / "out" / ".classified.json").write_text(content)
    assert len(classify_files(place / "m.bayesift", files_of(place), place / "out", n_jobs=1)) == 3


def test_a_model_that_changes_on_the_way_is_refused(place: Path) -> None:
    module = sys.modules["bayesift.workflow.classify_files"]
    module._loaded.cache_clear()
    with pytest.raises(ValueError, match="has changed since"):
        module._loaded(str(place / "m.bayesift"), "0" * 64)
    with pytest.raises(ValueError, match="files is empty"):
        classify_files(place / "m.bayesift", [], place / "out")
