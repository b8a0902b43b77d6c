"""Speed of two versions of the package in one run: ``python -m benchmarks.compare_versions BEFORE AFTER [CASE ...]``.

BEFORE and AFTER are folders of two checkouts. Each case runs in two processes, one for each version, which take turns;
the median of the ratio within the rounds is reported, and whether both versions give the same result.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from statistics import median
from typing import Any

#: A turn lasts at least so many seconds, so that quick cases are not timed while the machine is still waking up.
SHORTEST_TURN = 0.5

#: Results are the same when they differ by no more than this share.
SAME = 1e-6

#: What is timed, and a number that tells whether two versions give the same result.
Work = tuple[Callable[[], Any], Callable[[Any], float]]


class Texts:
    """The texts and labels of a case; the embedded corpus in place of the collection where the run is small."""

    def __init__(self, collection: str, small: bool) -> None:
        from bayesift.datasets import load

        self.data = load("newsroom" if small else collection)
        self.train, self.test = self.data.train.texts, self.data.test.texts

    def single(self) -> tuple[list[str], list[str]]:
        """Return the training texts that have a label, and the first label of each."""
        pairs = [(text, labels[0]) for text, labels in zip(self.train, self.data.train.labels, strict=True) if labels]
        return [text for text, _ in pairs], [label for _, label in pairs]


def logistic(small: bool, prior: str, **options: Any) -> Work:
    """Fit every ninth category of ModApte, or all of them, with a penalised intercept."""
    from bayesift.linear import BayesianLogisticRegression
    from bayesift.text import TextVectorizer

    texts = Texts("reuters21578", small)
    X, Y = TextVectorizer("lsc").fit_transform(texts.train), texts.data.indicator("train").toarray()
    Y = Y if options.get("variance") == "cv" else Y[:, ::9]
    model = BayesianLogisticRegression(prior, intercept_variance="same", tol=1e-6, **options)
    return lambda: model.fit(X, Y.squeeze()), lambda fitted: float(abs(fitted.coef_).sum())


def softmax(small: bool, prior: str, variance: float) -> Work:
    """Fit all classes of 20 Newsgroups at once."""
    from bayesift.linear import BayesianMultinomialRegression
    from bayesift.text import TextVectorizer

    texts, labels = Texts("20newsgroups", small).single()
    X = TextVectorizer("lsc").fit_transform(texts)
    model = BayesianMultinomialRegression(prior, variance, intercept_variance="same", tol=1e-5, n_jobs=1)
    return lambda: model.fit(X, labels), lambda fitted: float(abs(fitted.coef_).sum())


def vectorizer(small: bool, method: str, **options: Any) -> Work:
    """Bring 20 Newsgroups into a matrix of counts."""
    from bayesift.text import TextVectorizer

    texts = Texts("20newsgroups", small).train
    counter = TextVectorizer("nnn", n_jobs=1, **options).fit(texts)
    return lambda: getattr(counter, method)(texts), lambda X: float(X.sum() + X.nnz)


def classify(small: bool, files: bool) -> Work:
    """Give labels to the test texts of 20 Newsgroups, in memory or from one CSV file to another."""
    from bayesift.text import TextVectorizer
    from bayesift.workflow import TextClassifier
    from bayesift.workflow import classify as classify_file

    texts = Texts("20newsgroups", small)
    options = {"vectorizer": TextVectorizer(n_jobs=1), "variance": "norm"}
    # One of these names, by the version.
    without = _taken_by(TextClassifier, posterior=False, keep_posterior=False)
    classifier = TextClassifier("lasso", **options, **without).fit(*texts.single())

    def checked(labels: Any) -> float:
        return float(sum(len(label) for label in labels))

    if not files:
        return lambda: classifier.predict(texts.test), checked
    folder = Path(tempfile.mkdtemp(prefix="compare-versions-"))
    source, target = folder / "texts.csv", folder / "labels.csv"
    with source.open("w", newline="", encoding="utf-8", errors="replace") as stream:
        csv.writer(stream).writerows([["text"], *([text] for text in texts.test)])
    return lambda: classify_file(classifier, source, target), lambda _: float(target.stat().st_size)


def _taken_by(function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """Return the options that a function has a parameter for."""
    known = signature(function).parameters
    return {name: value for name, value in options.items() if name in known}


CASES: dict[str, Callable[[bool], Work]] = {
    "logistic-laplace": lambda small: logistic(small, "laplace", variance=2.0, n_jobs=1),
    "logistic-gaussian": lambda small: logistic(small, "gaussian", variance=1.0, n_jobs=1),
    "logistic-cv": lambda small: logistic(small, "laplace", variance="cv", n_jobs=2),
    "softmax-laplace": lambda small: softmax(small, "laplace", 2.0),
    "softmax-gaussian": lambda small: softmax(small, "gaussian", 1.0),
    "vectorizer-fit": lambda small: vectorizer(small, "fit_transform"),
    "vectorizer-transform": lambda small: vectorizer(small, "transform"),
    "vectorizer-stems": lambda small: vectorizer(small, "fit_transform", stemmer="porter", stop_words="english"),
    "classify-memory": lambda small: classify(small, files=False),
    "classify-files": lambda small: classify(small, files=True),
}


def work_on_orders(case: str, small: bool) -> None:
    """Prepare a case, then run it once for every line that comes; write seconds and the result as JSON."""
    import bayesift

    warnings.simplefilter("ignore")
    run, check = CASES[case](small)
    # Compiles, or reads what was compiled.
    check(run())
    print(json.dumps({"package": bayesift.__file__}), flush=True)
    for _ in sys.stdin:
        start, cpu, runs = time.perf_counter(), time.process_time(), 0
        while runs == 0 or time.perf_counter() - start < SHORTEST_TURN:
            result = run()
            runs += 1
        spent = {"wall": (time.perf_counter() - start) / runs, "cpu": (time.process_time() - cpu) / runs}
        print(json.dumps({**spent, "result": check(result)}), flush=True)


class Version:
    """A process that works on a case with the package of one checkout."""

    def __init__(self, folder: Path, case: str, small: bool) -> None:
        source = folder.resolve() / "src"
        if not (source / "bayesift").is_dir():
            raise SystemExit(f"{folder} has no folder src/bayesift; expected a checkout of the package")
        # With -P the folder of this file, which has modules with common names, is not searched.
        command = [sys.executable, "-P", __file__, "--case", case, *(["--small"] if small else [])]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source)},
        )
        found = Path(self._answer()["package"])
        if not found.is_relative_to(source):
            raise SystemExit(f"the process for {folder} imported {found}; expected the package in {source}")

    def turn(self) -> dict[str, Any]:
        """Run the case for a turn."""
        assert self.process.stdin is not None
        print(file=self.process.stdin, flush=True)
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a process ended early; its own message stands above")
        return json.loads(line)


def compare(before: Path, after: Path, case: str, repeats: int, small: bool) -> tuple[str, ...]:
    """Return a row: the case, milliseconds of both, ratios by the clock and by the processor, the results."""
    versions = Version(before, case, small), Version(after, case, small)
    rounds = []
    for number in range(repeats):
        # The one that goes first changes, lest it always has the cooler or the warmer machine.
        order = (0, 1) if number % 2 == 0 else (1, 0)
        found = {place: versions[place].turn() for place in order}
        rounds.append((found[0], found[1]))
    for version in versions:
        version.close()
    milliseconds = [f"{1e3 * median(pair[place]['wall'] for pair in rounds):.1f}" for place in (0, 1)]
    ratios = [_ratio([new[clock] / old[clock] for old, new in rounds]) for clock in ("wall", "cpu")]
    old, new = rounds[-1]
    same = abs(old["result"] - new["result"]) <= SAME * abs(old["result"])
    return case, *milliseconds, *ratios, "same" if same else "differ"


def _ratio(ratios: list[float]) -> str:
    """Return the median, and the quartiles in brackets."""
    ordered = sorted(ratios)
    quarter = len(ordered) // 4
    return f"{median(ordered):.3f} ({ordered[quarter]:.2f}–{ordered[-1 - quarter]:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare_versions", description=__doc__)
    parser.add_argument("before", type=Path, help="checkout of the one version")
    parser.add_argument("after", type=Path, help="checkout of the other")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"beginnings of {', '.join(CASES)} (default: all)")
    parser.add_argument("--repeats", type=int, default=11, help="rounds; medians are reported")
    parser.add_argument("--small", action="store_true", help="the embedded corpus, to see whether everything runs")
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.cases or case.startswith(tuple(arguments.cases))]
    if not cases:
        parser.error(f"no case begins with {arguments.cases[0]!r}; known: {', '.join(CASES)}")
    from benchmarks.measuring import show

    rows = [compare(arguments.before, arguments.after, case, arguments.repeats, arguments.small) for case in cases]
    header = ("case", "before, ms", "after, ms", "after / before", "CPU time", "results")
    show(f"{arguments.after} beside {arguments.before}, {arguments.repeats} rounds", header, rows)


def worker() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", required=True)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    work_on_orders(arguments.case, arguments.small)


if __name__ == "__main__":
    if "--case" in sys.argv:
        worker()
    else:
        main()
