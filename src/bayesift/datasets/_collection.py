"""A collection: training and test documents of one task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scipy.sparse import csr_matrix

from bayesift.datasets._split import Split


@dataclass(frozen=True, eq=False)
class Collection:
    """Training and test documents of one task.

    Parameters
    ----------
    name : str
        The name it was loaded by.
    train, test : Split
        The documents; ``texts``, ``labels`` and ``ids`` of each are lists of one length.
    categories : tuple of str
        All category names, sorted; label sets hold no other.
    descriptions : mapping
        What a category is about, in words, where the collection says so.

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
