"""Solve on candidate columns in memory, confirm with a round over all shards, add what it finds; for any loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._sharded.kept import KeptRound, Standing

if TYPE_CHECKING:
    from bayesift.linear._sharded.design import Held, ShardedDesign

#: Candidates that a round may add: this many, or this many times those away from their modes.
_CANDIDATES, _GROWTH = 1000, 2
#: Share of the room for entries that one round may fill: the first candidates are a guess.
_ROOM = 0.5
#: Slopes beyond the rate by this factor: fits in memory need not be exact yet, only to this gap.
_CLEARLY, _ROUGH = 1.05, 1e-3
#: Columns whose slopes reach this share of their rates are added too if a round adds few candidates.
_NEAR = 0.95
#: Share of the tolerance that a fit in memory must reach, and the factor that lowers it if that was not enough.
INNER, _TIGHTER = 0.5, 0.1
#: Maximum number of rounds.
ROUNDS = 100


class Judgement(NamedTuple):
    """How good some coefficients are: objective, a lower bound on its minimum, KKT residual, and all slopes."""

    primal: float
    dual: float
    residual: float
    c: FloatArray


class Reached(NamedTuple):
    """The end of a search."""

    delta: FloatArray
    found: Judgement
    dual: float
    rounds: int
    converged: bool


class Search(Protocol):
    """What is searched for, and how: departures from the modes have a row for each feature, the constant last."""

    @property
    def design(self) -> ShardedDesign: ...
    @property
    def tol(self) -> float: ...
    @property
    def kept(self) -> KeptRound: ...
    @property
    def always(self) -> BoolArray: ...
    def moved(self, delta: FloatArray) -> BoolArray: ...
    def solve_held(self, held: Held, delta: FloatArray, gap: float) -> tuple[FloatArray, bool]: ...
    def judged(self, delta: FloatArray, held: Held | None = None) -> Judgement: ...
    def is_closed(self, found: Judgement, dual: float) -> bool: ...
    def pushes(self, c: FloatArray) -> FloatArray: ...
    def without_columns(self, delta: FloatArray, rounds: int) -> Reached: ...


def solve_on_candidates(search: Search, delta: FloatArray, before: Standing | None) -> Reached:
    """Solve on candidate columns in memory, until a round over everything finds nothing to add."""
    design, tol, always = search.design, search.tol, search.always
    wanted = np.flatnonzero(always | search.moved(delta))
    inner, exact, dual, first = max(INNER * tol, _ROUGH), False, -np.inf, 1
    if before is not None and not before.done and before.inner > 0.0:
        wanted, first = np.union1d(wanted, before.wanted), min(before.rounds, ROUNDS)
        inner, exact = before.inner, before.exact
    for rounds in range(first, ROUNDS + 1):
        search.kept.write(Standing(delta, wanted, rounds, False, exact, inner))
        held = design.hold(wanted)
        if held is None:
            return search.without_columns(delta, rounds)
        delta, converged = search.solve_held(held, delta, inner)
        found = search.judged(delta, held)
        dual = max(dual, found.dual)
        if search.is_closed(found, dual):
            return Reached(delta, found, dual, rounds, True)
        pushes = search.pushes(found.c)
        pushes[held.columns] = 0.0
        moved = search.moved(delta)
        added = _violators(design, pushes, int(np.count_nonzero(moved)), held)
        if not added.size:
            if exact and inner < 1e-4 * tol:
                return Reached(delta, found, dual, rounds, converged)
            inner, exact = (_TIGHTER * inner if exact else INNER * tol), True
        elif pushes.max() <= _CLEARLY:
            inner, exact = min(inner, INNER * tol), True
        wanted = np.union1d(held.columns, added)
        if int(design.shards.column_counts[wanted].sum()) > design.most_entries:
            # Candidates that stayed at their modes make room.
            wanted = np.union1d(np.flatnonzero(always | moved), added)
    return Reached(delta, found, dual, ROUNDS, False)


def most_added(n_moved: int) -> int:
    """Return how many candidates a round may add when this many are away from their modes."""
    return max(_CANDIDATES, _GROWTH * n_moved)


def _violators(design: ShardedDesign, pushes: FloatArray, n_moved: int, held: Held) -> Int64Array:
    """Return the columns to add: those farthest beyond their rates first, as many as a round should add."""
    beyond = np.flatnonzero(pushes > 1.0)
    if not beyond.size:
        return beyond
    most = most_added(n_moved)
    if beyond.size < most:
        beyond = np.flatnonzero(pushes > _NEAR)
    order = beyond[np.argsort(-pushes[beyond], kind="stable")][:most]
    counts = design.shards.column_counts
    room = max(design.most_entries - int(counts[held.columns].sum()), 0)
    n_fitting = int(np.searchsorted(np.cumsum(counts[order]), max(_ROOM * room, counts[order[0]]), side="right"))
    return np.sort(order[: max(n_fitting, 1)])
