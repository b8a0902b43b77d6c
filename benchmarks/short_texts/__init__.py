"""Short noisy texts with copies: the search for a variance and single fits beside others."""

from __future__ import annotations

from benchmarks.short_texts.fits import run_fits
from benchmarks.short_texts.searches import run_searches


def run(repeats: int) -> None:
    """Print the tables of the smaller sizes; ``python -m benchmarks.short_texts`` takes any size."""
    run_searches(20_000)
    run_fits(50_000, repeats)
