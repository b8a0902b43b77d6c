"""Turn a model file into a server that answers."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from fastapi import FastAPI

from bayesift._web.listening import address_of, bind, limits_behind, make_server, names_for, serve
from bayesift.serving.app import create_app
from bayesift.serving.scoring import Question
from bayesift.serving.settings import Settings
from bayesift.workflow import load_classifier

#: The port that is tried first.
USUAL_PORT = 8788

#: The least number of characters in a token: too many to try all tokens.
SHORTEST_TOKEN = 16

#: The environment variable that may hold the token.
TOKEN_VARIABLE = "BAYESIFT_TOKEN"  # noqa: S105


class ModelServer(NamedTuple):
    """A model that is ready to be served.

    Parameters
    ----------
    app : FastAPI
        The application.
    listening : socket
        The socket that requests come in at.
    settings : Settings
        Names and limits.
    """

    app: FastAPI
    listening: socket.socket
    settings: Settings

    @property
    def address(self) -> str:
        """The address that it listens on."""
        return address_of(self.listening)

    def serve(self, when_ready: Callable[[], None] = lambda: None) -> None:
        """Answer requests until the process is told to stop; those that have begun are still answered.

        Parameters
        ----------
        when_ready : callable
            Called once, from another thread, when requests are answered.
        """
        server = make_server(self.app, self.settings.limits, self.settings.proxies, says_json=True)
        serve(server, self.listening, when_ready)


@contextmanager
def open_server(
    model: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    public_url: str | None = None,
    token: str | None = None,
    proxies: Sequence[str] = (),
    settings: Settings = Settings(),  # noqa: B008
) -> Iterator[ModelServer]:
    """Load a model, take a port, and score a first text, so that everything is compiled before anybody asks.

    Parameters
    ----------
    model : path
        A model file with a :class:`bayesift.workflow.TextClassifier`.
    host, port
        Where to listen: by default on this machine only, at 8788 or at any free port.
    public_url : str, optional
        Without a token: address at which other machines reach the server; required if they can reach it.
    token : str, optional
        The token that requests must carry; with a token, requests are answered under any host name.
    proxies : sequence of str
        Addresses of proxies whose header ``X-Forwarded-For`` is trusted.
    settings : Settings
        Limits; names, token and proxies are replaced by those above.

    Yields
    ------
    ModelServer
        Closed when the block ends.
    """
    if token is not None:
        check_token(token, "token")
    needed = "a token (--token-file), or the address by which programs reach the model"
    settings = settings._replace(
        # A page of another site, whose name was made to point here, does not know the token.
        hosts=names_for(host, public_url, needed).hosts if token is None else None,
        token=token,
        limits=limits_behind(proxies, settings.limits),
        proxies=tuple(proxies),
    )
    path = Path(model)
    classifier, _ = load_classifier(path)
    # Batches are too small to divide among threads.
    classifier.vectorizer_.set_params(n_jobs=1)
    with bind(host, port, USUAL_PORT) as listening:
        app = create_app(classifier, path.name, settings)
        with closing(app.state.turns):
            app.state.scorer.score([Question(["a first text"], words=1)])
            app.state.scorer.counts.clear()
            yield ModelServer(app, listening, settings)


def read_token(path: str | os.PathLike[str] | None) -> str | None:
    """Read the token from a file or, without a file, from the environment variable ``BAYESIFT_TOKEN``.

    Parameters
    ----------
    path : path, optional
        A file of one line.

    Returns
    -------
    str or None
        None if there is neither.
    """
    if path is None:
        found = os.environ.get(TOKEN_VARIABLE, "").strip()
        if found:
            check_token(found, TOKEN_VARIABLE)
        return found or None
    try:
        found = Path(path).read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not text; expected a token") from error
    check_token(found, str(path))
    return found


def check_token(token: str, where: str) -> None:
    """Refuse a token that is too short, or that a header cannot carry."""
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError(
            f"{where} holds a token of {len(token)} characters; expected at least {SHORTEST_TOKEN} ASCII letters, "
            "digits and signs, without spaces"
        )
