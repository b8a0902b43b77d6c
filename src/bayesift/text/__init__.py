"""From characters to a sparse matrix of term weights."""

from bayesift.text._counter import EmptyVocabularyError
from bayesift.text._streaming import MOST_TERMS, fit_in_batches, set_terms
from bayesift.text._terms import language_rules, resolve_stop_words
from bayesift.text._unicode import has_unspaced_letters
from bayesift.text.scorer import TextScorer
from bayesift.text.vectorizer import TextVectorizer

__all__ = [
    "MOST_TERMS",
    "EmptyVocabularyError",
    "TextScorer",
    "TextVectorizer",
    "fit_in_batches",
    "has_unspaced_letters",
    "language_rules",
    "resolve_stop_words",
    "set_terms",
]
