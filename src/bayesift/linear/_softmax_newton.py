"""The fast solver for Laplace and mixed priors: proximal Newton steps on working sets, stopped by the duality gap.

A fit from nothing walks down a few multiples of the rates, so that the working set grows with the solution. Every round
computes all slopes by one pass over the matrix, checks the gap, chooses the pairs of features and classes worth moving
and takes one Newton step on them. On 20 Newsgroups at a rate of 1 a fit takes 14 such passes; they are a quarter of the
time, and the descent on the quadratic models a third.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._sparse import Compressed
from bayesift._typing import FloatArray
from bayesift.linear._objective import kkt_residual
from bayesift.linear._penalty import Penalties, penalty
from bayesift.linear._softmax import class_scores, class_slopes, softmax_terms
from bayesift.linear._softmax_model import couple, descend_model, take_entries
from bayesift.linear._softmax_objective import dual_objective, flattened, open_intercepts
from bayesift.linear._softmax_pairs import (
    add_pairs,
    choose_pairs,
    pick_columns,
    put_pairs,
    survey_pairs,
    take_pairs,
    useful_columns,
)
from bayesift.linear._softmax_search import Sample, State, kinked_search

#: Each stage's rates as a share of the last one's.
_STAGE = 0.3
#: Errors of at most this (in units of the rates) end a stage, as do two rounds.
_SETTLED = 0.3
#: Errors from which on a dual bound is worth computing.
_WORTH_A_BOUND = 0.3
#: Errors of at most this call for more care: share of a rate from which a pair is taken, cut of the documents, passes.
_FINE = 1.0
_CUT, _FINE_CUT = 0.2, 0.01
_PASSES, _FINE_PASSES = 16, 100
_NEAR = 0.9
#: Accuracy of the model's minimum, as a share of the first pass's error.
_SHARE = 0.1
#: Errors that count as none, and those that do when the objective no longer changes: in units of the rates, or, for
#: slopes that are no more than rounding, as a share of the objective.
_EXACT, _NEARLY_EXACT, _ROUNDING = 1e-12, 1e-6, 1e-13
#: A loss of this share of the weights is none: free features part the classes, and the optimum is at infinity.
_NO_LOSS = 1e-15


class Position(NamedTuple):
    """Where a fit stands: factor of the rates, worst error in units of the rates, objective, unit of free slopes."""

    stage: float
    worst: float
    primal: float
    free: float

    @property
    def fine(self) -> bool:
        """Whether the step should be taken with care."""
        return self.stage == 1.0 and self.worst <= _FINE


class NewtonProblem(NamedTuple):
    """X by columns, the documents, the priors (features by classes, intercepts last), largest steps by feature."""

    columns: Compressed
    sample: Sample
    prior: Penalties
    reach: FloatArray

    def smallest_flow(self, r: FloatArray) -> float:
        """Return the unit of error of unpenalised intercepts: Σ r_i,y over the class where it is smallest."""
        codes = self.sample.codes
        return max(float(np.bincount(codes, r[np.arange(codes.size), codes], r.shape[1]).min()), 1e-12)

    def step(self, position: Position, c: FloatArray, b: FloatArray, state: State, loss: float, tol: float) -> float:
        """Take one Newton step on the pairs worth moving, all rates times the stage; return the loss."""
        sample, fine = self.sample, position.fine
        pairs = choose_pairs(c, b, self.prior, position.stage * (_NEAR if fine else 1.0))
        x, own = take_pairs(b, pairs), take_pairs(c, pairs)
        l1, l2, low, high = (take_pairs(table, pairs) for table in self.prior)
        l1 *= position.stage
        reach = self.reach[pairs[0]]
        bounds = np.maximum(low, x - reach), np.minimum(high, x + reach)
        plain = np.where(l2 > 0.0, np.sqrt(l2 * position.primal), position.free)
        units = np.maximum(np.where(l1 > 0.0, l1, plain), 1e-300)
        coupling = couple(sample.s, state.p)
        entries = take_entries(self.columns, pairs, coupling, _FINE_CUT if fine else _CUT)
        new = x.copy()
        descend_model(
            pairs, entries, coupling, own, new, (l1, l2, *bounds), units, 0.3 * tol, _SHARE,
            _FINE_PASSES if fine else _PASSES,
        )  # fmt: skip
        step = new - x
        add_pairs(self.columns, pairs, step, state.move)
        loss = kinked_search(sample, state, loss, x, step, own, l1, l2)
        put_pairs(x, pairs, b)
        return loss

    def lower_bound(self, r: FloatArray, c: FloatArray) -> float:
        """Dual objective at the model's probabilities made feasible."""
        return dual_objective(self.columns, *self.sample, r, c, self.prior)

    def solve(self, b: FloatArray, tol: float, max_rounds: int) -> tuple[float, float, float, int, bool]:
        """Minimise the objective from the departures b, which are overwritten.

        Parameters
        ----------
        b : float array of shape (n_features + 1, n_classes)
            Departures from the modes, the intercepts last.
        tol : float
            Relative duality gap; where unpenalised features leave no gap, error of the slopes in units of the rates.
        max_rounds : int
            Limit of rounds.

        Returns
        -------
        primal, dual, kkt_residual, rounds, converged
        """
        codes, s, offset = self.sample
        flat = flattened(self.prior)
        state, c = self.sample.state(), np.empty_like(b)
        class_scores(self.columns, b, offset, state.z)
        loss = softmax_terms(state.z, codes, s, state.p, state.r)
        some_open = open_intercepts(self.prior).any()
        primal, dual, worst = np.inf, -np.inf, np.inf
        converged = parted = False
        stage, since, still, rounds = 0.0, 0, 0, 0
        while True:
            class_slopes(self.columns, state.r, c)
            before, primal = primal, loss + penalty(b.ravel(), *flat[:2])
            free = self.smallest_flow(state.r) if some_open else min(1.0, primal)
            worst, ratio = survey_pairs(c, b, self.prior, max(stage, 1.0), primal, free)
            since += 1
            if stage == 0.0:
                stage, since = max(ratio, 1.0), 2
            if stage > 1.0 and (worst <= _SETTLED or since > 1):
                stage, since = max(1.0, _STAGE * stage), 0
                worst, _ = survey_pairs(c, b, self.prior, stage, primal, free)
            if stage == 1.0:
                bounded = worst <= _WORTH_A_BOUND
                if bounded:
                    dual = max(dual, self.lower_bound(state.r, c))
                unbounded = bounded and dual == -np.inf
                still = still + 1 if before - primal <= 1e-15 * primal else 0
                converged = primal - dual <= tol * primal or worst <= (tol if unbounded else _EXACT)
                parted = unbounded and primal <= _NO_LOSS * s.sum()
            if converged or parted or still == 3 or rounds == max_rounds:
                break
            rounds += 1
            loss = self.step(Position(stage, worst, primal, free), c, b, state, loss, tol)
        residual = kkt_residual(c.ravel(), b.ravel(), *flat)
        if not converged:
            dual = max(dual, self.lower_bound(state.r, c))
            converged = still == 3 and (worst <= _NEARLY_EXACT or residual <= _ROUNDING * primal)
        return float(primal), dual, float(residual), max(rounds, 1), bool(converged)


def solve_useful(
    columns: Compressed, sample: Sample, prior: Penalties, reach: FloatArray, b: FloatArray, tol: float, max_rounds: int
) -> tuple[float, float, float, int, bool]:
    """Minimise the objective, features left out that can never leave their modes; see :meth:`NewtonProblem.solve`."""
    useful = useful_columns(columns, sample.s, prior)
    chosen = np.flatnonzero(useful)
    rows = np.append(chosen, useful.size)
    l1, l2, low, high = (table[rows] for table in prior)
    own = b[rows]
    problem = NewtonProblem(pick_columns(columns, chosen), sample, (l1, l2, low, high), reach[rows])
    found = problem.solve(own, tol, max_rounds)
    b[:] = 0.0
    b[rows] = own
    return found
