"""What the symmetric beta distribution needs of gamma functions, with s = ln 4q(1−q)."""

from __future__ import annotations

import math

from bayesift._kernel import kernel

_HALF_LOG_PI_LESS_LOG_2 = 0.5 * math.log(math.pi) - math.log(2.0)
_LARGE = 12.0


@kernel(error_model="numpy")
def log_normaliser(alpha: float) -> float:
    """Return ln ∫ (4q(1−q))^α dq over (0, 1): ln Γ(α+1) − ln Γ(α+3/2) + ½ ln π − ln 2, by the duplication formula."""
    return math.lgamma(alpha + 1.0) - math.lgamma(alpha + 1.5) + _HALF_LOG_PI_LESS_LOG_2


@kernel(error_model="numpy")
def prior_mean(alpha: float) -> float:
    """Return E[s] under Beta(α+1, α+1): ψ(α+1) − ψ(α+3/2), the slope of the normaliser."""
    z = alpha + 1.0
    total = 0.0
    while z < _LARGE:
        # ψ(z) = ψ(z + 1) − 1/z
        total -= 0.5 / (z * (z + 0.5))
        z += 1.0
    return total + _digamma_large(z) - _digamma_large(z + 0.5) - math.log1p(0.5 / z)


@kernel(error_model="numpy", inline="always")
def _digamma_large(z):  # type: ignore[no-untyped-def]
    """ψ(z) − ln z for z ≥ 12, by its asymptotic series; the next term is below 1e-16."""
    r = 1.0 / (z * z)
    series = 1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * 691 / 32760))))
    return -0.5 / z - r * series
