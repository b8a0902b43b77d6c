"""Linear models of text at the posterior mode."""

from bayesift.linear.certificate import Certificate
from bayesift.linear.logistic import BayesianLogisticRegression
from bayesift.linear.multinomial import BayesianMultinomialRegression
from bayesift.linear.path import RegularizationPath, regularization_path
from bayesift.linear.probit import BayesianProbitRegression

__all__ = [
    "BayesianLogisticRegression",
    "BayesianMultinomialRegression",
    "BayesianProbitRegression",
    "Certificate",
    "RegularizationPath",
    "regularization_path",
]
