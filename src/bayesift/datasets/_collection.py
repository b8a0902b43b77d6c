"""A collection: training and test documents of one task, with their label sets and identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix

from bayesift.datasets._columns import Origin


class Split:
    """Documents with their label sets and identifiers.

    Parameters
    ----------
    labels : list of tuple of str
        Label set of each document: category names in sorted order, no repetition, empty where none applies.
    ids : list of str
        Identifier of each document.
    texts : list of str, optional
        The documents, for data with texts.
    matrix : scipy.sparse.csr_matrix, optional
        One row per document, for data with vectors.
    origin : Origin, optional
        The file, for a user's own data.

    Examples
    --------
    >>> from bayesift.datasets import load
    >>> train = load("newsroom").train
    >>> len(train.texts) == len(train.labels) == len(train.ids) == len(train)
    True
    """

    def __init__(
        self,
        labels: list[tuple[str, ...]],
        ids: list[str],
        texts: list[str] | None = None,
        *,
        matrix: csr_matrix | None = None,
        origin: Origin | None = None,
    ) -> None:
        lengths = {"labels": len(labels), "ids": len(ids)}
        if texts is not None:
            lengths["texts"] = len(texts)
        if matrix is not None:
            lengths["matrix"] = matrix.shape[0]
        if len(set(lengths.values())) != 1:
            raise ValueError(f"labels, ids, texts and matrix must have the same length, found {lengths}")
        self.labels = labels
        self.ids = ids
        self.origin = origin
        self._texts = texts
        self._matrix = matrix

    @property
    def texts(self) -> list[str]:
        """The documents as strings."""
        if self._texts is None:
            raise AttributeError(f"{self!r} has no texts: it has {self._form()}")
        return self._texts

    @property
    def matrix(self) -> csr_matrix:
        """The documents as rows of a sparse matrix."""
        if self._matrix is None:
            raise AttributeError(f"{self!r} has no matrix: it has {self._form()}")
        return self._matrix

    @property
    def has_texts(self) -> bool:
        """Whether the documents are there as strings."""
        return self._texts is not None

    @property
    def has_matrix(self) -> bool:
        """Whether the documents are there as rows of a matrix."""
        return self._matrix is not None

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that occur here, sorted."""
        return tuple(sorted({name for labels in set(self.labels) for name in labels}))

    def indicator(self, categories: Sequence[str] | None = None) -> csr_matrix:
        """Return the label sets as a matrix of zeros and ones, documents × categories.

        Parameters
        ----------
        categories : sequence of str, optional
            The columns; the sorted categories that occur here by default. Other labels are left out.

        Returns
        -------
        scipy.sparse.csr_matrix
            Values of type ``int64``, as from scikit-learn's ``MultiLabelBinarizer``: products of it, such as
            counts of common documents, do not overflow.
        """
        names = self.categories if categories is None else tuple(categories)
        column = {name: number for number, name in enumerate(names)}
        rows = {labels: sorted(column[name] for name in labels if name in column) for labels in set(self.labels)}
        indices = [number for labels in self.labels for number in rows[labels]]
        lengths = np.fromiter((len(rows[labels]) for labels in self.labels), np.int64, len(self.labels))
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        ones: Any = np.ones(len(indices), np.int64)
        return csr_matrix((ones, np.asarray(indices, np.int64), indptr), shape=(len(self.labels), len(names)))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Split({len(self)} documents)"

    def _form(self) -> str:
        if self.has_texts:
            return "texts"
        return "vectors (see .matrix)" if self.has_matrix else "labels only, without the documents"


@dataclass(frozen=True, eq=False)
class Collection:
    """Training and test documents of one task.

    Parameters
    ----------
    name : str
        The name it was loaded by.
    train, test : Split
        The documents; ``texts``, ``labels`` and ``ids`` of each are lists of the same length.
    categories : tuple of str
        All category names, sorted; label sets contain no others.
    descriptions : mapping
        What each category is about, in words, if the collection says so.
    protocol : mapping
        What the protocol of a review says, part by part (``"inclusion_criteria"``, ``"exclusion_criteria"``, ...), if
        the collection has one.

    Examples
    --------
    >>> from bayesift.datasets import load
    >>> news = load("newsroom")
    >>> news.indicator("train").shape == (len(news.train), len(news.categories))
    True
    """

    name: str
    train: Split
    test: Split
    categories: tuple[str, ...]
    descriptions: Mapping[str, str] = field(default_factory=dict)
    protocol: Mapping[str, str] = field(default_factory=dict)

    def indicator(self, split: Literal["train", "test"]) -> csr_matrix:
        """Return the label sets of a split as a matrix of zeros and ones, documents × categories.

        Parameters
        ----------
        split : {"train", "test"}
            Which documents.

        Returns
        -------
        scipy.sparse.csr_matrix
            Columns in the order of ``categories``, values of type ``int64``.
        """
        if split not in ("train", "test"):
            raise ValueError(f"split must be 'train' or 'test', found {split!r}")
        return (self.train if split == "train" else self.test).indicator(self.categories)

    def __repr__(self) -> str:
        return (
            f"Collection({self.name!r}, train={len(self.train)}, test={len(self.test)}, "
            f"categories={len(self.categories)})"
        )
