"""The web pages of a review."""

from bayesift.review.web.access import Settings, is_loopback, settings_for
from bayesift.review.web.app import create_app

__all__ = ["Settings", "create_app", "is_loopback", "settings_for"]
