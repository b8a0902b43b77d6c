"""The filtering protocol once more: slow, in plain numpy, one document and one topic at a time, with dense vectors."""

from __future__ import annotations

import math
import re

import numpy as np
import Stemmer
from scipy.stats import norm
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS


def words_of(text):
    tokens = [t for t in re.findall(r"(?u)\b\w\w+\b", text.lower()) if t not in ENGLISH_STOP_WORDS]
    return Stemmer.Stemmer("porter", 0).stemWords(tokens)


def entropy(p):
    return -sum(q * math.log2(q) for q in (p, 1 - p) if q > 0)


def ratio(k1, n1, k2, n2):
    """−2 ln λ by Dunning's formula."""

    def likelihood(k, n, p):
        return (k * math.log(p) if k else 0.0) + ((n - k) * math.log(1 - p) if n - k else 0.0)

    if n1 == 0 or n2 == 0:
        return 0.0
    p = (k1 + k2) / (n1 + n2)
    own = likelihood(k1, n1, k1 / n1) + likelihood(k2, n2, k2 / n2)
    return 2 * (own - likelihood(k1, n1, p) - likelihood(k2, n2, p))


class SlowTopic:
    """One topic by the book; documents are dicts from term to weight."""

    def __init__(
        self,
        texts,
        relevant,
        statement,
        *,
        kappa=0.05,
        passes=3,
        relearn_relevant=True,
        query="information",
        target=50,
        significance=12.13,
        unseen="rare",
        draw=None,
        stream_size=None,
    ):
        self.kappa, self.relearn_relevant, self.query, self.target = kappa, relearn_relevant, query, target
        self.significance, self.unseen, self.draw, self.stream_size = significance, unseen, draw, stream_size
        documents = [words_of(text) for text in texts]
        self.n_train = len(documents)
        self.df = {}
        for words in documents:
            for word in set(words):
                self.df[word] = self.df.get(word, 0) + 1
        labelled = [(self.vector(text), 1 if i in relevant else -1) for i, text in enumerate(texts)]
        if statement:
            labelled.insert(0, (self.vector(statement), 1))
        self.seen = list(labelled)
        self.past = [x for x, y in labelled if y == 1]
        self.turn = self.retrieved = 0
        self.names, self.m, self.C = [], np.zeros(1), np.eye(1)
        self.add_features()
        for _ in range(passes):
            for x, y in labelled:
                self.learn(x, y)

    def vector(self, text):
        counts = {}
        for word in words_of(text):
            counts[word] = counts.get(word, 0) + 1
        if self.unseen == "ignore":
            counts = {word: c for word, c in counts.items() if word in self.df}
        raw = {w: (1 + math.log(c)) * math.log(self.n_train / self.df.get(w, 1)) for w, c in counts.items()}
        raw = {w: x for w, x in raw.items() if x != 0}
        norm_ = math.sqrt(sum(x * x for x in raw.values()))
        return {w: x / norm_ for w, x in raw.items()}

    def add_features(self):
        n1, n2 = sum(y == 1 for _, y in self.seen), sum(y == -1 for _, y in self.seen)
        k1, k2 = {}, {}
        for x, y in self.seen:
            for word in x:
                counts = k1 if y == 1 else k2
                counts[word] = counts.get(word, 0) + 1
        words = sorted((k1.keys() | k2.keys()) - set(self.names))
        new = [w for w in words if ratio(k1.get(w, 0), n1, k2.get(w, 0), n2) > self.significance]
        size, d = self.m.size, len(new)
        m, C = np.zeros(size + d), np.eye(size + d)
        old = [*range(size - 1), size + d - 1]
        m[old] = self.m
        C[np.ix_(old, old)] = self.C
        self.names, self.m, self.C = self.names + new, m, C

    def dense(self, x):
        return np.array([*(x.get(name, 0.0) for name in self.names), 1.0])

    def learn(self, x, y):
        x = self.dense(x)
        direction = self.C @ x
        s = math.sqrt(x @ direction)
        u = y * (self.m @ x) / s
        z = self.kappa + (1 - 2 * self.kappa) * norm.cdf(u)
        rho = (1 - 2 * self.kappa) * norm.pdf(u) / z
        self.m = self.m + y * rho / s * direction
        self.C = self.C - rho * (u + rho) / s**2 * np.outer(direction, direction)

    def decide(self, text, place):
        """Return the reason to retrieve a document (None: do not), its probability and information."""
        x = self.dense(self.vector(text))
        mean = self.m @ x
        p = self.kappa + (1 - 2 * self.kappa) * norm.cdf(mean / math.sqrt(x @ self.C @ x))
        bits = entropy(p) - entropy(self.kappa)
        theta = 0.999 / (1 + math.exp(-5 * (self.retrieved - self.target) / self.target)) + 0.001
        asks = self.query == "information" and bits >= theta
        if self.query == "random":
            asks = self.draw(place) < max(0, self.target - self.retrieved) / self.stream_size
        reason = "relevant" if p >= 0.5 else "query" if asks else None
        self.retrieved += reason is not None
        return reason, p, bits

    def judge(self, text, relevant):
        x, y = self.vector(text), 1 if relevant else -1
        self.seen.append((x, y))
        self.add_features()
        self.learn(x, y)
        if relevant:
            self.past.append(x)
        elif self.relearn_relevant and self.past:
            self.learn(self.past[self.turn % len(self.past)], 1)
            self.turn += 1
