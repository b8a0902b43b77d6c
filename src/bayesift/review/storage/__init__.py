"""Keeping a project: documents, topics, reviewers and the history, in SQLite or PostgreSQL."""

from bayesift.review.storage.audit import COMMAND_LINE, Actor, Audit, AuditAction, AuditEntry
from bayesift.review.storage.backup import back_up
from bayesift.review.storage.claim import Claim, InUseError, claim_project
from bayesift.review.storage.connection import NotSavedError, ProjectError
from bayesift.review.storage.documents import Document, Documents, doi_of, reading_text, values_of
from bayesift.review.storage.duplicates import Copy, Duplicates
from bayesift.review.storage.earlier import EarlierRecord, EarlierReview, EarlierReviews
from bayesift.review.storage.history import Action, Decision, Event, History, Remark, Remarks, Stage
from bayesift.review.storage.project import Project
from bayesift.review.storage.reviewers import ROLES, Login, Reviewer, Reviewers, Role, Sessions
from bayesift.review.storage.search import Found, SearchError
from bayesift.review.storage.topics import Stop, Stops, Topic, Topics

__all__ = [
    "COMMAND_LINE",
    "ROLES",
    "Action",
    "Actor",
    "Audit",
    "AuditAction",
    "AuditEntry",
    "Claim",
    "Copy",
    "Decision",
    "Document",
    "Documents",
    "Duplicates",
    "EarlierRecord",
    "EarlierReview",
    "EarlierReviews",
    "Event",
    "Found",
    "History",
    "InUseError",
    "Login",
    "NotSavedError",
    "Project",
    "ProjectError",
    "Remark",
    "Remarks",
    "Reviewer",
    "Reviewers",
    "Role",
    "SearchError",
    "Sessions",
    "Stage",
    "Stop",
    "Stops",
    "Topic",
    "Topics",
    "back_up",
    "claim_project",
    "doi_of",
    "reading_text",
    "values_of",
]
