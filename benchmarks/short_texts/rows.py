"""The texts: lines of 20 Newsgroups under four labels, with copies, some of them labelled otherwise.

Up to about 500,000 rows are made of lines that somebody wrote; beyond that there are not enough of them, and words are
drawn one by one as often as the lines of a label have them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift.datasets import load
from bayesift.text import TextVectorizer

LABELS = ("comp", "rec", "sci", "talk")
#: Shorter lines are rulers, names and ends of sentences.
SHORTEST = 20
#: Shares of the rows that repeat another row, with its label and with another one.
COPIES, CONTRADICTING = 0.24, 0.02
#: Lines that no row for training has.
HELD_OUT = 20_000
#: Share of the words of a drawn line that come from the lines of all labels.
SHARED_WORDS = 0.3


class Rows(NamedTuple):
    """Texts, the numbers of their labels, and the same for those held out."""

    texts: list[str]
    labels: np.ndarray
    held_out: list[str]
    held_out_labels: np.ndarray


class Matrices(NamedTuple):
    """Rows as every program gets them: log TF × IDF, cosine; words of at least two rows."""

    X: sp.csr_matrix
    y: np.ndarray
    held_out: sp.csr_matrix
    held_out_y: np.ndarray


@cache
def lines() -> tuple[list[str], np.ndarray]:
    """Return the distinct lines of both parts of 20 Newsgroups in a random order, with their first labels."""
    label_of: dict[str, int] = {}
    collection = load("20newsgroups")
    for split in (collection.train, collection.test):
        for text, labels in zip(split.texts, split.labels, strict=True):
            name = labels[0].partition(".")[0]
            if name in LABELS:
                for line in map(str.strip, text.splitlines()):
                    if len(line) >= SHORTEST:
                        label_of.setdefault(line, LABELS.index(name))
    found, labels = list(label_of), np.array(list(label_of.values()))
    order = np.random.default_rng(0).permutation(len(found))
    return [found[i] for i in order], labels[order]


def draw_lines(
    known: list[str], labels: np.ndarray, n: int, random: np.random.Generator
) -> tuple[list[str], list[int]]:
    """Draw lines of words as frequent, and as many, as those of the known lines of a label."""
    words = [Counter(word for i in np.flatnonzero(labels == k) for word in known[i].split()) for k in range(4)]
    everything = sum(words, Counter())
    names = np.array(list(everything), dtype=object)
    common = np.array(list(everything.values())) / everything.total()
    drawn: list[str] = []
    drawn_labels: list[int] = []
    for k, count in enumerate(np.bincount(random.choice(labels, n), minlength=4)):
        own = np.array([words[k][name] for name in everything]) / words[k].total()
        members = np.flatnonzero(labels == k)
        lengths = [len(known[i].split()) for i in random.choice(members, count)]
        chosen = names[random.choice(names.size, sum(lengths), p=SHARED_WORDS * common + (1.0 - SHARED_WORDS) * own)]
        ends = np.cumsum(lengths)
        drawn += [" ".join(chosen[end - length : end]) for length, end in zip(lengths, ends, strict=True)]
        drawn_labels += [k] * count
    return drawn, drawn_labels


def make_rows(n: int, seed: int = 0) -> Rows:
    """Return ``n`` rows for training and those held out, which are the same for every ``n``."""
    known, labels = lines()
    random = np.random.default_rng(seed)
    n_same, n_other = int(COPIES * n), int(CONTRADICTING * n)
    n_texts = n - n_same - n_other
    texts, of_texts = known[HELD_OUT : HELD_OUT + n_texts], labels[HELD_OUT : HELD_OUT + n_texts].tolist()
    if len(texts) < n_texts:
        more, of_more = draw_lines(known[HELD_OUT:], labels[HELD_OUT:], n_texts - len(texts), random)
        texts, of_texts = texts + more, of_texts + of_more
    # Few texts have most of the copies: greetings, signatures, what everybody quotes.
    popularity = random.pareto(1.0, n_texts)
    copied = random.choice(n_texts, n_same + n_other, p=popularity / popularity.sum())
    of_copies = np.array(of_texts)[copied]
    of_copies[n_same:] = (of_copies[n_same:] + random.integers(1, 4, n_other)) % 4
    order = random.permutation(n)
    texts = texts + [texts[i] for i in copied]
    every_label = np.concatenate([of_texts, of_copies])
    return Rows([texts[i] for i in order], every_label[order], known[:HELD_OUT], labels[:HELD_OUT])


def matrices(rows: Rows) -> Matrices:
    """Count the words."""
    vectorizer = TextVectorizer("lsc", min_df=2)
    X = sp.csr_matrix(vectorizer.fit_transform(rows.texts))
    return Matrices(X, rows.labels, sp.csr_matrix(vectorizer.transform(rows.held_out)), rows.held_out_labels)
