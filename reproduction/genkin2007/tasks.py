"""The collections of Genkin, Lewis & Madigan (2007) as matrices (sections 5.1 and 5.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import scipy.sparse as sp
from numpy.typing import NDArray

from bayesift.datasets import describe, load
from bayesift.text import TextVectorizer

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")
#: The paper's names of the collections, and ours.
COLLECTIONS = {
    "ModApte": "reuters21578",
    "RCV1-v2": "rcv1",
    "OHSUMED": "ohsumed",
    "WebKB": "webkb",
    "20 NG": "20newsgroups",
}


class Task(NamedTuple):
    """One division of a collection into training and test documents."""

    categories: tuple[str, ...]
    X_train: sp.csr_matrix
    Y_train: NDArray[Any]
    X_test: sp.csr_matrix
    Y_test: NDArray[Any]

    def column(self, category: str) -> int:
        """Return the column of a category."""
        return self.categories.index(category)


def available(collection: str) -> bool:
    """Tell whether the documents of a collection are at hand; of RCV1-v2 there may be judgements only."""
    if not describe(COLLECTIONS[collection]).present:
        return False
    return collection != "RCV1-v2" or load("rcv1").train.has_texts


def parts(collection: str, quick: bool = False) -> tuple[str, ...]:
    """Name the divisions: for WebKB, each of four universities is the test set once."""
    return (UNIVERSITIES[:1] if quick else UNIVERSITIES) if collection == "WebKB" else ("",)


@lru_cache(maxsize=2)
def task(collection: str, part: str = "") -> Task:
    """Read a division, and weigh its terms as in section 5.1: log TF × IDF, cosine-normalised, stems."""
    options: dict[str, Any] = {"20 NG": {"headers": "subject"}, "WebKB": {"test_university": part}}.get(collection, {})
    data = load(COLLECTIONS[collection], **options)
    vectorizer = TextVectorizer("lsc", stop_words="smart", stemmer="porter", unknown_terms="normalize")
    X_train, X_test = vectorizer.fit_transform(data.train.texts), vectorizer.transform(data.test.texts)
    Y_train, Y_test = (data.indicator(part).toarray() for part in ("train", "test"))
    return Task(tuple(data.categories), X_train, Y_train, X_test, Y_test)
