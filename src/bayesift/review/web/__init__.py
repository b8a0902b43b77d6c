"""The web pages of a review."""

from bayesift.review.web.app import create_app
from bayesift.review.web.settings import Settings, settings_for

__all__ = ["Settings", "create_app", "settings_for"]
