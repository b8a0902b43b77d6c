"""Classifiers to be served, and clients of their applications."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

pytest.importorskip("fastapi")

import httpx
from fastapi import FastAPI

from bayesift._web.listening import make_server
from bayesift.datasets import load
from bayesift.serving import Settings, create_app
from bayesift.workflow import TextClassifier
from web_cases import in_thread


class Client(httpx.Client):
    """A client of a server, and its application."""

    def __init__(self, app: FastAPI, address: str) -> None:
        super().__init__(base_url=address, timeout=120, verify=False)
        self.app = app


@pytest.fixture(scope="session")
def news():
    return load("newsroom")


@pytest.fixture(scope="session")
def several(news) -> TextClassifier:
    """A classifier of which texts may get any number of labels; its scores are calibrated."""
    return TextClassifier("ridge", variance=10.0).fit(news.train.texts, news.train.labels)


@pytest.fixture(scope="session")
def one_of_two() -> TextClassifier:
    """A classifier with one of two labels, which are numbers, for every text."""
    return TextClassifier("nb").fit(["wheat and corn", "ships at sea"] * 5, [3, 7] * 5)


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    """Make a client of an application for a classifier."""
    with ExitStack() as stack:

        def made(classifier: TextClassifier, settings: Settings | None = None) -> Client:
            app = create_app(classifier, "news.bayesift", settings)
            stack.enter_context(closing(app.state.turns))
            address = stack.enter_context(in_thread(make_server(app, Settings().limits, says_json=True)))
            return stack.enter_context(Client(app, address))

        yield made
