"""The model file, and files of other programs: what they say, read and written without loss."""

from bayesift.formats.description import ModelDescription, describe
from bayesift.formats.model_error import ModelFileError, NotAModelFileError
from bayesift.formats.model_file import load, save

__all__ = ["ModelDescription", "ModelFileError", "NotAModelFileError", "describe", "load", "save"]
