"""Predictive distributions of counts and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesift._checks import plain
from bayesift._special import log_beta_ratio, log_choose, log_dirichlet_ratio, log_orders, log_waiting
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import common_shape, outside
from bayesift.conjugate.predictive import DiscretePredictive

Numbers = Any


def where_possible(possible: BoolArray, value: FloatArray, x: FloatArray) -> FloatArray:
    """Return −∞ to what cannot occur, and NaN to NaN."""
    return np.where(possible, value, outside(x))


def possible_counts(x: FloatArray, n_categories: int, n: Any) -> tuple[FloatArray, BoolArray]:
    """Return count vectors, with zeros for those that cannot occur in n draws, and which ones can."""
    if x.ndim == 0 or x.shape[-1] != n_categories:
        raise ValueError(f"x has shape {x.shape}; expected {n_categories} counts on the last axis, one per category")
    whole = ((x >= 0) & (x == np.floor(x))).all(axis=-1)
    counts = np.where(whole[..., np.newaxis], x, 0.0)
    return counts, whole & (counts.sum(axis=-1) == n)


@dataclass(frozen=True, eq=False)
class BetaBinomialCount(DiscretePredictive):
    """Number of successes in n trials whose probability has a Beta(a, b) distribution (3.34)."""

    a: Numbers
    b: Numbers
    n: Numbers

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(a=self.a, b=self.b, n=self.n)

    @property
    def mean(self) -> Any:
        """Expected count, n·a/(a+b)."""
        return plain(self.n * (self.a / (self.a + self.b)))

    @property
    def variance(self) -> Any:
        """Variance of the count (3.35)."""
        size = self.a + self.b
        share = self.a / size
        return plain(self.n * share * (self.b / size) * (size + self.n) / (size + 1))

    def _log_mass(self, x: FloatArray) -> Any:
        possible = (x >= 0) & (x <= self.n) & (x == np.floor(x))
        hits = np.where(possible, x, 0.0)
        value = log_choose(self.n, hits) + log_beta_ratio(self.a, self.b, hits, self.n - hits)
        return where_possible(possible, value, x)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.binomial(np.asarray(self.n, dtype=np.int64), rng.beta(self.a, self.b, shape))


@dataclass(frozen=True, eq=False)
class Category(DiscretePredictive):
    """Number of the next category, 0 … K−1, whose probabilities have a Dirichlet(α) distribution (3.51)."""

    alpha: FloatArray

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return self.alpha.shape[:-1]

    @property
    def probabilities(self) -> FloatArray:
        """Probability of every category, α_k/Σα."""
        return self.alpha / self.alpha.sum(axis=-1, keepdims=True)

    @property
    def mean(self) -> Any:
        """Expected number of the category."""
        return plain(self.probabilities @ np.arange(self.alpha.shape[-1]))

    @property
    def variance(self) -> Any:
        """Variance of the number of the category."""
        number = np.arange(self.alpha.shape[-1])
        return plain((self.probabilities * (number - np.expand_dims(self.mean, -1)) ** 2).sum(axis=-1))

    def _log_mass(self, x: FloatArray) -> Any:
        possible = (x >= 0) & (x < self.alpha.shape[-1]) & (x == np.floor(x))
        shape = np.broadcast_shapes(x.shape, self.batch_shape)
        number = np.broadcast_to(np.where(possible, x, 0), shape).astype(np.int64)[..., np.newaxis]
        table = np.broadcast_to(self.probabilities, (*shape, self.alpha.shape[-1]))
        with np.errstate(divide="ignore"):
            return where_possible(possible, np.log(np.take_along_axis(table, number, axis=-1)[..., 0]), x)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        below = np.cumsum(self.probabilities, axis=-1)[..., :-1]
        return (rng.random((*shape, 1)) >= below).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class DirichletMultinomialCounts(DiscretePredictive):
    """How n draws fall on K categories whose probabilities have a Dirichlet(α) distribution.

    The last axis of its values is that of the categories.
    """

    event_ndim: ClassVar[int] = 1

    alpha: FloatArray
    n: Numbers

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(alpha=self.alpha[..., 0], n=self.n)

    @property
    def mean(self) -> FloatArray:
        """Expected counts, n·α_k/Σα."""
        return np.expand_dims(self.n, -1) * self.alpha / self.alpha.sum(axis=-1, keepdims=True)

    @property
    def variance(self) -> FloatArray:
        """Variance of each count."""
        size = self.alpha.sum(axis=-1, keepdims=True)
        n = np.expand_dims(self.n, -1)
        return n * self.alpha / size * (1 - self.alpha / size) * (size + n) / (size + 1)

    def _log_mass(self, x: FloatArray) -> Any:
        counts, possible = possible_counts(x, self.alpha.shape[-1], self.n)
        value = log_orders(counts) + log_dirichlet_ratio(self.alpha, counts)
        return where_possible(possible, value, x.sum(axis=-1))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.multinomial(np.asarray(self.n, dtype=np.int64), dirichlet(rng, self.alpha, shape))


@dataclass(frozen=True, eq=False)
class NegativeBinomial(DiscretePredictive):
    """Poisson count over an exposure, whose rate has a Gamma(a, b) distribution."""

    a: Numbers
    b: Numbers
    exposure: Numbers

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(a=self.a, b=self.b, exposure=self.exposure)

    @property
    def mean(self) -> Any:
        """Expected count, exposure·a/b."""
        return plain(self.exposure * self.a / self.b)

    @property
    def variance(self) -> Any:
        """Variance of the count, mean·(1 + exposure/b)."""
        return plain(self.mean * (1 + self.exposure / self.b))

    def _log_mass(self, x: FloatArray) -> Any:
        possible = (x >= 0) & (x == np.floor(x)) & np.isfinite(x)
        count = np.where(possible, x, 0.0)
        value = log_waiting(self.a, count) - self.a * np.log1p(self.exposure / self.b)
        return where_possible(possible, value - count * np.log1p(self.b / self.exposure), x)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.poisson(self.exposure * rng.gamma(self.a, 1 / np.asarray(self.b), shape))


def dirichlet(rng: np.random.Generator, alpha: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Draw from Dirichlet distributions, one for each element of the batch.

    ln Gamma(α) = ln Gamma(α+1) + ln U / α: in the log domain no draw underflows, however small α.
    """
    full = (*shape, alpha.shape[-1])
    with np.errstate(divide="ignore"):
        logs = np.log(rng.gamma(alpha + 1, size=full)) + np.log1p(-rng.random(full)) / alpha
    shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)
