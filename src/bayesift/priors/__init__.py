"""Prior knowledge: Gaussian, Laplace and Jeffreys priors, common or per term, and ways to build them."""

from bayesift.priors.arrays import FIXED, FLAT, GAUSSIAN, JEFFREYS, LAPLACE, PriorArrays
from bayesift.priors.base import Prior
from bayesift.priors.builders import from_description, from_frequencies, from_keywords, from_model
from bayesift.priors.families import Gaussian, Jeffreys, Laplace

__all__ = [
    "FIXED",
    "FLAT",
    "GAUSSIAN",
    "JEFFREYS",
    "LAPLACE",
    "Gaussian",
    "Jeffreys",
    "Laplace",
    "Prior",
    "PriorArrays",
    "from_description",
    "from_frequencies",
    "from_keywords",
    "from_model",
]
