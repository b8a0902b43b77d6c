"""Learning a concept from positive examples: hypothesis spaces, the number game, sets of words."""

from bayesift.concepts.number_game import number_game
from bayesift.concepts.space import HypothesisSpace
from bayesift.concepts.word_sets import word_sets

__all__ = ["HypothesisSpace", "number_game", "word_sets"]
