"""Parameters and data as arrays, checked once at the door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from bayesift._typing import BoolArray, FloatArray

Test = Callable[[FloatArray], BoolArray]


def _finite_positive(values: FloatArray) -> BoolArray:
    return (values > 0) & np.isfinite(values)


def _finite_not_negative(values: FloatArray) -> BoolArray:
    return (values >= 0) & np.isfinite(values)


def _whole(values: FloatArray) -> BoolArray:
    return _finite_not_negative(values) & (values == np.floor(values))


def _zero_or_one(values: FloatArray) -> BoolArray:
    return (values == 0) | (values == 1)


def _inside_unit(values: FloatArray) -> BoolArray:
    return (values > 0) & (values < 1)


POSITIVE: tuple[Test, str] = (_finite_positive, "a finite number above 0")
NOT_NEGATIVE: tuple[Test, str] = (_finite_not_negative, "a finite number of at least 0")
FINITE: tuple[Test, str] = (np.isfinite, "a finite number")
WHOLE: tuple[Test, str] = (_whole, "a whole number of at least 0")
ZERO_OR_ONE: tuple[Test, str] = (_zero_or_one, "0 or 1")
INSIDE_UNIT: tuple[Test, str] = (_inside_unit, "a number between 0 and 1, both excluded")


def plain(values: Any) -> Any:
    """Return a Python float where there is one number only, the array otherwise."""
    return float(values) if np.ndim(values) == 0 else values


def outside(value: FloatArray) -> FloatArray:
    """Return the log density where there is none: −∞, but NaN for NaN."""
    return np.where(np.isnan(value), np.nan, -np.inf)


def numbers(name: str, value: Any, kind: tuple[Test, str]) -> FloatArray:
    """Return ``value`` as an array after checking every number in it."""
    allowed, expected = kind
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {value!r}; expected {expected}, or an array of such") from error
    right = allowed(array)
    if not right.all():
        first = tuple(int(i) for i in np.argwhere(~right)[0])
        place = f" at {first if len(first) > 1 else first[0]}" if first else ""
        raise ValueError(f"{name} is {array[first]:g}{place}; expected {expected}")
    return array


def kept(name: str, value: Any, kind: tuple[Test, str]) -> float | FloatArray:
    """Return a parameter as a float or as a private array that nobody can write to."""
    array = numbers(name, value, kind)
    if array.ndim == 0:
        return float(array)
    array = array.copy()
    array.flags.writeable = False
    return array


def common_shape(**parts: Any) -> tuple[int, ...]:
    """Return the shape that the named arrays have together, or say which shapes do not fit."""
    shapes = {name: np.shape(part) for name, part in parts.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        found = ", ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
        raise ValueError(f"{found}; expected shapes that broadcast with each other") from error


def column_sums(
    name: str, data: Any, kind: tuple[Test, str], *functions: Callable[[FloatArray], FloatArray]
) -> tuple[int, list[FloatArray]]:
    """Sum observations over their first axis, and functions of them that are 0 at 0 as well.

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


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator that a seed stands for; a generator is used as it is, and moves on."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise type(error)(f"random_state is {random_state!r}; expected a seed, a numpy Generator or None") from error


def draws_shape(size: Any, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of ``size`` draws of every element of a batch."""
    if size is None:
        return batch
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in sizes):
        raise ValueError(f"size is {size!r}; expected a whole number of at least 0, a tuple of them or None")
    return (*(int(n) for n in sizes), *batch)


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Complain unless a setting is one of a few words."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")


def arguments(data: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    """Return sufficient statistics after counting them."""
    if len(data) != len(names):
        raise TypeError(f"data has {len(data)} arguments; expected observations, or {' and '.join(names)}")
    return data
