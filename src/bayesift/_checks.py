"""Checks of numbers and settings from users; a message names the argument, what was found and what is expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesift._typing import BoolArray, FloatArray

Test = Callable[[FloatArray], BoolArray]


def _finite_positive(values: FloatArray) -> BoolArray:
    return (values > 0) & np.isfinite(values)


def _finite_not_negative(values: FloatArray) -> BoolArray:
    return (values >= 0) & np.isfinite(values)


def _not_nan(values: FloatArray) -> BoolArray:
    return ~np.isnan(values)


def _whole(values: FloatArray) -> BoolArray:
    return _finite_not_negative(values) & (values == np.floor(values))


def _zero_or_one(values: FloatArray) -> BoolArray:
    return (values == 0) | (values == 1)


def _inside_unit(values: FloatArray) -> BoolArray:
    return (values > 0) & (values < 1)


POSITIVE: tuple[Test, str] = (_finite_positive, "a finite number above 0")
NOT_NEGATIVE: tuple[Test, str] = (_finite_not_negative, "a finite number of at least 0")
NOT_NAN: tuple[Test, str] = (_not_nan, "a number, which may be infinite")
FINITE: tuple[Test, str] = (np.isfinite, "a finite number")
WHOLE: tuple[Test, str] = (_whole, "a whole number of at least 0")
ZERO_OR_ONE: tuple[Test, str] = (_zero_or_one, "0 or 1")
INSIDE_UNIT: tuple[Test, str] = (_inside_unit, "a number between 0 and 1, both excluded")


def plain(values: Any) -> Any:
    """Return a Python float for a single number, otherwise the array."""
    return float(values) if np.ndim(values) == 0 else values


def reads_as_number(word: str) -> bool:
    """Tell whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


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


def number(name: str, value: Any, kind: tuple[Test, str]) -> float:
    """Return ``value`` as a float after checking that it is one number, and which."""
    if np.ndim(value):
        raise TypeError(f"{name} is {value!r}; expected {kind[1]}")
    return float(numbers(name, value, kind))


def whole_number(name: str, value: Any, least: int) -> int:
    """Return ``value`` as an int after checking that it is a whole number, and not less than some."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}; expected a whole number of at least {least}")
    return int(value)


def kept(name: str, value: Any, kind: tuple[Test, str]) -> float | FloatArray:
    """Return a parameter as a float, or as a private read-only array."""
    array = numbers(name, value, kind)
    if array.ndim == 0:
        return float(array)
    array = array.copy()
    array.flags.writeable = False
    return array


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator for a seed; a generator is used as it is, and advances."""
    try:
        if isinstance(random_state, np.random.RandomState):
            # numpy takes it, but what it makes of it cannot be divided among chains.
            raise TypeError
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise type(error)(f"random_state is {random_state!r}; expected a seed, a numpy Generator or None") from error


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise an error unless a setting is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")
