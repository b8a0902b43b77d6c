"""Linear models of text at the posterior mode."""

from bayesift.linear.certificate import Certificate
from bayesift.linear.logistic import BayesianLogisticRegression
from bayesift.linear.multinomial import BayesianMultinomialRegression
from bayesift.linear.path import RegularizationPath, regularization_path

__all__ = [
    "BayesianLogisticRegression",
    "BayesianMultinomialRegression",
    "Certificate",
    "RegularizationPath",
    "regularization_path",
]
