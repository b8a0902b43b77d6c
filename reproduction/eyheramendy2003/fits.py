"""The fits behind the tables of Eyheramendy et al. (2003), each a piece of work for one category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bayesift.datasets import load
from bayesift.decide import best_threshold
from bayesift.evaluate import Outcomes, f_beta
from bayesift.linear import BayesianLogisticRegression, BayesianProbitRegression
from bayesift.priors import Gaussian, Jeffreys, Laplace
from bayesift.select import TermSelector
from bayesift.text import TextVectorizer
from reproduction.catalogue import Family, Runner

#: The ten largest categories, in the paper's order.
CATEGORIES = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn")
#: The rates of tables 3 and 4.
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
#: EM as in the paper: stopped when the coefficients change by this share of their norm.
EARLY = 0.02
#: The start from which Jeffreys priors, run to the end, keep about as many terms as the paper's.
FIRM_RIDGE = 100.0
#: Weights of terms: log TF, raw TF, log TF × IDF.
LOG, RAW, LOG_IDF = "lnn", "nnn", "ltn"

_MODULES = (
    "reproduction.eyheramendy2003.fits",
    "bayesift.decide",
    "bayesift.linear",
    "bayesift.priors",
    "bayesift.select",
    "bayesift.text",
)


class Setting(NamedTuple):
    """One column of a table; ``strength`` is γ of a Laplace and σ² of a Gaussian prior.

    ``exact`` is the mode itself; under a Jeffreys prior, which has several, the one that a firmer start leads to.
    ``score`` is the measure that chooses the terms.
    """

    prior: Literal["jeffreys", "laplace", "gaussian"]
    strength: float = 0.0
    model: Literal["probit", "logistic"] = "probit"
    weighting: str = LOG
    n_terms: int = 300
    exact: bool = False
    score: str = "pearson"

    def estimator(self) -> Any:
        """Return the model as the paper fitted it, or at the exact mode."""
        if self.model == "logistic":
            variance = 2.0 / self.strength if self.prior == "laplace" else self.strength
            return BayesianLogisticRegression(self.prior, variance, intercept_variance="same", n_jobs=1)
        priors = {
            "jeffreys": Jeffreys(),
            "laplace": Laplace.of_rate(self.strength),
            "gaussian": Gaussian(self.strength),
        }
        how: dict[str, Any] = {"solver": "em", "tol": EARLY}
        if self.exact:
            how = {"ridge": FIRM_RIDGE, "tol": 1e-4} if self.prior == "jeffreys" else {}
        return BayesianProbitRegression(priors[self.prior], intercept_variance="same", n_jobs=1, **how)


class Result(NamedTuple):
    """F1 of every category, then the macro and the micro average, in per cent; coefficients that are not zero."""

    f1: tuple[float, ...]
    kept: tuple[int, ...]


class Documents(NamedTuple):
    """Texts and labels of the documents that have a category at all."""

    train: Sequence[str]
    Y_train: NDArray[Any]
    test: Sequence[str]
    Y_test: NDArray[Any]
    categories: tuple[str, ...]


@lru_cache(maxsize=1)
def reuters() -> Documents:
    """Take the documents of Reuters-21578 that have a topic, and the ten largest categories."""
    return _documents("reuters21578", CATEGORIES)


@lru_cache(maxsize=1)
def rcv1() -> Documents | None:
    """Take RCV1-v2 with the 101 topics of its training set; None where only its judgements are at hand."""
    collection = load("rcv1")
    if not collection.train.has_texts:
        return None
    used = np.asarray(collection.indicator("train").sum(axis=0)).ravel() > 0
    return _documents("rcv1", [name for name, use in zip(collection.categories, used, strict=True) if use])


def _documents(name: str, categories: Sequence[str]) -> Documents:
    collection = load(name)
    columns = [collection.categories.index(category) for category in categories]
    texts, labels = [], []
    for split in (collection.train, collection.test):
        table = split.indicator(collection.categories).toarray()
        rows = np.flatnonzero(table.any(axis=1))
        texts.append([split.texts[row] for row in rows])
        labels.append(table[rows][:, columns])
    return Documents(texts[0], labels[0], texts[1], labels[1], tuple(categories))


@lru_cache(maxsize=3)
def _matrices(collection: str, weighting: str) -> tuple[Documents, sp.csr_matrix, sp.csr_matrix]:
    documents = reuters() if collection == "reuters21578" else rcv1()
    if documents is None:
        raise ValueError("rcv1 has no texts; expected a copy of the collection with its documents")
    vectorizer = TextVectorizer(weighting, stop_words="smart")
    return documents, vectorizer.fit_transform(documents.train), vectorizer.transform(documents.test)


def fit_category(documents: Documents, X: Any, X_test: Any, category: str, setting: Setting) -> dict[str, Any]:
    """Train one category on its best terms, decide by the middle one of the best thresholds, and count."""
    place = documents.categories.index(category)
    y = documents.Y_train[:, place]
    terms = TermSelector(setting.score, k=setting.n_terms).fit(X, y)
    model = setting.estimator().fit(terms.transform(X), y)
    threshold = best_threshold(model.decision_function(terms.transform(X)), y, ties="median")
    decisions = model.decision_function(terms.transform(X_test)) >= threshold
    kept = int(model.n_nonzero_[0]) + int(model.intercept_[0] != 0)
    return {"outcomes": list(Outcomes.of(documents.Y_test[:, place], decisions)), "kept": kept}


def run_settings(
    runner: Runner, settings: Sequence[Setting], categories: Sequence[str], collection: str = "reuters21578"
) -> dict[Setting, Result]:
    """Train all categories with every setting, side by side on all cores."""
    work = [
        {"collection": collection, "category": category, **setting._asdict()}
        for setting in settings
        for category in categories
    ]
    family = Family("eyheramendy2003", _MODULES, (collection, "smart"))
    found = iter(runner.pieces(family, work, _piece, stage="fits of categories", processes=True))
    return {setting: result_of([next(found) for _ in categories]) for setting in settings}


def _piece(work: Mapping[str, Any]) -> dict[str, Any]:
    values = dict(work)
    collection, category = values.pop("collection"), values.pop("category")
    setting = Setting(**values)
    return fit_category(*_matrices(collection, setting.weighting), category, setting)


def result_of(pieces: Sequence[Mapping[str, Any]]) -> Result:
    """Compute F1 of every category and the averages; a category without positives and acceptances counts 100."""
    outcomes = Outcomes(*np.array([piece["outcomes"] for piece in pieces]).T)
    single = f_beta(outcomes, average=None, empty=1.0)
    averages = (f_beta(outcomes, average=kind, empty=1.0) for kind in ("macro", "micro"))
    return Result(tuple(100.0 * float(f1) for f1 in (*single, *averages)), tuple(int(p["kept"]) for p in pieces))
