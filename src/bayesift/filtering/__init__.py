"""Filtering of a document stream that learns from judgements of what it retrieves."""

from bayesift.filtering._store import state_files
from bayesift.filtering.adaptive import AdaptiveFilter, Decision
from bayesift.filtering.record import Entry, FilterRecord
from bayesift.filtering.topic import FilterRules, Row, TopicState, query_threshold

__all__ = [
    "AdaptiveFilter",
    "Decision",
    "Entry",
    "FilterRecord",
    "FilterRules",
    "Row",
    "TopicState",
    "query_threshold",
    "state_files",
]
