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
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        return njit(nogil=True, **options)(function)
