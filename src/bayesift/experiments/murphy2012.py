"""Murphy (2012), chapter 3, on real text: ``python -m bayesift.experiments.murphy2012``.

- :func:`table_3_1`: the most probable and the most telling words of two newsgroups about windows;
- :func:`newsgroups`: test accuracy on 20 Newsgroups of naive Bayes and the Dirichlet compound multinomial (DCM);
- :func:`reuters`: the same on the ten largest categories of Reuters-21578, one category to a document;
- :func:`modapte`: F1 on all 90 categories of Reuters-21578;
- :func:`figures`: figures 3.2 to 3.8 of the chapter, and one of bursts.

The book gives no numbers for the comparison of models, only the verdict that the DCM is far better than the
multinomial.
Smoothing is chosen by cross-validation on the training documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from bayesift._extras import require
from bayesift._files import atomic_path
from bayesift._typing import AnyArray
from bayesift.concepts import number_game
from bayesift.conjugate import BetaBinomial
from bayesift.datasets import load
from bayesift.generative import BernoulliNB, DirichletCompoundMultinomial, MultinomialNB
from bayesift.plots import BurstinessDisplay, ConceptDisplay, PosteriorDisplay, PredictiveDisplay
from bayesift.text import TextVectorizer

#: Tokens of the comparisons.
LETTERS = r"[a-z]{2,}"
#: Table 3.1: probability of a word in X windows and in MS windows, and its mutual information with the class.
PUBLISHED_PROBABILITIES = {
    "subject": (0.998, 0.998),
    "this": (0.628, 0.540),
    "with": (0.535, 0.538),
    "but": (0.471, 0.518),
    "you": (0.431, np.nan),
    "windows": (np.nan, 0.639),
}
PUBLISHED_INFORMATION = {"windows": 0.215, "microsoft": 0.095, "dos": 0.092, "motif": 0.078, "window": 0.067}
WINDOWS = ("comp.windows.x", "comp.os.ms-windows.misc")
TOP_TEN = ("acq", "corn", "crude", "earn", "grain", "interest", "money-fx", "ship", "trade", "wheat")

#: Pseudo counts of each word; words and documents drawn from all classes: to choose from.
SMOOTHING = (1e-6, 1e-5, 1e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
WORDS = (1.0, 10.0, 100.0, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6)
DOCUMENTS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4)


class Candidate(NamedTuple):
    """A model to compare: how to make it from its smoothing and training documents, what to try, what it is given."""

    model: str
    prior: str
    make: Callable[[float, sp.csr_matrix], Any]
    choices: Sequence[float]
    values: str


def _plugged_in(alpha: float, X: sp.csr_matrix) -> MultinomialNB:
    """Return what other programs call multinomial naive Bayes with smoothing alpha."""
    return MultinomialNB(1.0 + alpha, estimate="map")


def _with_background(words: float, X: sp.csr_matrix) -> MultinomialNB:
    """Return a multinomial model whose prior is worth so many words drawn from the documents of all classes."""
    occurrences = np.asarray(X.sum(axis=0)).ravel() + 0.5
    return MultinomialNB(1.0 + words * occurrences / occurrences.sum(), estimate="map")


def _bursts_with_background(documents: float, X: sp.csr_matrix, solver: Any = "newton") -> DirichletCompoundMultinomial:
    return DirichletCompoundMultinomial(pseudo_documents=documents, solver=solver)


#: Models differ in two ways, in what they say of repeated words and in the prior of rare ones: each is tried with both.
MODELS = (
    Candidate("Bernoulli", "flat", lambda a, X: BernoulliNB(a), SMOOTHING, "presence"),
    Candidate("multinomial, plugged in", "flat", _plugged_in, SMOOTHING, "counts"),
    Candidate("multinomial, integrated", "flat", lambda a, X: MultinomialNB(a), SMOOTHING, "counts"),
    Candidate("multinomial, plugged in", "background", _with_background, WORDS, "counts"),
    Candidate("multinomial, plugged in", "flat", _plugged_in, SMOOTHING, "ln(1 + count)"),
    Candidate("multinomial, plugged in", "background", _with_background, WORDS, "ln(1 + count)"),
    Candidate(
        "DCM",
        "flat",
        lambda e, X: DirichletCompoundMultinomial("gamma", shape=1.0 + e, rate=0.001),
        SMOOTHING,
        "counts",
    ),
    Candidate("EDCM", "background", partial(_bursts_with_background, solver="edcm"), DOCUMENTS, "counts"),
    Candidate("DCM", "background", _bursts_with_background, DOCUMENTS, "counts"),
)


class WordRow(NamedTuple):
    """A word of table 3.1: what it is about, and the book's number beside ours."""

    what: str
    word: str
    published: float
    ours: float


class AccuracyRow(NamedTuple):
    """Accuracy of a model on test documents; ``smoothing`` was chosen by the held-out accuracy ``validation``."""

    model: str
    prior: str
    values: str
    smoothing: float
    validation: float
    test: float


class F1Row(NamedTuple):
    """Micro- and macro-averaged F1 in per cent, and mean log loss of a decision."""

    model: str
    micro: float
    macro: float
    log_loss: float


def table_3_1(n_words: int = 5) -> tuple[list[WordRow], list[WordRow]]:
    """Compare the words of table 3.1 with our probabilities, and list our own most telling words.

    Posterior means under uniform priors, training documents of the version by date with their headers; information in
    nats. The book's words come from a list of 600, ours are all words in at least three documents.
    """
    messages = load("20newsgroups").train
    rows = [i for i, labels in enumerate(messages.labels) if labels[0] in WINDOWS]
    vectorizer = TextVectorizer("bnn", token_pattern=LETTERS, min_df=3)
    X = vectorizer.fit_transform([messages.texts[i] for i in rows])
    model = BernoulliNB().fit(X, [WINDOWS.index(messages.labels[i][0]) for i in rows])
    theta, information, place = np.exp(model.feature_log_prob_), model.mutual_information_, vectorizer.vocabulary_
    printed = [
        WordRow(f"p(word | {group})", word, both[k], float(theta[k, place[word]]))
        for k, group in enumerate(WINDOWS)
        for word, both in PUBLISHED_PROBABILITIES.items()
        if not np.isnan(both[k])
    ]
    printed += [
        WordRow("mutual information", word, value, float(information[place[word]]))
        for word, value in PUBLISHED_INFORMATION.items()
    ]
    terms = vectorizer.get_feature_names_out()
    best = np.argsort(-information, kind="stable")[:n_words]
    telling = [
        WordRow("mutual information", str(terms[j]), PUBLISHED_INFORMATION.get(terms[j], np.nan), float(information[j]))
        for j in best
    ]
    return printed, telling


class Task(NamedTuple):
    """Counts and single labels of training and test documents."""

    X_train: sp.csr_matrix
    y_train: AnyArray
    X_test: sp.csr_matrix
    y_test: AnyArray


def newsgroups_task(headers: str = "all") -> Task:
    """Read 20 Newsgroups by date: words of two or more letters, in at least two training documents."""
    data = load("20newsgroups", headers=headers)
    return _task(*((split.texts, [labels[0] for labels in split.labels]) for split in (data.train, data.test)))


def reuters_task() -> Task:
    """Read the ModApte documents with one topic only, one of the ten largest."""
    data = load("reuters21578")
    parts = []
    for split in (data.train, data.test):
        rows = [i for i, labels in enumerate(split.labels) if len(labels) == 1 and labels[0] in TOP_TEN]
        parts.append(([split.texts[i] for i in rows], [split.labels[i][0] for i in rows]))
    return _task(*parts)


def _task(train: tuple[list[str], list[str]], test: tuple[list[str], list[str]]) -> Task:
    vectorizer = TextVectorizer("nnn", token_pattern=LETTERS, min_df=2)
    X_train, X_test = vectorizer.fit_transform(train[0]), vectorizer.transform(test[0])
    return Task(sp.csr_matrix(X_train), np.array(train[1]), sp.csr_matrix(X_test), np.array(test[1]))


def compare(task: Task, models: Sequence[Candidate] = MODELS, folds: int = 5) -> list[AccuracyRow]:
    """Choose the smoothing of every model by cross-validation, and measure it on the test documents."""
    rows = []
    dealt = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(task.X_train, task.y_train))
    for name, prior, make, choices, values in models:
        train, test = (_valued(X, values) for X in (task.X_train, task.X_test))

        def accuracy(choice: float, learn: Any, X: Any, y: Any, train: Any = train, make: Any = make) -> float:
            return float(make(choice, train[learn]).fit(train[learn], task.y_train[learn]).score(X, y))

        scores = [
            float(np.mean([accuracy(choice, learn, train[held], task.y_train[held]) for learn, held in dealt]))
            for choice in choices
        ]
        best = choices[int(np.argmax(scores))]
        tested = accuracy(best, slice(None), test, task.y_test)
        rows.append(AccuracyRow(name, prior, values, float(best), max(scores), tested))
    return rows


def _valued(X: sp.csr_matrix, values: str) -> sp.csr_matrix:
    """Return logarithms of counts where asked for."""
    return X.log1p() if values.startswith("ln") else X


def newsgroups(headers: str = "all") -> list[AccuracyRow]:
    """Measure accuracy on 20 Newsgroups by date."""
    return compare(newsgroups_task(headers))


def reuters() -> list[AccuracyRow]:
    """Measure accuracy on the ten largest categories of Reuters-21578."""
    return compare(reuters_task())


def modapte() -> list[F1Row]:
    """Measure F1 on all 90 categories of ModApte: each accepted where it is more probable than not."""
    data = load("reuters21578")
    vectorizer = TextVectorizer("nnn", token_pattern=LETTERS, min_df=2)
    X_train, X_test = vectorizer.fit_transform(data.train.texts), vectorizer.transform(data.test.texts)
    Y_train, Y_test = (data.indicator(part).toarray() for part in ("train", "test"))
    rows = []
    for name, model in (
        ("Bernoulli", BernoulliNB(0.01)),
        ("multinomial, plugged in", MultinomialNB(1.01, estimate="map")),
        ("multinomial, integrated", MultinomialNB(0.01)),
        ("DCM", DirichletCompoundMultinomial()),
    ):
        odds = model.fit(X_train, Y_train).predict_log_odds(X_test)
        decisions = (odds > 0).astype(int)
        micro, macro = (
            100.0 * f1_score(Y_test, decisions, average=kind, zero_division=1.0) for kind in ("micro", "macro")
        )
        loss = np.logaddexp(0.0, np.where(Y_test == 1, -odds, odds)).mean()
        rows.append(F1Row(name, float(micro), float(macro), float(loss)))
    return rows


def figures(folder: Path) -> list[Path]:
    """Draw figures 3.2 to 3.8 (3.1 shows answers of people), and repeated words, as files of a folder."""
    pyplot = require("matplotlib.pyplot", extra="plot", purpose="drawing")
    game, full = number_game(), number_game(pi0=2 / 3)
    draw: dict[str, Callable[[], Any]] = {
        "figure-3.2": lambda: ConceptDisplay(game, [16]).plot().figure_,
        "figure-3.3": lambda: ConceptDisplay(game, [16, 8, 2, 64]).plot().figure_,
        "figure-3.4": lambda: ConceptDisplay(game, [16]).plot_averaging().figure_,
        "figure-3.5": lambda: _predictions(pyplot, full, ([16], [60], [16, 8, 2, 64], [16, 23, 19, 20])),
        "figure-3.6": partial(_updates, pyplot),
        "figure-3.7": lambda: PredictiveDisplay.from_model(BetaBinomial(5, 19), 10).plot().figure_,
        "figure-3.8": partial(_word_probabilities, pyplot),
        "bursts": partial(_bursts, pyplot),
    }
    folder.mkdir(parents=True, exist_ok=True)
    targets = []
    for name, make in draw.items():
        figure = make()
        targets.append(folder / f"{name}.png")
        with atomic_path(targets[-1]) as temporary:
            figure.savefig(temporary, dpi=110)
        pyplot.close(figure)
    return targets


def _predictions(pyplot: Any, space: Any, examples: Sequence[Sequence[int]]) -> Any:
    figure, axes = pyplot.subplots(len(examples), 1, figsize=(9, 5.6), sharex=True, layout="constrained")
    for axis, data in zip(axes, examples, strict=True):
        ConceptDisplay(space, data).plot_predictive(axis)
        axis.set_title("examples " + ", ".join(map(str, data)), fontsize=10, loc="left")
        axis.set_ylabel("")
    return figure


def _updates(pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17).plot(axes[0])
    PosteriorDisplay.from_model(BetaBinomial(5, 2), 11, 13).plot(axes[1])
    return figure


def _word_probabilities(pyplot: Any, n_words: int = 600) -> Any:
    """Draw p(word | class) of two newsgroups, words in the order of the alphabet."""
    X, names = _windows(n_words)
    figure, axes = pyplot.subplots(2, 1, figsize=(9, 4.4), sharex=True, layout="constrained")
    for axis, group, rows in zip(axes, WINDOWS, X, strict=True):
        theta = np.exp(BernoulliNB().fit(rows, np.zeros(rows.shape[0])).feature_log_prob_[0])
        axis.vlines(np.arange(n_words), 0, theta, color="#2b5c8a", linewidth=0.8)
        axis.set_title(f"p(word | {group})", fontsize=10, loc="left")
        axis.set(ylim=(0, 1.05), xlim=(-1, n_words))
        axis.spines[["top", "right"]].set_visible(False)
        for word in ("subject", "windows"):
            place = int(np.searchsorted(names, word))
            axis.annotate(word, (place, theta[place]), xytext=(3, -4), textcoords="offset points", fontsize=9)
    axes[1].set_xlabel(f"the {n_words} most frequent words, by the alphabet")
    return figure


def _windows(n_words: int) -> tuple[list[sp.csr_matrix], AnyArray]:
    """Return presence of the most frequent words in the documents of both groups, and the words."""
    messages = load("20newsgroups").train
    texts = [
        [text for text, labels in zip(messages.texts, messages.labels, strict=True) if labels[0] == group]
        for group in WINDOWS
    ]
    vectorizer = TextVectorizer("bnn", token_pattern=r"[a-z]{3,}", max_features=n_words)
    vectorizer.fit(texts[0] + texts[1])
    return [sp.csr_matrix(vectorizer.transform(part)) for part in texts], vectorizer.get_feature_names_out()


def burst_bands(X: sp.csr_matrix, sizes: Sequence[int] = (500, 5000)) -> dict[str, AnyArray]:
    """Name the columns of common, average and rare words: by the number of occurrences."""
    order = np.argsort(-np.asarray(X.sum(axis=0)).ravel(), kind="stable")
    return {
        f"the {sizes[0]} most frequent words": order[: sizes[0]],
        f"the next {sizes[1]}": order[sizes[0] : sum(sizes)],
        "the others": order[sum(sizes) :],
    }


def _bursts(pyplot: Any) -> Any:
    """Draw repeated words of 20 Newsgroups in three bands of frequency."""
    X = newsgroups_task().X_train
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
    for axis, (name, words) in zip(axes, burst_bands(X).items(), strict=True):
        BurstinessDisplay.from_data(X, words=words).plot(axis)
        axis.set_title(name, fontsize=10, loc="left")
        axis.label_outer()
    axes[0].set_ylim(1e-6, 1.5)
    return figure


def show(title: str, rows: Sequence[NamedTuple], console: Console) -> None:
    """Print rows as a table with the names of their fields."""
    table = Table(title=title, title_justify="left")
    for name in rows[0]._fields:
        table.add_column(name.replace("_", " "), justify="left" if isinstance(getattr(rows[0], name), str) else "right")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else f"{value:.4g}" if abs(value) < 1 else f"{value:.2f}"


EXPERIMENTS: dict[str, tuple[str, Callable[[], Sequence[NamedTuple]]]] = {
    "newsgroups": ("20 Newsgroups by date, accuracy on 7,532 test documents", newsgroups),
    "subjects": ("The same, without headers other than the subject", partial(newsgroups, "subject")),
    "reuters": ("Reuters-21578, ten categories, one to a document: accuracy", reuters),
    "modapte": ("Reuters-21578 ModApte, 90 categories", modapte),
}


def main() -> None:
    """Run the experiments named on the command line."""
    names = ["table", *EXPERIMENTS]
    parser = argparse.ArgumentParser(prog="python -m bayesift.experiments.murphy2012", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names, []], help=f"which to run: {', '.join(names)} (all)")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw the figures of the chapter there")
    arguments = parser.parse_args()
    console = Console()
    if arguments.figures is not None:
        for target in figures(arguments.figures):
            console.print(str(target))
        if not arguments.names:
            return
    for name in arguments.names or names:
        if name == "table":
            printed, telling = table_3_1()
            show("Table 3.1", printed, console)
            show("The most telling of all words", telling, console)
        else:
            title, run = EXPERIMENTS[name]
            show(title, run(), console)


if __name__ == "__main__":
    main()
