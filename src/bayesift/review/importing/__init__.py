"""Reading documents into a project, and decisions about them."""

from bayesift.review.importing.columns import Columns
from bayesift.review.importing.labels import Labels, read_labels, relevance
from bayesift.review.importing.pile import read_pile

__all__ = ["Columns", "Labels", "read_labels", "read_pile", "relevance"]
