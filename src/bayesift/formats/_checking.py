"""Check whether the parts of a loaded model fit together: by rules for all classes, and by each class's own check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from bayesift._state import MOST_FEATURES, MOST_THREADS, State, shown
from bayesift.formats._writing import DEEPEST

#: Errors that a check may run into if something in a file is not what it expects.
_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, RecursionError)

#: Most containers in the parameters of an estimator, each counted as often as it is referred to.
_CONTAINERS = 20_000
_BITS = 64
_HOLDERS = (BaseEstimator, dict, list, tuple, set, frozenset, np.ndarray)

#: Largest values of some parameters, because arrays of these sizes are made before any document is read.
_LARGEST = {
    "n_jobs": MOST_THREADS,
    "n_features": MOST_FEATURES,
    "rank": 2048,
    "n_nodes": 100_000,
    "min_categories": 1_000_000,
    "folds": 10_000,
    "restarts": 10_000,
    "passes": 10_000,
}

_OUTPUT = "_sklearn_output_config"
_OUTPUTS = [{"transform": kind} for kind in ("default", "pandas", "polars")]


def check_model(model: Any, attributes_of: Callable[[Any], Mapping[str, Any]] = vars) -> None:
    """Refuse a model whose parts do not fit together, with a ValueError.

    For a model about to be saved, ``attributes_of`` returns what is written of a part, which may be less than it has.
    """
    for part in _parts(model, set()):
        if isinstance(part, (dict, list, tuple, np.ndarray)):
            continue
        try:
            _check_part(part, attributes_of(part))
        except ValueError:
            raise
        except _MISFITS as error:
            raise ValueError(f"{type(part).__name__} has parts that do not fit together: {error}") from error


def check_takes_texts(model: Any) -> None:
    """Refuse, with a ValueError, a model whose vectorizer reads the files that its documents name."""
    for part in _parts(model, set()):
        source = getattr(part, "input", "content")
        if source != "content":
            raise ValueError(
                f"{type(part).__name__} has input={shown(source)}, with which it reads the files that its documents "
                "name; expected 'content'. Give read_files=True if that is what you want"
            )


def _check_part(part: Any, attributes: Mapping[str, Any]) -> None:
    _check_attributes(part, attributes)
    if isinstance(part, BaseEstimator):
        _check_parameters(part)
        state = State(part, attributes, without=_parameters(type(part)))
        if state.has(_OUTPUT):
            # What set_output of scikit-learn leaves.
            state.require(attributes[_OUTPUT] in _OUTPUTS and state.instance(_OUTPUT, dict), "settings of the output")
        if not state.left:
            # Not fitted.
            return
    elif is_dataclass(part):
        _check_record(part, attributes)
        own = [] if hasattr(part, "_check_state") else [field.name for field in fields(part)]
        state = State(part, attributes, without=own)
    else:
        state = State(part, attributes)
    check = getattr(part, "_check_state", None)
    if check is not None:
        check(state)
    if state.left:
        raise ValueError(f"{type(part).__name__} has an attribute {sorted(state.left)[0]}, which is none of its own")


def _check_record(part: Any, attributes: Mapping[str, Any]) -> None:
    """Refuse a record unless its own constructor would make the same from its entries."""
    made: dict[str, Any] = vars(replace(part))
    odd = made.keys() ^ attributes.keys()
    if odd:
        raise ValueError(f"{type(part).__name__} has not its own attributes: {sorted(odd)[0]}")
    given = {entry.name for entry in fields(part) if entry.init}
    for name, value in attributes.items():
        if type(value) is not type(made[name]) or (name not in given and value != made[name]):
            raise ValueError(f"{name} of {type(part).__name__} is {shown(value)}, which it cannot be")


def _parameters(kind: Any) -> list[str]:
    """Return the names of the parameters of an estimator; scikit-learn reads the signature every time."""
    if kind not in _names:
        _names[kind] = kind._get_param_names()
    return _names[kind]


_names: dict[Any, list[str]] = {}


def _check_attributes(part: Any, attributes: Mapping[str, Any]) -> None:
    """Refuse attributes that replace a method, and so what the method would have checked."""
    # The default of a parameter is in the class too, and may be callable, as a dtype is.
    parameters = _parameters(type(part)) if isinstance(part, BaseEstimator) else ()
    for name, value in attributes.items():
        if name not in parameters and callable(getattr(type(part), name, None)):
            raise ValueError(f"{type(part).__name__} has an attribute in place of its method {name}")
        if isinstance(value, int) and value.bit_length() > _BITS:
            raise ValueError(f"{name} of {type(part).__name__} has more than {_BITS} bits")
        # A type is a function as well, which would be called where functions are allowed.
        if isinstance(value, type) and name != "dtype":
            raise ValueError(f"{name} of {type(part).__name__} is a type")


def _check_parameters(part: Any) -> None:
    """Refuse an estimator that lacks a parameter, or has one that it would itself refuse."""
    missing = [name for name in _parameters(type(part)) if name not in vars(part)]
    if missing:
        raise ValueError(f"{type(part).__name__} has no {missing[0]}")
    _check_nesting(part)
    for name, most in _LARGEST.items():
        value: Any = getattr(part, name, None)
        if value is not None and np.any(np.abs(np.asarray(value, dtype=np.float64)) > most):
            raise ValueError(f"{name} of {type(part).__name__} is {shown(value)}; expected at most {most}")
    if isinstance(part, Pipeline):
        _check_pipeline(part)
    elif hasattr(part, "_check_parameters"):
        part._check_parameters()
    elif hasattr(part, "_parameter_constraints"):
        part._validate_params()


def _check_nesting(part: Any) -> None:
    """Refuse endlessly nested lists, which take forever to print, copy and compare.

    Integers far beyond the range of floats are refused too.
    """
    left, n_found = [(part, 0)], 0
    while left:
        value, depth = left.pop()
        n_found += 1
        if n_found > _CONTAINERS or depth > DEEPEST:
            raise ValueError(f"{type(part).__name__} has too many lists within lists among its parameters")
        held = _within(value)
        left += [(inner, depth + 1) for inner in held if isinstance(inner, _HOLDERS)]
        if any(isinstance(inner, int) and inner.bit_length() > _BITS for inner in held):
            raise ValueError(f"{type(part).__name__} has a whole number of more than {_BITS} bits in its parameters")


def _within(value: Any) -> list[Any]:
    """List the parameters of an estimator or the contents of a container."""
    if isinstance(value, BaseEstimator):
        return [vars(value).get(name) for name in _parameters(type(value))]
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype == object else []
    return list(value)


def _check_pipeline(part: Pipeline) -> None:
    """Refuse invalid steps, and a cache folder: what is read from there is trusted like code."""
    if part.memory is not None:
        raise ValueError(f"memory of Pipeline is {shown(part.memory)}; expected None")
    steps = part.steps
    named = type(steps) is list and all(type(step) is tuple and len(step) == 2 for step in steps)
    if not named or not steps or not all(type(name) is str for name, _ in steps):
        raise ValueError("Pipeline has no steps with names")
    odd = [step for _, step in steps if not isinstance(step, BaseEstimator)]
    if odd:
        raise ValueError(f"Pipeline has the step {shown(odd[0])}; expected estimators")
    if type(part.verbose) is not bool or part.transform_input is not None:
        raise ValueError("Pipeline has settings that no model file has")


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """List all objects in an object, the innermost first, each once."""
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
