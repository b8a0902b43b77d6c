"""The fits behind the tables of :mod:`bayesift.experiments.eyheramendy2003`, each made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import f1_score

from bayesift._typing import AnyArray
from bayesift.datasets import load
from bayesift.decide import best_threshold
from bayesift.experiments._eyheramendy2003 import CATEGORIES
from bayesift.experiments._measures import f1_percent
from bayesift.linear import BayesianLogisticRegression, BayesianProbitRegression
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer

#: EM as in the paper: stopped when the coefficients change by this share of their norm.
EARLY = 0.02
#: The start from which Jeffreys priors, run to the end, keep about as many terms as the paper's.
FIRM_RIDGE = 100.0
#: Weights of terms: log TF, raw TF, log TF × IDF.
LOG, RAW, LOG_IDF = "lnn", "nnn", "ltn"


class Setting(NamedTuple):
    """One column of a table; ``strength`` is γ of a Laplace and σ² of a Gaussian prior.

    ``exact`` is the mode itself; under a Jeffreys prior, which has several, the one that a firmer start leads to.
    """

    prior: Literal["jeffreys", "laplace", "gaussian"]
    strength: float = 0.0
    model: Literal["probit", "logistic"] = "probit"
    weighting: str = LOG
    n_terms: int = 300
    exact: bool = False

    def estimator(self) -> Any:
        """Give the model as the paper fitted it, or at the exact mode."""
        if self.model == "logistic":
            variance = 2.0 / self.strength if self.prior == "laplace" else self.strength
            return BayesianLogisticRegression(self.prior, variance, intercept_variance="same", n_jobs=1)
        strength: dict[str, Any] = {"jeffreys": {}, "laplace": {"rate": self.strength}}.get(
            self.prior, {"variance": self.strength}
        )
        how: dict[str, Any] = {"solver": "em", "epsilon": EARLY}
        if self.exact:
            how = {"ridge": FIRM_RIDGE, "epsilon": 1e-4} if self.prior == "jeffreys" else {}
        return BayesianProbitRegression(self.prior, intercept_variance="same", n_jobs=1, **strength, **how)


class Result(NamedTuple):
    """F1 of every category, then the macro and the micro average, in per cent; coefficients that are not zero."""

    f1: tuple[float, ...]
    kept: tuple[int, ...]


@dataclass(frozen=True)
class Runs:
    """A collection and the fits made on it so far, which the tables share."""

    train: Sequence[str]
    Y_train: AnyArray
    test: Sequence[str]
    Y_test: AnyArray
    progress: Callable[[Setting], None] | None = None
    _matrices: dict[str, tuple[sp.csr_matrix, sp.csr_matrix]] = field(default_factory=dict, repr=False)
    _results: dict[Setting, Result] = field(default_factory=dict, repr=False)

    def __call__(self, setting: Setting) -> Result:
        """Train all categories with a setting, unless this was done before."""
        if setting not in self._results:
            if self.progress is not None:
                self.progress(setting)
            self._results[setting] = self._run(setting)
        return self._results[setting]

    def _run(self, setting: Setting) -> Result:
        if setting.weighting not in self._matrices:
            vectorizer = TextVectorizer(setting.weighting, stop_words="smart")
            self._matrices[setting.weighting] = vectorizer.fit_transform(self.train), vectorizer.transform(self.test)
        X, X_test = self._matrices[setting.weighting]
        decisions, kept = np.zeros(self.Y_test.shape, dtype=np.int64), []
        for k, y in enumerate(self.Y_train.T):
            terms = TermSelector("pearson", k=setting.n_terms).fit(X, y)
            model = setting.estimator().fit(terms.transform(X), y)
            threshold = best_threshold(model.decision_function(terms.transform(X)), y, ties="median")
            decisions[:, k] = model.decision_function(terms.transform(X_test)) >= threshold
            kept.append(int(model.n_nonzero_[0]) + int(model.intercept_[0] != 0))
        single = 100.0 * f1_score(self.Y_test, decisions, average=None, zero_division=1.0)
        return Result((*single.tolist(), *f1_percent(self.Y_test, decisions)), tuple(kept))


def reuters(progress: Callable[[Setting], None] | None = None) -> Runs:
    """Take the documents of Reuters-21578 that have a topic, and the ten largest categories."""
    return _runs("reuters21578", CATEGORIES, progress)


def rcv1(progress: Callable[[Setting], None] | None = None) -> Runs | None:
    """Take RCV1-v2 with the 101 topics of its training set; None where only its judgements are at hand."""
    collection = load("rcv1")
    if not collection.train.has_texts:
        return None
    used = np.asarray(collection.indicator("train").sum(axis=0)).ravel() > 0
    return _runs("rcv1", [name for name, use in zip(collection.categories, used, strict=True) if use], progress)


def _runs(name: str, categories: Sequence[str], progress: Callable[[Setting], None] | None) -> Runs:
    """Take the documents that have a category at all."""
    collection = load(name)
    columns = [collection.categories.index(category) for category in categories]
    texts, labels = [], []
    for split in (collection.train, collection.test):
        table = split.indicator(collection.categories).toarray()
        rows = np.flatnonzero(table.any(axis=1))
        texts.append([split.texts[row] for row in rows])
        labels.append(table[rows][:, columns])
    return Runs(texts[0], labels[0], texts[1], labels[1], progress)
