"""Try a mutant: in a copy of the work tree, with the nearest tests, in a process of its own."""

from __future__ import annotations

import ast
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tools.mutants.making import Mutant

_PARTS = ("src", "tests", "tools", "benchmarks", "reproduction", "docs", "pyproject.toml", "README.md", "CHANGELOG.md")


class Tree:
    """A copy of the work tree, in which one file at a time is broken.

    Compiled kernels stay where numba looks for them, beside the modules. Those of a broken module and of all that
    import it are put aside while it is tried: numba sees that a file has changed, but not that one it imports has.
    A module that compiles nothing is no part of the kernels of others, which stay then.
    ``used`` is the processor time of the last tests that came to their end.
    """

    def __init__(self, top: Path, folder: Path) -> None:
        self.folder, self.aside, self.used = folder, folder / "aside", 0.0
        for name in _PARTS:
            if (top / name).is_dir():
                shutil.copytree(top / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("_build"))
            else:
                shutil.copy2(top / name, folder / name)
        self._imported = {path: self._imports(path) for path in (folder / "src").rglob("*.py")}

    def _module(self, path: Path) -> str:
        parts = path.relative_to(self.folder / "src").with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _imports(self, path: Path) -> set[str]:
        found = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return found

    def _users(self, path: Path) -> set[Path]:
        """Return the modules that a module's kernels may be part of, itself among them."""
        users, modules = {path}, {self._module(path)}
        while True:
            more = {other for other, names in self._imported.items() if names & modules and other.stem != "__init__"}
            if more <= users:
                return users
            users |= more
            modules = {self._module(user) for user in users}

    def compiles(self, file: str) -> bool:
        """Tell whether a module has kernels."""
        return "bayesift._kernel" in self._imported[self.folder / file]

    def _kernels(self, path: Path) -> list[Path]:
        if not self.compiles(str(path)):
            return []
        return [file for user in self._users(path) for file in (user.parent / "__pycache__").glob(f"{user.stem}.*.nb?")]

    def break_it(self, mutant: Mutant) -> None:
        """Write the broken file."""
        path = self.folder / mutant.file
        source, status = path.read_bytes(), path.stat()
        self._whole = path, source, (status.st_atime_ns, status.st_mtime_ns)
        self.aside.mkdir()
        self._put_aside = [(file, self.aside / str(k)) for k, file in enumerate(self._kernels(path))]
        for file, other in self._put_aside:
            file.rename(other)
        path.write_bytes(mutant.applied(source))

    def mend(self) -> None:
        """Put everything back, to the time of the file."""
        path, source, times = self._whole
        for file in self._kernels(path):
            file.unlink()
        for file, other in self._put_aside:
            other.rename(file)
        self.aside.rmdir()
        path.write_bytes(source)
        os.utime(path, ns=times)

    def outcome(self, tests: list[str], seconds: float, log: Path, compiled: bool = True) -> str:
        """Run tests in a fork of this process, which has imported no module of the package.

        Where kernels are not ``compiled`` they run as Python, which takes much less time than to compile them where
        they have little to do. No kernel warns, so numpy does not either then.

        Returns
        -------
        str
            ``"passed"``, ``"failed"``, or ``"time"`` where the limit of processor time (or ten times as long by the
            clock) was exceeded.
        """
        child = os.fork()
        if child == 0:
            _run(self.folder, tests, seconds, log, compiled)
        end = time.monotonic() + 10 * seconds
        while True:
            found, status, usage = os.wait4(child, os.WNOHANG)
            if found:
                self.used = usage.ru_utime + usage.ru_stime
                break
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "time"
            time.sleep(0.05)
        if os.WIFSIGNALED(status):
            return "time" if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else "failed"
        code = os.WEXITSTATUS(status)
        if code in (4, 5):
            raise RuntimeError(f"the tests cannot be run: see {log}")
        return "failed" if code else "passed"


class _FirstFailure:
    """Slow tests come last, and what fails is not made simpler: that something fails is enough."""

    @staticmethod
    def pytest_collection() -> None:
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings(), phases=(Phase.explicit, Phase.generate), database=None)
        settings.load_profile("mutants")

    @staticmethod
    def pytest_collection_modifyitems(items: list[Any]) -> None:
        items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


def _run(folder: Path, tests: list[str], seconds: float, log: Path, compiled: bool) -> None:
    os.setsid()
    with log.open("w") as stream:
        for number in (1, 2):
            os.dup2(stream.fileno(), number)
    code = 3
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        os.chdir(folder)
        paths = [str(folder / "src"), str(folder)]
        sys.path[:0] = paths
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis"]
        if not compiled:
            import numba
            import numpy as np

            os.environ["NUMBA_DISABLE_JIT"] = "1"
            numba.config.DISABLE_JIT = True
            np.seterr(all="ignore")
        code = int(pytest.main([*options, *tests], plugins=[_FirstFailure()]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
