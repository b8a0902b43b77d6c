"""Objects with their tags, grouped as the integrals want them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit

from bayesift._typing import FloatArray, Int64Array

#: Stands for the logarithm of zero in a group whose objects all have weight 0.
_NOTHING = -1e6


class Groups(NamedTuple):
    """Entries by tag and by the signed number of tags of their object, which share a power of (1−q)/q.

    Parameters
    ----------
    objects, tags : int arrays of shape (n_entries,)
        Object and tag of every entry, in the order of the groups.
    firsts : int array of shape (n_groups,)
        Where the entries of each group start.
    starts : int array of shape (n_tags + 1,)
        Where the groups of each tag start.
    slopes : float array of shape (n_groups,)
        The signed number y_i |Q_i|.
    """

    objects: Int64Array
    tags: Int64Array
    firsts: Int64Array
    starts: Int64Array
    slopes: FloatArray

    def spread(self, values: FloatArray) -> FloatArray:
        """Repeat a number of each group for each of its entries."""
        return np.repeat(values, np.diff(np.append(self.firsts, self.objects.size)))


@dataclass(frozen=True, eq=False)
class Tagging:
    """Objects with their tags and classes.

    Parameters
    ----------
    matrix : csr_matrix of shape (n_objects, n_tags)
        Ones where an object has a tag.
    y : float array of shape (n_objects,)
        +1 and −1.
    weights : float array of shape (n_objects,)
        How often each object counts.
    """

    matrix: Any
    y: FloatArray
    weights: FloatArray

    @property
    def n_tags(self) -> int:
        """Number of tags."""
        return self.matrix.shape[1]

    @cached_property
    def counts(self) -> FloatArray:
        """Number of tags of each object, |Q_i|."""
        return np.diff(self.matrix.indptr).astype(np.float64)

    @cached_property
    def transposed(self) -> Any:
        """The matrix by tags."""
        return sp.csr_matrix(self.matrix.T)

    @cached_property
    def groups(self) -> Groups:
        """The entries in groups."""
        by_tag = self.transposed
        tags = np.repeat(np.arange(self.n_tags), np.diff(by_tag.indptr))
        signed = self.y * self.counts
        order = np.lexsort((signed[by_tag.indices], tags))
        objects, tags = by_tag.indices[order].astype(np.int64), tags[order]
        slopes = signed[objects]
        new = np.ones(objects.size, dtype=bool)
        new[1:] = (np.diff(tags) != 0) | (np.diff(slopes) != 0)
        firsts = np.flatnonzero(new)
        starts = np.searchsorted(tags[firsts], np.arange(self.n_tags + 1))
        return Groups(objects, tags, firsts, starts, slopes[firsts])

    def kept(self, tags: Any) -> Tagging:
        """Return the same objects with some of their tags."""
        return Tagging(sp.csr_matrix(self.matrix[:, tags]), self.y, self.weights)

    def sizes(self, margins: FloatArray, u: FloatArray) -> FloatArray:
        """Return c_g = ln Σ_{i in g} s_i (1 − P_i)/|Q_i| exp(m_g u_ij) of every group; u by entry."""
        groups = self.groups
        if not groups.firsts.size:
            return np.empty(0)
        with np.errstate(divide="ignore"):
            share = log_expit(-margins) + np.log(self.weights) - np.log(self.counts)
        parts = np.maximum(share, _NOTHING)[groups.objects] + groups.spread(groups.slopes) * u
        top = np.maximum.reduceat(parts, groups.firsts)
        return top + np.log(np.add.reduceat(np.exp(parts - groups.spread(top)), groups.firsts))

    def constant(self, margins: FloatArray) -> float:
        """Return Σ_i s_i [ln P_i + 1 − P_i], the bound apart from its integrals; an object without tags has ln ½."""
        return float(self.weights @ (log_expit(margins) + np.where(self.counts > 0, expit(-margins), 0.0)))


def read_tags(X: Any, binarize: float | None) -> Any:
    """Return a matrix by rows that holds ones only, from one of zeros and ones; others need ``binarize``.

    ``X`` is left as it is.
    """
    if binarize is not None and sp.issparse(X) and binarize < 0:
        raise ValueError(
            f"binarize={binarize} would turn the zeros of a sparse matrix into ones; expected 0 or greater"
        )
    if sp.issparse(X):
        # Before the comparison, which would sum up repeated entries in the caller's arrays.
        X = sp.csr_matrix(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
    tags = sp.csr_matrix(X if binarize is None else binarize < X, dtype=np.float64)
    tags.eliminate_zeros()
    wrong = np.flatnonzero(tags.data != 1.0)
    if wrong.size:
        raise ValueError(
            f"X must hold tags, zeros and ones only, but has the value {tags.data[wrong[0]]:g} (and {wrong.size - 1} "
            f"more that are neither); pass binarize=0.0 to count every value above 0 as a tag"
        )
    return tags
