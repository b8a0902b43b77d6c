"""Whether the parts of a loaded model fit together: what holds for all classes, and each class's own check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from bayesift._state import MOST_THREADS, State, shown

#: What a check may run into with something from a file that is not what it takes it for.
_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, RecursionError)

_OUTPUT = "_sklearn_output_config"
_OUTPUTS = [{"transform": kind} for kind in ("default", "pandas", "polars")]


def check_model(model: Any, attributes_of: Callable[[Any], Mapping[str, Any]] = vars) -> None:
    """Refuse a model whose parts do not fit together, with a ValueError.

    Of a model that is to be saved ``attributes_of`` says what is written of a part, which may be less than it has.
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
    """Refuse a model with a vectorizer that takes names of files for texts, with a ValueError."""
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
        state = State(part, attributes, without=type(part)._get_param_names())
        if state.has(_OUTPUT):
            # What set_output of scikit-learn leaves.
            state.require(attributes[_OUTPUT] in _OUTPUTS and state.instance(_OUTPUT, dict), "settings of the output")
        if not state.left:
            # Not fitted.
            return
    elif is_dataclass(part):
        # The constructor has its own rules.
        replace(part)  # type: ignore[type-var]
        own = [] if hasattr(part, "_check_state") else [field.name for field in fields(part)]
        state = State(part, attributes, without=own)
    else:
        state = State(part, attributes)
    check = getattr(part, "_check_state", None)
    if check is not None:
        check(state)
    if state.left:
        raise ValueError(f"{type(part).__name__} has an attribute {sorted(state.left)[0]}, which is none of its own")


def _check_attributes(part: Any, attributes: Mapping[str, Any]) -> None:
    """Refuse attributes that take the place of a method, and so of what a method would have checked."""
    # The default of a parameter stands in the class as well, and may be callable: a dtype is.
    parameters = type(part)._get_param_names() if isinstance(part, BaseEstimator) else ()
    for name, value in attributes.items():
        if name not in parameters and callable(getattr(type(part), name, None)):
            raise ValueError(f"{type(part).__name__} has an attribute in place of its method {name}")
        # A type is a function as well, which would be called where functions are allowed.
        if isinstance(value, type) and name != "dtype":
            raise ValueError(f"{name} of {type(part).__name__} is a type")


def _check_parameters(part: Any) -> None:
    """Refuse an estimator that lacks a parameter, or has one that it would refuse itself."""
    missing = [name for name in type(part)._get_param_names() if name not in vars(part)]
    if missing:
        raise ValueError(f"{type(part).__name__} has no {missing[0]}")
    n_jobs: Any = getattr(part, "n_jobs", None)
    if n_jobs is not None and not (isinstance(n_jobs, (int, np.integer)) and abs(int(n_jobs)) <= MOST_THREADS):
        raise ValueError(f"n_jobs of {type(part).__name__} is {shown(n_jobs)}; expected at most {MOST_THREADS}")
    if isinstance(part, Pipeline):
        _check_pipeline(part)
    elif hasattr(part, "_check_parameters"):
        part._check_parameters()
    elif hasattr(part, "_parameter_constraints"):
        part._validate_params()


def _check_pipeline(part: Pipeline) -> None:
    """Refuse steps that are none, and a folder for results: what is read from there is trusted as code is."""
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
