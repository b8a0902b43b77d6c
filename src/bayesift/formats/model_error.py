"""The error of model files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file is not a model file that this version reads, or an object cannot be stored in one.

    Examples
    --------
    >>> from bayesift.formats import ModelFileError
    >>> print(ModelFileError("spam.bayesift: the file ends too early"))
    spam.bayesift: the file ends too early
    """


class NotAModelFileError(ModelFileError):
    """A file is something else than a model file."""
