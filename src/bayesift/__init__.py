"""Bayesian text classification and filtering.

Import what you need from the rooms: :mod:`bayesift.datasets`, :mod:`bayesift.text`, :mod:`bayesift.select`.
The top level stays empty so that ``import bayesift`` costs nothing.
"""

from bayesift._version import __version__

__all__ = ["__version__"]
