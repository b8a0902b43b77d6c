"""A Gaussian belief about the weights of a perceptron, and how examples change it: pure functions on a small state."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._documents import usable_values
from bayesift._sparse import Compressed, compressed
from bayesift._typing import FloatArray, Int64Array
from bayesift.online._covariances import (
    LowRank,
    diagonal_low_rank,
    full_variances,
    learn_diagonal,
    learn_full,
    learn_low_rank,
    low_rank_variances,
    scaled_rows,
)
from bayesift.online._moments import outcome_information, outcome_moments

CovarianceKind = Literal["full", "diagonal", "low-rank"]
LikelihoodName = Literal["probit", "flip"]

#: Exponents of weights are smaller than this in absolute value; twice an exponent still fits in 32 bits.
MOST_EXPONENT = 2**29
#: A precision times 4 to this power is still a finite number.
_LEAST_POWER = -300


class Likelihood(NamedTuple):
    """p(y | f) = κ + (1 − 2κ) Φ(y f/σ) for the field f = aᵀx; σ = 0 is a step function."""

    sigma: float
    kappa: float


class Drift(NamedTuple):
    """How the weights move after each example: a ← m₀ + keep (a − m₀) + noise, which leaves N(m₀, C₀) unchanged."""

    keep: float
    mean: FloatArray
    covariance: FloatArray


class Belief(NamedTuple):
    """A belief about the weights: N(mean, covariance).

    ``covariance`` is a matrix, a vector of variances, or a :class:`LowRank`. ``log_evidence`` is the sum of ln p(y | x)
    over the examples learned, each under the belief before it. ``exponents`` is None, or gives for each weight the
    power of two by which it exceeds the number that mean and covariance describe: under flip noise, where only the
    direction of the weights matters, variances can become smaller than any representable number.
    """

    mean: FloatArray
    covariance: FloatArray | LowRank
    likelihood: Likelihood
    drift: Drift | None = None
    log_evidence: float = 0.0
    exponents: Int64Array | None = None


class UpdateInfo(NamedTuple):
    """What one example contributed: its evidence and field under the belief before it, and the information in bits."""

    log_evidence: float
    field_mean: float
    field_variance: float
    information_gain: float


def likelihood_of(name: LikelihoodName, noise: float, kappa: float) -> Likelihood:
    """Return the likelihood of a name: "probit" with noise σ₀, or "flip" with the probability κ of a flip."""
    if name not in ("probit", "flip"):
        raise ValueError(f"likelihood is {name!r}; expected 'probit' or 'flip'")
    if name == "probit":
        if not noise > 0:
            raise ValueError(f"noise is {noise!r}; expected a number greater than 0")
        return Likelihood(float(noise), 0.0)
    if not 0 <= kappa < 0.5:
        raise ValueError(f"kappa is {kappa!r}; expected a number of at least 0 and below 0.5")
    return Likelihood(0.0, float(kappa))


def prior_belief(
    n_features: int,
    *,
    likelihood: LikelihoodName = "probit",
    noise: float = 0.5,
    kappa: float = 0.05,
    covariance: CovarianceKind = "full",
    rank: int = 20,
    prior_mean: Any = 0.0,
    prior_covariance: Any = 1.0,
    forgetting: float = 1.0,
) -> Belief:
    """Return the belief before any example.

    Parameters
    ----------
    n_features : int
        Number of weights, including a constant feature if one is wanted.
    likelihood, noise, kappa, covariance, rank, prior_mean, prior_covariance, forgetting
        As for :class:`BayesianPerceptron`.

    Returns
    -------
    belief : Belief

    Examples
    --------
    >>> from bayesift.online import prior_belief, update
    >>> belief = prior_belief(2)
    >>> belief, info = update(belief, [1.0, 1.0], 1)
    >>> belief.mean.round(4), round(info.information_gain, 4)
    (array([0.5319, 0.5319]), 0.6549)
    """
    mean, prior = prior_of(n_features, prior_mean, prior_covariance)
    if covariance not in ("full", "diagonal", "low-rank"):
        raise ValueError(f"covariance is {covariance!r}; expected 'full', 'diagonal' or 'low-rank'")
    if covariance != "full" and prior.ndim == 2:
        raise ValueError(f"prior_covariance is a matrix; expected variances with covariance={covariance!r}")
    if not 0 < forgetting <= 1:
        raise ValueError(f"forgetting is {forgetting!r}; expected a number above 0 and at most 1")
    if covariance == "low-rank" and forgetting < 1:
        raise ValueError(f"forgetting is {forgetting!r}; expected 1 with covariance='low-rank', which cannot drift")
    if covariance == "full" and prior.ndim == 1:
        prior = np.diag(prior)
    drift = None if forgetting == 1 else Drift(float(forgetting), mean, prior)
    first = diagonal_low_rank(prior, rank) if covariance == "low-rank" else prior.copy()
    return Belief(mean.copy(), first, likelihood_of(likelihood, noise, kappa), drift)


def prior_of(size: int, mean: Any, covariance: Any) -> tuple[FloatArray, FloatArray]:
    """Return the prior mean, and its covariance as a matrix or as variances, for this many weights."""
    a = np.asarray(mean, dtype=np.float64)
    if a.shape not in ((), (size,)) or not np.all(np.isfinite(a)):
        raise ValueError(f"prior_mean has shape {a.shape}; expected one finite number or {size} of them")
    C = np.asarray(covariance, dtype=np.float64)
    if C.shape not in ((), (size,), (size, size)) or not np.all(np.isfinite(C)):
        raise ValueError(
            f"prior_covariance has shape {C.shape}; expected one finite variance, {size} of them, or a matrix of "
            f"{size} rows and columns"
        )
    if C.ndim == 2:
        if not np.allclose(C, C.T, rtol=1e-10, atol=0.0) or np.linalg.eigvalsh(C)[0] <= 0:
            raise ValueError("prior_covariance is not symmetric and positive definite; expected a covariance matrix")
        C = 0.5 * (C + C.T)
    elif not np.all(C > 0):
        raise ValueError(f"prior_covariance holds {C.min()}; expected variances greater than 0")
    return np.array(np.broadcast_to(a, size)), C if C.ndim == 2 else np.array(np.broadcast_to(C, size))


def update(belief: Belief, x: Any, y: float) -> tuple[Belief, UpdateInfo]:
    """Learn from one example; the given belief does not change.

    The new belief has the exact mean and covariance of the posterior (or the diagonal or low-rank form of the latter).

    Parameters
    ----------
    belief : Belief
    x : array of shape (n_features,), or sparse matrix of one row
        Feature values.
    y : {-1, 1}
        −1 for a document outside the category, 1 for one in it.

    Returns
    -------
    belief : Belief
    info : UpdateInfo
    """
    if y not in (-1, 1):
        raise ValueError(f"y is {y!r}; expected -1 or 1")
    rows = _one_row(belief, x)
    means, variances = fields(belief, rows)
    f = (float(y), float(means[0]), float(variances[0]), *belief.likelihood)
    power = int(scaled_rows(rows, exponents_of(belief))[1][0])
    field = (math.ldexp(f[1], power), math.ldexp(f[2], 2 * power))
    info = UpdateInfo(float(outcome_moments(*f)[0]), *field, float(outcome_information(*f)))
    return learn(belief, rows, np.array([float(y)]), np.zeros(1, dtype=np.int64)), info


def grow(belief: Belief, n_new: int, *, mean: Any = 0.0, variance: Any = 1.0, at: int | None = None) -> Belief:
    """Add features whose weights are independent of the others, as if the features had been zero so far.

    Parameters
    ----------
    belief : Belief
    n_new : int
        Number of features to add.
    mean, variance : float or array of shape (n_new,), default=0 and 1
        Prior mean and variance of their weights.
    at : int, optional
        Position of the new features; after the last by default.

    Returns
    -------
    belief : Belief
    """
    a, v = prior_of(n_new, mean, variance)
    if v.ndim != 1:
        raise ValueError("variance is a matrix; expected one variance, or one for each new feature")
    size = belief.mean.size
    place = size if at is None else at
    if not 0 <= place <= size:
        raise ValueError(f"at is {at}; expected a place from 0 to {size}")
    C = belief.covariance
    wider: FloatArray | LowRank
    if isinstance(C, LowRank):
        factor = np.insert(C.factor, [place] * n_new, 0.0, axis=0)
        wider = C._replace(precision=_insert(C.precision, place, 1.0 / v), factor=factor)
    else:
        wider = _widen(C, place, v)
    drift = belief.drift
    if drift is not None:
        drift = Drift(drift.keep, _insert(drift.mean, place, a), _widen(drift.covariance, place, v))
    exponents = belief.exponents
    if exponents is not None:
        exponents = np.insert(exponents, place, np.zeros(n_new, dtype=np.int64))
    return belief._replace(mean=_insert(belief.mean, place, a), covariance=wider, drift=drift, exponents=exponents)


def fields(belief: Belief, rows: Compressed) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the field aᵀx of every document.

    If weights have exponents, the field is divided by the greatest power of two among the weights of the document.
    """
    starts, columns, values = rows
    if belief.exponents is not None:
        values, _ = scaled_rows(rows, exponents_of(belief))
        rows = (starts, columns, values)
    X = sp.csr_matrix((values, columns, starts), shape=(starts.size - 1, belief.mean.size))
    C = belief.covariance
    if isinstance(C, LowRank):
        return X @ belief.mean, low_rank_variances(rows, tuple(C))
    if C.ndim == 1:
        return X @ belief.mean, X.multiply(X) @ C
    return X @ belief.mean, full_variances(*rows, C)


def learn(
    belief: Belief,
    rows: Compressed,
    y: FloatArray,
    order: Int64Array,
    *,
    shares: FloatArray | None = None,
    own: bool = False,
) -> Belief:
    """Learn from documents in this order; with ``own`` the arrays of the belief may be overwritten.

    ``shares`` gives for each place of the order the part of a document that it counts as, from 0 to 1.
    """
    shares = np.ones(order.size) if shares is None else shares
    mean, C = belief.mean, belief.covariance
    # A model that was loaded as a memory map has arrays that cannot be overwritten.
    if not own or not mean.flags.writeable:
        mean, C = mean.copy(), C.copy()
    exponents = exponents_of(belief)
    turns, noise = (y, order, shares), (belief.likelihood.sigma, belief.likelihood.kappa)
    if isinstance(C, LowRank):
        C, total = learn_low_rank(rows, turns, mean, C, exponents, noise)
    else:
        drift = belief.drift or Drift(1.0, np.empty(0), np.empty((0,) * C.ndim))
        kernel = learn_full if C.ndim == 2 else learn_diagonal
        total = kernel(rows, turns, mean, C, exponents, noise, tuple(drift))
    return belief._replace(
        mean=mean,
        covariance=C,
        log_evidence=belief.log_evidence + float(total),
        exponents=exponents if exponents.any() else None,
    )


def exponents_of(belief: Belief) -> Int64Array:
    """Return the exponents of the weights, in an array of its own."""
    if belief.exponents is None:
        return np.zeros(belief.mean.size, dtype=np.int64)
    return belief.exponents.astype(np.int64)


def unscaled(belief: Belief) -> Belief:
    """Return a belief without exponents: numbers too small to represent become 0, precisions stay finite."""
    if belief.exponents is None:
        return belief
    powers, C = belief.exponents.astype(np.int32), belief.covariance
    if isinstance(C, LowRank):
        powers = np.maximum(powers, _LEAST_POWER)
        factor = np.ldexp(C.factor, -powers[:, None])
        return belief._replace(
            mean=np.ldexp(belief.mean, powers),
            covariance=C._replace(precision=np.ldexp(C.precision, -2 * powers), factor=factor),
            exponents=None,
        )
    both = 2 * powers if C.ndim == 1 else np.add.outer(powers, powers)
    return belief._replace(mean=np.ldexp(belief.mean, powers), covariance=np.ldexp(C, both), exponents=None)


def _one_row(belief: Belief, x: Any) -> Compressed:
    row = x if sp.issparse(x) else np.atleast_2d(np.asarray(x, dtype=np.float64))
    if row.shape != (1, belief.mean.size):
        raise ValueError(f"x has shape {np.shape(x)}; expected one row of {belief.mean.size} features")
    starts, columns, values = compressed(row)
    if not np.all(np.isfinite(values)):
        raise ValueError("x holds a value that is not finite")
    return starts, columns, usable_values(values, "x")


def _insert(values: FloatArray, place: int, new: FloatArray) -> FloatArray:
    return np.concatenate([values[:place], new, values[place:]])


def _widen(C: FloatArray, place: int, variances: FloatArray) -> FloatArray:
    if C.ndim == 1:
        return _insert(C, place, variances)
    size, n_new = C.shape[0], variances.size
    wider = np.zeros((size + n_new, size + n_new))
    old = np.r_[:place, place + n_new : size + n_new]
    wider[np.ix_(old, old)] = C
    new = np.arange(place, place + n_new)
    wider[new, new] = variances
    return wider
