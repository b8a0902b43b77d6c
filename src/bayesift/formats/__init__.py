"""The model file: a whole pipeline in one file that cannot run code."""

from bayesift.formats._container import ModelFileError, NotAModelFileError
from bayesift.formats.model_file import ModelDescription, describe, load, save

__all__ = ["ModelDescription", "ModelFileError", "NotAModelFileError", "describe", "load", "save"]
