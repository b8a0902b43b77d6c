"""The Dirichlet-multinomial model: probabilities of categories learned from counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from bayesift._checks import NOT_NEGATIVE, POSITIVE, WHOLE, kept, numbers, plain
from bayesift._special import log_dirichlet_ratio, log_orders
from bayesift._typing import BoolArray, FloatArray
from bayesift.conjugate._checks import common_shape
from bayesift.conjugate.base import Conjugate
from bayesift.conjugate.beta_binomial import BetaBinomial
from bayesift.conjugate.predictive import DiscretePredictive, where_possible

# How much the sum of probabilities may differ from 1.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class DirichletMultinomial(Conjugate):
    """Probabilities θ of K categories with a Dirichlet(α) distribution, and data that are counts.

    p(θ) ∝ Π θ_k^(α_k−1) becomes Dirichlet(α + N) after counts N (3.40).

    Data: counts with the categories on the last axis and the batch on the others. Rows are not summed: a matrix of
    documents × words gives one posterior for each document. For one posterior of all documents, sum its rows first.
    Counts must be whole; weighted counts may be added to ``alpha``.

    Parameters
    ----------
    alpha : array of shape (..., K)
        Pseudo counts, at least 0, of at least two categories. A category with pseudo count 0 needs data before the
        distribution is proper.

    Examples
    --------
    >>> from bayesift.conjugate import DirichletMultinomial
    >>> words = ["mary", "lamb", "little", "big", "fleece", "white", "black", "snow", "rain", "unk"]
    >>> rhyme = DirichletMultinomial([1] * 10).update([2, 4, 4, 0, 1, 1, 0, 1, 0, 4])
    >>> (27 * rhyme.mean).round(6)
    array([3., 5., 5., 1., 2., 2., 1., 2., 1., 5.])
    >>> round(rhyme.predictive().pmf(words.index("rain")), 6)   # 1/27, though never seen
    0.037037
    >>> round(rhyme.predictive(2).pmf([1, 0, 0, 0, 0, 0, 0, 0, 0, 1]), 6)   # "mary" and "unk", in any order
    0.039683
    """

    event_ndim: ClassVar[int] = 1
    _own_ndim: ClassVar[int] = 1
    alpha: Any

    _expected: ClassVar = {"alpha": NOT_NEGATIVE}
    _above_zero: ClassVar = ("alpha",)
    _domain: ClassVar = "probabilities with sum 1 on the last axis"

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = np.shape(self.alpha)
        if not shape or shape[-1] < 2:
            raise ValueError(f"alpha has shape {shape}; expected at least two categories on the last axis")

    @classmethod
    def from_effective_size(cls, m: ArrayLike, size: ArrayLike) -> Self:
        """Return the prior with given means and the weight of ``size`` observations.

        Parameters
        ----------
        m : array of shape (..., K)
            Means, above 0, with sum 1.
        size : float or array of the batch's shape
            The sum of ``alpha``.
        """
        means, weight = numbers("m", m, POSITIVE), numbers("size", size, POSITIVE)
        if means.ndim == 0 or not np.allclose(means.sum(axis=-1), 1.0, rtol=0, atol=_ROUNDING):
            raise ValueError(f"m has sum {np.ravel(means.sum(axis=-1))[0]:g}; expected 1 on the last axis")
        return cls(means * weight[..., np.newaxis])

    @property
    def effective_size(self) -> Any:
        """Weight of the distribution in observations, Σα."""
        return plain(self.alpha.sum(axis=-1))

    @property
    def n_categories(self) -> int:
        """Number of categories, K."""
        return int(self.alpha.shape[-1])

    def statistics(self, *data: Any) -> tuple[FloatArray]:
        """Return the counts after checking them.

        Parameters
        ----------
        *data
            One argument: counts, with the categories on the last axis.

        Returns
        -------
        counts : array of shape (..., K)
        """
        if len(data) != 1:
            raise TypeError(f"data has {len(data)} arguments; expected one, the counts of the categories")
        counts = numbers("counts", data[0], WHOLE)
        if counts.ndim == 0 or counts.shape[-1] != self.n_categories:
            raise ValueError(
                f"counts has shape {counts.shape}; expected {self.n_categories} on the last axis, one per category"
            )
        return (counts,)

    def _posterior(self, counts: Any) -> Self:
        return type(self)(self.alpha + counts)

    def _log_evidence(self, counts: Any) -> Any:
        return log_dirichlet_ratio(self.alpha, counts)  # (3.105)

    def _log_likelihood(self, theta: FloatArray, counts: Any) -> Any:
        return xlogy(counts, theta).sum(axis=-1)  # (3.36)

    def _possible(self, theta: FloatArray) -> BoolArray:
        if theta.ndim == 0 or theta.shape[-1] != self.n_categories:
            raise ValueError(
                f"theta has shape {theta.shape}; expected {self.n_categories} on the last axis, one per category"
            )
        finite = np.where(np.isfinite(theta), theta, -1.0)
        return (finite >= 0).all(axis=-1) & (np.abs(finite.sum(axis=-1) - 1) <= _ROUNDING)

    def _maximum(self, counts: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return counts / counts.sum(axis=-1, keepdims=True)  # (3.48)

    def _log_density(self, theta: FloatArray) -> Any:
        inside = self._possible(theta)
        point = np.where(inside[..., np.newaxis], theta, 1.0)
        constant = gammaln(self.alpha.sum(axis=-1)) - gammaln(self.alpha).sum(axis=-1)
        other = np.where(np.isnan(theta).any(axis=-1), np.nan, -np.inf)
        return np.where(inside, constant + xlogy(self.alpha - 1, point).sum(axis=-1), other)

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        self._proper()
        return _dirichlet(rng, self.alpha, shape)

    @property
    def mean(self) -> FloatArray:
        """Expected probabilities, α_k/Σα."""
        self._proper()
        return self.alpha / self.alpha.sum(axis=-1, keepdims=True)

    @property
    def mode(self) -> FloatArray:
        """Most probable values, (α_k−1)/(Σα−K) for all α_k ≥ 1 (3.47).

        NaN if that is not a single point: if all α_k = 1, or some are below 1 (with two categories, as for
        :class:`BetaBinomial`).
        """
        self._proper()
        if self.n_categories == 2:
            first = np.asarray(BetaBinomial(self.alpha[..., 0], self.alpha[..., 1]).mode)
            return np.stack([first, 1 - first], axis=-1)
        excess = self.alpha - 1
        total = excess.sum(axis=-1, keepdims=True)
        single = (excess >= 0).all(axis=-1, keepdims=True) & (total > 0)
        return np.where(single, excess / np.where(single, total, 1.0), np.nan)

    @property
    def variance(self) -> FloatArray:
        """Variance of each probability."""
        return self.marginals.variance

    @property
    def marginals(self) -> BetaBinomial:
        """Distribution of every single probability, Beta(α_k, Σα − α_k)."""
        self._proper()
        others = self.alpha.sum(axis=-1, keepdims=True) - self.alpha
        return BetaBinomial(self.alpha, np.maximum(others, np.finfo(float).tiny))

    def predictive(self, n: ArrayLike | None = None) -> DiscretePredictive:
        """Return the distribution of the next category, or of the counts of the next ``n``.

        Parameters
        ----------
        n : int or array, optional
            Number of draws to predict together. The values of the distribution are then vectors of K counts with sum
            ``n``; without it, they are category numbers, 0 … K−1.

        Returns
        -------
        Category or DirichletMultinomialCounts
            With ``pmf``, ``logpmf``, ``mean``, ``variance`` and ``sample``.
        """
        self._proper()
        if n is None:
            return Category(self.alpha)
        return DirichletMultinomialCounts(self.alpha, kept("n", n, WHOLE))

    def _outcome(self, value: Any, n: Any) -> tuple[Any, ...]:
        return (value,)

    def _plug_in(self, theta: Any, n: ArrayLike | None = None) -> DiscretePredictive:
        theta = numbers("theta", theta, NOT_NEGATIVE)
        return Category(theta) if n is None else Multinomial(theta, kept("n", n, WHOLE))


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

    The last axis of its values runs over the categories.
    """

    event_ndim: ClassVar[int] = 1

    alpha: FloatArray
    n: Any

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
        counts, possible = _possible_counts(x, self.alpha.shape[-1], self.n)
        value = log_orders(counts) + log_dirichlet_ratio(self.alpha, counts)
        return where_possible(possible, value, x.sum(axis=-1))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.multinomial(np.asarray(self.n, dtype=np.int64), _dirichlet(rng, self.alpha, shape))


@dataclass(frozen=True, eq=False)
class Multinomial(DiscretePredictive):
    """How n draws fall on K categories with known probabilities, the last axis of ``theta``."""

    event_ndim: ClassVar[int] = 1

    theta: FloatArray
    n: Any

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; empty for a single distribution."""
        return common_shape(theta=self.theta[..., 0], n=self.n)

    @property
    def mean(self) -> FloatArray:
        """Expected counts."""
        return np.expand_dims(self.n, -1) * self.theta

    @property
    def variance(self) -> FloatArray:
        """Variance of each count."""
        return self.mean * (1 - self.theta)

    def _log_mass(self, x: FloatArray) -> Any:
        counts, possible = _possible_counts(x, self.theta.shape[-1], self.n)
        value = log_orders(counts) + xlogy(counts, self.theta).sum(axis=-1)
        return where_possible(possible, value, x.sum(axis=-1))

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        return rng.multinomial(
            np.asarray(self.n, dtype=np.int64), np.broadcast_to(self.theta, (*shape, self.theta.shape[-1]))
        )


def _possible_counts(x: FloatArray, n_categories: int, n: Any) -> tuple[FloatArray, BoolArray]:
    """Return count vectors, with zeros for those that cannot occur in n draws, and which ones can."""
    if x.ndim == 0 or x.shape[-1] != n_categories:
        raise ValueError(f"x has shape {x.shape}; expected {n_categories} counts on the last axis, one per category")
    whole = ((x >= 0) & (x == np.floor(x)) & np.isfinite(x)).all(axis=-1)
    counts = np.where(whole[..., np.newaxis], x, 0.0)
    return counts, whole & (counts.sum(axis=-1) == n)


def _dirichlet(rng: np.random.Generator, alpha: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Draw from Dirichlet distributions, one for each element of the batch.

    ln Gamma(α) = ln Gamma(α+1) + ln U / α: in the log domain no draw underflows, however small α.
    """
    full = (*shape, alpha.shape[-1])
    with np.errstate(divide="ignore"):
        logs = np.log(rng.gamma(alpha + 1, size=full)) + np.log1p(-rng.random(full)) / alpha
    shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)
