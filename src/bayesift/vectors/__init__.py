"""Word vectors, learned from texts without labels: words that keep the same company lie close together."""

from bayesift.vectors.documents import DocumentVectors, document_vectors
from bayesift.vectors.word_vectors import WordVectors

__all__ = ["DocumentVectors", "WordVectors", "document_vectors"]
