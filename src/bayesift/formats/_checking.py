"""Whether the parts of a loaded model fit together: what holds for all classes, and each class's own check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

#: No machine has more cores; a file must not be able to start threads without end.
_THREADS = 4096


def check_model(model: Any) -> None:
    """Refuse a model whose parts do not fit together, with a ValueError."""
    for part in _parts(model, set()):
        _check_attributes(part)
        if isinstance(part, BaseEstimator):
            missing = [name for name in type(part)._get_param_names() if name not in vars(part)]
            if missing:
                raise ValueError(f"{type(part).__name__} has no {missing[0]}")
        elif is_dataclass(part):
            # The constructor has its own rules.
            replace(part)  # type: ignore[type-var]
        check = getattr(type(part), "_check_state", None)
        if check is not None:
            try:
                check(part)
            except (AttributeError, IndexError, TypeError) as error:
                raise ValueError(f"{type(part).__name__} has parts that do not fit together: {error}") from error


def _check_attributes(part: Any) -> None:
    """Refuse attributes that take the place of a method, and so of what a method would have checked."""
    # The default of a parameter stands in the class as well, and may be callable: a dtype is.
    parameters = type(part)._get_param_names() if isinstance(part, BaseEstimator) else ()
    for name in vars(part) if hasattr(part, "__dict__") else ():
        if name not in parameters and callable(getattr(type(part), name, None)):
            raise ValueError(f"{type(part).__name__} has an attribute in place of its method {name}")
    n_jobs: Any = getattr(part, "n_jobs", None)
    if n_jobs is not None and not (isinstance(n_jobs, (int, np.integer)) and abs(int(n_jobs)) <= _THREADS):
        raise ValueError(f"n_jobs of {type(part).__name__} is {n_jobs!r}; expected at most {_THREADS}")


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """List all objects within an object, the innermost first, each once."""
    if isinstance(value, dict):
        inner = [*value, *value.values()]
    elif isinstance(value, (list, tuple)):
        inner = list(value)
    elif type(value).__module__.startswith(("bayesift.", "sklearn.")) and hasattr(value, "__dict__"):
        inner = list(vars(value).values())
    elif isinstance(value, np.ndarray) and value.dtype == object:
        inner = value.ravel().tolist()
    else:
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    for part in inner:
        yield from _parts(part, seen)
    yield value
