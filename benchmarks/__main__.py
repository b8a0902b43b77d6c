"""Run the benchmarks by name, or all of them."""

from __future__ import annotations

import argparse
from importlib import import_module

from benchmarks.measuring import RESULTS, kept

BENCHMARKS = (
    "first_use",
    "side_by_side",
    "vectorizer",
    "logistic",
    "multinomial",
    "short_texts",
    "probit",
    "posterior",
    "bbr_reader",
    "classify",
    "online",
    "filtering",
    "ard",
    "generative",
    "review",
    "thresholds",
    "calibration",
    "word_vectors",
    "words_and_vectors",
    "shared_variance",
    "growing_pile",
    "few_labels",
    "model_choice",
    "serving",
    "learning_curve",
    "shards",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(BENCHMARKS)} (default: all)"
    )
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each candidate; medians are reported")
    parser.add_argument(
        "--keep", action="store_true", help=f"write the tables of each to {RESULTS.name}/NAME.json, too"
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; known: {', '.join(BENCHMARKS)}")
    for name in arguments.names or BENCHMARKS:
        command = f"python -m benchmarks {name} --repeats {arguments.repeats}"
        with kept(name if arguments.keep else None, command):
            import_module(f"benchmarks.{name}").run(arguments.repeats)


if __name__ == "__main__":
    main()
