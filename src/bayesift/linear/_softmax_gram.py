"""Products with X V Xᵀ, the prior's covariance of the scores of the documents."""

from __future__ import annotations

import numpy as np

from bayesift._kernel import kernel
from bayesift._sparse import Compressed
from bayesift._typing import FloatArray


@kernel(fastmath={"reassoc", "contract"})
def gram_times(columns: Compressed, variance: FloatArray, a: FloatArray, out: FloatArray) -> None:
    """Fill out = X V Xᵀ a, column by column; ``variance`` has one column for each class, or one for all of them."""
    indptr, indices, data = columns
    n, n_classes = a.shape
    shared = variance.shape[1] == 1
    row = np.empty(n_classes)
    for i in range(n):
        for k in range(n_classes):
            out[i, k] = 0.0
    for j in range(indptr.shape[0] - 1):
        first, end = indptr[j], indptr[j + 1]
        for k in range(n_classes):
            row[k] = 0.0
        for e in range(first, end):
            i = indices[e]
            x = data[e]
            for k in range(n_classes):
                row[k] += x * a[i, k]
        for k in range(n_classes):
            row[k] *= variance[j, 0] if shared else variance[j, k]
        for e in range(first, end):
            i = indices[e]
            x = data[e]
            for k in range(n_classes):
                out[i, k] += x * row[k]
