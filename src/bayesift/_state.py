"""Checks of an object that was made from a file.

Compiled kernels do not ask whether an index lies within an array. A class whose arrays they get therefore has a method
``_check_state``, which looks at shapes and at numbers that serve as indices, and raises a ValueError (or lets an
AttributeError, IndexError or TypeError through) where they do not fit together. Saving and loading call it for every
object within a model, the innermost first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

#: Kinds of the entries that labels of classes may have.
LABEL_KINDS = "biufUSO"


def check_array(part: Any, name: str, shape: tuple[int | None, ...], kinds: str = "f") -> None:
    """Refuse an attribute that is no array of this shape (None: any length) and kind of entries.

    Parameters
    ----------
    part : object
        Whose attribute it is.
    name : str
        Of the attribute.
    shape : tuple of int or None
    kinds : str, default="f"
        The letters of numpy for the kinds of entries allowed.
    """
    array: Any = getattr(part, name, None)
    fits = (
        (isinstance(array, np.ndarray) or sp.issparse(array))
        and array.dtype.kind in kinds
        and array.ndim == len(shape)
        and all(expected in (None, found) for expected, found in zip(shape, array.shape, strict=True))
    )
    if not fits:
        found = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"{name} of {type(part).__name__} is {found}; expected {list(shape)}")


def check_fit(holds: bool, part: Any, what: str) -> None:
    """Refuse an object unless something holds; ``what`` names the things that do not fit together otherwise."""
    if not holds:
        raise ValueError(f"{type(part).__name__} has {what} that do not fit together")


def checked_count(part: Any, name: str) -> int:
    """Return an attribute that is a whole number of at least 0; refuse any other."""
    value = getattr(part, name, None)
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} of {type(part).__name__} is {value!r}; expected a count")
    return int(value)


def are_columns(columns: Any, n_features: int) -> bool:
    """Return whether an array lists different columns of so many."""
    if not isinstance(columns, np.ndarray) or columns.ndim != 1 or columns.dtype.kind not in "iu":
        return False
    distinct = np.unique(columns)
    return distinct.size == columns.size and bool(np.all((distinct >= 0) & (distinct < n_features)))
