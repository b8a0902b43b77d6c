"""A quasi-Newton method over shards, one round for each gradient: only the coefficients have to fit in memory.

L-BFGS in units of the curvatures at the start, stopped by the duality gap over everything. Where coefficients have
rates, it moves those of a *face*: the ones away from their modes, with their signs, and the ones whose slopes exceed
their rates, on the side to which these point. There the penalty is linear. What a slope outside of the face, or on the
other side of a mode, asks for more than the slopes inside do comes into the next face.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import SolverOptions
from bayesift.linear._sharded.candidates import Judgement, Reached, most_added
from bayesift.linear._sharded.kept import KeptRound, Standing
from bayesift.linear._solvers.duality import Penalties

#: Gradients from which a step is built.
_MEMORY = 20
#: A face is left when slopes inside are wrong by at most this share of those outside, after at least this many rounds.
_SHARE, _LEAST_ROUNDS = 0.3, 5


class Smooth(Protocol):
    """What is minimised; priors are ``flat``, in the order of the entries of all departures from the modes."""

    @property
    def options(self) -> SolverOptions: ...
    @property
    def flat(self) -> Penalties: ...
    @property
    def kept(self) -> KeptRound: ...
    def begin(self, delta: FloatArray) -> tuple[Judgement, FloatArray]: ...
    def judged(self, delta: FloatArray) -> Judgement: ...
    def is_closed(self, found: Judgement, dual: float) -> bool: ...


class _Face(NamedTuple):
    """Which coefficients move, the signs of those with rates, and their bounds."""

    places: Int64Array
    signs: FloatArray
    low: FloatArray
    high: FloatArray


class _Done(Exception):  # noqa: N818  (no error: it ends a descent)
    """The gap is small enough, or another face is due."""


def solve_by_gradients(search: Smooth, delta: FloatArray, rounds: int = 0) -> Reached:
    """Minimise from some departures from the modes, after ``rounds`` earlier rounds.

    Parameters
    ----------
    search : Smooth
    delta : float array
        Where to begin.
    rounds : int

    Returns
    -------
    Reached
    """
    l1, l2, low, high = search.flat
    found, curvature = search.begin(delta)
    curvature = curvature.ravel() + l2
    movable = (low < high) & (curvature > 0.0)
    scale = 1.0 / np.sqrt(np.where(curvature > 0.0, curvature, 1.0))
    reached = Reached(delta, found, found.dual, rounds + 1, search.is_closed(found, found.dual))
    while not reached.converged and reached.rounds < search.options.max_iter:
        face = _face(search.flat, reached, movable, scale)
        before = reached
        reached = _descend(search, reached, face, movable, scale)
        if not l1.any() or reached.found.primal >= before.found.primal:
            break
    # No step lowers the objective any more: exact to rounding.
    exact = reached.found.residual <= 1e-8 * reached.found.primal
    return reached._replace(converged=reached.converged or exact)


def _errors(prior: Penalties, found: Judgement, delta: FloatArray) -> FloatArray:
    """Return how far each slope is from optimal, with the sign of the step that it asks for."""
    l1, l2, low, high = prior
    slope = found.c.ravel() - l2 * delta
    up, down = np.maximum(slope - l1, 0.0), np.maximum(-slope - l1, 0.0)
    at_mode = np.where(high > 0.0, up, 0.0) - np.where(low < 0.0, down, 0.0)
    return np.where(delta != 0.0, slope - l1 * np.sign(delta), at_mode)


def _face(prior: Penalties, reached: Reached, movable: BoolArray, scale: FloatArray) -> _Face:
    """Return the coefficients to move from where a search has come."""
    l1, _, low, high = prior
    delta = reached.delta.ravel()
    errors = np.where(movable, _errors(prior, reached.found, delta), 0.0)
    inside = movable & ((l1 == 0.0) | (delta != 0.0))
    beyond = np.flatnonzero(~inside & (errors != 0.0))
    order = np.argsort(-np.abs(errors[beyond]) * scale[beyond], kind="stable")
    places = np.sort(np.append(np.flatnonzero(inside), beyond[order[: most_added(int(np.count_nonzero(delta)))]]))
    signs = np.where(delta[places] != 0.0, np.sign(delta[places]), np.sign(errors[places]))
    signs = np.where(l1[places] > 0.0, signs, 0.0)
    return _Face(
        places,
        signs,
        np.where(signs > 0.0, 0.0, low[places]),
        np.where(signs < 0.0, 0.0, high[places]),
    )


def _descend(search: Smooth, reached: Reached, face: _Face, movable: BoolArray, scale: FloatArray) -> Reached:
    """Minimise on a face until the gap is closed, or until more is wrong outside of it."""
    l1, l2, _, _ = search.flat
    start, own = reached.delta, scale[face.places]
    kinks = bool(l1.any())
    n_begun = reached.rounds

    def at(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal reached
        new = start.copy()
        flat = new.reshape(-1)
        flat[face.places] = np.clip(x * own, face.low, face.high)
        if reached.rounds == n_begun and np.array_equal(new, start):
            found, rounds = reached.found, reached.rounds
        else:
            found, rounds = search.judged(new), reached.rounds + 1
        dual = max(reached.dual, found.dual)
        closed = search.is_closed(found, dual)
        if closed or found.primal <= reached.found.primal:
            reached = Reached(new, found, dual, rounds, closed)
            search.kept.write(Standing(new, np.empty(0, np.int64), rounds))
        else:
            reached = reached._replace(dual=dual, rounds=rounds)
        slopes = (l2 * flat - found.c.ravel())[face.places] + l1[face.places] * face.signs
        if closed or rounds >= search.options.max_iter:
            raise _Done
        if kinks and rounds - n_begun >= _LEAST_ROUNDS and _is_spent(search, found, flat, face, slopes, movable, scale):
            raise _Done
        return found.primal, slopes * own

    bounds = None
    if np.isfinite(face.low).any() or np.isfinite(face.high).any():
        bounds = list(zip(face.low / own, face.high / own, strict=True))
    most = 10 * search.options.max_iter
    limits = {"maxiter": most, "maxfun": most, "maxcor": _MEMORY, "ftol": 0.0, "gtol": 0.0, "maxls": 40}
    with contextlib.suppress(_Done):
        minimize(at, start.ravel()[face.places] / own, jac=True, method="L-BFGS-B", bounds=bounds, options=limits)
    return reached


def _is_spent(
    search: Smooth,
    found: Judgement,
    delta: FloatArray,
    face: _Face,
    slopes: FloatArray,
    movable: BoolArray,
    scale: FloatArray,
) -> bool:
    """Tell whether more is wrong outside of a face than inside."""
    at = delta[face.places]
    held = ((at <= face.low) & (slopes > 0.0)) | ((at >= face.high) & (slopes < 0.0))
    inside = np.max(np.abs(np.where(held, 0.0, slopes)) * scale[face.places], initial=0.0)
    errors = np.abs(_errors(search.flat, found, delta)) * scale
    errors[~movable] = 0.0
    errors[face.places[~held]] = 0.0
    return bool(inside <= _SHARE * np.max(errors, initial=0.0))
