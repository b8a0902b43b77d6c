"""Make some of the tables of posteriors: ``python -m benchmarks.posterior coverage-sms speed-many``."""

from __future__ import annotations

import argparse
import shlex

from benchmarks.measuring import kept
from benchmarks.posterior import parts, run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.posterior", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *parts(1)], help=f"of {', '.join(parts(1))}")
    parser.add_argument("--repeats", type=int, default=7, help="timed runs; medians are reported")
    parser.add_argument("--keep", metavar="FILE", help="write the tables to results/FILE.json, too")
    arguments = parser.parse_args()
    command = shlex.join(["python", "-m", "benchmarks.posterior", *arguments.names, f"--repeats={arguments.repeats}"])
    with kept(arguments.keep, command):
        run(arguments.repeats, arguments.names)
