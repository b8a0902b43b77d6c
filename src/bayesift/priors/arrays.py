"""Priors as plain arrays: what compiled kernels read, with the arithmetic of one coefficient in readable numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesift._typing import FloatArray

FLAT, LAPLACE, GAUSSIAN, FIXED, JEFFREYS = 0, 1, 2, 3, 4
"""Codes of ``kind``: no penalty (infinite variance), Laplace, Gaussian, fixed at the mode (zero variance), Jeffreys."""


@dataclass(frozen=True, eq=False)
class PriorArrays:
    """Priors of all coefficients, one entry each.

    With δ = β_j − mode_j, the penalty p_j(δ) is weight_j·abs(δ) for a Laplace prior, ½·weight_j·δ² for a Gaussian one,
    ln abs(δ) for a Jeffreys prior (−∞ at the mode) and 0 for a flat prior. A fixed coefficient allows only δ = 0, and
    sign_j = ±1 allows only sign_j·δ ≥ 0.

    Parameters
    ----------
    kind : int8 array of shape (n_features,)
        0 no penalty, 1 Laplace, 2 Gaussian, 3 fixed at the mode, 4 Jeffreys.
    weight : float64 array of shape (n_features,)
        Laplace rate λ_j or Gaussian precision 1/v_j; 1 for Jeffreys, 0 for the other kinds.
    mode : float64 array of shape (n_features,)
        Where the density is greatest.
    sign : int8 array of shape (n_features,)
        +1 or −1 for one-sided priors, else 0.

    Examples
    --------
    >>> from bayesift.priors import Laplace
    >>> arrays = Laplace(variance=2.0, mode=[0.0, 1.0]).resolve(2)
    >>> arrays.kind, arrays.weight
    (array([1, 1], dtype=int8), array([1., 1.]))
    >>> arrays.penalty([3.0, 3.0])
    5.0
    """

    kind: NDArray[np.int8]
    weight: FloatArray
    mode: FloatArray
    sign: NDArray[np.int8]

    def penalty(self, beta: Any) -> float:
        """Return the penalty Σ_j p_j(β_j − mode_j) of coefficients, infinite outside the support."""
        return float(self._penalties(beta).sum())

    def log_density(self, beta: Any) -> float:
        """Return the log prior density Σ_j ln p(β_j) of coefficients.

        A flat prior adds 0; so does a fixed coefficient at its mode. The improper Jeffreys prior adds
        −ln abs(δ).
        """
        one_sided = self.sign != 0
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        constant = np.select(
            [self.kind == LAPLACE, self.kind == GAUSSIAN],
            [log_weight - np.log(2.0), 0.5 * (log_weight - np.log(2.0 * np.pi))],
            0.0,
        )
        proper = (self.kind == LAPLACE) | (self.kind == GAUSSIAN)
        # Half of the support carries all the mass.
        constant = constant + np.where(one_sided & proper, np.log(2.0), 0.0)
        return float((constant - self._penalties(beta)).sum())

    def conjugate(self, c: Any) -> float:
        """Return the dual Σ_j p_j*(c_j) of slopes, p*(c) = sup_δ [cδ − p(δ)].

        It is infinite if some c_j is not a slope of its penalty.
        """
        slope = self._checked("c", c)
        # Only what pushes into the support counts.
        push = np.where(self.sign == 0, np.abs(slope), np.maximum(self.sign * slope, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            quadratic = 0.5 * push * (push / self.weight)
        linear = np.where(push <= self.weight, 0.0, np.inf)
        kinds = [self.kind == GAUSSIAN, self.kind == FIXED, self.kind == JEFFREYS]
        dual = np.select(kinds, [quadratic, 0.0, np.inf], linear)
        return float(dual.sum())

    def extended(self, more: PriorArrays) -> PriorArrays:
        """Return these priors followed by those of more coefficients, such as the intercept."""
        return PriorArrays(
            kind=np.append(self.kind, more.kind),
            weight=np.append(self.weight, more.weight),
            mode=np.append(self.mode, more.mode),
            sign=np.append(self.sign, more.sign),
        )

    def of(self, columns: Any) -> PriorArrays:
        """Return the priors of some of the coefficients, by their numbers."""
        return PriorArrays(self.kind[columns], self.weight[columns], self.mode[columns], self.sign[columns])

    def _penalties(self, beta: Any) -> FloatArray:
        delta = self._checked("beta", beta) - self.mode
        size = np.abs(delta)
        with np.errstate(divide="ignore"):
            logarithm = np.log(size)
        within = np.select(
            [self.kind == LAPLACE, self.kind == GAUSSIAN, self.kind == FIXED, self.kind == JEFFREYS],
            [self.weight * size, 0.5 * self.weight * size**2, np.where(size == 0, 0.0, np.inf), logarithm],
            0.0,
        )
        return np.where(self.sign * delta < 0, np.inf, within)

    def _checked(self, name: str, value: Any) -> FloatArray:
        array = np.asarray(value, dtype=np.float64)
        if array.shape != self.mode.shape:
            raise ValueError(f"{name} has shape {array.shape}; expected {self.mode.shape}, one value per coefficient")
        return array
