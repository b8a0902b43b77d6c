"""Run the benchmarks of shards at a chosen size: ``python -m benchmarks.shards --rows 847000 --columns 359000``."""

from __future__ import annotations

import argparse
import shlex
import sys

from benchmarks.measuring import kept
from benchmarks.shards.fits import run_collections, run_engines, run_kills, run_path, run_sizes
from benchmarks.shards.peers import run_peers


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shards", description=__doc__)
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[84_700], help="sizes of the twin; columns stay the same"
    )
    parser.add_argument("--columns", type=int, default=359_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--memory", default="500M", help="what the driver may hold of the matrix")
    parser.add_argument(
        "--folder", default=None, help="where twins are kept for the next run; a temporary folder by default"
    )
    parser.add_argument(
        "--what",
        nargs="+",
        default=["sizes"],
        choices=["sizes", "engines", "collections", "path", "kills", "peers"],
    )
    parser.add_argument("--peers", nargs="+", default=None, help="some of them, by their names in peers.py")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds after which a peer is given up")
    parser.add_argument("--cold", action="store_true", help="paths read files from the disk, not from the cache")
    parser.add_argument("--keep", metavar="FILE", help="write the tables to results/FILE.json, too: shards_twin")
    given = parser.parse_args()
    with kept(given.keep, f"python -m benchmarks.shards {shlex.join(sys.argv[1:])}"):
        for what in given.what:
            measure(what, given)


def measure(what: str, given: argparse.Namespace) -> None:
    """Print the tables of one part."""
    if what == "sizes":
        run_sizes(given.rows, given.repeats, given.columns, given.memory, given.folder)
    elif what == "engines":
        run_engines(given.rows[0], given.columns, given.memory, given.folder)
    elif what == "collections":
        run_collections(given.memory, given.folder)
    elif what == "path":
        run_path(given.rows, given.columns, given.memory, given.folder, cold=given.cold)
    elif what == "peers":
        run_peers(given.rows[0], given.columns, given.memory, given.folder, given.peers, given.patience)
    else:
        run_kills(given.rows[0], given.columns, given.memory, given.folder)


# Processes that Dask starts import this again.
if __name__ == "__main__":
    main()
