"""The steps of both algorithms: the mode of q, the best bound, the best α."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.special import expit, log_expit

from bayesift._typing import FloatArray
from bayesift.ard._bound import Quadrature, integrals, log_bound_and_gradient
from bayesift.ard._tagging import Tagging

Objective = Callable[[FloatArray], tuple[float, FloatArray]]

# A step ends by its number of iterations; these only stop it where nothing moves any more.
_FUNCTION_TOLERANCE = 1e-15
_GRADIENT_TOLERANCE = 1e-9


def posterior_mode(tagging: Tagging, alpha: FloatArray, w: FloatArray, reach: float, iterations: int) -> FloatArray:
    """Climb towards the mode of the posterior of q from w = logit q: the E-step of RTM-MAP-EM.

    The log posterior Σ_i ln P(t_i | x_i, q) + Σ_j α_j ln q_j(1−q_j) is concave in w, so that there is one mode in
    [−reach, reach].
    """
    pull = tagging.weights * tagging.y

    def objective(w: FloatArray) -> tuple[float, FloatArray]:
        margins = tagging.y * (tagging.matrix @ w)
        value = tagging.weights @ log_expit(margins) + alpha @ (log_expit(w) + log_expit(-w))
        gradient = tagging.transposed @ (pull * expit(-margins)) - alpha * np.tanh(0.5 * w)
        return -value, -gradient

    return _minimise(objective, w, -reach, reach, iterations)


def best_bound(
    tagging: Tagging, alpha: FloatArray, u: FloatArray, quadrature: Quadrature, reach: float, iterations: int
) -> FloatArray:
    """Climb towards the η with the greatest bound from u = logit η, by entry: the E-step of RTM-EM."""

    def objective(u: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = log_bound_and_gradient(tagging, u, alpha, quadrature)
        return -value, -gradient

    return _minimise(objective, u, -reach, reach, iterations)


def joint_alpha(
    tagging: Tagging, sizes: FloatArray, alpha: FloatArray, greatest: float, quadrature: Quadrature, iterations: int
) -> FloatArray:
    """Climb towards the best α of all tags together: the M-step as it was published."""

    def objective(alpha: FloatArray) -> tuple[float, FloatArray]:
        found = integrals(tagging, sizes, alpha, quadrature)
        return -float(found.values.sum()), -found.by_alpha

    return _minimise(objective, alpha, 0.0, greatest, iterations)


def _minimise(objective: Objective, start: FloatArray, low: float, high: float, iterations: int) -> FloatArray:
    """Take some iterations of L-BFGS-B; never ends higher than it began."""
    if not start.size:
        return start
    options = {"maxiter": iterations, "ftol": _FUNCTION_TOLERANCE, "gtol": _GRADIENT_TOLERANCE}
    bounds = Bounds(np.full(start.size, low), np.full(start.size, high))
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.clip(found.x, low, high)
