"""RTM-MAP-EM (algorithm 1) and RTM-EM: which tags are relevant, and how much; and the steps of both algorithms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.special import expit, log_expit

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.ard.tagging._bound import (
    Quadrature,
    best_alpha,
    integrals,
    log_bound,
    log_bound_and_gradient,
    margins_of,
)
from bayesift.ard.tagging._tags import Tagging

Solver = Literal["map-em", "em"]
MStep = Literal["exact", "joint"]
Objective = Callable[[FloatArray], tuple[float, FloatArray]]

#: Iterations to find the mode of the posterior when α is settled.
_LAST_ITERATIONS = 1000
#: Halvings before a step of η that lowers the bound is given up.
_HALVINGS = 10
# A step ends by its number of iterations; these only stop it where nothing moves any more.
_FUNCTION_TOLERANCE = 1e-15
_GRADIENT_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Settings:
    """What both algorithms are told; see the estimator."""

    solver: Solver
    max_iter: int
    inner_iter: int
    m_step: MStep
    initial_alpha: float
    max_alpha: float
    removal_alpha: float
    limit: float
    tol: float
    monotone: bool
    prune_at_once: bool
    quadrature: Quadrature


class Fit(NamedTuple):
    """α (infinite for removed tags) and w = logit q (0 for them) by tag; bound and tags left after each step.

    ``residual`` is the largest slope of the bound by an ln(1 + α_j) that the range of α_j leaves room for.
    """

    alpha: FloatArray
    w: FloatArray
    bounds: FloatArray
    n_left: Int64Array
    residual: float
    converged: bool


class Moved(NamedTuple):
    """What an M-step found: the bound, and its slopes by α, of all tags but those in ``without_slope``."""

    bound: float
    slopes: FloatArray
    without_slope: Int64Array
    sizes: FloatArray


@dataclass
class State:
    """Where the algorithm stands: tags in the model, their α, w and, by entry, u = logit η."""

    tagging: Tagging
    tags: Int64Array
    alpha: FloatArray
    w: FloatArray
    u: FloatArray

    def prune(self, keep: BoolArray) -> None:
        """Leave tags out, so that objects have fewer of them."""
        columns, n_tags = np.flatnonzero(keep), self.tagging.n_tags
        places = self.tagging.groups.objects * n_tags + self.tagging.groups.tags
        self.tagging = self.tagging.kept(keep)
        groups = self.tagging.groups
        order = np.argsort(places)
        self.u = self.u[order[np.searchsorted(places[order], groups.objects * n_tags + columns[groups.tags])]]
        self.tags, self.alpha, self.w = self.tags[keep], self.alpha[keep], self.w[keep]


def learn(tagging: Tagging, settings: Settings) -> Fit:
    """Alternate between the bound and α, then find the mode of q for the tags that are left."""
    n_tags = tagging.n_tags
    state = State(
        tagging,
        np.arange(n_tags),
        np.full(n_tags, settings.initial_alpha),
        np.zeros(n_tags),
        np.zeros(tagging.groups.objects.size),
    )
    held = np.zeros(n_tags, dtype=bool)
    bounds: list[float] = []
    n_left: list[int] = []
    converged = False
    for step in range(settings.max_iter):
        _e_step(state, settings, bounds[-1] if bounds and settings.monotone else -np.inf, first=step == 0)
        before = state.alpha
        moved = _m_step(state, settings, held)
        last = state.tagging, state.alpha
        bounds.append(moved.bound)
        left = state.alpha < settings.removal_alpha
        n_left.append(int(left.sum()))
        converged = bool(np.sum((state.alpha - before) ** 2) < settings.tol)
        if settings.prune_at_once and not left.all():
            state.prune(left)
            held = held[left]
        if converged or not state.tags.size:
            break
    residual = _residual(*last, moved, settings)
    state.prune(state.alpha < settings.removal_alpha)
    alpha, w = np.full(n_tags, np.inf), np.zeros(n_tags)
    alpha[state.tags] = state.alpha
    w[state.tags] = posterior_mode(state.tagging, state.alpha, state.w, settings.limit, _LAST_ITERATIONS)
    return Fit(alpha, w, np.array(bounds), np.array(n_left), residual, converged)


def _e_step(state: State, settings: Settings, floor: float, *, first: bool) -> None:
    """Move η: to the mode of the posterior, or (after a start there) to the greatest bound."""
    if settings.solver == "em" and not first:
        state.u = best_bound(
            state.tagging, state.alpha, state.u, settings.quadrature, settings.limit, settings.inner_iter
        )
        return
    # RTM-EM starts at the mode itself: its bound has several tops, and which is reached is not to be an accident.
    iterations = _LAST_ITERATIONS if settings.solver == "em" else settings.inner_iter
    state.w = posterior_mode(state.tagging, state.alpha, state.w, settings.limit, iterations)
    target = state.w[state.tagging.groups.tags]
    share, u = 1.0, target
    for _ in range(_HALVINGS):
        if floor == -np.inf or log_bound(state.tagging, u, state.alpha, settings.quadrature) >= floor:
            state.u = u
            return
        share *= 0.5
        u = state.u + share * (target - state.u)


def _m_step(state: State, settings: Settings, held: BoolArray) -> Moved:
    """Move α, except of tags that are held at its upper end, and give the bound."""
    tagging, quadrature = state.tagging, settings.quadrature
    margins = margins_of(tagging, state.u)
    sizes = tagging.sizes(margins, state.u)
    constant = tagging.constant(margins)
    if settings.m_step == "joint":
        state.alpha = joint_alpha(tagging, sizes, state.alpha, settings.max_alpha, quadrature, settings.inner_iter)
        found = integrals(tagging, sizes, state.alpha, quadrature)
        return Moved(constant + float(found.values.sum()), found.by_alpha, np.empty(0, dtype=np.int64), sizes)
    free = np.flatnonzero(~held)
    state.alpha, moved = best_alpha(tagging, sizes, state.alpha, settings.max_alpha, quadrature, free)
    rest = integrals(tagging, sizes, state.alpha, quadrature, which=np.flatnonzero(held))
    held |= state.alpha >= settings.max_alpha
    return Moved(constant + float(moved.sum() + rest.values.sum()), rest.by_alpha, free, sizes)


def _residual(tagging: Tagging, alpha: FloatArray, moved: Moved, settings: Settings) -> float:
    """Return the largest slope of the bound by an ln(1 + α_j); at an end of the range only slopes inwards count."""
    rest = integrals(tagging, moved.sizes, alpha, settings.quadrature, which=moved.without_slope)
    slopes = (1.0 + alpha) * (moved.slopes + rest.by_alpha)
    slopes = np.where(alpha <= 0.0, np.maximum(slopes, 0.0), slopes)
    slopes = np.where(alpha >= settings.max_alpha, np.minimum(slopes, 0.0), slopes)
    return float(np.max(np.abs(slopes), initial=0.0))


def posterior_mode(tagging: Tagging, alpha: FloatArray, w: FloatArray, limit: float, iterations: int) -> FloatArray:
    """Climb towards the mode of the posterior of q from w = logit q: the E-step of RTM-MAP-EM.

    The log posterior Σ_i ln P(t_i | x_i, q) + Σ_j α_j ln q_j(1−q_j) is concave in w, so that there is one mode in
    [−limit, limit]. The iterations are in q, which is what is bounded in print: few of them end before the mode, and
    elsewhere than as many in w.
    """
    pull = tagging.weights * tagging.y

    def objective(beyond: FloatArray) -> tuple[float, FloatArray]:
        w = 2.0 * np.arctanh(2.0 * beyond)
        margins = tagging.y * (tagging.matrix @ w)
        value = tagging.weights @ log_expit(margins) + alpha @ (log_expit(w) + log_expit(-w))
        gradient = tagging.transposed @ (pull * expit(-margins)) - alpha * np.tanh(0.5 * w)
        return -value, -gradient / (0.25 - beyond * beyond)

    # q − ½, so that both classes are treated alike down to the last bit.
    farthest = 0.5 * np.tanh(0.5 * limit)
    found = _minimise(objective, 0.5 * np.tanh(0.5 * w), -farthest, farthest, iterations)
    return np.clip(2.0 * np.arctanh(2.0 * found), -limit, limit)


def best_bound(
    tagging: Tagging, alpha: FloatArray, u: FloatArray, quadrature: Quadrature, limit: float, iterations: int
) -> FloatArray:
    """Climb towards the η with the greatest bound from u = logit η, by entry: the E-step of RTM-EM."""

    def objective(u: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = log_bound_and_gradient(tagging, u, alpha, quadrature)
        return -value, -gradient

    return _minimise(objective, u, -limit, limit, iterations)


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
