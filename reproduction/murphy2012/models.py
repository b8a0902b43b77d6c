"""The models of chapter 3 of Murphy (2012), their smoothing chosen by cross-validation or fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold

from bayesift.datasets import load
from bayesift.evaluate import Outcomes, f_beta
from bayesift.generative import BernoulliNB, DirichletCompoundMultinomial, MultinomialNB
from bayesift.text import TextVectorizer
from reproduction.catalogue import Family, Outcome, Runner, Table
from reproduction.murphy2012.tasks import LETTERS, Task, task_named

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

    @property
    def name(self) -> str:
        """The model, its prior and what it is given."""
        return f"{self.model}{' on ' + self.values if self.values.startswith('ln') else ''}, {self.prior} prior"


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
        lambda e, X: DirichletCompoundMultinomial("gamma", concentration_shape=1.0 + e, concentration_rate=0.001),
        SMOOTHING,
        "counts",
    ),
    Candidate("EDCM", "background", partial(_bursts_with_background, solver="edcm"), DOCUMENTS, "counts"),
    Candidate("DCM", "background", _bursts_with_background, DOCUMENTS, "counts"),
)


_MODULES = (
    "reproduction.murphy2012.models",
    "reproduction.murphy2012.tasks",
    "bayesift.generative",
    "bayesift.text",
)


class Accuracy(NamedTuple):
    """Accuracy of a model on test documents; ``smoothing`` was chosen by the held-out accuracy ``validation``."""

    smoothing: float
    validation: float
    test: float


def compare(runner: Runner, task: str, collection: str) -> dict[str, Accuracy]:
    """Choose the smoothing of every model by five-fold cross-validation, and measure it on the test documents."""
    family = Family("murphy2012", _MODULES, (collection,))
    folds = 2 if runner.quick else 5
    trials: list[dict[str, Any]] = [
        {"task": task, "model": model.name, "choice": choice, "folds": folds}
        for model in MODELS
        for choice in (model.choices[2:6] if runner.quick else model.choices)
    ]
    held_out = runner.pieces(family, trials, _validate, stage=f"{task}: smoothing", processes=True)
    best: dict[str, tuple[float, float]] = {}
    for trial, score in zip(trials, held_out, strict=True):
        if trial["model"] not in best or score > best[trial["model"]][1]:
            best[trial["model"]] = trial["choice"], score
    finals = [{"task": task, "model": name, "choice": choice} for name, (choice, _) in best.items()]
    tested = runner.pieces(family, finals, _test, stage=f"{task}: test documents", processes=True)
    return {name: Accuracy(*best[name], test) for name, test in zip(best, tested, strict=True)}


def _validate(setting: Mapping[str, Any]) -> float:
    return held_out_accuracy(task_named(setting["task"]), setting["model"], setting["choice"], setting["folds"])


def _test(setting: Mapping[str, Any]) -> float:
    return accuracy_on_test(task_named(setting["task"]), setting["model"], setting["choice"])


def held_out_accuracy(task: Task, name: str, choice: float, folds: int) -> float:
    """Return the mean accuracy over folds of the training documents."""
    model, X = _model(name), task.X_train
    values = _valued(X, model.values)
    split = StratifiedKFold(folds, shuffle=True, random_state=0).split(X, task.y_train)
    scores = [
        model.make(choice, values[learn])
        .fit(values[learn], task.y_train[learn])
        .score(values[held], task.y_train[held])
        for learn, held in split
    ]
    return float(np.mean(scores))


def accuracy_on_test(task: Task, name: str, choice: float) -> float:
    """Return the accuracy on the test documents of a model of all training documents."""
    model = _model(name)
    train, test = (_valued(X, model.values) for X in (task.X_train, task.X_test))
    return float(model.make(choice, train).fit(train, task.y_train).score(test, task.y_test))


def _model(name: str) -> Candidate:
    return next(model for model in MODELS if model.name == name)


def _valued(X: sp.csr_matrix, values: str) -> sp.csr_matrix:
    """Return logarithms of counts where asked for."""
    return X.log1p() if values.startswith("ln") else X


_MODAPTE: dict[str, Callable[[], Any]] = {
    "Bernoulli": partial(BernoulliNB, 0.01),
    "multinomial, plugged in": partial(MultinomialNB, 1.01, estimate="map"),
    "multinomial, integrated": partial(MultinomialNB, 0.01),
    "DCM": DirichletCompoundMultinomial,
}


def modapte(runner: Runner) -> Outcome:
    """Measure F1 on all 90 categories of ModApte: each accepted where it is more probable than not."""
    modules = ("reproduction.murphy2012.models", "bayesift.generative", "bayesift.text")
    family = Family("murphy2012", modules, ("reuters21578",))
    settings = [{"task": "modapte", "model": name} for name in _MODAPTE]
    found = runner.pieces(family, settings, _modapte_row, stage="ModApte: models")
    rows = dict(zip(_MODAPTE, found, strict=True))
    decimals = {"micro F1": 2, "macro F1": 2, "log loss": 4}
    return Outcome((Table.of("F1 in per cent, and log loss of a decision", rows, decimals=decimals, corner="model"),))


def _modapte_row(setting: Mapping[str, Any]) -> dict[str, float]:
    data = load("reuters21578")
    vectorizer = TextVectorizer("nnn", token_pattern=LETTERS, min_df=2)
    X_train, X_test = vectorizer.fit_transform(data.train.texts), vectorizer.transform(data.test.texts)
    Y_train, Y_test = (data.indicator(part).toarray() for part in ("train", "test"))
    odds = _MODAPTE[setting["model"]]().fit(X_train, Y_train).decision_function(X_test)
    outcomes = Outcomes.of(Y_test, odds > 0)
    row = {f"{kind} F1": 100.0 * float(f_beta(outcomes, average=kind)) for kind in ("micro", "macro")}
    return row | {"log loss": float(np.logaddexp(0.0, np.where(Y_test == 1, -odds, odds)).mean())}
