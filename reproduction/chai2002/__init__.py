"""Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering."""
