"""Texts in, labels out, beside scikit-learn's ``TfidfVectorizer`` and ``LogisticRegression``; memory of a long run.

Both have the same vocabulary and the same weights of terms. Ours is the lasso that ``bayesift train`` makes, theirs a
logistic regression of the same classes; a run is ``predict`` on the test texts, or from a CSV file to a CSV file.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from bayesift.datasets import load
from bayesift.text import TextVectorizer
from bayesift.workflow import TextClassifier, classify
from benchmarks.measuring import peak_beyond_now, ratio, show, take_turns

#: Lines of the two runs whose memory is compared.
LINES = (100_000, 1_000_000)

Task = tuple[list[str], list[str], list[str]]


def tasks() -> dict[str, Task]:
    """Return training texts, their labels and test texts; of Reuters the texts with exactly one label."""
    found = {}
    for name, title in (("20newsgroups", "20 News"), ("reuters21578", "Reuters")):
        data = load(name)
        single = [place for place, labels in enumerate(data.train.labels) if len(labels) == 1]
        texts = [data.train.texts[place] for place in single]
        found[title] = texts, [data.train.labels[place][0] for place in single], data.test.texts
    return found


def fit_both(texts: list[str], labels: list[str], n_jobs: int) -> tuple[TextClassifier, Pipeline]:
    """Fit ours and theirs; how well theirs converges does not change its speed."""
    vectorizer = TextVectorizer(n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = TextClassifier("lasso", vectorizer=vectorizer, variance="norm", keep_posterior=False).fit(texts, labels)
        vocabulary = ours.vectorizer_.vocabulary_
        theirs = make_pipeline(
            TfidfVectorizer(sublinear_tf=True, vocabulary=vocabulary), LogisticRegression(max_iter=5)
        )
        return ours, theirs.fit(texts, labels)


def by_peer(pipeline: Pipeline, source: Path, target: Path) -> None:
    """Classify a CSV file as one would with scikit-learn and the csv module."""
    # A field of more than 128 KiB is an error by default.
    csv.field_size_limit(2**31 - 1)
    with source.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    place = header.index("text")
    labels = pipeline.predict([row[place] for row in rows])
    with target.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*header, "predicted"])
        writer.writerows([*row, label] for row, label in zip(rows, labels.tolist(), strict=True))


def compare(name: str, task: Task, repeats: int) -> tuple[str, ...]:
    """Time predictions in memory and from file to file."""
    texts, labels, test = task
    ours, theirs = fit_both(texts, labels, 1)
    two, _ = fit_both(texts, labels, 2)
    in_memory = take_turns(
        {
            "peer": partial(theirs.predict, test),
            "ours 1": partial(ours.predict, test),
            "ours 2": partial(two.predict, test),
        },
        repeats,
        name,
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "test.csv"
        write_csv(source, test)
        files = take_turns(
            {
                "peer": partial(by_peer, theirs, source, Path(folder) / "peer.csv"),
                "ours 1": partial(classify, ours, source, Path(folder) / "ours.csv"),
                "ours 2": partial(classify, two, source, Path(folder) / "two.csv"),
            },
            repeats,
            f"{name}, files",
        )
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in test) / 1e6
    return (
        name,
        f"{megabytes:.1f}",
        f"{len(ours.words()):,}",
        f"{megabytes / median(in_memory['ours 1']):.0f}",
        f"{ratio(in_memory, 'peer', 'ours 1'):.1f}",
        f"{ratio(in_memory, 'peer', 'ours 2'):.1f}",
        f"{ratio(files, 'peer', 'ours 1'):.1f}",
        f"{ratio(files, 'peer', 'ours 2'):.1f}",
    )


#: What terms may be beside words.
TERMS: dict[str, dict[str, Any]] = {
    "words": {},
    "words and pairs": {"ngram_range": (1, 2)},
    "stems": {"stemmer": "porter"},
}


def compare_terms(name: str, task: Task, repeats: int) -> tuple[str, ...]:
    """Time predictions by words, by words and pairs and by stems, in memory, as ``bayesift train`` takes them."""
    texts, labels, test = task
    fitted = {
        terms: TextClassifier("lasso", vectorizer=TextVectorizer(min_df=2, n_jobs=1, **options), variance="norm").fit(
            texts, labels
        )
        for terms, options in TERMS.items()
    }
    candidates = {terms: partial(classifier.predict, test) for terms, classifier in fitted.items()}
    seconds = take_turns(candidates, repeats, f"{name}, terms")
    counts = [f"{len(classifier.words()):,}" for classifier in fitted.values()]
    return name, *counts, *(f"{ratio(seconds, terms, 'words'):.1f}" for terms in list(TERMS)[1:])


def write_csv(path: Path, texts: list[str], n_lines: int | None = None) -> None:
    """Write texts, over and over up to so many, with a number each."""
    with path.open("w", newline="", encoding="utf-8", errors="replace") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text"])
        writer.writerows([number, texts[number % len(texts)]] for number in range(n_lines or len(texts)))


def long_run(n_lines: int) -> tuple[float, float, float]:
    """Classify so many lines, file to file; return seconds, the size of the file and the peak of memory, both in MB."""
    import time

    data = load("newsroom")
    texts = [line for text in data.train.texts for line in text.split("\n") if line]
    labels = [found[0] for found in data.train.labels]
    classifier = TextClassifier("lasso", variance="norm").fit(data.train.texts, labels)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "long.csv", Path(folder) / "out.csv"
        write_csv(source, texts, n_lines)
        # Compile, and fill what is filled once, before the memory counts.
        write_csv(Path(folder) / "short.csv", texts)
        classify(classifier, Path(folder) / "short.csv", target)
        begin = time.perf_counter()
        peak, found = peak_beyond_now(lambda: classify(classifier, source, target))
        seconds = time.perf_counter() - begin
        if found.n_texts != n_lines:
            raise AssertionError(f"classified {found.n_texts} of {n_lines} lines")
        return seconds, source.stat().st_size / 1e6, peak / 1e6


def run(repeats: int) -> None:
    """Print the tables."""
    show(
        "classify beside TfidfVectorizer + LogisticRegression: ratios of throughput (n_jobs=1, n_jobs=2)",
        ("test texts", "MB", "terms", "MB/s", "predict ×1", "×2", "CSV to CSV ×1", "×2"),
        [compare(name, task, repeats) for name, task in tasks().items()],
    )
    show(
        "classify with pairs of words and with stems, one thread: times of single words",
        ("test texts", *TERMS, "predict, pairs", "predict, stems"),
        [compare_terms(name, task, repeats) for name, task in tasks().items()],
    )
    rows: list[tuple[str, ...]] = []
    for n_lines in LINES:
        # In a process of its own, so that nothing else moves the high-water mark.
        command = f"from benchmarks.classify import long_run; print(*long_run({n_lines}))"
        output = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
        seconds, megabytes, peak = map(float, output.split())
        rows.append((f"{n_lines:,}", f"{megabytes:.0f}", f"{seconds:.1f}", f"{n_lines / seconds:,.0f}", f"{peak:.0f}"))
    show("A long run of short texts, CSV to CSV", ("lines", "MB", "seconds", "lines/s", "peak beyond before, MB"), rows)
