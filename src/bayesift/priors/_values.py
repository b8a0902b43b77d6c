"""A number for all features, an array with one for each, or a mapping from terms: checked, kept and expanded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from bayesift._typing import BoolArray, FloatArray

Value = float | FloatArray | dict[str | int, float]

#: What :func:`at_least_zero` allows, for messages.
AT_LEAST_ZERO = "a number of at least 0, infinity included"


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def at_least_zero(values: FloatArray) -> BoolArray:
    """Tell which numbers can be variances, rates or the like."""
    return values >= 0


def kept(name: str, value: Any, allowed: Callable[[FloatArray], BoolArray], expected: str) -> Value:
    """Return a private copy of ``value`` in one of the three forms after checking every number in it."""
    if isinstance(value, Mapping):
        for key in value:
            if not (isinstance(key, str) or is_whole(key)):
                raise TypeError(f"{name} names {key!r}; expected terms (str) or column numbers (int)")
        _check(name, list(value.values()), list(value), allowed, expected)
        return {key if isinstance(key, str) else int(key): float(number) for key, number in value.items()}
    if is_number(value):
        _check(name, [value], [""], allowed, expected)
        return float(value)
    array = _check(name, value, None, allowed, expected).copy()
    array.flags.writeable = False
    return array


def _check(
    name: str, numbers: Any, labels: list[Any] | None, allowed: Callable[[FloatArray], BoolArray], expected: str
) -> FloatArray:
    try:
        array = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {numbers!r}; expected {expected}, or an array or mapping of them") from error
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; expected one value for each feature")
    wrong = np.flatnonzero(~allowed(array))
    if len(wrong):
        where = wrong[0] if labels is None else labels[wrong[0]]
        place = f" for {where!r}" if isinstance(where, str) and where else f" at {where}" if where != "" else ""
        raise ValueError(f"{name} is {array[wrong[0]]:g}{place}; expected {expected}")
    return array


def times(own: Value, factor: float) -> Value:
    """Multiply variances by a common factor; 0 (fixed) and ∞ (no penalty) stay what they are."""
    if isinstance(own, dict):
        return {key: product(number, factor) for key, number in own.items()}
    return product(own, factor)


def product(own: Any, factor: Any) -> Any:
    """Return own·factor, but own where it is 0 or ∞: 0·∞ never arises."""
    settled = np.equal(own, 0.0) | np.isinf(own)
    result = np.where(settled, own, np.where(settled, 1.0, own) * factor)
    return float(result) if result.ndim == 0 else result


def same(a: Any, b: Any) -> bool:
    """Tell whether two field values are equal, arrays element by element."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


class Columns:
    """Where each term's column is."""

    def __init__(self, n_features: int, feature_names: Iterable[str] | None, unknown: str) -> None:
        self.n_features = n_features
        self.unknown = unknown
        self.column_of: dict[str, int] | None = None
        if feature_names is not None:
            names = list(feature_names)
            if len(names) != n_features:
                raise ValueError(f"feature_names has {len(names)} names; expected {n_features}, one for each feature")
            self.column_of = {name: column for column, name in enumerate(names)}
            if len(self.column_of) != n_features:
                raise ValueError("feature_names has a name twice; expected different names")

    def spread(self, name: str, value: Value, default: float) -> FloatArray:
        """Return one number for each feature."""
        if isinstance(value, dict):
            array = np.full(self.n_features, default)
            found = [(self._find(name, key), number) for key, number in value.items()]
            for column, number in found:
                if column is not None:
                    array[column] = number
            return array
        if isinstance(value, float):
            return np.full(self.n_features, value)
        if len(value) != self.n_features:
            raise ValueError(f"{name} has {len(value)} values; expected {self.n_features}, one for each feature")
        return np.array(value)

    def _find(self, name: str, key: str | int) -> int | None:
        if isinstance(key, str) and self.column_of is None:
            raise ValueError(f"{name} names the term {key!r}, but the features have no names; pass feature_names")
        if isinstance(key, str):
            column = (self.column_of or {}).get(key)
        else:
            column = key if 0 <= key < self.n_features else None
        if column is None and self.unknown == "error":
            raise ValueError(
                f"{name} names {key!r}, which is none of the {self.n_features} features; "
                "use unknown='ignore' to leave such terms out"
            )
        return column
