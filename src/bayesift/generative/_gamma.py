"""Digamma and trigamma functions for compiled loops."""

from __future__ import annotations

import math

from bayesift._kernel import kernel

#: From here on the asymptotic series have 14 digits.
_LARGE = 10.0


@kernel
def digamma(x: float) -> float:
    """Return ψ(x), the derivative of ln Γ, for x > 0."""
    shift = 0.0
    while x < _LARGE:
        shift -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 240 - square * (1 / 132 - square * 691 / 32760)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * series)))
    return shift + math.log(x) - 0.5 / x - series


@kernel
def trigamma(x: float) -> float:
    """Return ψ′(x) for x > 0."""
    shift = 0.0
    while x < _LARGE:
        shift += 1.0 / (x * x)
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (
        1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * (5 / 66 - square * 691 / 2730))))
    )
    return shift + (1.0 + 0.5 / x + series) / x
