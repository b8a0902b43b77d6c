"""What is known before the data: Gaussian and Laplace priors, common or per term, and ways to build them."""

from bayesift.priors.arrays import FIXED, FLAT, GAUSSIAN, LAPLACE, PriorArrays
from bayesift.priors.base import Prior
from bayesift.priors.builders import from_description, from_keywords, from_model
from bayesift.priors.gaussian import Gaussian
from bayesift.priors.laplace import Laplace

__all__ = [
    "FIXED",
    "FLAT",
    "GAUSSIAN",
    "LAPLACE",
    "Gaussian",
    "Laplace",
    "Prior",
    "PriorArrays",
    "from_description",
    "from_keywords",
    "from_model",
]
