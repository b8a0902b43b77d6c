"""A posterior with an unknown prior variance: a mixture of the posteriors for several variances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from bayesift._state import State
from bayesift._typing import FloatArray, Int64Array
from bayesift.posterior._bases import Projection
from bayesift.posterior._problem import Beliefs
from bayesift.posterior.posteriors import GaussianPosterior, Posterior, SampledPosterior

#: A quantile of a mixture is halved in so often, between those of its components.
_HALVINGS = 45


@dataclass(frozen=True, eq=False)
class MixedPosterior(Posterior):
    """Posteriors for several prior variances, each with its probability, from :func:`integrate_variance`.

    Parameters
    ----------
    link : {"logistic", "probit"}
    components : tuple of GaussianPosterior or SampledPosterior
        The posterior for each variance.
    weights : array
        The posterior probabilities of the variances.
    variances : array of shape (n_components, n_blocks)
        The variances; those of a block of dense features in a second column.
    """

    components: tuple[GaussianPosterior | SampledPosterior, ...]
    weights: FloatArray
    variances: FloatArray

    @property
    def shortcoming(self) -> str | None:
        """The shortcoming of the first component that has one; None if none has."""
        return next((one.shortcoming for one in self.components if one.shortcoming), None)

    @property
    def log_evidence(self) -> float:
        """The log probability of the labels under the most probable variance; NaN if it was sampled."""
        return float(getattr(self.components[int(np.argmax(self.weights))], "log_evidence", np.nan))

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        components = state.value("components")
        state.require(type(components) is tuple and len(components) > 0, "components")
        for one in components:
            state.require(type(one) in (GaussianPosterior, SampledPosterior) and one.link == self.link, "components")
            state.require(one.n_features == components[0].n_features, "columns of components")
        weights = state.array("weights", (len(components),))
        state.require(bool(np.all(weights >= 0)) and abs(float(weights.sum()) - 1.0) < 1e-6, "weights")
        state.array("variances", (len(components), None))

    @property
    def _beliefs(self) -> Beliefs:
        return self.components[0].basis.beliefs

    @property
    def _columns(self) -> Int64Array:
        return self.components[0].basis.seen

    def _project(self, A: sp.csr_matrix) -> list[Projection]:
        return [one.basis.project(A) for one in self.components]

    def _moments(self, part: list[Projection]) -> tuple[FloatArray, FloatArray]:
        found = [one._moments(own) for one, own in zip(self.components, part, strict=True)]
        means, variances = (np.array(values) for values in zip(*found, strict=True))
        mean = self.weights @ means
        return mean, self.weights @ (variances + (means - mean) ** 2)

    def _averaged(self, part: list[Projection], labels: tuple[float, ...], tempered: bool) -> list[FloatArray]:
        found = [one._averaged(own, labels, tempered) for one, own in zip(self.components, part, strict=True)]
        with np.errstate(divide="ignore"):
            shares = np.log(self.weights)[:, None]
        return [np.asarray(logsumexp(np.array(logs) + shares, axis=0)) for logs in zip(*found, strict=True)]

    def _quantiles(self, part: list[Projection], tail: float) -> FloatArray:
        own = list(zip(self.components, part, strict=True))
        # The quantile of a mixture lies between the least and the greatest of its components.
        ends = np.array([one._quantiles(projection, tail) for one, projection in own])
        functions = [one.distribution(projection) for one, projection in own]

        def below(values: FloatArray) -> FloatArray:
            return self.weights @ np.array([function(values) for function in functions])

        levels = (tail, 1.0 - tail)
        return np.column_stack([_inverted(below, ends[:, :, k], level) for k, level in enumerate(levels)])

    def _sample(self, n: int, columns: Int64Array, rng: np.random.Generator) -> FloatArray:
        counts = rng.multinomial(n, self.weights / self.weights.sum())
        draws = [one._sample(int(k), columns, rng) for one, k in zip(self.components, counts, strict=True)]
        return rng.permutation(np.concatenate(draws))


def _inverted(below: Callable[[FloatArray], FloatArray], known: FloatArray, level: float) -> FloatArray:
    """Find, by halving, where increasing functions reach a level; ``known`` are places around it, as columns."""
    low, high = known.min(axis=0), known.max(axis=0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        under = below(middle) < level
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return 0.5 * (low + high)
