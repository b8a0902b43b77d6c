"""What a relevance vector machine asks of the data: the mode for given α, and the evidence there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from bayesift._typing import FloatArray
from bayesift.ard.vectors._basis import Basis, Curvature

_NEWTON_STEPS = 100
_NEWTON_TOLERANCE = 1e-12
_SMALLEST_SHARE = 1e-12


class Posterior(NamedTuple):
    """Gaussian posterior of the weights: mean, curvature ΦᵀBΦ + A, B, the slopes s (t − y) of the log likelihood.

    ``log_evidence`` is ln P(t | w) − ½ wᵀAw − ½ ln det(I + A^−½ΦᵀBΦA^−½): exact for regression, Laplace's
    approximation for classification.
    """

    mean: FloatArray
    curvature: Curvature
    b: FloatArray
    residual: FloatArray
    log_evidence: float


class Likelihood(ABC):
    """How targets depend on Φw."""

    @abstractmethod
    def posterior(self, basis: Basis, alpha: FloatArray, start: FloatArray) -> Posterior:
        """Find the mode of the weights."""

    def slope_of_b(self, scores: FloatArray) -> FloatArray:
        """Return how fast each entry of B changes with its score Φw; not at all where B is given by the noise."""
        return np.zeros_like(scores)

    def with_new_noise(self, basis: Basis, alpha: FloatArray, posterior: Posterior) -> Likelihood:
        """Return the likelihood with its noise estimated anew; itself where there is no noise to estimate."""
        return self


class Logistic(Likelihood):
    """Two classes, signs −1 and +1."""

    def __init__(self, signs: FloatArray, weights: FloatArray) -> None:
        self.signs, self.weights = signs, weights

    def posterior(self, basis: Basis, alpha: FloatArray, start: FloatArray) -> Posterior:
        """Find the mode by Newton's method with halved steps."""
        w = start
        scores = basis.times(w)
        value = self._value(scores, w, alpha)
        for _ in range(_NEWTON_STEPS):
            curvature, b, residual = self._expand(basis, scores, alpha)
            slope = basis.transposed_times(residual) - alpha * w
            step = curvature.solve(slope)
            gain = float(slope @ step)
            if gain <= _NEWTON_TOLERANCE * (1.0 + abs(value)):
                break
            share, toward = 1.0, basis.times(step)
            while share > _SMALLEST_SHARE:
                new = self._value(scores + share * toward, w + share * step, alpha)
                if new >= value + 0.25 * share * gain:
                    break
                share *= 0.5
            else:
                break
            w, scores, value = w + share * step, scores + share * toward, new
        else:
            curvature, b, residual = self._expand(basis, scores, alpha)
        return Posterior(w, curvature, b, residual, value - 0.5 * curvature.log_determinant)

    def slope_of_b(self, scores: FloatArray) -> FloatArray:
        """Return s p (1 − p) (1 − 2p)."""
        return self.weights * expit(scores) * expit(-scores) * (expit(-scores) - expit(scores))

    def _value(self, scores: FloatArray, w: FloatArray, alpha: FloatArray) -> float:
        return float(self.weights @ log_expit(self.signs * scores) - 0.5 * alpha @ w**2)

    def _expand(self, basis: Basis, scores: FloatArray, alpha: FloatArray) -> tuple[Curvature, FloatArray, FloatArray]:
        b = self.weights * expit(scores) * expit(-scores)
        return Curvature(basis, b, alpha), b, self.weights * self.signs * expit(-self.signs * scores)


class Gaussian(Likelihood):
    """Real targets with noise of one variance, fixed or estimated."""

    def __init__(self, targets: FloatArray, weights: FloatArray, variance: float, smallest: float | None) -> None:
        self.targets, self.weights, self.variance, self.smallest = targets, weights, variance, smallest

    def posterior(self, basis: Basis, alpha: FloatArray, start: FloatArray) -> Posterior:
        """Solve the normal equations."""
        b = self.weights / self.variance
        curvature = Curvature(basis, b, alpha)
        mean = curvature.solve(basis.transposed_times(b * self.targets))
        residual = b * (self.targets - basis.times(mean))
        misfit = float(residual @ (residual * self.variance / np.where(self.weights > 0, self.weights, 1.0)))
        log_likelihood = -0.5 * (self.weights.sum() * np.log(2.0 * np.pi * self.variance) + misfit)
        log_evidence = log_likelihood - 0.5 * float(alpha @ mean**2) - 0.5 * curvature.log_determinant
        return Posterior(mean, curvature, b, residual, log_evidence)

    def with_new_noise(self, basis: Basis, alpha: FloatArray, posterior: Posterior) -> Likelihood:
        """Return σ² = Σ (t − y)² / (n − Σ γ_j), unless the variance is fixed."""
        if self.smallest is None:
            return self
        gamma = 1.0 - alpha * posterior.curvature.inverse_diagonal()
        squares = float(self.weights @ (self.targets - basis.times(posterior.mean)) ** 2)
        variance = squares / max(self.weights.sum() - gamma.sum(), 1e-3)
        return Gaussian(self.targets, self.weights, max(variance, self.smallest), self.smallest)
