"""Compile loops: once, cached on disk, and without the interpreter's lock."""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import njit


def kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function with numba; use as a decorator, with or without options of ``numba.njit``.

    The compiled code is kept beside the module, or in the user's cache if that folder is read-only. If neither can be
    written, it is compiled again in every process.
    """
    if function is None:
        return partial(kernel, **options)
    # Nobody needs the address of a kernel, for which numba would compile a wrapper function.
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:
        return njit(**options)(function)


def inner_kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function that only kernels call: faster than :func:`kernel`, as it need not be callable from Python."""
    if function is None:
        return partial(inner_kernel, **options)
    return kernel(no_cpython_wrapper=True, **options)(function)
