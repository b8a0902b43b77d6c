"""One example under a Gaussian belief: its evidence, how the belief moves, and what is learnt from it.

The example speaks of the weights through the field f = aᵀx only, which is believed to be N(μ, s²). Its likelihood is
κ + (1 − 2κ) Φ(y f/σ): probit noise for κ = 0, and for σ = 0 a step whose outcome is flipped with probability κ. With
λ² = σ² + s², u = yμ/λ, Z = κ + (1 − 2κ) Φ(u) and ρ = (1 − 2κ) φ(u)/Z the exact mean and variance of the posterior are
those of μ + (yρ/λ) s² and s² − (ρ(u + ρ)/λ²) s⁴ (Opper 1998).
"""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._special_kernels import probit_curvature, probit_loss_and_slope
from bayesift._typing import FloatArray

#: Beyond this many standard deviations nothing is left to integrate; the trapezoidal rule is exact at this step.
_REACH, _STEP = 9.0, 0.0625
_BITS = 1.4426950408889634
_ROOT_TWO_PI = 2.5066282746310002


@kernel(error_model="numpy")
def moments(y: float, mean: float, variance: float, sigma: float, kappa: float) -> tuple[float, float, float]:
    """Return ln Z, yρ/λ and ρ(u + ρ)/λ²; an example without a field (λ = 0) has Z = ½ and moves nothing."""
    spread = np.sqrt(sigma * sigma + variance)
    if spread == 0.0:
        return -np.log(2.0), 0.0, 0.0
    u = y * mean / spread
    loss, slope = probit_loss_and_slope(u)
    if kappa == 0.0:
        return -loss, y * slope / spread, probit_curvature(u, slope) / spread / spread
    inside = (1.0 - 2.0 * kappa) * np.exp(-loss)
    z = kappa + inside
    rho = inside * slope / z
    return np.log(z), y * rho / spread, rho * (u + rho) / spread / spread


@kernel(error_model="numpy")
def _mean_log_probit(mean: float, ratio: float) -> float:
    """E[Φ(t) ln Φ(t)] for t ~ N(mean, ratio²): over t where the belief is the wider of the two, else over the belief.

    Φ ln Φ is below 1e-17 outside ±9.
    """
    total = 0.0
    steps = int(_REACH / _STEP)
    for k in range(-steps, steps + 1):
        z = k * _STEP
        t = z if ratio >= 1.0 else mean + ratio * z
        density_at = (z - mean) / ratio if ratio >= 1.0 else z
        loss, _ = probit_loss_and_slope(t)
        total -= np.exp(-loss - 0.5 * density_at * density_at) * loss
    return total * _STEP / (_ROOT_TWO_PI * (ratio if ratio >= 1.0 else 1.0))


@kernel(error_model="numpy")
def information(y: float, mean: float, variance: float, sigma: float, kappa: float) -> float:
    """Bits learnt from the outcome y: the relative entropy of the exact posterior to the belief before it.

    It is E[p(y|f) log₂ p(y|f)]/Z − log₂ Z under the belief, closed for the step and an integral for the probit.
    """
    log_z, _, _ = moments(y, mean, variance, sigma, kappa)
    z = np.exp(log_z)
    if variance == 0.0 or z == 0.0:
        return 0.0
    if sigma > 0.0:
        expected = _mean_log_probit(y * mean / sigma, np.sqrt(variance) / sigma)
    else:
        loss, _ = probit_loss_and_slope(y * mean / np.sqrt(variance))
        inside = np.exp(-loss)
        expected = (1.0 - kappa) * inside * np.log1p(-kappa)
        if kappa > 0.0:
            expected += kappa * (1.0 - inside) * np.log(kappa)
    return max(_BITS * (expected / z - log_z), 0.0)


@kernel
def expected_information(mean: FloatArray, variance: FloatArray, sigma: float, kappa: float) -> FloatArray:
    """Return for each document the bits that its outcome is expected to bring: the mean over both outcomes."""
    result = np.empty(mean.shape[0])
    for i in range(result.shape[0]):
        positive, _, _ = moments(1.0, mean[i], variance[i], sigma, kappa)
        negative, _, _ = moments(-1.0, mean[i], variance[i], sigma, kappa)
        result[i] = np.exp(positive) * information(1.0, mean[i], variance[i], sigma, kappa)
        result[i] += np.exp(negative) * information(-1.0, mean[i], variance[i], sigma, kappa)
    return result


@kernel
def log_evidences(y: float, mean: FloatArray, variance: FloatArray, sigma: float, kappa: float) -> FloatArray:
    """Return ln p(y | x) for each document, with the weights integrated out."""
    result = np.empty(mean.shape[0])
    for i in range(result.shape[0]):
        result[i] = moments(y, mean[i], variance[i], sigma, kappa)[0]
    return result
