"""How loops are compiled: once, kept on disk, without the interpreter's lock."""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import njit


def kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function with numba; use as a decorator, with or without options of ``numba.njit``.

    The compiled code is kept beside the module, or in the user's cache where that folder is read-only. Where neither
    can be written it is compiled anew in every process.
    """
    if function is None:
        return partial(kernel, **options)
    # Nobody asks for the address of a kernel, for which numba would compile another function around it.
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:
        return njit(**options)(function)


def inner_kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function that only kernels call: quicker than :func:`kernel`, without what Python would need."""
    if function is None:
        return partial(inner_kernel, **options)
    return kernel(no_cpython_wrapper=True, **options)(function)
