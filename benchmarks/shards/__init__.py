"""Fits from shards on disk beside fits in memory: seconds, processor time, memory, and whether bits are the same."""

from __future__ import annotations

from benchmarks.shards.fits import run_engines, run_sizes


def run(repeats: int) -> None:
    """Print the tables of a small twin; ``python -m benchmarks.shards`` takes any size."""
    run_sizes([40_000], repeats)
    run_engines(40_000)
