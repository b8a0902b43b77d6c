"""From characters to a sparse matrix of term weights."""

from bayesift.text.vectorizer import TextVectorizer

__all__ = ["TextVectorizer"]
