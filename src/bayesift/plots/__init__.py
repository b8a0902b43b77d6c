"""Pictures, in the manner of scikit-learn's displays: an object holds the numbers, ``plot`` draws them."""

from bayesift.plots.path import RegularizationPathDisplay

__all__ = ["RegularizationPathDisplay"]
