"""Keeping a project: documents, topics, reviewers and the history, in SQLite or PostgreSQL."""

from bayesift.review.storage.claim import Claim, InUseError, claim_project
from bayesift.review.storage.connection import NotSavedError, ProjectError
from bayesift.review.storage.documents import Document, Documents, reading_text
from bayesift.review.storage.history import Action, Decision, Event, History
from bayesift.review.storage.project import Project
from bayesift.review.storage.reviewers import Reviewer, Reviewers, Sessions
from bayesift.review.storage.topics import Topic, Topics

__all__ = [
    "Action",
    "Claim",
    "Decision",
    "Document",
    "Documents",
    "Event",
    "History",
    "InUseError",
    "NotSavedError",
    "Project",
    "ProjectError",
    "Reviewer",
    "Reviewers",
    "Sessions",
    "Topic",
    "Topics",
    "claim_project",
    "reading_text",
]
