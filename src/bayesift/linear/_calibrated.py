"""Calibrated probabilities: scores mapped by a line that was fitted to held-out documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from bayesift._state import State
from bayesift._typing import FloatArray
from bayesift.linear._fit.platt import Line

#: No slope or intercept of a model in a file is greater.
_MOST = 1e100


class CalibratedScores:
    """What linear models do with ``calibration``; stands before the class that has linear scores.

    A calibrated score is a linear function of the linear score, and so still linear in the document. Everything derived
    from scores is calibrated; the coefficients stay at the mode, where the certificate and later priors need them.
    """

    calibration: Literal["sigmoid"] | None
    calibration_: FloatArray

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each category: an array of shape (n_documents,) for two classes.

        It is the linear score β₀ + xᵀβ; with ``calibration``, this score mapped by the line in ``calibration_``.
        """
        plain: FloatArray = super().decision_function(X)  # type: ignore[misc]
        return self._calibrated(plain)

    def word_weights(self) -> Any:
        """Return what one unit of each feature adds to the scores: ``coef_``, with ``calibration`` times the slope."""
        return self._scaled(super().word_weights())  # type: ignore[misc]

    def linear_scores(self) -> tuple[Any, FloatArray] | None:
        """Return the weights and intercepts that give the scores, calibrated or not, as a linear function."""
        weights, intercept = super().linear_scores()  # type: ignore[misc]
        return self._scaled(weights), self._calibrated(intercept)

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        """Put linear scores on the lines of their categories."""
        lines = getattr(self, "calibration_", None)
        if lines is None:
            return scores
        slope, intercept = lines.T
        return slope * scores + intercept

    def _scaled(self, weights: Any) -> Any:
        """Multiply the weights of every category by its slope."""
        lines = getattr(self, "calibration_", None)
        if lines is None:
            return weights
        return sp.diags_array(lines[:, 0]).dot(weights).tocsr() if sp.issparse(weights) else lines[:, :1] * weights

    def _set_calibration(self, lines: Sequence[Line]) -> None:
        """Keep the lines of the categories, or forget those of an earlier fit."""
        vars(self).pop("calibration_", None)
        if self.calibration is not None:
            self.calibration_ = np.array(lines, dtype=np.float64)

    def _check_calibration(self, state: State, n_rows: int) -> None:
        """Refuse, in a model file, lines that do not fit the coefficients, or turn scores around."""
        if state.has("calibration_"):
            lines = state.array("calibration_", (n_rows, 2), least=-_MOST)
            state.require(np.all(lines[:, 0] > 0) and np.all(np.abs(lines) <= _MOST), "calibrated scores")
