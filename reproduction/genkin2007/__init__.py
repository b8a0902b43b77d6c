"""Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization."""
