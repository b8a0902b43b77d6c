"""Measure a part of the learning curves: ``python -m benchmarks.few_labels --collections sms --sizes 10 all``."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from benchmarks.few_labels import DRAWS, measure
from benchmarks.few_labels.systems import SYSTEMS
from benchmarks.few_labels.tasks import NAMES, SIZES
from benchmarks.measuring import kept


def main() -> None:
    sizes = [*(str(size or "all") for size in SIZES), "random"]
    systems = [system.name for system in SYSTEMS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.few_labels", description=__doc__)
    parser.add_argument("--collections", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--sizes", nargs="+", choices=sizes, default=sizes, help="labels a class")
    parser.add_argument("--systems", nargs="+", choices=systems, default=systems)
    parser.add_argument("--repeats", type=int, default=DRAWS, help="draws of labels")
    parser.add_argument("--keep", action="store_true", help="write the tables to results/few_labels.json, too")
    arguments = parser.parse_args()

    def wanted(setting: dict[str, Any]) -> bool:
        return setting["system"] in arguments.systems and str(setting["size"] or "all") in arguments.sizes

    with kept("few_labels" if arguments.keep else None, f"python -m benchmarks.few_labels {shlex.join(sys.argv[1:])}"):
        measure(arguments.repeats, wanted, arguments.collections)


if __name__ == "__main__":
    main()
