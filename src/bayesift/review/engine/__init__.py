"""What to show a person next, and when enough has been seen: the engine of a review, without page or database."""

from bayesift.review.engine.knowledge import Knowledge
from bayesift.review.engine.mix import Mix
from bayesift.review.engine.pile import Pile
from bayesift.review.engine.recall import Bound, bound_by_bets, bound_by_sample
from bayesift.review.engine.review_engine import ReviewEngine
from bayesift.review.engine.stopping import Stopping
from bayesift.review.engine.suggestion import Highlight, Suggestion
from bayesift.review.engine.titles import with_title_words
from bayesift.review.engine.topic_model import Refit, TopicModel

__all__ = [
    "Bound",
    "Highlight",
    "Knowledge",
    "Mix",
    "Pile",
    "Refit",
    "ReviewEngine",
    "Stopping",
    "Suggestion",
    "TopicModel",
    "bound_by_bets",
    "bound_by_sample",
    "with_title_words",
]
