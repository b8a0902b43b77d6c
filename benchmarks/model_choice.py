"""The model that is chosen by itself beside every model by name: how far behind the best of them on other texts.

Collections without a split of their own are split anew in each repetition, two thirds for training; of the large ones a
sample is drawn in each. The measure is the one by which the model was chosen: the share of texts that are right, or,
where a label is rare and thresholds are tuned, F1 (of several labels their mean).
"""

from __future__ import annotations

import csv
import io
import lzma
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesift.datasets import data_root, load
from bayesift.evaluate import f_beta
from bayesift.workflow import TextClassifier
from benchmarks.measuring import show

#: Texts that are drawn of a large collection, for training and for the test.
MOST_TRAINING, MOST_TEST = 2_000, 3_000

#: Labels of Reuters-21578 that are learned: the most frequent.
MOST_LABELS = 10

PAIRS = {"ngram_range": (1, 2)}

#: Every model by name that is fast enough, alone and with pairs of words.
NAMED: dict[str, dict[str, Any]] = {
    **{model: {"model": model} for model in ("ridge", "lasso", "probit-ridge", "nb", "bernoulli", "dcm")},
    **{f"{model}, pairs": {"model": model, "vectorizer": PAIRS} for model in ("ridge", "lasso", "nb")},
}

Texts = list[str]
Labels = list[tuple[str, ...]]


class Parts(NamedTuple):
    """Texts and labels for training and for the test."""

    training: Texts
    training_labels: Labels
    test: Texts
    test_labels: Labels


def drawn(texts: Texts, labels: Labels, most: int, seed: int) -> tuple[Texts, Labels]:
    """Draw some of the texts."""
    order = np.random.default_rng(seed).permutation(len(texts))[:most].tolist()
    return [texts[i] for i in order], [labels[i] for i in order]


def split(texts: Texts, labels: Labels, seed: int) -> Parts:
    """Split into two thirds and one."""
    texts, labels = drawn(texts, labels, len(texts), seed)
    cut = 2 * len(texts) // 3
    return Parts(texts[:cut], labels[:cut], texts[cut:], labels[cut:])


def collection(name: str, draw: int, **options: Any) -> Parts:
    """Draw from the training and test texts of a collection."""
    found = load(name, **options)
    return Parts(
        *drawn(found.train.texts, found.train.labels, MOST_TRAINING, draw),
        *drawn(found.test.texts, found.test.labels, MOST_TEST, draw),
    )


def cohen(review: str, seed: int) -> Parts:
    """Records of a review, kept or not when abstracts were screened."""
    records = load("cohen2006", review=review).train
    return split(records.texts, [("yes",) if "abstract" in own else ("no",) for own in records.labels], seed)


def synergy(review: str, seed: int) -> Parts:
    """Records of a review of SYNERGY, included or not."""
    with lzma.open(data_root() / "synergy" / f"{review}.csv.xz") as packed:
        rows = list(csv.DictReader(io.TextIOWrapper(packed, encoding="utf-8")))
    texts = [f"{row['title']} {row['abstract']}" for row in rows]
    return split(texts, [("yes",) if row["label_included"] == "1" else ("no",) for row in rows], seed)


def lines(seed: int) -> Parts:
    """Single lines of messages of 20 Newsgroups, short and noisy, by the four largest kinds of groups."""
    parts = []
    found = load("20newsgroups")
    for documents, most in ((found.train, 2 * MOST_TRAINING), (found.test, 2 * MOST_TEST)):
        rows = [
            (line, (kind,))
            for text, labels in zip(documents.texts, documents.labels, strict=True)
            if (kind := labels[0].split(".")[0]) in ("comp", "rec", "sci", "talk")
            for line in text.partition("\n\n")[2].split("\n")
            if len(line.split()) >= 4
        ]
        parts += drawn([line for line, _ in rows], [label for _, label in rows], most, seed)
    return Parts(*parts)


def reuters(seed: int) -> Parts:
    """Reuters-21578 with its most frequent labels; many texts have none of them."""
    found = collection("reuters21578", seed)
    counts = Counter(label for own in found.training_labels for label in own)
    frequent = {label for label, _ in counts.most_common(MOST_LABELS)}

    def some(labels: Labels) -> Labels:
        return [tuple(label for label in own if label in frequent) for own in labels]

    return found._replace(training_labels=some(found.training_labels), test_labels=some(found.test_labels))


COLLECTIONS: dict[str, Callable[[int], Parts]] = {
    "SI650": lambda seed: collection("si650", seed, seed=seed),
    "SMS spam": lambda seed: collection("sms", seed, seed=seed),
    "lines of 20 Newsgroups": lines,
    "Cohen, ADHD": lambda seed: cohen("ADHD", seed),
    "Cohen, Triptans": lambda seed: cohen("Triptans", seed),
    "Cohen, Opioids": lambda seed: cohen("Opioids", seed),
    "Cohen, BetaBlockers": lambda seed: cohen("BetaBlockers", seed),
    "Cohen, ACEInhibitors": lambda seed: cohen("ACEInhibitors", seed),
    "SYNERGY, Menon 2022": lambda seed: synergy("Menon_2022", seed),
    "SYNERGY, van der Valk 2021": lambda seed: synergy("van_der_Valk_2021", seed),
    "WebKB": lambda seed: collection("webkb", seed),
    "Reuters-21578": reuters,
    "20 Newsgroups": lambda seed: collection("20newsgroups", seed, headers="subject"),
    "Ohsumed": lambda seed: collection("ohsumed", seed),
}


def quality(classifier: TextClassifier, parts: Parts, by_f1: bool) -> float:
    """Return the measure on the test texts, in per cent."""
    decisions = classifier.predictions(parts.test, proba=False).decisions
    truth = np.array([[label in own for label in classifier.classes_] for own in parts.test_labels])
    if not by_f1:
        return 100 * float(np.mean(np.all(truth == decisions, axis=1)))
    wanted = slice(-1, None) if classifier.target_type_ == "binary" else np.flatnonzero(truth.any(axis=0))
    return 100 * float(np.mean(f_beta(truth[:, wanted], decisions[:, wanted], empty=0.0)))


def measured(name: str, repeats: int) -> tuple[str, ...]:
    """Return the row of a collection: the measure of some models, of the best one, and of the chosen one."""
    found: dict[str, list[float]] = {named: [] for named in NAMED}
    chosen, own, seconds, by_f1, n_texts = Counter[str](), [], [], False, 0
    for seed in range(repeats):
        parts = COLLECTIONS[name](seed)
        n_texts = len(parts.training)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = time.process_time()
            auto = TextClassifier().fit(parts.training, parts.training_labels)
            seconds.append(time.process_time() - begin)
            by_f1 = auto.comparison_["measure"] == "f1"
            own.append(quality(auto, parts, by_f1))
            chosen[auto.comparison_["chosen"]] += 1
            for named, options in NAMED.items():
                other = TextClassifier(**options).fit(parts.training, parts.training_labels)
                found[named].append(quality(other, parts, by_f1))
    means = {named: float(np.mean(values)) for named, values in found.items()}
    best = max(means, key=lambda named: means[named])
    apart = np.array(own) - np.array(found[best])
    error = f" ± {apart.std(ddof=1) / np.sqrt(repeats):.1f}" if repeats > 1 else ""
    return (
        f"{name}, {n_texts:,}",
        "F1" if by_f1 else "right",
        f"{means['lasso']:.1f}",
        f"{means['ridge']:.1f}",
        f"{means[best]:.1f} ({best})",
        f"{np.mean(own):.1f}",
        f"{np.mean(apart):+.1f}{error}",
        ", ".join(f"{model} {count}" for model, count in chosen.most_common()),
        f"{np.mean(seconds):.1f}",
    )


def run(repeats: int) -> None:
    """Print how far behind the best model by name the chosen one is, in points of the measure."""
    title = f"On other texts, mean of {repeats} splits, %"
    header = ("collection, texts", "measure", "lasso", "ridge", "best by name", "auto", "difference", "chosen", "CPU s")
    show(title, header, [measured(name, repeats) for name in COLLECTIONS])
