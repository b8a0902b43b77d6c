"""Conjugate pairs: what is believed about a parameter before and after data, in closed form."""

from bayesift.conjugate._intervals import Interval
from bayesift.conjugate.base import Conjugate, bayes_factor
from bayesift.conjugate.beta_binomial import BetaBinomial
from bayesift.conjugate.dirichlet_multinomial import DirichletMultinomial
from bayesift.conjugate.gamma import GammaExponential, GammaPoisson
from bayesift.conjugate.mixture import Mixture
from bayesift.conjugate.normal_gamma import NormalGamma
from bayesift.conjugate.pareto_uniform import ParetoUniform
from bayesift.conjugate.point_mass import PointMass
from bayesift.conjugate.predictive import ContinuousPredictive, DiscretePredictive, Predictive

__all__ = [
    "BetaBinomial",
    "Conjugate",
    "ContinuousPredictive",
    "DirichletMultinomial",
    "DiscretePredictive",
    "GammaExponential",
    "GammaPoisson",
    "Interval",
    "Mixture",
    "NormalGamma",
    "ParetoUniform",
    "PointMass",
    "Predictive",
    "bayes_factor",
]
