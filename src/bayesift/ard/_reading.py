"""Tags from any matrix of zeros and ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def read_tags(X: Any, binarize: float | None) -> Any:
    """Return a matrix by rows that holds ones only, from one of zeros and ones; others need ``binarize``.

    ``X`` is left as it is.
    """
    if binarize is not None:
        if sp.issparse(X) and binarize < 0:
            raise ValueError(
                f"binarize={binarize} would turn the zeros of a sparse matrix into ones; expected 0 or greater"
            )
        X = binarize < X
    tags = sp.csr_matrix(X, dtype=np.float64, copy=True)
    tags.sum_duplicates()
    tags.eliminate_zeros()
    wrong = np.flatnonzero(tags.data != 1.0)
    if wrong.size:
        raise ValueError(
            f"X must hold tags, zeros and ones only, but has the value {tags.data[wrong[0]]:g} (and {wrong.size - 1} "
            f"more that are neither); pass binarize=0.0 to count every value above 0 as a tag"
        )
    return tags
