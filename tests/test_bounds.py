"""Under ``make check-bounds`` the kernels do check their indices."""

import os

import numpy as np
import pytest

from bayesift.text._count import collapse


@pytest.mark.skipif(
    os.environ.get("NUMBA_BOUNDSCHECK") != "1", reason="kernels without checks would read beyond the array"
)
def test_an_index_beyond_the_array_is_an_error():
    with pytest.raises(IndexError):
        collapse(np.array([0, 5], dtype=np.int32), np.array([2]), 3)
