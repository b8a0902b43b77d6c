"""Shapes and observations of conjugate models, checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from bayesift._checks import Test, numbers
from bayesift._typing import FloatArray


def outside(value: FloatArray) -> FloatArray:
    """Return the log density outside the support: −∞, but NaN for NaN."""
    return np.where(np.isnan(value), np.nan, -np.inf)


def common_shape(**parts: Any) -> tuple[int, ...]:
    """Return the common shape of the named arrays, or say which shapes do not fit."""
    shapes = {name: np.shape(part) for name, part in parts.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        found = ", ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
        raise ValueError(f"{found}; expected shapes that broadcast with each other") from error


def column_sums(
    name: str, data: Any, kind: tuple[Test, str], *functions: Callable[[FloatArray], FloatArray]
) -> tuple[int, list[FloatArray]]:
    """Sum observations over their first axis, and also functions of them that are 0 at 0.

    A sparse matrix stays sparse. A single number is one observation.

    Returns
    -------
    n : int
        Number of observations.
    sums : list of arrays
        The sum of the observations, then one for each function.
    """
    if sparse.issparse(data):
        # Its arrays would be shared with the caller's matrix, and sorted there.
        stored = sparse.csc_array(data, copy=True)
        stored.sum_duplicates()
        values = numbers(name, stored.data, kind)
        parts = [
            sparse.csc_array((part, stored.indices, stored.indptr), shape=stored.shape)
            for part in (values, *(function(values) for function in functions))
        ]
        return int(stored.shape[0]), [np.asarray(part.sum(axis=0)).ravel() for part in parts]
    values = np.atleast_1d(numbers(name, data, kind))
    return len(values), [part.sum(axis=0) for part in (values, *(function(values) for function in functions))]


def draws_shape(size: Any, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of ``size`` draws of every element of a batch."""
    if size is None:
        return batch
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in sizes):
        raise ValueError(f"size is {size!r}; expected a whole number of at least 0, a tuple of them or None")
    return (*(int(n) for n in sizes), *batch)


def arguments(data: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    """Return sufficient statistics after checking their number."""
    if len(data) != len(names):
        raise TypeError(f"data has {len(data)} arguments; expected observations, or {' and '.join(names)}")
    return data
