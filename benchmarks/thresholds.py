"""Rare labels: F1 on other texts with thresholds at one half, tuned on training scores, and tuned on held-out scores.

Records of systematic reviews of drug classes (Cohen et al. 2006), of which few are kept when abstracts are screened.
Two thirds are for training, split anew in each repetition.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bayesift.datasets import load
from bayesift.evaluate import f_beta
from bayesift.workflow import TextClassifier
from benchmarks.measuring import show

REVIEWS = (
    "ACEInhibitors",
    "ADHD",
    "AtypicalAntipsychotics",
    "BetaBlockers",
    "Opioids",
    "OralHypoglycemics",
    "ProtonPumpInhibitors",
    "SkeletalMuscleRelaxants",
    "Triptans",
)
MODELS = ("lasso", "ridge", "nb")
RULES: dict[str, dict[str, Any]] = {
    "half": {"threshold": "half"},
    "training": {"threshold": "max_f1", "threshold_on": "train"},
    "held out": {"threshold": "max_f1"},
}


def f1_by_rule(texts: list[str], kept: list[bool], model: str, repeats: int) -> list[float]:
    """Return the mean F1 of each rule."""
    found = np.empty((repeats, len(RULES)))
    for repeat in range(repeats):
        order = np.random.default_rng(repeat).permutation(len(texts)).tolist()
        train, test = order[: 2 * len(order) // 3], order[2 * len(order) // 3 :]
        truth = np.array([kept[i] for i in test])
        for column, options in enumerate(RULES.values()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                classifier = TextClassifier(model, **options).fit([texts[i] for i in train], [kept[i] for i in train])
            found[repeat, column] = f_beta(truth, classifier.predict([texts[i] for i in test]) > 0, empty=0.0)
    return found.mean(axis=0).tolist()


def run(repeats: int) -> None:
    """Print the mean F1 of three models with each rule."""
    rows = []
    for review in REVIEWS:
        records = load("cohen2006", review=review).train
        kept = ["abstract" in labels for labels in records.labels]
        means = [f1_by_rule(records.texts, kept, model, min(repeats, 5)) for model in MODELS]
        numbers = (" / ".join(f"{value:.2f}" for value in values) for values in means)
        rows.append((f"{review}, {sum(kept):,} of {len(kept):,}", *numbers))
    title = f"F1 on a third of the records, mean of {min(repeats, 5)} splits; thresholds: {' / '.join(RULES)}"
    show(title, ("review", *MODELS), rows)
