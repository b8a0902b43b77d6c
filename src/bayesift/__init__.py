"""Bayesian text classification and filtering.

Import what you need from the rooms: :mod:`bayesift.datasets`, :mod:`bayesift.text`, :mod:`bayesift.select`.
The top level has only :func:`save` and :func:`load` of model files, brought in at their first use, so that
``import bayesift`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from bayesift._version import __version__

if TYPE_CHECKING:
    from bayesift.formats import load, save

__all__ = ["__version__", "load", "save"]


def __getattr__(name: str) -> Any:
    if name in ("load", "save"):
        from bayesift import formats

        return getattr(formats, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
