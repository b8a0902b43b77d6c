"""The web pages of a review."""

from bayesift.review.web.app import create_app
from bayesift.review.web.serving import address_of, bind, serve
from bayesift.review.web.settings import Settings, is_loopback, settings_for

__all__ = ["Settings", "address_of", "bind", "create_app", "is_loopback", "serve", "settings_for"]
