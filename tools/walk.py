"""Follow a call through the package: which modules run, in the order they are first entered.

    python tools/walk.py fit            # or train, or keypress: lists the modules, and how many of their lines run
    python tools/walk.py --draw         # draws all three into docs/design/walks.svg

A walk counts the modules of its own rooms, and of every other room only the door, the module whose function is called
from outside: what happens behind it is that room's walk. For a fit, kernels are not compiled, so that they are seen.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

PACKAGE = "bayesift."


class Walk:
    """The modules that run while the block lasts, seen by Python's profiler, on all threads."""

    def __init__(self, *rooms: str) -> None:
        self.rooms = rooms
        #: The functions that run, by module; of other rooms only the first of each.
        self.modules: dict[str, set[CodeType]] = {}

    def __enter__(self) -> Walk:
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        # The bodies of classes are no steps, nor is what dataclasses write for themselves.
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED and not frame.f_code.co_filename.startswith("<")
        if event != "call" or not is_function or not name.startswith(PACKAGE) or self._is_known(name, frame.f_code):
            return
        if (self._is_own(name) or self._is_own(caller(frame))) and not is_importing(frame):
            self.modules.setdefault(name, set()).add(frame.f_code)

    def _is_known(self, module: str, function: CodeType) -> bool:
        return module in self.modules and (not self._is_own(module) or function in self.modules[module])

    def _is_own(self, module: str) -> bool:
        return module.startswith(PACKAGE) and module.split(".")[1] in self.rooms


def caller(frame: FrameType) -> str:
    """Return the module of the package that called this frame, through whatever lies between."""
    before = frame.f_back
    while before is not None and not before.f_globals.get("__name__", "").startswith(PACKAGE):
        before = before.f_back
    return "" if before is None else str(before.f_globals["__name__"])


def is_importing(frame: FrameType) -> bool:
    """Tell whether this happens because a module is being imported."""
    before: FrameType | None = frame
    while before is not None and before.f_code.co_filename != "<frozen importlib._bootstrap>":
        before = before.f_back
    return before is not None


def fit() -> Walk:
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
    return walk


def train() -> Walk:
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
    return walk


def keypress() -> Walk:
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
    return walk


class Described(NamedTuple):
    """A walk with the rooms it belongs to and its title in the picture."""

    follow: Callable[[], Walk]
    rooms: tuple[str, ...]
    title: str


WALKS = {
    "train": Described(train, ("cli", "workflow"), "bayesift train"),
    "fit": Described(fit, ("linear",), "fit of BayesianLogisticRegression"),
    "keypress": Described(keypress, ("review",), "a key on the review page"),
}


def own_modules(modules: Iterable[str], rooms: Sequence[str]) -> list[str]:
    """Return the modules of a walk that belong to its own rooms; the others are doors."""
    return [module for module in modules if module.split(".")[1] in rooms]


def draw(walks: dict[str, list[str]]) -> str:
    """Return a picture of walks side by side: own modules as full boxes, entrances to other rooms as empty ones."""
    width, height, top = 320, 26, 76
    longest = max(map(len, walks.values()))
    size = f"{width * len(walks) + 20} {top + height * longest + 10}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        '  <rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for place, (name, modules) in enumerate(walks.items()):
        described, x = WALKS[name], 20 + place * width
        own = own_modules(modules, described.rooms)
        counts = f"modules of its own: {len(own)}, of other rooms: {len(modules) - len(own)}"
        lines.append(f'  <text x="{x}" y="30" font-weight="bold">{escape(described.title)}</text>')
        lines.append(f'  <text x="{x}" y="50" fill="#555555">{counts}</text>')
        for step, module in enumerate(modules):
            y, is_own = top + step * height, module in own
            box = ('fill="#2b5c8a"', "#ffffff") if is_own else ('fill="#ffffff" stroke="#7a4f7d"', "#5c3a5f")
            lines.append(f'  <rect x="{x}" y="{y - 17}" width="{width - 30}" height="22" rx="4" {box[0]}/>')
            shown = module.removeprefix(PACKAGE)
            lines.append(f'  <text x="{x + 10}" y="{y - 1}" fill="{box[1]}">{escape(shown)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def n_lines(functions: Iterable[CodeType]) -> int:
    """Count the lines of code of functions, without docstrings, comments and lines that continue another."""
    return len({(code.co_name, line) for code in functions for _, _, line in code.co_lines() if line is not None})


def followed(name: str) -> dict[str, int]:
    """Return the modules of a walk that is made in a process of its own, and how many lines their functions have."""
    command = [sys.executable, "-W", "ignore", __file__, name]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return dict(zip(listed[::2], map(int, listed[1::2]), strict=True))


if __name__ == "__main__":
    if sys.argv[1] == "--draw":
        picture = draw({name: list(followed(name)) for name in WALKS})
        Path(__file__).parents[1].joinpath("docs", "design", "walks.svg").write_text(picture, encoding="utf-8")
    else:
        for module, functions in WALKS[sys.argv[1]].follow().modules.items():
            print(module, n_lines(functions))
