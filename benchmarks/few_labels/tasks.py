"""The tasks: whole collections, of which a few texts get labels and all others are the pile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import _twenty_newsgroups as messages
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from bayesift._typing import AnyArray, Int64Array
from bayesift.text import TextVectorizer
from bayesift.vectors import WordVectors
from reproduction.beyond.tasks import tasks_of

#: Labels a class; None is all of them.
SIZES: tuple[int | None, ...] = (1, 2, 5, 10, 20, 50, 200, None)

STRIPPED = "20newsgroups, stripped"
NAMES = ("20newsgroups", STRIPPED, "reuters21578", "ohsumed", "webkb", "si650", "sms", "newsroom")


class Material:
    """A task, its texts as words and as vectors, and the texts that get labels.

    Words, their document frequencies and vectors come from the training texts, without their labels, for all systems.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        [self.task] = tasks_of("20newsgroups" if name == STRIPPED else name)
        if name == STRIPPED:
            train, test = ([_stripped(text) for text in part] for part in (self.task.train_texts, self.task.test_texts))
            self.task = self.task._replace(train_texts=train, test_texts=test)
        self.has_sets = self.task.kind == "sets"

    @cached_property
    def words(self) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """The weights of words, of training and test texts."""
        return self._vectorizer.transform(self.task.train_texts), self._vectorizer.transform(self.task.test_texts)

    @cached_property
    def _vectorizer(self) -> TextVectorizer:
        return TextVectorizer(min_df=2).fit(self.task.train_texts)

    @cached_property
    def counts(self) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """The counts of words, without those of scikit-learn's list of stop words."""
        vectorizer = TextVectorizer("nnn", min_df=2, stop_words="english")
        return vectorizer.fit_transform(self.task.train_texts), vectorizer.transform(self.task.test_texts)

    @cached_property
    def word_vectors(self) -> WordVectors:
        """Vectors of words from the training texts."""
        return WordVectors().fit(self.task.train_texts)

    @cached_property
    def vectors(self) -> tuple[AnyArray, AnyArray]:
        """The vectors of training and test texts."""
        return self._document_vectors(self.word_vectors)

    @cached_property
    def informed_vectors(self) -> tuple[AnyArray, AnyArray]:
        """Their vectors where the words of the test texts are known as well."""
        return self._document_vectors(WordVectors().fit([*self.task.train_texts, *self.task.test_texts]))

    @cached_property
    def lsa(self) -> tuple[AnyArray, AnyArray]:
        """Their vectors by latent semantic analysis of the training texts."""
        train, test = self.words
        with threadpool_limits(1):
            model = TruncatedSVD(min(200, train.shape[1] - 1), random_state=0).fit(train)
        return normalize(model.transform(train)), normalize(model.transform(test))

    def _document_vectors(self, vectors: WordVectors) -> tuple[AnyArray, AnyArray]:
        # Much as in TextClassifier: words tell by the lengths of their vectors already how rare they are.
        factors = np.sqrt(np.maximum(self._vectorizer.idf_, 0.01))
        E = vectors.matrix(self._vectorizer.get_feature_names_out()) / factors[:, None]
        train, test = (normalize(part @ E) for part in self.words)
        return train, test

    def labels(self, rows: Int64Array | slice) -> AnyArray:
        """Return what models learn from: an indicator where texts have sets of labels, else a label each."""
        return self.labels_of(self.task.train[rows])

    def labels_of(self, indicator: AnyArray) -> AnyArray:
        """Return a label for each row of an indicator, or the indicator where texts have sets of labels."""
        if self.has_sets:
            return indicator
        return indicator[:, 0] if self.task.kind == "yes-no" else indicator.argmax(axis=1)

    def sizes(self) -> Iterator[int | None]:
        """Yield the numbers of labels a class of which most classes have more."""
        for size in SIZES:
            if size is None or np.median(self._classes().sum(axis=0)) > size:
                yield size

    def _classes(self) -> AnyArray:
        """Return an indicator in which texts without a label are a class of their own."""
        nothing = ~self.task.train.any(axis=1)
        return np.column_stack([self.task.train, nothing]) if nothing.any() else self.task.train

    def draw(self, size: int | None, seed: int) -> Int64Array:
        """Return the texts that get labels: so many at random of each class, or all that it has."""
        classes = self._classes()
        if size is None:
            return np.arange(len(classes))
        random = np.random.default_rng(seed)
        found = [random.permutation(np.flatnonzero(column))[:size] for column in classes.T]
        return np.unique(np.concatenate(found))

    def draw_any(self, n_texts: int, seed: int) -> Int64Array:
        """Return so many texts at random."""
        return np.sort(np.random.default_rng(seed).choice(len(self.task.train), n_texts, replace=False))

    def errors(self, predicted: AnyArray) -> AnyArray:
        """Tell which decisions are wrong: those about texts, or about each label where they have sets."""
        return (np.asarray(predicted) != self.labels_of(self.task.test)).astype(np.int64)


def _stripped(text: str) -> str:
    """Leave out headers, footers and quotes as scikit-learn does."""
    found: Any = messages.strip_newsgroup_header(text)
    return str(messages.strip_newsgroup_quoting(messages.strip_newsgroup_footer(found)))
