"""Names, items and weights of hypotheses, checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesift._typing import FloatArray


def numbered(name: str, values: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the place of every value, after a look whether any comes twice."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is {values!r}; expected a sequence of them")
    places: dict[Hashable, int] = {}
    for place, value in enumerate(values):
        if places.setdefault(value, place) != place:
            raise ValueError(f"{name} holds {value!r} twice; expected each once")
    return places


def listed(name: str, values: Any) -> list[Hashable]:
    """Return items as a list; a single one, or a string, is not meant."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is {values!r}; expected a list of items")
    return list(values)


def strings(name: str, values: Sequence[Any]) -> Sequence[str]:
    """Return names after checking that they are strings."""
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} holds {value!r}; expected strings")
    return values


def checked_prior(name: str, weights: Any, names: Sequence[str]) -> FloatArray:
    """Return the logarithms of weights divided by their sum; equal weights for None."""
    if weights is None:
        return np.full(len(names), -np.log(len(names)))
    if isinstance(weights, Mapping):
        odd = set(weights) ^ set(names)
        if odd:
            raise ValueError(
                f"{name} and the names of the hypotheses differ in {min(odd, key=str)!r}; expected the same"
            )
        weights = [weights[key] for key in names]
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {weights!r}; expected numbers") from error
    if array.shape != (len(names),):
        raise ValueError(f"{name} has shape {array.shape}; expected ({len(names)},), one weight for each")
    wrong = np.flatnonzero(~((array >= 0) & np.isfinite(array)))
    if len(wrong):
        raise ValueError(f"{name} is {array[wrong[0]]:g} at {wrong[0]}; expected a finite number of at least 0")
    if not array.any():
        raise ValueError(f"{name} has sum 0; expected at least one weight above 0")
    with np.errstate(divide="ignore"):
        return np.log(array) - np.log(array.sum())
