"""Texts and files to shards: the matrix of a fit in memory, in two passes, and after a kill from where it was."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from bayesift import shards
from bayesift.text import TextVectorizer, fit_in_batches

WORDS = [f"word{number}" for number in range(300)]
RANDOM = np.random.default_rng(0)
TEXTS = [" ".join(RANDOM.choice(WORDS[: 10 + k], 8)) for k in range(290)]
LABELS = ["even" if k % 2 == 0 else "odd" for k in range(290)]


def rows_of(folder: Path):
    return sp.vstack(list(shards.open(folder)))


@pytest.mark.parametrize(
    "options", [{}, {"min_df": 3}, {"max_features": 40}, {"max_df": 0.2}, {"ngram_range": (1, 2)}, {"n_features": 64}]
)
def test_terms_learnt_in_batches_are_those_of_one_fit(options: dict) -> None:
    whole = TextVectorizer(**options).fit(TEXTS)
    found = fit_in_batches(TextVectorizer(**options), [TEXTS[:100], [], TEXTS[100:101], TEXTS[101:]])
    if "n_features" not in options:
        assert found.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.document_frequency_, whole.document_frequency_)
    assert abs(found.transform(TEXTS) - whole.transform(TEXTS)).max() == 0.0


def test_forgotten_terms_are_no_more_frequent_than_the_warning_says() -> None:
    texts = [f"common other{k % 7} rare{k}" for k in range(500)]
    batches = [texts[first : first + 20] for first in range(0, 500, 20)]
    with pytest.warns(UserWarning, match="in at most (\\d+) documents may be missing") as caught:
        found = fit_in_batches(TextVectorizer(), batches, max_terms=30)
    floor = int(str(caught[0].message).split("at most ")[1].split()[0])
    whole = TextVectorizer().fit(texts)
    for term, column in whole.vocabulary_.items():
        true = whole.document_frequency_[column]
        if term in found.vocabulary_:
            assert true - floor <= found.document_frequency_[found.vocabulary_[term]] <= true
        else:
            assert true <= floor
    assert "common" in found.vocabulary_
    assert len(found.vocabulary_) <= 30


def test_nothing_to_learn_is_an_error() -> None:
    with pytest.raises(ValueError, match="no term was found"):
        fit_in_batches(TextVectorizer(), [["", "."]])
    with pytest.raises(ValueError, match="max_terms is 0"):
        fit_in_batches(TextVectorizer(), [TEXTS], max_terms=0)


def write_csv(path: Path, texts, labels) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "label"])
        writer.writerows(zip(texts, labels, strict=True))
    return path


def test_texts_become_the_matrix_of_one_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesift.shards._texts._BATCH", 70)
    expected = TextVectorizer().fit_transform(TEXTS)
    shards.write(TEXTS, TextVectorizer(), tmp_path / "a", labels=LABELS, rows=100)
    assert abs(rows_of(tmp_path / "a") - expected).max() == 0.0
    assert shards.open(tmp_path / "a").labels.tolist() == LABELS
    files = [
        write_csv(tmp_path / "1.csv", TEXTS[:120], LABELS[:120]),
        write_csv(tmp_path / "2.csv", TEXTS[120:], LABELS[120:]),
    ]
    shards.write(files, TextVectorizer(), tmp_path / "b", rows=100)
    assert abs(rows_of(tmp_path / "b") - expected).max() == 0.0
    assert shards.open(tmp_path / "b").labels.tolist() == LABELS
    assert sorted(os.listdir(tmp_path)) == ["1.csv", "2.csv", "a", "b"]


def test_rows_with_several_labels_have_sets(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "1.csv", ["gold", "wheat", "corn"], ["a|b", "a", ""])
    shards.write(path, TextVectorizer(), tmp_path / "a", label_separator="|")
    found = shards.open(tmp_path / "a")
    assert found.labels.toarray().tolist() == [[1, 1], [1, 0], [0, 0]]


KILLED = """
import os, signal, sys
from pathlib import Path
from bayesift import shards
from bayesift.shards import _texts, _writing
from bayesift.text import TextVectorizer
_texts._BATCH = 50
own = _writing.ShardWriter._flush
def flush(self):
    own(self)
    if len(self._shards) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
_writing.ShardWriter._flush = flush
shards.write(Path(sys.argv[1]), TextVectorizer(), sys.argv[2], rows=60)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_after_a_kill_the_same_call_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(tmp_path / "1.csv", TEXTS, LABELS)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(tmp_path / "a")], check=False)
    assert done.returncode == -signal.SIGKILL
    kept = tmp_path / ".a.unfinished" / "000001.values.npy"
    written = kept.stat().st_mtime_ns
    learned = []
    monkeypatch.setattr("bayesift.shards._texts.fit_in_batches", lambda *_, **__: learned.append(1))
    shards.write(path, TextVectorizer(), tmp_path / "a", rows=60)
    assert not learned
    assert (tmp_path / "a" / "000001.values.npy").stat().st_mtime_ns == written
    assert abs(rows_of(tmp_path / "a") - TextVectorizer().fit_transform(TEXTS)).max() == 0.0
    shards.open(tmp_path / "a").verify()
    assert sorted(os.listdir(tmp_path)) == ["1.csv", "a"]


def test_what_cannot_be_read_twice_is_refused(tmp_path: Path) -> None:
    for source, message in (
        (iter(TEXTS), "read twice"),
        ([], "empty"),
        ([Path("a"), "b"], "mixes"),
    ):
        with pytest.raises(ValueError, match=message):
            shards.write(source, TextVectorizer(), tmp_path / "a")
    with pytest.raises(ValueError, match="290 texts and 1 labels"):
        shards.write(TEXTS, TextVectorizer(), tmp_path / "a", labels=[1])
    with pytest.raises(ValueError, match="is for files"):
        shards.write(TEXTS, TextVectorizer(), tmp_path / "a", text="body")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_used_again_for_the_same_files_and_settings_only(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "1.csv", TEXTS, LABELS)
    shards.write(path, first := TextVectorizer(min_df=2), tmp_path / "a")
    written = (tmp_path / "a" / "manifest.json").stat().st_mtime_ns
    again = TextVectorizer(min_df=2)
    shards.write(path, again, tmp_path / "a", reuse=True)
    assert (tmp_path / "a" / "manifest.json").stat().st_mtime_ns == written
    assert abs(again.transform(TEXTS) - first.transform(TEXTS)).max() == 0.0
    with pytest.raises(FileExistsError, match="other settings"):
        shards.write(path, TextVectorizer(min_df=3), tmp_path / "a", reuse=True)
    write_csv(path, TEXTS[1:], LABELS[1:])
    with pytest.raises(FileExistsError, match="files that have changed"):
        shards.write(path, TextVectorizer(min_df=2), tmp_path / "a", reuse=True)
    (tmp_path / "b").mkdir()
    with pytest.raises(FileExistsError, match="not a folder of shards"):
        shards.write(path, TextVectorizer(), tmp_path / "b", reuse=True)


def test_what_a_folder_says_of_its_source_is_not_trusted(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "1.csv", TEXTS, LABELS)
    shards.write(path, TextVectorizer(), tmp_path / "a")
    source = tmp_path / "a" / "source.json"
    content = json.loads(source.read_text())
    for wrong in ({"documents": [10**6] * len(content["documents"])}, {"documents": [1]}, {"n_documents": "9"}):
        source.write_text(json.dumps({**content, **wrong}))
        with pytest.raises(shards.ShardError, match="source"):
            shards.write(path, TextVectorizer(), tmp_path / "a", reuse=True)
    with pytest.raises(shards.ShardError, match="another checksum"):
        shards.open(tmp_path / "a").verify()


def test_rows_without_a_label_are_left_out_where_others_have_exactly_one(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "1.csv", ["gold", "wheat", "corn", "rye"], ["a", "", "b", "a"])
    shards.write(path, vectorizer := TextVectorizer(), tmp_path / "a", unlabelled="drop")
    found = shards.open(tmp_path / "a")
    assert found.labels.tolist() == ["a", "b", "a"]
    assert "wheat" in vectorizer.vocabulary_
    several = write_csv(tmp_path / "2.csv", ["gold", "wheat", "corn"], ["a|b", "", "b"])
    shards.write(several, TextVectorizer(), tmp_path / "b", label_separator="|", unlabelled="drop")
    assert shards.open(tmp_path / "b").labels.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
    with pytest.raises(ValueError, match="unlabelled is 'lose'"):
        shards.write(path, TextVectorizer(), tmp_path / "c", unlabelled="lose")
