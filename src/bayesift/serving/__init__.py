"""A model as a service: texts in, labels with probabilities and reasons out, over HTTP."""

from bayesift.serving.app import create_app
from bayesift.serving.serve import ModelServer, open_server, read_token
from bayesift.serving.settings import Settings

__all__ = ["ModelServer", "Settings", "create_app", "open_server", "read_token"]
