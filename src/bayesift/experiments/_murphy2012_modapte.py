"""The models of chapter 3 of Murphy (2012) on all 90 categories of ModApte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from bayesift.datasets import load
from bayesift.evaluate import Outcomes, f_beta
from bayesift.experiments._murphy2012_tasks import LETTERS
from bayesift.experiments.catalogue import Bench, Family, Outcome, Table
from bayesift.generative import BernoulliNB, DirichletCompoundMultinomial, MultinomialNB
from bayesift.text import TextVectorizer

_MODAPTE: dict[str, Callable[[], Any]] = {
    "Bernoulli": partial(BernoulliNB, 0.01),
    "multinomial, plugged in": partial(MultinomialNB, 1.01, estimate="map"),
    "multinomial, integrated": partial(MultinomialNB, 0.01),
    "DCM": DirichletCompoundMultinomial,
}


def modapte(bench: Bench) -> Outcome:
    """Measure F1 on all 90 categories of ModApte: each accepted where it is more probable than not."""
    modules = ("bayesift.experiments._murphy2012_modapte", "bayesift.generative", "bayesift.text")
    family = Family("murphy2012", modules, ("reuters21578",))
    settings = [{"task": "modapte", "model": name} for name in _MODAPTE]
    found = bench.pieces(family, settings, _modapte_row, stage="ModApte: models")
    rows = dict(zip(_MODAPTE, found, strict=True))
    decimals = {"micro F1": 2, "macro F1": 2, "log loss": 4}
    return Outcome((Table.of("F1 in per cent, and log loss of a decision", rows, decimals=decimals, corner="model"),))


def _modapte_row(setting: Mapping[str, Any]) -> dict[str, float]:
    data = load("reuters21578")
    vectorizer = TextVectorizer("nnn", token_pattern=LETTERS, min_df=2)
    X_train, X_test = vectorizer.fit_transform(data.train.texts), vectorizer.transform(data.test.texts)
    Y_train, Y_test = (data.indicator(part).toarray() for part in ("train", "test"))
    odds = _MODAPTE[setting["model"]]().fit(X_train, Y_train).predict_log_odds(X_test)
    outcomes = Outcomes.of(Y_test, odds > 0)
    row = {f"{kind} F1": 100.0 * float(f_beta(outcomes, average=kind)) for kind in ("micro", "macro")}
    return row | {"log loss": float(np.logaddexp(0.0, np.where(Y_test == 1, -odds, odds)).mean())}
