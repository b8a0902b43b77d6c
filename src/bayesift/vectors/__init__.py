"""Vectors of words, learnt from texts without labels: words that keep the same company lie close together."""

from bayesift.vectors.word_vectors import WordVectors

__all__ = ["WordVectors"]
