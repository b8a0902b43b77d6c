"""The command line: thin shells around importable functions."""

from bayesift.cli.app import main

__all__ = ["main"]
