"""One example under a Gaussian belief: its evidence, how the belief moves, and what is learned from it.

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
_LIMIT, _STEP = 9.0, 0.0625
_BITS = 1.4426950408889634
_ROOT_TWO_PI = 2.5066282746310002

#: Farther from 0 than this, a standardised field is treated as infinite; its square is still finite.
_FARTHEST = 1e100
#: The largest share of the variance of its field that an example removes; the rest would be less than rounding error.
_MOST = 1.0 - 2.0**-50


@kernel(error_model="numpy", inline="always")
def _standardised(mean, spread):  # type: ignore[no-untyped-def]
    """Return μ/λ, in the range where all that is computed from it is finite."""
    return max(min(mean / spread, _FARTHEST), -_FARTHEST)


@kernel(error_model="numpy")
def outcome_moments(y: float, mean: float, variance: float, sigma: float, kappa: float) -> tuple[float, float, float]:
    """Return ln Z, yρ/λ and ρ(u + ρ)/λ² of one example; without a field (λ = 0) Z is ½ and nothing moves.

    Parameters
    ----------
    y : float
        The outcome, −1 or +1.
    mean, variance : float
        μ and s², the belief about the field.
    sigma, kappa : float
        σ and κ of the likelihood.

    Returns
    -------
    log_evidence, gain, shrink : float
        ln Z, and the factors of s² in the change of the mean and of −s⁴ in the change of the variance.

    Examples
    --------
    >>> from bayesift.online import outcome_moments
    >>> [round(value, 4) for value in outcome_moments(1.0, 0.0, 1.0, 0.0, 0.0)]
    [-0.6931, 0.7979, 0.6366]
    """
    spread = np.sqrt(sigma * sigma + variance)
    if spread == 0.0:
        return -np.log(2.0), 0.0, 0.0
    u = _standardised(y * mean, spread)
    loss, slope = probit_loss_and_slope(u)
    if kappa == 0.0:
        return -loss, y * slope / spread, min(probit_curvature(u, slope) / spread / spread, _MOST / variance)
    inside = (1.0 - 2.0 * kappa) * np.exp(-loss)
    z = kappa + inside
    rho = inside * slope / z
    return np.log(z), y * rho / spread, min(rho * (u + rho) / spread / spread, _MOST / variance)


@kernel(error_model="numpy", inline="always")
def weighted_moments(share, y, mean, variance, sigma, kappa):  # type: ignore[no-untyped-def]
    """Return the moments of an example that counts as a share of one: its Gaussian factor to the power ``share``.

    The factor that takes the belief to its posterior has the precision τ = shrink/(1 − shrink s²). With share · τ in
    its place, and its location likewise, gain and shrink become share/(1 − (1 − share) shrink s²) times as large.
    """
    log_z, gain, shrink = outcome_moments(y, mean, variance, sigma, kappa)
    if share != 1.0:
        scale = share / (1.0 - (1.0 - share) * shrink * variance)
        log_z, gain, shrink = share * log_z, scale * gain, scale * shrink
    return log_z, gain, shrink


@kernel(error_model="numpy")
def _mean_log_probit(mean: float, ratio: float) -> float:
    """E[Φ(t) ln Φ(t)] for t ~ N(mean, ratio²): over t where the belief is the wider of the two, else over the belief.

    Φ ln Φ is below 1e-17 outside ±9.
    """
    total = 0.0
    steps = int(_LIMIT / _STEP)
    for k in range(-steps, steps + 1):
        z = k * _STEP
        t = z if ratio >= 1.0 else mean + ratio * z
        density_at = (z - mean) / ratio if ratio >= 1.0 else z
        loss, _ = probit_loss_and_slope(t)
        total -= np.exp(-loss - 0.5 * density_at * density_at) * loss
    return total * _STEP / (_ROOT_TWO_PI * (ratio if ratio >= 1.0 else 1.0))


@kernel(error_model="numpy")
def outcome_information(y: float, mean: float, variance: float, sigma: float, kappa: float) -> float:
    """Return the information of an outcome in bits: the relative entropy of the exact posterior to the prior belief.

    It is E[p(y|f) log₂ p(y|f)]/Z − log₂ Z under the belief: a closed form for the step, an integral for the probit.

    Parameters
    ----------
    y, mean, variance, sigma, kappa : float
        As for :func:`outcome_moments`.

    Returns
    -------
    bits : float

    Examples
    --------
    >>> from bayesift.online import outcome_information
    >>> round(outcome_information(1.0, 0.0, 1.0, 0.0, 0.0), 4)
    1.0
    """
    log_z, _, _ = outcome_moments(y, mean, variance, sigma, kappa)
    z = np.exp(log_z)
    if variance == 0.0 or z == 0.0:
        return 0.0
    if sigma > 0.0:
        expected = _mean_log_probit(y * mean / sigma, np.sqrt(variance) / sigma)
    else:
        loss, _ = probit_loss_and_slope(_standardised(y * mean, np.sqrt(variance)))
        inside = np.exp(-loss)
        expected = (1.0 - kappa) * inside * np.log1p(-kappa)
        if kappa > 0.0:
            expected += kappa * (1.0 - inside) * np.log(kappa)
    return max(_BITS * (expected / z - log_z), 0.0)


@kernel
def expected_information(mean: FloatArray, variance: FloatArray, sigma: float, kappa: float) -> FloatArray:
    """Return the expected information of each document's outcome in bits: the mean over both outcomes.

    Parameters
    ----------
    mean, variance : ndarray of shape (n_documents,)
        Means and variances of the beliefs about the documents' fields.
    sigma, kappa : float
        σ and κ of the likelihood.

    Returns
    -------
    bits : ndarray of shape (n_documents,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.online import expected_information
    >>> expected_information(np.array([0.0, 2.0]), np.ones(2), 0.5, 0.0).round(3)
    array([0.539, 0.132])
    """
    result = np.empty(mean.shape[0])
    for i in range(result.shape[0]):
        positive, _, _ = outcome_moments(1.0, mean[i], variance[i], sigma, kappa)
        negative, _, _ = outcome_moments(-1.0, mean[i], variance[i], sigma, kappa)
        result[i] = np.exp(positive) * outcome_information(1.0, mean[i], variance[i], sigma, kappa)
        result[i] += np.exp(negative) * outcome_information(-1.0, mean[i], variance[i], sigma, kappa)
    return result


@kernel
def log_evidences(scores: FloatArray, kappa: float) -> FloatArray:
    """Return ln p(y = 1 | x) for the scores u = μ/λ of documents, with the weights integrated out."""
    result = np.empty(scores.shape[0])
    for i in range(result.shape[0]):
        result[i] = outcome_moments(1.0, scores[i], 0.0, 1.0, kappa)[0]
    return result
