"""How good a fit is, with proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesift._state import State
from bayesift._typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Certificate:
    """Numbers that prove how close a fit is to the optimum, one entry for each category.

    The objective F(β) is the sum of losses plus penalties. No coefficients can bring it below ``dual``, so
    F(β) − min F ≤ ``gap``. If a feature other than the intercept has no penalty, there is no cheap dual bound: the gap
    is then infinite, and ``kkt_residual`` says how far the slopes are from those of an optimum.

    Parameters
    ----------
    objective : float array of shape (n_categories,)
        F(β), the negative log posterior up to a constant.
    dual : float array of shape (n_categories,)
        A lower bound on the minimum of the objective.
    kkt_residual : float array of shape (n_categories,)
        Largest distance of a slope of the loss from the subdifferential of the penalty.
    passes : int array of shape (n_categories,)
        Rounds of the solver.
    seconds : float array of shape (n_categories,)
        Time taken by the final fit.
    converged : bool array of shape (n_categories,)
        Whether the solver met its stopping criterion.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(1)
    >>> Certificate(2 * one, 1.5 * one, 0 * one, 3 * one, 0.1 * one, one > 0).gap
    array([0.5])
    """

    objective: FloatArray
    dual: FloatArray
    kkt_residual: FloatArray
    passes: AnyArray
    seconds: FloatArray
    converged: BoolArray

    def _check_state(self, state: State) -> None:
        n = state.array("objective", (None,)).size
        for name in ("dual", "kkt_residual", "seconds"):
            state.array(name, (n,))
        state.array("passes", (n,), "i")
        state.array("converged", (n,), "b")

    @property
    def gap(self) -> FloatArray:
        """Bound on how much smaller the objective could be; at least 0."""
        return np.maximum(self.objective - self.dual, 0.0)

    @property
    def relative_gap(self) -> FloatArray:
        """The gap as a share of the objective."""
        return self.gap / np.maximum(np.abs(self.objective), np.finfo(np.float64).tiny)
