"""Optional packages, imported when needed; if one is missing, the error has the command to install it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional package or say how to install it.

    Parameters
    ----------
    module : str
        Name of the module to import.
    extra : str
        The extra of Bayesift that installs it.
    purpose : str
        What it is needed for; ends the sentence "... is needed for".

    Returns
    -------
    module
        The imported module.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{package} is needed for {purpose} and is not installed; run: pip install 'bayesift[{extra}]'"
        ) from error
