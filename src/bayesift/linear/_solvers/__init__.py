"""Algorithms that find a posterior mode: loops over plain arrays, which know of no estimator."""
