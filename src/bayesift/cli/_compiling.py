"""Telling the user once that loops are being compiled."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from bayesift.cli._shell import say

#: For each room the module of a kernel that all its models use.
_FIRST = {
    "text": "bayesift.text._scan",
    "logistic": "bayesift.linear._solvers.newton",
    "softmax": "bayesift.linear._solvers.softmax_newton",
    "generative": "bayesift.generative._kernels",
    "dcm": "bayesift.generative._dcm_kernels",
    "ard": "bayesift.ard.tagging._integrals",
    "online": "bayesift.online._moments",
}

_ROOMS = {
    "lasso": "logistic",
    "ridge": "logistic",
    "probit": "logistic",
    "probit-ridge": "logistic",
    "jeffreys": "logistic",
    "polytomous": "softmax",
    "polytomous-ridge": "softmax",
    "nb": "generative",
    "bernoulli": "generative",
    "dcm": "dcm",
    "perceptron": "online",
    "process": "online",
}


def say_if_compiling(model: str | None = None, *, quiet: bool = False) -> None:
    """Say that the first use compiles, if the kernels that a command needs are in no cache yet.

    Parameters
    ----------
    model : str, optional
        The model to be trained; without it only texts are read.
    quiet : bool
        Say nothing.
    """
    wanted = ["text", _ROOMS[model]] if model in _ROOMS else ["text"]
    if quiet or all(map(is_compiled, (_FIRST[room] for room in wanted))):
        return
    seconds = "half a minute or more" if len(wanted) > 1 else "some seconds"
    if _indices(_FIRST["text"]):
        say(f"First use: compiling, which takes {seconds}; the result is kept for the next time.")
    else:
        say(
            f"Compiling, which takes {seconds} each time: there is no folder to keep the result in. "
            f"Set NUMBA_CACHE_DIR to one that can be written."
        )


def is_compiled(module: str) -> bool:
    """Tell whether some kernel of a module is in the cache on the disk."""
    return any(path.exists() for path in _indices(module))


def _indices(module: str) -> list[Path]:
    """List the files in which numba lists the compiled forms of a module's kernels, whether they exist or not."""
    kernels = [value for value in vars(import_module(module)).values() if hasattr(value, "py_func")]
    return [path for path in map(_index, kernels) if path is not None]


def _index(kernel: Any) -> Path | None:
    """Return the file in which numba lists the compiled forms of a kernel; None where nothing is kept."""
    stored = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    path = getattr(stored, "_index_path", None)
    return None if path is None else Path(path)
