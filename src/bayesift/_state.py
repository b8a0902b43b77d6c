"""Checks of objects that were made from a file.

Compiled kernels do not check whether an index is within an array, and a file may come from anybody. So every class that
a model file may hold has a method ``_check_state``, which gets a :class:`State` and asks it for every attribute except
the parameters: its shape, its type, and the range of numbers used as indices or sizes. An attribute that is missing,
does not fit, or was not asked for raises a ValueError, so a check can neither overlook an attribute nor end before it
has seen them all. Saving and loading call the method for every object in a model, the innermost first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from math import inf
from reprlib import Repr
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

#: Kinds of the entries that labels of classes may have.
LABEL_KINDS = "biufUSO"

#: The most columns of a model in a file: a sparse matrix of a few bytes may claim any number, and an array with that
#: many entries would be made when it is used.
MOST_FEATURES = 2**25

#: The most threads: no machine has more cores, and a file must not be able to start any number of threads.
MOST_THREADS = 4096

_TARGET_TYPES = ("binary", "multiclass", "multilabel-indicator")
_TYPES = {"f": np.float64, "s": np.float32, "i": np.int64, "b": np.bool_}

Kind = TypeVar("Kind")

_shortened = Repr()
_shortened.maxstring = _shortened.maxother = 60


def shown(value: Any) -> str:
    """Return a value from a file in a short form for messages, however long it is."""
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return f"{value.dtype}{list(value.shape)}"
    return _shortened.repr(value) if isinstance(value, (bool, int, float, str)) else type(value).__name__


class State:
    """The attributes of an object, all of which a check must look at.

    Parameters
    ----------
    part : object or named tuple
        The object with the attributes.
    attributes : mapping from str to object, optional
        The attributes; by default the fields of a named tuple.
    without : iterable of str
        Attributes that are checked elsewhere: the parameters of an estimator.
    """

    def __init__(self, part: Any, attributes: Mapping[str, Any] | None = None, *, without: Iterable[str] = ()) -> None:
        self._name = type(part).__name__
        self._values: Mapping[str, Any] = part._asdict() if attributes is None else attributes
        self._left = set(self._values) - set(without)

    @property
    def left(self) -> set[str]:
        """Names of the attributes that have not been looked at yet."""
        return self._left

    def has(self, name: str) -> bool:
        """Return whether an optional attribute is there."""
        return name in self._values

    def value(self, name: str) -> Any:
        """Return an attribute, which the caller must check."""
        if name not in self._values:
            raise ValueError(f"{self._name} has no {name}")
        self._left.discard(name)
        return self._values[name]

    def require(self, holds: Any, what: str) -> None:
        """Refuse the object unless a condition holds; ``what`` names the things that otherwise do not fit together."""
        if not holds:
            raise ValueError(f"{self._name} has {what} that do not fit together")

    def instance(self, name: str, kind: type[Kind]) -> Kind:
        """Return an attribute that is an object of exactly this type."""
        value = self.value(name)
        if type(value) is not kind:
            raise self._refusal(name, value, kind.__name__)
        return value

    def array(self, name: str, shape: tuple[int | None, ...], kind: str = "f", least: float = -inf) -> Any:
        """Return an attribute that is an array of this shape (None: any length) and kind of entries.

        The kinds are floats of double ("f") and single precision ("s"), integers of 64 bits ("i") and booleans ("b").
        With ``least``, all numbers must be finite and at least that.
        """
        value = self.value(name)
        check_table(value, shape, kind, f"{name} of {self._name}", least)
        return value

    def matrix(self, name: str, shape: tuple[int | None, ...]) -> Any:
        """Return an attribute that is an array of numbers, or a sparse matrix in CSR form, of this shape."""
        value = self.value(name)
        if not sp.issparse(value):
            return self.array(name, shape)
        if value.format != "csr" or value.dtype != np.float64 or not _has_shape(value, shape):
            raise self._refusal(name, value, f"float64{list(shape)}")
        return value

    def count(self, name: str, least: int = 0, most: int = 2**62) -> int:
        """Return an attribute that is a whole number of at least 0, or within other limits."""
        value = self.value(name)
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value <= most:
            raise self._refusal(name, value, f"a count from {least} to {most}" if most < 2**62 else "a count")
        return int(value)

    def number(self, name: str) -> float:
        """Return an attribute that is a float, which may be infinite or NaN."""
        value = self.value(name)
        if not isinstance(value, float):
            raise self._refusal(name, value, "a number")
        return value

    def choice(self, name: str, *options: Any) -> Any:
        """Return an attribute that is one of a few values."""
        value = self.value(name)
        if not any(type(value) is type(option) and value == option for option in options):
            raise self._refusal(name, value, f"one of {options}")
        return value

    def entries(self, name: str, length: int | None = None) -> list[Any]:
        """Return an attribute that is a list, of a given length."""
        value = self.instance(name, list)
        if length not in (None, len(value)):
            raise self._refusal(name, value, f"a list of {length}")
        return value

    def threads(self) -> None:
        """Refuse an invalid number of threads; the limit is the same for all objects."""
        if self.value("n_jobs") is not None:
            self.count("n_jobs", -MOST_THREADS, MOST_THREADS)

    def features(self) -> int:
        """Return the number of features; if there are names, there must be as many."""
        n: int = self.count("n_features_in_", 0, MOST_FEATURES)
        if self.has("feature_names_in_"):
            names = self.value("feature_names_in_")
            fits = isinstance(names, np.ndarray) and names.dtype == object and names.shape == (n,)
            self.require(fits and all(isinstance(name, str) for name in names), "features and names")
        return n

    def labels(self, n: int | None = None) -> Any:
        """Return the labels of the classes, which must be distinct, in order, and as many as given."""
        value = self.value("classes_")
        if not (isinstance(value, np.ndarray) and value.dtype.kind in LABEL_KINDS and _has_shape(value, (n,))):
            raise self._refusal("classes_", value, f"labels{[n]}")
        ordered = _in_order(value)
        self.require(ordered, "labels")
        return value

    def targets(self) -> tuple[Any, Any]:
        """Return the labels of the classes and the kind of targets, which is binary only with two classes."""
        classes, kind = self.labels(), self.choice("target_type_", *_TARGET_TYPES)
        self.require(classes.size == 2 if kind == "binary" else classes.size > 0, "targets and classes")
        return classes, kind

    def _refusal(self, name: str, value: Any, expected: str) -> ValueError:
        return ValueError(f"{name} of {self._name} is {shown(value)}; expected {expected}")


@contextmanager
def unchanged_by_errors(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if the block raises.

    A fit that fails halfway would leave the number of features of the new documents with weights for the old ones.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_table(value: Any, shape: tuple[int | None, ...], kind: str, name: str, least: float = -inf) -> None:
    """Refuse anything but an array of this shape, kind and range; see :meth:`State.array`."""
    if type(value) not in (np.ndarray, np.memmap) or value.dtype != _TYPES[kind] or not _has_shape(value, shape):
        raise ValueError(f"{name} is {shown(value)}; expected {np.dtype(_TYPES[kind])}{list(shape)}")
    if least > -inf and value.size and not (value.min() >= least and value.max() < inf):
        raise ValueError(f"{name} has numbers that are not from {least:g} on and finite")


def are_columns(columns: Any, n_features: int) -> bool:
    """Return whether an array lists distinct columns out of this many."""
    if type(columns) not in (np.ndarray, np.memmap) or columns.ndim != 1 or columns.dtype != np.int64:
        return False
    distinct = np.unique(columns)
    return distinct.size == columns.size and (not columns.size or 0 <= distinct[0] <= distinct[-1] < n_features)


def _has_shape(value: Any, shape: tuple[int | None, ...]) -> bool:
    return value.ndim == len(shape) and all(n in (None, found) for n, found in zip(shape, value.shape, strict=True))


def _in_order(labels: Any) -> bool:
    """Return whether labels are distinct and in ascending order, as the search for one of them assumes."""
    if labels.dtype == object:
        plain = all(isinstance(label, (str, int, float, np.generic)) for label in labels)
        if not plain:
            return False
        try:
            return all(before < after for before, after in pairwise(labels))
        except TypeError:
            return False
    return bool(np.all(labels[:-1] < labels[1:]))
