"""What to show a person next, and when enough has been seen: the engine of a review, without page or database."""

from bayesift.review.decisions import Judgement, Judgements
from bayesift.review.engine.choosing import Mix
from bayesift.review.engine.corpus import Corpus, with_title_words
from bayesift.review.engine.earlier import Earlier
from bayesift.review.engine.recall import Bound, bound_by_bets, bound_by_sample
from bayesift.review.engine.review_engine import Moment, ReviewEngine, Suggestion, prepare
from bayesift.review.engine.statements import Aim, Phrase, Statement
from bayesift.review.engine.stopping import Advice, Stopping
from bayesift.review.engine.topic_model import Highlight, Knowledge, Refit, TopicModel

__all__ = [
    "Advice",
    "Aim",
    "Bound",
    "Corpus",
    "Earlier",
    "Highlight",
    "Judgement",
    "Judgements",
    "Knowledge",
    "Mix",
    "Moment",
    "Phrase",
    "Refit",
    "ReviewEngine",
    "Statement",
    "Stopping",
    "Suggestion",
    "TopicModel",
    "bound_by_bets",
    "bound_by_sample",
    "prepare",
    "with_title_words",
]
