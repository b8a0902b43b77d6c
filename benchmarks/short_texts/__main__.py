"""Any number of rows, 20,000 to 1,000,000, and any of the models."""

from __future__ import annotations

import argparse
import shlex

from benchmarks.measuring import kept
from benchmarks.short_texts.searches import run_searches

parser = argparse.ArgumentParser(prog="python -m benchmarks.short_texts", description=__doc__)
parser.add_argument("names", nargs="*", metavar="NAME", help="only models whose names begin so, as the table has them")
parser.add_argument("--rows", type=int, default=200_000)
parser.add_argument("--keep", action="store_true", help="write the table to results/short_texts_ROWS.json, too")
arguments = parser.parse_args()
command = shlex.join(["python", "-m", "benchmarks.short_texts", "--rows", str(arguments.rows), *arguments.names])
with kept(f"short_texts_{arguments.rows}" if arguments.keep else None, command):
    run_searches(arguments.rows, arguments.names)
