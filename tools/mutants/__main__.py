"""Break more than 400 lines of the greatest consequence, one at a time, run the nearest tests, list what none noticed.

``tools/mutants/mutants.toml`` says which functions, and which tests are the nearest. A mutant that changes nothing that
anybody could see is listed there as well, with the reason. Each is tried in a copy of the work tree; the work tree is
left alone.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from tools.mutants.making import Mutant, mutants_of
from tools.mutants.trying import Tree

TOP = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("mutants.toml")
#: What takes long to import and is not broken here: imported once, before the processes for the mutants part.
_OTHERS = ("numpy", "scipy.sparse", "scipy.stats", "scipy.special", "sklearn.pipeline", "numba", "pytest")

#: Processor time of the tests of a mutant: so many seconds, more where kernels are compiled anew, and so many times
#: what the tests take without it.
_LEAST, _LEAST_COMPILED, _TIMES = 5.0, 20.0, 2.0


def chosen(targets: list[dict[str, Any]], words: list[str]) -> list[tuple[Mutant, dict[str, Any]]]:
    """Return the mutants whose description has one of the words, with their targets; all without words."""
    found = []
    for target in targets:
        options = target.get("functions"), target.get("boundaries", True)
        mutants = mutants_of(TOP, target["file"], *options)
        found += [(each, target) for each in mutants if not words or any(word in str(each) for word in words)]
    return found


def is_known(mutant: Mutant, same: list[dict[str, str]]) -> bool:
    """Tell whether a mutant is listed as one that changes nothing."""
    return any(
        (entry["file"], entry["function"], entry["old"], entry["new"])
        == (mutant.file, mutant.function, mutant.old, mutant.new)
        and entry.get("line", "") in (TOP / mutant.file).read_text(encoding="utf-8").splitlines()[mutant.line - 1]
        for entry in same
    )


def try_all(found: list[tuple[Mutant, dict[str, Any]]], seconds: float) -> list[Mutant]:
    """Try mutants, say of each how it went, and return those that no test noticed."""
    for name in _OTHERS:
        importlib.import_module(name)
    unnoticed = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        log = Path(place) / "log.txt"
        tree = Tree(TOP, Path(place) / "tree")
        limits: dict[tuple[str, ...], float] = {}
        for mutant, target in found:
            compiled = target.get("compiled", True)
            tests = [*target["tests"], *(f"--deselect={test}" for test in target.get("without", []))]
            if tuple(tests) not in limits:
                if tree.outcome(tests, 10 * seconds, log, compiled) != "passed":
                    raise SystemExit(f"the tests of {target['file']} fail without any change:\n{log.read_text()}")
                least = _LEAST_COMPILED if compiled and tree.compiles(mutant.file) else _LEAST
                limits[tuple(tests)] = min(seconds, least + _TIMES * tree.used)
            tree.break_it(mutant)
            try:
                outcome = tree.outcome(tests, limits[tuple(tests)], log, compiled)
            finally:
                tree.mend()
            print(f"{'NOT NOTICED' if outcome == 'passed' else outcome:11}  {mutant}", flush=True)
            if outcome == "passed":
                unnoticed.append(mutant)
    return unnoticed


def main() -> None:
    """Run the mutants that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only mutants with one of these in their description")
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument("--seconds", type=float, default=120, help="most processor time that the tests of one may take")
    options = parser.parse_args()
    content = tomllib.loads(LIST.read_text(encoding="utf-8"))
    found = chosen(content["target"], options.words)
    known = [mutant for mutant, _ in found if is_known(mutant, content.get("same", []))]
    found = [(mutant, target) for mutant, target in found if mutant not in known]
    if options.list:
        print(*(mutant for mutant, _ in found), sep="\n")
        print(f"{len(found)} mutants, and {len(known)} that change nothing")
        return
    # As many threads as in the tests of one worker.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    unnoticed = try_all(found, options.seconds)
    print(f"\n{len(found)} mutants tried, {len(unnoticed)} not noticed")
    print(*unnoticed, sep="\n")
    sys.exit(bool(unnoticed))


if __name__ == "__main__":
    main()
