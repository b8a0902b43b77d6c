"""Posteriors of the coefficients of one binary decision: Gaussian, or represented by draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.special import logsumexp, ndtr, ndtri

from bayesift._checks import INSIDE_UNIT, generator, number, whole_number
from bayesift._state import State
from bayesift._typing import FloatArray, Int64Array
from bayesift.posterior._bases import Basis, CoefficientBasis, DocumentBasis, Projection
from bayesift.posterior._links import Link, averaged_log_probability, probability, score_of
from bayesift.posterior._problem import Beliefs, checked_documents, own_fields, with_constant
from bayesift.posterior.diagnostics import Diagnostics

#: Draws are poor if some score has fewer effective ones, or chains that agree less.
_LEAST_EFFECTIVE, _GREATEST_R_HAT = 100.0, 1.05
#: Documents are scored so many at a time, which bounds the memory.
_CHUNK = 256
#: Numbers of a model file have to be finite: kernels sum until what is left is small.
_GREATEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed about the coefficients β of one binary decision after seeing labelled documents.

    Words that occur in no labelled document keep their prior: nothing is stored for them, and a text with such words
    gets a wider interval. Subclasses define how beliefs about scores are derived.

    Attributes
    ----------
    link : {"logistic", "probit"}
        How a score becomes a probability.
    n_features : int
        Number of columns.
    seen : int array
        Columns of words that occur in labelled documents; for the others the posterior is the prior.
    coef, intercept : array of shape (n_features,), and float
        Posterior means.
    """

    link: Link

    @property
    def _beliefs(self) -> Beliefs:
        """The priors of all coefficients."""
        raise NotImplementedError

    @property
    def _columns(self) -> Int64Array:
        """Columns of the words that occur in labelled documents, and of the intercept."""
        raise NotImplementedError

    def sample(self, n: int, columns: Any = None, *, random_state: Any = 0) -> FloatArray:
        """Draw coefficients.

        Parameters
        ----------
        n : int
            Number of draws.
        columns : sequence of int, optional
            Which features; by default those in ``seen``. Others are drawn from their priors.
        random_state : int, Generator or None, default=0
            Source of randomness.

        Returns
        -------
        draws : array of shape (n, n_columns + 1)
            The intercept last.
        """
        size = whole_number("n", n, 0)
        chosen = np.append(self.seen, self.n_features) if columns is None else self._chosen(columns)
        return self._sample(size, chosen, generator(random_state))

    @property
    def shortcoming(self) -> str | None:
        """What is wrong with the posterior if its computation did not succeed; None if it did."""
        raise NotImplementedError

    def _check_state(self, state: State) -> None:
        state.choice("link", "logistic", "probit")

    def __getstate__(self) -> dict[str, Any]:
        return own_fields(self)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._beliefs.mode.size - 1

    @property
    def seen(self) -> Int64Array:
        """Columns of words that occur in labelled documents."""
        seen = self._columns
        return seen[seen < self.n_features]

    def score_moments(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return the means and the variances of the scores of documents.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        means, variances : arrays of shape (n_documents,)
        """
        found = [self._moments(part) for part in self._parts(X)]
        return _joined([mean for mean, _ in found]), _joined([variance for _, variance in found])

    def score_interval(self, X: Any, mass: float = 0.9) -> FloatArray:
        """Return central intervals for the scores of documents.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)
        mass : float, default=0.9
            Posterior probability that the interval holds the score.

        Returns
        -------
        ends : array of shape (n_documents, 2)
        """
        tail = _tail(mass)
        return np.vstack([np.empty((0, 2)), *(self._quantiles(part, tail) for part in self._parts(X))])

    def predict_proba(self, X: Any, *, tempered: bool = False) -> FloatArray:
        """Return the probabilities of the category, averaged over the posterior.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)
        tempered : bool, default=False
            Average over scores whose variance is multiplied by the ``temperature`` of a Gaussian posterior.

        Returns
        -------
        probabilities : array of shape (n_documents,)
        """
        return np.exp(_joined([self._averaged(part, (1.0,), tempered)[0] for part in self._parts(X)]))

    def averaged_score(self, X: Any, *, tempered: bool = False) -> FloatArray:
        """Return the scores that correspond to the probabilities of :meth:`predict_proba`; shape (n_documents,)."""
        parts = (self._averaged(part, (1.0, -1.0), tempered) for part in self._parts(X))
        return _joined([score_of(self.link, *logs) for logs in parts])

    def predict_interval(self, X: Any, mass: float = 0.9) -> FloatArray:
        """Return central intervals for the probabilities of the category.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)
        mass : float, default=0.9
            Posterior probability that the interval holds the probability that the true coefficients give.

        Returns
        -------
        ends : array of shape (n_documents, 2)
        """
        return probability(self.link, self.score_interval(X, mass))

    def contribution_interval(self, X: Any, mass: float = 0.9) -> FloatArray:
        """Return central intervals for what rows of features add to a score, xᵀβ without the intercept.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_rows, n_features)
            A row may be a single word of a document, with the value that it has there.
        mass : float, default=0.9
            Posterior probability that an interval holds its contribution.

        Returns
        -------
        ends : array of shape (n_rows, 2)
        """
        tail, rows = _tail(mass), sp.csr_matrix(checked_documents(X, self.n_features))
        without = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], self.n_features + 1))
        found = (self._quantiles(self._project(part), tail) for part in _chunks(without))
        return np.vstack([np.empty((0, 2)), *found])

    def coef_interval(self, mass: float = 0.9, columns: Any = None) -> FloatArray:
        """Return central intervals for the coefficients, the intercept last.

        Parameters
        ----------
        mass : float, default=0.9
            Posterior probability that an interval holds its coefficient.
        columns : sequence of int, optional
            Which features; all by default.

        Returns
        -------
        ends : array of shape (n_columns + 1, 2)
        """
        tail, chosen = _tail(mass), self._chosen(columns)
        units = sp.csr_matrix(
            (np.ones(chosen.size), (np.arange(chosen.size), chosen)), shape=(chosen.size, self.n_features + 1)
        )
        return np.vstack([self._quantiles(self._project(part), tail) for part in _chunks(units)])

    @cached_property
    def _mean(self) -> FloatArray:
        units = sp.identity(self.n_features + 1, format="csr")
        return _joined([self._moments(self._project(part))[0] for part in _chunks(units)])

    @property
    def coef(self) -> FloatArray:
        """Posterior means of the coefficients of all columns; for words not seen, the prior modes."""
        return self._mean[:-1]

    @property
    def intercept(self) -> float:
        """Posterior mean of the intercept."""
        return float(self._mean[-1])

    def _chosen(self, columns: Any) -> Int64Array:
        """Return columns, and that of the intercept after them."""
        chosen = np.arange(self.n_features) if columns is None else np.asarray(columns)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ValueError(f"columns is {columns!r}; expected a sequence of column numbers")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < self.n_features:
            raise ValueError(f"columns goes from {chosen.min()} to {chosen.max()}; expected 0 to {self.n_features - 1}")
        return np.append(chosen, self.n_features).astype(np.int64)

    def _parts(self, X: Any) -> Iterator[Projection]:
        A = with_constant(checked_documents(X, self.n_features))
        return (self._project(part) for part in _chunks(A))

    def _project(self, A: sp.csr_matrix) -> Any:
        """Return documents, with their constants, as the methods below expect them."""
        raise NotImplementedError

    def _averaged(self, part: Any, labels: tuple[float, ...], tempered: bool) -> list[FloatArray]:
        """Return the logs of the averaged probabilities of labels, −1 or +1."""
        raise NotImplementedError

    def _moments(self, part: Any) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of scores."""
        raise NotImplementedError

    def _quantiles(self, part: Any, tail: float) -> FloatArray:
        """Return the quantiles of scores that leave a share out at both ends."""
        raise NotImplementedError

    def _sample(self, n: int, columns: Int64Array, rng: np.random.Generator) -> FloatArray:
        """Draw the coefficients of some columns."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SpanPosterior(Posterior):
    """A posterior in the coordinates of the span of the labelled documents; outside the span the prior is kept."""

    basis: Basis

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        basis = state.value("basis")
        state.require(type(basis) in (DocumentBasis, CoefficientBasis), "coordinates")

    @property
    def _beliefs(self) -> Beliefs:
        return self.basis.beliefs

    @property
    def _columns(self) -> Int64Array:
        return self.basis.seen

    def _project(self, A: sp.csr_matrix) -> Projection:
        return self.basis.project(A)

    def _sample(self, n: int, columns: Int64Array, rng: np.random.Generator) -> FloatArray:
        known, seen = self.basis.coefficients(self._draw(n, rng), rng), self.basis.seen
        draws = self._prior_draws(columns, n, rng)
        place = np.searchsorted(seen, columns)
        here = np.isin(columns, seen)
        draws[:, here] = known[:, place[here]]
        return draws

    def _prior_draws(self, columns: Int64Array, n: int, rng: np.random.Generator) -> FloatArray:
        beliefs = self.basis.beliefs
        variance = np.broadcast_to(beliefs.finite_variance[columns], (n, columns.size))
        # A Laplace distribution is a Gaussian one whose variance has an exponential distribution.
        factor = np.where(beliefs.laplace[columns], rng.standard_exponential(variance.shape), 1.0)
        return beliefs.centre[columns] + np.sqrt(factor * variance) * rng.standard_normal(variance.shape)

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw coordinates, as rows."""
        raise NotImplementedError

    def distribution(self, part: Projection) -> Callable[[FloatArray], FloatArray]:
        """Return the function from a value for each document to the probability that its score is at most that."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class GaussianPosterior(SpanPosterior):
    """A Gaussian posterior, from :func:`laplace_approximation` or :func:`expectation_propagation`.

    Parameters
    ----------
    link : {"logistic", "probit"}
    basis : basis of the span of the labelled documents
    mean : array
        Means of the coordinates in this basis.
    root : array
        Lower triangular Cholesky factor of their inverse covariance.
    log_evidence : float
        ln p(y): the log probability of the labels with the coefficients integrated out. A coefficient of infinite
        variance counts with density 1, so models with the same coefficients of infinite variance can be compared.
    n_iter : int
        Number of rounds.
    converged : bool
        Whether these rounds were enough.
    temperature : float
        Factor, at most 1, for the variances of scores that gives left-out labels the best probabilities: 1 if the model
        is as uncertain as it should be, less if it is too cautious.
    """

    mean: FloatArray
    root: FloatArray
    log_evidence: float
    n_iter: int
    converged: bool
    temperature: float = 1.0

    @property
    def shortcoming(self) -> str | None:
        """A message if the rounds were not enough; None if they were."""
        return None if self.converged else f"the approximation stopped after {self.n_iter} rounds without converging"

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        size = self.basis.size
        state.array("mean", (size,), least=-_GREATEST)
        root = state.array("root", (size, size), least=-_GREATEST)
        state.require(bool(np.diagonal(root).all()), "root")
        state.number("log_evidence")
        state.count("n_iter")
        state.instance("converged", bool)
        if state.has("temperature"):
            state.require(0.0 < state.number("temperature") <= 1.0, "temperature")

    def _moments(self, part: Projection) -> tuple[FloatArray, FloatArray]:
        H = part.dense
        spread = solve_triangular(self.root, H.T, lower=True, check_finite=False)
        return part.offset + H @ self.mean, part.rest + np.einsum("ij,ij->j", spread, spread)

    def _averaged(self, part: Projection, labels: tuple[float, ...], tempered: bool) -> list[FloatArray]:
        means, variances = self._moments(part)
        if tempered:
            variances *= self.temperature
        return [averaged_log_probability(self.link, means, variances, y) for y in labels]

    def _quantiles(self, part: Projection, tail: float) -> FloatArray:
        means, variances = self._moments(part)
        return means[:, None] + np.sqrt(variances)[:, None] * ndtri([tail, 1.0 - tail])

    def distribution(self, part: Projection) -> Callable[[FloatArray], FloatArray]:
        """Return the distribution function of scores."""
        means, variances = self._moments(part)
        deviations = np.sqrt(np.maximum(variances, np.finfo(float).tiny))
        return lambda values: np.asarray(ndtr((values - means) / deviations))

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        noise = rng.standard_normal((self.mean.size, n))
        return self.mean + solve_triangular(self.root, noise, lower=True, trans="T", check_finite=False).T


@dataclass(frozen=True, eq=False)
class SampledPosterior(SpanPosterior):
    """A posterior represented by draws, from :func:`gibbs_sampling`.

    Parameters
    ----------
    link : {"logistic", "probit"}
    basis : basis of the span of the labelled documents
    draws : array of shape (n_chains, n_draws, n_coordinates)
        Draws of the coordinates in this basis.
    diagnostics : Diagnostics
        Effective sample sizes and R-hat of the scores of labelled documents.
    """

    draws: FloatArray
    diagnostics: Diagnostics

    @property
    def shortcoming(self) -> str | None:
        """A message if there are too few draws or the chains do not agree; otherwise None."""
        worst, most = self.diagnostics.effective.min(initial=np.inf), self.diagnostics.r_hat.max(initial=1.0)
        if worst >= _LEAST_EFFECTIVE and most <= _GREATEST_R_HAT:
            return None
        return (
            f"the chains are too short: the score with the fewest effective draws has {worst:.0f} (expected at least "
            f"{_LEAST_EFFECTIVE:g}), and the greatest R-hat is {most:.3f} (expected at most "
            f"{_GREATEST_R_HAT:g}). Raise n_draws."
        )

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        state.array("draws", (None, None, self.basis.size), least=-_GREATEST)
        state.instance("diagnostics", Diagnostics)

    @cached_property
    def _flat(self) -> FloatArray:
        """All draws as rows."""
        n_chains, n_draws, size = self.draws.shape
        return self.draws.reshape(n_chains * n_draws, size)

    def score_draws(self, X: Any) -> FloatArray:
        """Return draws of the scores of documents, an array of shape (n_draws, n_documents).

        What unseen words add, about which no label says anything, is drawn too, always with the same random numbers.
        """
        return np.hstack([np.empty((self._flat.shape[0], 0)), *(self._scores(part) for part in self._parts(X))])

    def _scores(self, part: Projection) -> FloatArray:
        known = part.offset[:, None] + part.H @ self._flat.T
        return (known + np.sqrt(self._rest_variances(part)) * self._noise).T

    def _rest_variances(self, part: Projection) -> FloatArray:
        """Return the variances of the rests of scores: one for each document, or one for each draw of it too.

        The variance of an unseen word with a Laplace prior is itself drawn, from an exponential distribution.
        """
        if part.laplace is None or part.laplace.nnz == 0:
            return part.rest[:, None]
        words = np.unique(part.laplace.indices)
        factors = np.random.default_rng(1).standard_exponential((words.size, self._flat.shape[0]))
        others = part.rest - np.asarray(part.laplace.sum(axis=1)).ravel()
        return np.maximum(others, 0.0)[:, None] + part.laplace[:, words] @ factors

    @cached_property
    def _noise(self) -> FloatArray:
        """Draws of N(0, 1) as even as possible, in random order."""
        n = self._flat.shape[0]
        return np.random.default_rng(0).permutation(ndtri((np.arange(n) + 0.5) / n))

    def _moments(self, part: Projection) -> tuple[FloatArray, FloatArray]:
        known = part.H @ self._flat.T
        return part.offset + known.mean(axis=1), part.rest + known.var(axis=1)

    def _quantiles(self, part: Projection, tail: float) -> FloatArray:
        return np.quantile(self._scores(part), [tail, 1.0 - tail], axis=0).T

    def _averaged(self, part: Projection, labels: tuple[float, ...], tempered: bool) -> list[FloatArray]:
        known = part.offset[:, None] + part.H @ self._flat.T
        rest = np.broadcast_to(self._rest_variances(part), known.shape).ravel()
        logs = (averaged_log_probability(self.link, known.ravel(), rest, y).reshape(known.shape) for y in labels)
        return [np.asarray(logsumexp(found, axis=1)) - np.log(known.shape[1]) for found in logs]

    def distribution(self, part: Projection) -> Callable[[FloatArray], FloatArray]:
        """Return the distribution function of scores, linear between draws."""
        scores = np.sort(self._scores(part), axis=0)
        steps = (np.arange(scores.shape[0]) + 0.5) / scores.shape[0]
        return lambda values: np.array(
            [np.interp(value, column, steps) for value, column in zip(values, scores.T, strict=True)]
        )

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        known = self._flat
        if n <= known.shape[0]:
            return known[rng.permutation(known.shape[0])[:n]]
        return known[rng.integers(known.shape[0], size=n)]


def _tail(mass: Any) -> float:
    return 0.5 * (1.0 - number("mass", mass, INSIDE_UNIT))


def _joined(parts: list[FloatArray]) -> FloatArray:
    return np.concatenate([np.empty(0), *parts])


def _chunks(A: sp.csr_matrix) -> Iterator[sp.csr_matrix]:
    return (A[begin : begin + _CHUNK] for begin in range(0, A.shape[0], _CHUNK))
