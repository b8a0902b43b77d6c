"""Labelled documents with priors, checked, and whether a posterior exists at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.utils.validation import check_array

from bayesift._documents import checked_weights, usable_values
from bayesift._state import MOST_FEATURES, State
from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.posterior._links import Link, check_link, log_likelihoods
from bayesift.priors import FIXED, FLAT, GAUSSIAN, JEFFREYS, LAPLACE, Prior, PriorArrays

#: Margins of a direction below this share of the greatest count as 0.
_NO_MARGIN = 1e-9
#: Gibbs sampling repeats documents by their weights, up to so many in all.
_MOST_REPEATS = 10_000_000
#: The message if a decomposition fails.
TOO_WIDE = (
    "the posterior is lost to rounding: documents or prior variances differ by too many powers of ten; expected "
    "documents of similar size, and smaller variances"
)


def own_fields(record: Any) -> dict[str, Any]:
    """Return the fields of a record without cached values, as a model file stores them."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Priors of all coefficients, the intercept's last: modes, variances, and which of them are Laplace priors."""

    mode: FloatArray
    variance: FloatArray
    laplace: BoolArray

    def _check_state(self, state: State) -> None:
        size = state.array("mode", (None,)).size
        state.require(0 < size <= MOST_FEATURES, "coefficients")
        variance = state.array("variance", (size,))
        state.require(bool(np.all(variance >= 0)), "variances")
        state.array("laplace", (size,), "b")

    def __getstate__(self) -> dict[str, Any]:
        return own_fields(self)

    @cached_property
    def flat(self) -> Int64Array:
        """Coefficients without a proper prior."""
        return np.flatnonzero(np.isinf(self.variance))

    @cached_property
    def centre(self) -> FloatArray:
        """The modes, 0 for coefficients without a proper prior."""
        return np.where(np.isinf(self.variance), 0.0, self.mode)

    @cached_property
    def finite_variance(self) -> FloatArray:
        """The variances, 0 for coefficients without a proper prior."""
        return np.where(np.isinf(self.variance), 0.0, self.variance)

    @classmethod
    def of(cls, prior: PriorArrays) -> Self:
        """Read priors; refuse those whose posterior no method here can compute."""
        if np.any(prior.kind == JEFFREYS):
            raise ValueError(
                "prior is Jeffreys, under which the posterior does not exist; expected Gaussian or Laplace"
            )
        if np.any(prior.sign):
            raise ValueError("prior is one-sided; expected two-sided Gaussian or Laplace priors")
        with np.errstate(divide="ignore"):
            by_kind = [
                np.full_like(prior.mode, np.inf),
                np.zeros_like(prior.mode),
                1.0 / prior.weight,
                2.0 / prior.weight**2,
            ]
        kinds = [prior.kind == kind for kind in (FLAT, FIXED, GAUSSIAN, LAPLACE)]
        return cls(prior.mode.astype(np.float64), np.select(kinds, by_kind), prior.kind == LAPLACE)


def with_constant(X: Any) -> sp.csr_matrix:
    """Return documents in compressed rows with a last column of ones, that of the intercept."""
    rows = sp.csr_matrix(X)
    return sp.csr_matrix(sp.hstack([rows, np.ones((rows.shape[0], 1))], format="csr"))


def checked_documents(X: Any, n_features: int | None = None) -> Any:
    """Return documents as numbers; refuse bad values and a wrong number of columns."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} columns; expected {n_features}, as when the posterior was computed")
    return usable_values(X)


def checked_signs(y: Any, n_rows: int) -> FloatArray:
    """Return labels of two values as −1 and +1."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y has shape {labels.shape}; expected ({n_rows},), one label for each document")
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y is an array of {labels.dtype}; expected 0 and 1, −1 and 1, or booleans")
    values = np.unique(labels.astype(np.float64))
    if not (np.isin(values, [0.0, 1.0]).all() or np.isin(values, [-1.0, 1.0]).all()):
        odd = values[~np.isin(values, [-1.0, 0.0, 1.0])]
        shown = odd[0] if odd.size else "both −1 and 0"
        raise ValueError(f"y holds {shown}; expected 0 and 1, −1 and 1, or booleans")
    return np.where(labels > 0, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Problem:
    """Labelled documents of one category: rows with the constant, labels −1 and +1, weights, priors, link."""

    A: sp.csr_matrix
    y: FloatArray
    weights: FloatArray
    beliefs: Beliefs
    link: Link

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        prior: Prior | PriorArrays,
        link: Link,
        intercept_variance: float | Literal["same"],
        sample_weight: Any,
        feature_names: Iterable[str] | None,
    ) -> Self:
        """Check what a user gives; refuse a posterior that does not exist."""
        check_link(link)
        X = checked_documents(X)
        if X.shape[0] == 0:
            raise ValueError("X has no documents; expected at least one with a label")
        signs = checked_signs(y, X.shape[0])
        if isinstance(prior, Prior):
            prior = prior.resolve(X.shape[1], feature_names).extended(prior.resolve_intercept(intercept_variance))
        elif not isinstance(prior, PriorArrays):
            raise TypeError(f"prior is {prior!r}; expected a Gaussian or Laplace prior of bayesift.priors")
        if prior.mode.size != X.shape[1] + 1:
            raise ValueError(
                f"prior has {prior.mode.size} entries; expected {X.shape[1] + 1}, one for each column of X and one "
                f"for the intercept"
            )
        weights = checked_weights(sample_weight, X)
        counted = weights > 0
        A = with_constant(X)
        A.sum_duplicates()
        problem = cls(A[counted], signs[counted], weights[counted], Beliefs.of(prior), link)
        problem._refuse_without_posterior()
        return problem

    @property
    def n_documents(self) -> int:
        """Number of documents that count."""
        return self.A.shape[0]

    @cached_property
    def seen(self) -> Int64Array:
        """Columns in which some document has an entry and whose coefficients can move."""
        found = np.unique(self.A.indices[self.A.data != 0])
        return found[self.beliefs.variance[found] > 0].astype(np.int64)

    @cached_property
    def offset(self) -> FloatArray:
        """Scores of the documents at the modes of the priors."""
        return np.asarray(self.A @ self.beliefs.centre)

    def log_likelihood(self, scores: FloatArray) -> float:
        """Return Σ s_i ln p(y_i)."""
        return float(self.weights @ log_likelihoods(self.link, self.y * scores))

    def repeated(self) -> Problem:
        """Return the problem with every document as often as it counts."""
        if np.all(self.weights == 1.0):
            return self
        if np.any(self.weights != np.floor(self.weights)):
            odd = self.weights[self.weights != np.floor(self.weights)][0]
            raise ValueError(f"sample_weight holds {odd:g}; expected whole numbers for Gibbs sampling")
        total = float(self.weights.sum())
        if total > _MOST_REPEATS:
            raise ValueError(
                f"sample_weight adds up to {total:g}; Gibbs sampling takes documents that often, at most "
                f"{_MOST_REPEATS:,} in all: use another method, or smaller weights"
            )
        rows = np.repeat(np.arange(self.n_documents), self.weights.astype(np.int64))
        return Problem(self.A[rows], self.y[rows], np.ones(rows.size), self.beliefs, self.link)

    def _refuse_without_posterior(self) -> None:
        """Refuse documents whose likelihood does not fall in some direction without a proper prior."""
        flat = self.beliefs.flat
        if not flat.size:
            return
        unseen = np.setdiff1d(flat, self.seen)
        if unseen.size:
            raise ValueError(
                f"there is no posterior: the prior variance of column {unseen[0]} is infinite and no labelled document "
                f"has an entry there; expected a finite variance"
            )
        if flat.size == 1 and flat[0] == self.A.shape[1] - 1:
            if np.unique(self.y).size == 1:
                raise ValueError(
                    "there is no posterior: all documents are of one class and the prior variance of the intercept is "
                    "infinite; expected documents of both classes or a finite intercept_variance"
                )
            return
        B = self.A[:, flat].toarray()
        B = B / np.abs(B).max(axis=0)
        if flat.size > self.n_documents or np.linalg.matrix_rank(B) < flat.size or _separates(B * self.y[:, None]):
            raise ValueError(
                f"there is no posterior: {flat.size} coefficients have an infinite prior variance, and no document "
                f"rules out infinite values in some direction of theirs (the classes are separable); "
                f"expected a finite variance"
            )


def _separates(margins: FloatArray) -> bool:
    """Tell whether some direction has no negative margin and not only zeros."""
    total = margins.sum(axis=0)
    found = linprog(-total, A_ub=-margins, b_ub=np.zeros(margins.shape[0]), bounds=(-1.0, 1.0))
    return bool(found.status == 0 and -found.fun > _NO_MARGIN * margins.shape[0])
