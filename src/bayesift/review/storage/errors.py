"""What can be wrong with a project: each is also the built-in error that a caller would expect."""

from __future__ import annotations


class ProjectError(ValueError):
    """A file or a database is not a project that this version can open."""


class NotSavedError(OSError):
    """Something could not be written: the disk is full, or the database does not answer."""
