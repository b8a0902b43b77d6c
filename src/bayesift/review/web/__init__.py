"""The web pages of a review."""

from bayesift.review.web.app import create_app
from bayesift.review.web.connections import Limits, protocol_with
from bayesift.review.web.settings import Settings, is_loopback, settings_for

__all__ = ["Limits", "Settings", "create_app", "is_loopback", "protocol_with", "settings_for"]
