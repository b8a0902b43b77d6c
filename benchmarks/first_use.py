"""What a new user waits for: processor time of the first use, with an empty cache of compiled kernels.

Every command runs in a process of its own, twice: undisturbed for the time, then with a listener that notes what numba
compiles. The time is that of the processor (user and system, children too), which a busy machine changes little.
"""

from __future__ import annotations

import json
import os
import re
import resource
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import show

ROOT = Path(__file__).resolve().parents[1]

#: Kernels that are listed for each command: those that take longest to compile.
LONGEST = 12

#: Where the process that listens writes what it heard.
NOTES = "compiled.json"


class Command(NamedTuple):
    """A command of the first minute, and the seconds that it may take at most, where there is such a target."""

    name: str
    arguments: tuple[str, ...]
    target: float | None
    #: Whether what the commands before it have compiled is still there.
    goes_on: bool = False


COMMANDS = (
    Command("bayesift --help", ("-m", "bayesift", "--help"), 0.5),
    # What an estimator of scikit-learn with compiled loops cannot do without: no import of ours can take less.
    Command("import sklearn.base, numba", ("-c", "import sklearn.base, numba"), None),
    Command("import bayesift.linear", ("-c", "import bayesift.linear"), 1.0),
    Command("the ten lines of the README", ("readme.py",), 12.0),
    Command(
        "bayesift train",
        ("-m", "bayesift", "train", "newsroom-train.csv", "-o", "news.bayesift", "--label-separator", ";"),
        12.0,
    ),
    Command(
        "bayesift classify, after train",
        ("-m", "bayesift", "classify", "news.bayesift", "newsroom-test.csv", "-o", "sorted.csv", "--proba"),
        12.0,
        goes_on=True,
    ),
    Command(
        "bayesift classify",
        ("-m", "bayesift", "classify", "news.bayesift", "newsroom-test.csv", "-o", "sorted.csv", "--proba"),
        5.0,
    ),
)


def readme_snippet() -> str:
    """Return the first block of Python in the README."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    if found is None:
        raise RuntimeError("README.md has no block of Python")
    return found[1]


def processor_seconds(arguments: tuple[str, ...], folder: Path, cache: Path) -> float:
    """Run Python with some arguments; return the processor time that it and its children took."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def noting(compiled: dict[str, dict[str, float]]) -> Iterator[None]:
    """Note for every function that numba compiles how often it did, and the seconds without what it calls."""
    from numba.core import event

    class Listener(event.Listener):
        def __init__(self) -> None:
            self.open: list[list[float]] = []

        def on_start(self, event: Any) -> None:
            self.open.append([time.thread_time(), 0.0])

        def on_end(self, event: Any) -> None:
            begin, within = self.open.pop()
            spent = time.thread_time() - begin
            if self.open:
                self.open[-1][1] += spent
            function = event.data["dispatcher"].py_func
            entry = compiled.setdefault(f"{function.__module__}.{function.__qualname__}", {"times": 0, "seconds": 0.0})
            entry["times"] += 1
            entry["seconds"] += spent - within

    # Numba compiles under a lock, on one thread at a time.
    with event.install_listener("numba:compile", Listener()):
        yield


def listen(arguments: list[str]) -> None:
    """Run what Python would run with these arguments, and write what was compiled."""
    compiled: dict[str, dict[str, float]] = {}
    kind, *rest = arguments
    with noting(compiled):
        try:
            if kind == "-m":
                sys.argv = rest
                runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
            elif kind == "-c":
                exec(rest[0], {"__name__": "__main__"})
            else:
                sys.argv = arguments
                runpy.run_path(kind, run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
    Path(NOTES).write_text(json.dumps(compiled), encoding="utf-8")


def compiled_by(arguments: tuple[str, ...], folder: Path, cache: Path) -> dict[str, dict[str, float]]:
    """Run Python with some arguments; return what was compiled."""
    processor_seconds(("-m", "benchmarks.first_use", *arguments), folder, cache)
    found: dict[str, dict[str, float]] = json.loads((folder / NOTES).read_text(encoding="utf-8"))
    return found


def measure(command: Command, folder: Path, caches: tuple[Path, Path]) -> tuple[float, dict[str, dict[str, float]]]:
    """Return the processor time of a command, and what it compiled."""
    seconds = processor_seconds(command.arguments, folder, caches[0])
    return seconds, compiled_by(command.arguments, folder, caches[1])


def run(repeats: int) -> None:
    """Print the tables; every command is run once, whatever ``repeats`` says: a first use has no second."""
    rows = []
    lists = {}
    with tempfile.TemporaryDirectory(prefix="first-use-") as place:
        folder = Path(place)
        (folder / "readme.py").write_text(readme_snippet(), encoding="utf-8")
        caches = folder / "0", folder / "0-listened"
        # What Python itself keeps of the modules is there for every command.
        processor_seconds(("-m", "bayesift", "data", "export", "newsroom"), folder, caches[0])
        for number, command in enumerate(COMMANDS, 1):
            if not command.goes_on:
                caches = folder / str(number), folder / f"{number}-listened"
            seconds, compiled = measure(command, folder, caches)
            spent = sum(entry["seconds"] for entry in compiled.values())
            ours = {name: entry for name, entry in compiled.items() if name.startswith("bayesift.")}
            rows.append(
                (
                    command.name,
                    f"{seconds:.1f}" if seconds >= 2 else f"{seconds:.2f}",
                    "–" if command.target is None else f"{command.target:g}",
                    f"{spent:.1f}",
                    str(len(ours)),
                    str(int(sum(entry["times"] for entry in ours.values()))),
                    str(int(sum(entry["times"] for entry in compiled.values()))),
                )
            )
            lists[command.name] = ours
    header = ("command", "processor, s", "target, s", "compiling, s", "kernels", "their types", "all functions")
    show("The first use, from an empty cache", header, rows)
    for name in ("the ten lines of the README", "bayesift classify"):
        longest = sorted(lists[name].items(), key=lambda item: -item[1]["seconds"])[:LONGEST]
        listed = [(kernel, str(entry["times"]), f"{entry['seconds']:.2f}") for kernel, entry in longest]
        show(f"{name}: the kernels that take longest to compile", ("kernel", "types", "seconds"), listed)


if __name__ == "__main__":
    listen(sys.argv[1:])
