"""Peers that need more than a line: naive Bayes by EM, and fastText with and without our vectors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayesift._typing import AnyArray, Int64Array
from benchmarks.few_labels.tasks import Material
from reproduction.beyond.peers import FastText

_ROUNDS, _LENGTH = 10, 200.0


def naive_bayes_by_em(material: Material, rows: Int64Array) -> AnyArray:
    """Fit a multinomial naive Bayes model by EM over the labelled texts and the pile (Nigam et al. 2000).

    Stop words are left out, texts are scaled to 200 words, words have Laplace's prior, and EM begins with the labelled
    texts alone. Other lengths and priors, and a smaller weight of the pile, were worse on stripped messages.
    """
    counts, test = (_of_same_length(part) for part in material.counts)
    labels = material.labels(slice(None))
    known = np.eye(int(labels.max()) + 1)[labels[rows]]
    shares = known
    texts = counts[rows]
    for _ in range(_ROUNDS + 1):
        totals = np.asarray(texts.T @ shares) + 1.0
        weights = np.log(totals / totals.sum(axis=0))
        offsets = np.log((shares.sum(axis=0) + 1.0) / (len(shares) + shares.shape[1]))
        shares = _posterior(counts @ weights + offsets)
        shares[rows] = known
        texts = counts
    answer: AnyArray = (test @ weights + offsets).argmax(axis=1)
    return answer


def _of_same_length(counts: AnyArray) -> AnyArray:
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    return counts.multiply(_LENGTH / np.maximum(lengths, 1.0)[:, None]).tocsr()


def _posterior(scores: AnyArray) -> AnyArray:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: AnyArray = odds / odds.sum(axis=1, keepdims=True)
    return shares


def fasttext(with_vectors: bool) -> Callable[[Material, Int64Array], AnyArray]:
    """Return how fastText answers, with epochs for two and a half million words, but at least 25 and at most 500."""

    def answer(material: Material, rows: Int64Array) -> AnyArray:
        texts = [material.task.train_texts[row] for row in rows]
        task = material.task._replace(train_texts=texts, train=material.task.train[rows])
        n_words = sum(len(text.split()) for text in texts)
        options: dict[str, Any] = {"epoch": min(max(25, 2_500_000 // max(n_words, 1)), 500), "thread": 1}
        with tempfile.TemporaryDirectory() as folder:
            if with_vectors:
                file = Path(folder) / "words.vec"
                options |= {"dim": _write_vectors(material, file), "pretrainedVectors": str(file)}
            model = FastText(task, **options)
        return material.labels_of(model.answer(task.test_texts).decisions)

    return answer


def _write_vectors(material: Material, file: Path) -> int:
    """Write our vectors, of length one on average, as fastText reads them; returns their number of columns."""
    found = material.word_vectors
    rows = found.vectors_ / np.linalg.norm(found.vectors_, axis=1).mean()
    with file.open("w", encoding="utf-8") as stream:
        stream.write(f"{len(found)} {rows.shape[1]}\n")
        for word, row in zip(found.words_, rows, strict=True):
            stream.write(f"{word} {' '.join(map('{:.4g}'.format, row.tolist()))}\n")
    return int(rows.shape[1])
