"""The posterior of a sparse model as a prior."""

from __future__ import annotations

import numpy as np

from bayesift._typing import FloatArray
from bayesift.priors import GAUSSIAN, LAPLACE, Laplace, PriorArrays


class SparsePosterior(Laplace):
    """Gaussian around what was learned, Laplace around zero.

    A coefficient that is not zero has a posterior of the form of a bell; further texts move it a little each. One that
    is zero stays so until there is evidence enough, as under the prior before.
    """

    def _arrays(self, variance: FloatArray, mode: FloatArray, sign: FloatArray) -> PriorArrays:
        found = super()._arrays(variance, mode, sign)
        learned = (mode != 0) & (found.kind == LAPLACE)
        kind = np.where(learned, GAUSSIAN, found.kind).astype(np.int8)
        weight = np.where(learned, 1.0 / np.where(learned, variance, 1.0), found.weight)
        return PriorArrays(kind, weight, found.mode, found.sign)
