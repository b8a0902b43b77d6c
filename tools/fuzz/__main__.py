"""Command line of the fuzzer; see the package."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

#: Where bounds-checked kernels are kept: whether they are is not part of what numba names them by.
KERNELS = Path(__file__).parents[2] / "build" / "bounds-checked"


def main() -> int:
    """Run as a worker, as the one who watches, or for one forgery."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description="Load and use forged model files.")
    parser.add_argument("--forgeries", type=int, default=1000, metavar="N", help="how many")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="number of the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="workers")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat one forgery and show what it does")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write table and failures there as well")
    parser.add_argument("--unchecked", action="store_true", help="use the kernels as they are, without bounds checks")
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not (options.unchecked or options.work):
        # Workers have the settings of whoever watches them.
        os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")
        os.environ.setdefault("NUMBA_CACHE_DIR", str(KERNELS))
    # numba reads the settings when it is imported.
    from tools.fuzz import running

    if options.work is not None:
        *numbers, diary = options.work
        running.work(*map(int, numbers), diary)  # type: ignore[arg-type]
        return 0
    if options.only is not None:
        return _repeat(options.seed, options.only)
    results = running.run(
        options.seed,
        options.first,
        options.first + options.forgeries,
        options.jobs,
        lambda line: print(line, flush=True),
    )
    kinds = Counter(failure["failure"][:150] for failure in results.failures)
    text = results.table() + f"\n\nslowest: {results.slowest:.1f} s of processor time\n"
    for kind, count in kinds.most_common():
        examples = [failure.get("number") for failure in results.failures if failure["failure"][:150] == kind][:3]
        text += f"\n{count} × {kind} (--only {examples})"
    print(text)
    if options.output:
        options.output.write_text(text + "\n" + "\n".join(map(json.dumps, results.failures)) + "\n")
    return 1 if results.failures else 0


def _repeat(seed: int, number: int) -> int:
    from tools.fuzz import bases, forging, running

    all_bases = bases.bases()
    forgery = forging.forge(all_bases, seed, number)
    print(forgery.base.name, *forgery.changes, sep="\n")
    slowly = number // len(all_bases) % running.SLOWLY == 0
    with TemporaryDirectory() as folder:
        result = running.attempt(forgery.members, forgery.base, Path(folder), slowly=slowly, tell=print)
    print(*result.pop("trace", []), sep="\n")
    print(json.dumps(result))
    return 1 if "failure" in result else 0


if __name__ == "__main__":
    sys.exit(main())
