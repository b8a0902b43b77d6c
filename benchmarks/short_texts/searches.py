"""Models with their settings chosen by held-out rows, from a matrix to labels of other rows."""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from benchmarks.measuring import show
from benchmarks.short_texts.rows import Matrices, Rows, make_rows, matrices

#: What is tried for LinearSVC and for SGDClassifier, on three folds.
COSTS = (0.01, 0.1, 1.0, 10.0)
ALPHAS = (1e-6, 1e-5, 1e-4, 1e-3)
FOLDS = 3
#: Fixed variances of our models, to compare the choice with.
VARIANCES = {"laplace": (0.2, 2.0, 20.0, 200.0), "gaussian": (1.0, 10.0, 100.0)}
#: With C = 10 LinearSVC uses up its 1,000 passes in every fit. Beyond so many rows it gets no grid but one fit.
MOST_FOR_THE_GRID = 20_000
ONE_COST = 0.1


class Outcome(NamedTuple):
    """What was chosen, the seconds of the processor for everything, and the accuracy on the rows held out."""

    chosen: str
    seconds: float
    accuracy: float


def measure(work: Callable[[], tuple[Any, str]], held_out: Any, labels: np.ndarray) -> Outcome:
    """Fit on one thread; the time is the processor's, since other programs may run."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model, chosen = work()
        seconds = time.process_time() - start
        return Outcome(chosen, seconds, float(np.mean(model.predict(held_out) == labels)))


def ours(kind: type[Any], prior: str, variance: Any, data: Matrices) -> tuple[Any, str]:
    """Fit one of our models, with a search or without."""
    model = kind(prior, variance, n_jobs=1).fit(data.X, data.y)
    return model, " ".join(f"{value:.3g}" for value in model.variance_)


def grid_search(name: str, data: Matrices) -> tuple[Any, str]:
    """Fit a model of scikit-learn by its grid search."""
    model, grid = {
        "LinearSVC": (LinearSVC(random_state=0), {"C": COSTS}),
        "SGDClassifier": (SGDClassifier(loss="log_loss", random_state=0), {"alpha": ALPHAS}),
    }[name]
    search = GridSearchCV(model, grid, cv=FOLDS).fit(data.X, data.y)
    return search, f"{next(iter(search.best_params_.values())):g}"


class FastText:
    """fastText with its defaults, 25 epochs and a learning rate of 0.5: it has no search for these on one thread."""

    def __init__(self, rows: Rows) -> None:
        import fasttext

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            lines = (f"__label__{label} {text}" for text, label in zip(rows.texts, rows.labels, strict=True))
            file.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
            self.model = fasttext.train_supervised(input=str(file), lr=0.5, epoch=25, thread=1, seed=0, verbose=0)

    def predict(self, texts: list[str]) -> np.ndarray:
        """Return the most probable label of each text; its own predict() fails with numpy 2."""
        found = (self.model.f.predict(f"{text}\n", 1, 0.0, "strict")[0][1] for text in texts)
        return np.array([int(name.removeprefix("__label__")) for name in found])


def run_searches(n: int, names: Sequence[str] = ()) -> None:
    """Print what every program chose, its seconds and its accuracy for ``n`` rows.

    With ``names``, only those whose names begin with one of them.
    """
    rows = make_rows(n)
    data = matrices(rows)
    found: dict[str, Outcome] = {}

    def add(name: str, work: Callable[[], tuple[Any, str]], held_out: Any = data.held_out) -> None:
        if not names or name.startswith(tuple(names)):
            found[name] = measure(work, held_out, data.held_out_y)
            print(f"{n:,} rows, {name}: {found[name]}", file=sys.stderr, flush=True)

    small = (data.X[:2000], data.y[:2000])
    for name, kind in (("", BayesianLogisticRegression), ("softmax ", BayesianMultinomialRegression)):
        for prior, short in (("laplace", "lasso"), ("gaussian", "ridge")):
            # Compiled before the clock starts.
            kind(prior, n_jobs=1).fit(*small)
            for variance in ("cv", "auto"):
                add(f"{name}{short} {variance}", lambda k=kind, p=prior, v=variance: ours(k, p, v, data))
    for prior, short in (("laplace", "lasso"), ("gaussian", "ridge")):
        for variance in VARIANCES[prior]:
            fit = lambda p=prior, v=variance: ours(BayesianLogisticRegression, p, v, data)  # noqa: E731
            add(f"{short} {variance:g}", fit)
    add("SGDClassifier grid", lambda: grid_search("SGDClassifier", data))
    if find_spec("fasttext"):
        add("fastText", lambda: (FastText(rows), ""), rows.held_out)
    if n <= MOST_FOR_THE_GRID:
        add("LinearSVC grid", lambda: grid_search("LinearSVC", data))
    else:
        add(f"LinearSVC {ONE_COST:g}", lambda: (LinearSVC(C=ONE_COST, random_state=0).fit(data.X, data.y), ""))
    last = list(found)[-1]
    table = [
        (name, one.chosen, f"{one.seconds:.2f}", f"{found[last].seconds / one.seconds:.1f}", f"{one.accuracy:.2%}")
        for name, one in found.items()
    ]
    title = f"{n:,} rows, {data.X.shape[1]:,} words, {data.X.nnz / n:.1f} in a row; seconds of one core"
    show(title, ("", "chosen", "seconds", f"{last} / this", "accuracy"), table)
