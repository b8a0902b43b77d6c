"""Follow a call through the package: which modules run, in the order they are first entered.

    python tools/walk.py train | fit | keypress

A walk counts the modules of its own rooms, and of every other room only the door, the module whose function is called
from outside: what happens behind it is that room's walk. For a fit, kernels are not compiled, so that they are seen.
"""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = "bayesift."


class Walk:
    """The modules that run while the block lasts, seen by Python's profiler, on all threads."""

    def __init__(self, *rooms: str) -> None:
        self.rooms = rooms
        self.modules: list[str] = []
        self._stacks = threading.local()

    def __enter__(self) -> Walk:
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        stack = self._stacks.__dict__.setdefault("foreign", [])
        if event == "return" and stack and stack[-1] is frame:
            stack.pop()
        if event != "call" or stack:
            return
        name = frame.f_globals.get("__name__", "")
        if frame.f_code.co_name == "<module>":
            stack.append(frame)  # what an import does is no step
        # Nor are the bodies of classes, and what dataclasses write for themselves.
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED and not frame.f_code.co_filename.startswith("<")
        if not is_function or not name.startswith(PACKAGE):
            return
        if name.split(".")[1] not in self.rooms:
            stack.append(frame)
        if name not in self.modules:
            self.modules.append(name)


def fit() -> list[str]:
    """Follow ``BayesianLogisticRegression(variance="cv").fit`` of several categories."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # read when numba is imported
    import numpy as np

    from bayesift.linear import BayesianLogisticRegression

    random = np.random.default_rng(0)
    X = random.poisson(0.7, (30, 4)).astype(float)
    Y = (X[:, :3] + random.random((30, 3)) > 1.2).astype(int)
    model = BayesianLogisticRegression(variance="cv", grid=(0.1, 1.0), n_jobs=1)
    with Walk("linear") as walk:
        model.fit(X, Y)
    return walk.modules


def train() -> list[str]:
    """Follow ``bayesift train``."""
    from bayesift.cli import main

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "mails.csv"
        rows = ["text,label", *(f"{word} and tea number {n},{word}" for n in range(6) for word in ("sea", "wheat"))]
        table.write_text("\n".join(rows) + "\n", encoding="utf-8")
        sys.argv = ["bayesift", "train", str(table), "-o", str(Path(folder) / "mails.bayesift"), "--quiet"]
        with Walk("cli", "workflow") as walk:
            try:
                main()
            except SystemExit as end:
                if end.code:
                    raise
    return walk.modules


def keypress() -> list[str]:
    """Follow the key R on the review page, from the request to the next card."""
    import re

    from fastapi.testclient import TestClient

    from bayesift.review.engine import Corpus
    from bayesift.review.service import Service
    from bayesift.review.storage import Document, Project, Topic
    from bayesift.review.web import create_app

    texts = [f"{word} and tea number {n}" for n in range(6) for word in ("sea", "wheat")]
    with tempfile.TemporaryDirectory() as folder:
        documents = [Document(str(n), text, text) for n, text in enumerate(texts)]
        project = Project.create(Path(folder) / "mails.review.sqlite", "mails", documents)
        service = Service(project, Corpus.build(project.documents.texts()))
        reviewer = project.reviewers.add("Anna")
        service.add_topic(Topic("wheat", "wheat"), reviewer.id)
        page = TestClient(create_app(service), base_url="http://127.0.0.1")
        answer = page.post("/login", data={"token": project.reviewers.issue_token(reviewer)})
        csrf = re.search(r'name="csrf" content="(\w+)"', answer.text)
        shown = page.get("/api/topics/1/card").json()["document"]
        label = {"document": shown, "decision": "relevant"}
        with Walk("review") as walk:
            page.post("/api/topics/1/labels", json=label, headers={"X-CSRF-Token": csrf[1]}).raise_for_status()
        service.close()
        project.close()
    return walk.modules


WALKS: dict[str, Callable[[], list[str]]] = {"fit": fit, "train": train, "keypress": keypress}

if __name__ == "__main__":
    for module in WALKS[sys.argv[1]]():
        print(module)
